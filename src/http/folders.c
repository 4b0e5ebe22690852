/* See folders.h. Paths are walked part by part: what a part is, is known of the opened part, so that nothing can be
 * exchanged for a link between a check and a use. */
#include "http/folders.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/modules.h"
#include "base/node.h"
#include "base/settings.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* All modules of one script: they are sent with it in one answer. */
#define FOLDERS_MODULES_BYTES (8u << 20)
/* Names of one folder that are sorted, before FOLDERS_ENTRIES of them are taken. */
#define FOLDERS_NAMES 100000
/* Deeper than any path. */
#define FOLDERS_DEPTH 256

int folders_parse(const struct node *settings, const char *home, struct folders *ret, struct error *err)
{
	const struct node *scripts = node_get(settings, "scripts"), *list = node_get(scripts, "folders");
	static const char *const keys[] = {"folders", NULL};
	*ret = (struct folders){0};
	if (scripts && (scripts->type != NODE_MAP || (list && list->type != NODE_LIST)))
		return errorf(err, -EINVAL, "scripts must be a map: {folders: [~/work]}");
	int rc = settings_check_keys(scripts, "scripts", keys, err);
	if (rc == 0 && list && list->count > FOLDERS_MAX)
		rc = errorf(err, -EINVAL, "scripts.folders has at most %d folders", FOLDERS_MAX);
	for (size_t i = 0; rc == 0 && list && i < list->count; i++) {
		const char *said = node_string(list->items[i]);
		bool of_home = said && home && text_starts(said, "~/");
		char *path = of_home ? mem_printf("%s/%s", home, said + 2) : mem_strdup(said ? said : "");
		size_t len = strlen(path);
		while (len && path[len - 1] == '/')
			path[--len] = 0;
		if (path[0] == '/') {
			ret->list[ret->count++] = path;
			continue;
		}
		if (said && said[0] == '/')
			rc = errorf(err, -EINVAL,
				    "scripts.folders: '%.200s' is the whole machine: name a folder below it", said);
		else
			rc = errorf(
				err, -EINVAL, "scripts.folders: '%.200s' must be a folder that begins with / or ~/%s",
				said ? said : "", said && !strcmp(said, "~") ? "; the home folder itself is ~/" : "");
		free(path);
	}
	if (rc < 0)
		folders_free(ret);
	return rc;
}

void folders_free(struct folders *folders)
{
	for (size_t i = 0; i < folders->count; i++)
		free(folders->list[i]);
	*folders = (struct folders){0};
}

bool folders_has(const struct folders *folders, const char *folder)
{
	for (size_t i = 0; i < folders->count; i++)
		if (!strcmp(folders->list[i], folder))
			return true;
	return false;
}

static bool folders_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Is the opened folder the state folder, or inside it? */
static bool folders_is_inside(int fd, const struct stat *state)
{
	struct stat st, last = {0};
	int at = openat(fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool inside = false;
	for (int i = 0; at >= 0 && i < FOLDERS_DEPTH; i++) {
		if (fstat(at, &st) < 0 || folders_same(&st, &last))
			break;
		if ((inside = folders_same(&st, state)))
			break;
		last = st;
		int up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = up;
	}
	if (at >= 0)
		close(at);
	return inside;
}

static int folders_refuse(const char *part, int rc, bool is_folder, struct error *err)
{
	switch (rc) {
	case -ELOOP: return errorf(err, -EACCES, "%.200s is a symbolic link; links are not followed here", part);
	case -ENOENT: return errorf(err, rc, "%.200s is not there", part);
	case -ENOTDIR:
		return is_folder ? errorf(err, rc, "%.200s is not a folder, or a link to one", part)
				 : errorf(err, rc, "%.200s is not there", part);
	default: return errorf(err, rc, "%.200s cannot be opened: %s", part, strerror(-rc));
	}
}

/* The next part of a path below `at`, which is closed. */
static int folders_step(int at, const char *part, bool is_folder, const struct stat *state, struct error *err)
{
	struct stat st;
	if (part[0] == '.') {
		close(at);
		return errorf(err, -EACCES, "%.200s is hidden; hidden files are not shown here", part);
	}
	int flags = is_folder ? O_RDONLY | O_DIRECTORY : O_RDONLY | O_NONBLOCK | O_NOCTTY;
	int next = openat(at, part, flags | O_NOFOLLOW | O_CLOEXEC), rc = next < 0 ? -errno : 0;
	close(at);
	if (rc < 0)
		return folders_refuse(part, rc, is_folder, err);
	if (fstat(next, &st) < 0 || folders_same(&st, state))
		rc = errorf(err, -EACCES, "%.200s is the folder of sluice's own files", part);
	else if (!is_folder && !S_ISREG(st.st_mode))
		rc = errorf(err, -EINVAL, "%.200s is not a regular file", part);
	if (rc < 0)
		close(next);
	return rc < 0 ? rc : next;
}

int folders_open(const char *folder, const char *path, bool is_folder, const char *state_dir, struct error *err)
{
	struct stat state;
	if ((*path || !is_folder) && !fs_is_safe_relative(path))
		return errorf(err, -EINVAL, "'%.200s' is not a path below the folder", path);
	if (stat(state_dir, &state) < 0)
		return errorf(err, -errno, "%s: %s", state_dir, strerror(errno));
	int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (at < 0)
		return errorf(err, -errno, "the folder %.200s cannot be opened: %s", folder, strerror(errno));
	if (folders_is_inside(at, &state)) {
		close(at);
		return errorf(err, -EACCES, "%.200s holds sluice's own files", folder);
	}
	while (at >= 0 && *path) {
		size_t len = strcspn(path, "/");
		char *part = mem_copy(path, len);
		path += len + (path[len] == '/');
		at = folders_step(at, part, is_folder || *path, &state, err);
		free(part);
	}
	return at;
}

/* Is it a script by its name, or else by its permissions? */
static bool folders_is_script(const char *name, unsigned mode)
{
	static const char *const ends[] = {".py", ".sh", ".bash", ".zsh", ".r", ".R",
					   ".jl", ".pl", ".rb",   ".lua", ".m"};
	for (size_t i = 0; i < COUNT_OF(ends); i++)
		if (text_ends(name, ends[i]) && strlen(name) > strlen(ends[i]))
			return true;
	return !strchr(name, '.') && (mode & S_IXUSR);
}

typedef VEC(char *) folders_names;

static int folders_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* May this be shown, as far as its name tells? A name with control characters could not be asked for. */
static bool folders_is_plausible(const struct dirent *entry)
{
	const char *name = entry->d_name;
	if (name[0] == '.' || !strcmp(name, "__pycache__") || text_utf8_check(name, strlen(name)) != strlen(name))
		return false;
	for (const char *c = name; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return false;
	return entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN ||
		(entry->d_type == DT_REG && folders_is_script(name, S_IXUSR));
}

/* The names of folders and of what may be scripts, sorted, so that a limit cuts the same ones each time. */
static void folders_read_names(DIR *dir, folders_names *ret)
{
	struct dirent *entry;
	while (ret->len < FOLDERS_NAMES && (entry = readdir(dir)))
		if (folders_is_plausible(entry))
			vec_push(ret, mem_strdup(entry->d_name));
	if (ret->len)
		qsort(ret->at, ret->len, sizeof(*ret->at), folders_compare);
}

static void folders_names_free(folders_names *names)
{
	for (size_t i = 0; i < names->len; i++)
		free(names->at[i]);
	free(names->at);
}

/* Is it a folder or a script, and neither a link nor the state folder? */
static bool folders_is_entry(int dir, const char *name, const struct stat *state, struct stat *ret)
{
	return fstatat(dir, name, ret, AT_SYMLINK_NOFOLLOW) == 0 && !folders_same(ret, state) &&
		(S_ISDIR(ret->st_mode) || (S_ISREG(ret->st_mode) && folders_is_script(name, ret->st_mode)));
}

/* The items of a list. True: there are more. */
static bool folders_put_entries(DIR *dir, const struct stat *state, struct json *out)
{
	folders_names names = {0};
	size_t count = 0, i = 0;
	folders_read_names(dir, &names);
	for (; i < names.len; i++) {
		struct stat st;
		if (!folders_is_entry(dirfd(dir), names.at[i], state, &st))
			continue;
		if (count++ == FOLDERS_ENTRIES)
			break;
		json_map(out);
		json_key_string(out, "name", names.at[i]);
		json_key_string(out, "kind", S_ISDIR(st.st_mode) ? "folder" : "script");
		json_key_int(out, "bytes", S_ISDIR(st.st_mode) ? 0 : st.st_size);
		json_end(out);
	}
	bool more = i < names.len || names.len == FOLDERS_NAMES;
	folders_names_free(&names);
	return more;
}

int folders_write_list(const char *folder, const char *path, const char *state_dir, struct json *out, struct error *err)
{
	struct stat state;
	int fd = folders_open(folder, path, true, state_dir, err);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir || stat(state_dir, &state) < 0) {
		int rc = fd < 0 ? fd : errorf(err, -errno, "%.200s cannot be read: %s", folder, strerror(errno));
		if (dir)
			closedir(dir);
		else if (fd >= 0)
			close(fd);
		return rc;
	}
	json_map(out);
	json_key_string(out, "folder", folder);
	json_key_string(out, "path", path);
	json_key(out, "items");
	json_list(out);
	bool more = folders_put_entries(dir, &state, out);
	json_end(out);
	json_key_bool(out, "more", more);
	json_end(out);
	closedir(dir);
	return 0;
}

/* The text of an opened script. Closes the descriptor. */
static int folders_read_text(int fd, const char *name, struct buf *out, unsigned *ret_mode, struct error *err)
{
	struct stat st;
	ssize_t n = 1;
	int rc = fstat(fd, &st) < 0 ? errorf(err, -errno, "%.200s: %s", name, strerror(errno)) : 0;
	if (rc == 0 && !folders_is_script(name, st.st_mode))
		rc = errorf(err, -EINVAL,
			    "%.200s is not a script: its name ends in .py, .sh, .R, .jl or the like, or it may be run",
			    name);
	while (rc == 0 && n > 0 && out->len <= FOLDERS_SCRIPT_BYTES) {
		char *to = buf_reserve(out, 65536);
		n = to ? read(fd, to, 65536) : 0;
		if (n < 0)
			rc = errorf(err, -errno, "%.200s cannot be read: %s", name, strerror(errno));
		else if (to)
			out->data[out->len += (size_t)n] = 0;
	}
	close(fd);
	if (rc == 0 && out->len > FOLDERS_SCRIPT_BYTES)
		rc = errorf(err, -E2BIG, "%.200s is larger than 1 MB, the most that a script may have", name);
	if (rc == 0 && (memchr(buf_text(out), 0, out->len) || text_utf8_check(buf_text(out), out->len) != out->len))
		rc = errorf(
			err, -EINVAL,
			"%.200s is a binary file, not the text of a script; a compiled program is submitted with sluice run",
			name);
	if (rc == 0)
		*ret_mode = st.st_mode & 0777;
	return rc;
}

/* The modules that go along with a script. Paths are relative to its folder. */
struct folders_walk {
	const char *folder, *state_dir;
	char *base; /* the script's folder below `folder`; "" is that folder */
	struct json *out;
	size_t bytes;
	bool too_many; /* modules, or bytes of them: not all go along */
	char *missing; /* the first module that is there and cannot go along, with the reason; NULL: none */
	VEC(char *) taken;
};

static int folders_walk_open(const struct folders_walk *w, const char *path, bool is_folder)
{
	char *below = !*w->base ? mem_strdup(path) : *path ? mem_printf("%s/%s", w->base, path) : mem_strdup(w->base);
	int fd = folders_open(w->folder, below, is_folder, w->state_dir, NULL);
	free(below);
	return fd;
}

static void folders_walk_miss(struct folders_walk *w, const char *why)
{
	if (!w->missing)
		w->missing = mem_strdup(why);
}

/* Is a part of the path below `at` a link, with a file at its end? A link that leads nowhere, or to a folder of data
 * that is called like a module, is no module for Python either. */
static bool folders_is_linked(int at, const char *path)
{
	struct stat st;
	bool linked = false;
	for (size_t len = 0; !linked && path[len]; len += path[len] == '/') {
		len += strcspn(path + len, "/");
		char *part = mem_copy(path, len);
		linked = fstatat(at, part, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
		free(part);
	}
	return linked && fstatat(at, path, &st, 0) == 0 && S_ISREG(st.st_mode);
}

static void folders_walk_miss_link(struct folders_walk *w, const char *path)
{
	char *why = mem_printf("%.200s is a symbolic link, or behind one; links are not followed here", path);
	folders_walk_miss(w, why);
	free(why);
}

static bool folders_walk_is_file(void *ctx, const char *path)
{
	struct folders_walk *w = ctx;
	int fd = folders_walk_open(w, path, false), at = fd < 0 ? folders_walk_open(w, "", true) : -1;
	if (at >= 0 && folders_is_linked(at, path))
		folders_walk_miss_link(w, path);
	if (at >= 0)
		close(at);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int folders_walk_read(void *ctx, const char *path, struct buf *out)
{
	struct error err = {0};
	unsigned mode;
	int fd = folders_walk_open(ctx, path, false);
	int rc = fd < 0 ? fd : folders_read_text(fd, path, out, &mode, &err);
	if (rc < 0 && fd >= 0)
		folders_walk_miss(ctx, err.text);
	return rc;
}

/* The linked modules of a package, which its list does not have. */
static void folders_walk_miss_links(struct folders_walk *w, DIR *dir, const char *path)
{
	const struct dirent *entry;
	rewinddir(dir);
	while (!w->missing && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && text_ends(entry->d_name, ".py") &&
		    folders_is_linked(dirfd(dir), entry->d_name)) {
			char *below = mem_printf("%s/%s", path, entry->d_name);
			folders_walk_miss_link(w, below);
			free(below);
		}
}

static void folders_walk_list(void *ctx, const char *path, struct modules_entries *ret)
{
	int fd = folders_walk_open(ctx, path, true);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	folders_names names = {0};
	struct stat st, none = {0};
	if (!dir && fd >= 0)
		close(fd);
	if (dir)
		folders_read_names(dir, &names);
	for (size_t i = 0; i < names.len && ret->list.len < FOLDERS_ENTRIES; i++)
		if (folders_is_entry(dirfd(dir), names.at[i], &none, &st))
			vec_push(&ret->list, ((struct modules_entry){mem_strdup(names.at[i]), S_ISDIR(st.st_mode)}));
	folders_names_free(&names);
	if (dir) {
		folders_walk_miss_links(ctx, dir, path);
		closedir(dir);
	}
}

static bool folders_walk_has(const struct folders_walk *w, const char *path)
{
	for (size_t i = 0; i < w->taken.len; i++)
		if (!strcmp(w->taken.at[i], path))
			return true;
	return false;
}

static void folders_walk_leave(void *ctx, const char *path)
{
	struct folders_walk *w = ctx;
	w->too_many |= !folders_walk_has(w, path);
}

static bool folders_walk_take(void *ctx, const char *path)
{
	struct folders_walk *w = ctx;
	struct buf text = buf_make(FOLDERS_SCRIPT_BYTES + 65536);
	if (folders_walk_has(w, path))
		return false;
	bool taken = folders_walk_read(w, path, &text) == 0;
	if (taken && w->bytes + text.len > FOLDERS_MODULES_BYTES) {
		w->too_many = true;
		taken = false;
	}
	if (taken) {
		json_map(w->out);
		json_key_string(w->out, "path", path);
		json_key(w->out, "text");
		json_put_string_n(w->out, buf_text(&text), text.len);
		json_end(w->out);
		w->bytes += text.len;
		vec_push(&w->taken, mem_strdup(path));
	}
	buf_free(&text);
	return taken;
}

static void folders_put_modules(struct folders_walk *w, const char *name)
{
	struct modules_tree tree = {
		.ctx = w,
		.is_file = folders_walk_is_file,
		.list = folders_walk_list,
		.read = folders_walk_read,
		.take = folders_walk_take,
		.leave = folders_walk_leave,
	};
	vec_push(&w->taken, mem_strdup(name)); /* a module that imports the script */
	json_key(w->out, "files");
	json_list(w->out);
	modules_follow(&tree, name);
	json_end(w->out);
	for (size_t i = 0; i < w->taken.len; i++)
		free(w->taken.at[i]);
	free(w->taken.at);
}

int folders_write_script(const char *folder, const char *path, const char *state_dir, struct json *out,
			 struct error *err)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct buf text = buf_make(FOLDERS_SCRIPT_BYTES + (2u << 16));
	unsigned mode = 0;
	int fd = folders_open(folder, path, false, state_dir, err);
	int rc = fd < 0 ? fd : folders_read_text(fd, name, &text, &mode, err);
	if (rc == 0) {
		struct folders_walk walk = {.folder = folder,
					    .state_dir = state_dir,
					    .base = mem_copy(path, slash ? (size_t)(slash - path) : 0),
					    .out = out};
		char octal[8];
		snprintf(octal, sizeof(octal), "%o", mode);
		json_map(out);
		json_key_string(out, "name", name);
		json_key(out, "text");
		json_put_string_n(out, buf_text(&text), text.len);
		json_key_string(out, "mode", octal);
		folders_put_modules(&walk, name);
		json_end(out);
		if (walk.missing)
			rc = errorf(err, -EINVAL,
				    "%.200s would fail without a module that it imports: %s; submit it with sluice run",
				    name, walk.missing);
		free(walk.base);
		free(walk.missing);
		if (walk.too_many)
			rc = errorf(
				err, -E2BIG,
				"%.200s imports more than %d modules or 8 MB of its folder, and that is too much for the "
				"form: submit it with sluice run, and name the folder of the modules in files:",
				name, MODULES_MAX);
	}
	buf_free(&text);
	return rc;
}
