/* See submit_imports.h. The tree that base/modules.h follows is the folder to which the script's name is relative. */
#include "cli/submit_imports.h"

#include "base/fs.h"
#include "base/modules.h"
#include "base/text.h"
#include "cli/submit_files.h"

#include <dirent.h>
#include <sys/stat.h>

#define SUBMIT_NAMED 8

struct follow_imports {
	struct submit *submit;
	char *root; /* where the tree lies here */
	size_t first; /* files from here on were added here */
	size_t unseen;
};

static char *imports_local(const struct follow_imports *f, const char *path)
{
	return mem_printf("%s/%s", f->root, path);
}

static bool imports_is_file(void *ctx, const char *path)
{
	char *local = imports_local(ctx, path);
	struct stat st;
	bool is = stat(local, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= MODULES_FILE_BYTES;
	free(local);
	return is;
}

/* Does this path go along, itself or something below it? */
static bool imports_goes_along(const struct submit *submit, const char *path)
{
	size_t len = strlen(path);
	for (size_t i = 0; i < submit->files.len; i++)
		if (strncmp(submit->files.at[i].path, path, len) == 0 &&
		    (!submit->files.at[i].path[len] || submit->files.at[i].path[len] == '/'))
			return true;
	return false;
}

static bool imports_take(void *ctx, const char *path)
{
	struct follow_imports *f = ctx;
	struct error err;
	char *local = imports_local(f, path);
	bool took = !imports_goes_along(f->submit, path) && submit_add_path(f->submit, path, local, 0, &err) == 0;
	free(local);
	return took;
}

/* A link to a folder that the path comes through, or to one above: it would be walked again. */
static bool imports_goes_round(const struct follow_imports *f, const char *path, const char *link)
{
	char *target = realpath(link, NULL), *at = imports_local(f, path);
	size_t len = target ? strlen(target) : 0, least = strlen(f->root);
	bool round = false;
	while (target && !round) {
		char *real = realpath(at, NULL), *slash = strrchr(at, '/');
		round = real && strncmp(real, target, len) == 0 && (len == 1 || !real[len] || real[len] == '/');
		free(real);
		if (!slash || (size_t)(slash - at) < least)
			break;
		*slash = 0;
	}
	free(target);
	free(at);
	return round;
}

static void imports_list(void *ctx, const char *path, struct modules_entries *ret)
{
	const struct follow_imports *f = ctx;
	char *local = imports_local(f, path);
	struct dirent **entries;
	int count = scandir(local, &entries, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		char *there = mem_printf("%s/%s", local, entries[i]->d_name);
		struct stat st, link;
		if (stat(there, &st) == 0 && lstat(there, &link) == 0 &&
		    !(S_ISLNK(link.st_mode) && S_ISDIR(st.st_mode) && imports_goes_round(f, path, there)))
			vec_push(&ret->list,
				 ((struct modules_entry){mem_strdup(entries[i]->d_name), S_ISDIR(st.st_mode)}));
		free(there);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	free(local);
}

static int imports_read_file(void *ctx, const char *path, struct buf *out)
{
	char *local = imports_local(ctx, path);
	int rc = fs_read(local, MODULES_FILE_BYTES, out, NULL);
	free(local);
	return rc;
}

static void imports_note_path(void *ctx, const char *folder, const char *rel, const char *by)
{
	struct follow_imports *f = ctx;
	char *path = *folder ? mem_printf("%s/%s", folder, rel) : mem_strdup(rel), *there = imports_local(f, path);
	struct stat st;
	if (fs_is_safe_relative(rel) && stat(there, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) &&
	    !imports_goes_along(f->submit, path) && f->unseen < SUBMIT_NAMED &&
	    !strstr(buf_text(&f->submit->unseen), path)) {
		buf_addf(&f->submit->unseen, "%s names %s, which does not go along: add --file %s, or files: [%s]\n",
			 by, path, there, path);
		f->unseen++;
	}
	free(path);
	free(there);
}

static void imports_say(struct follow_imports *f)
{
	struct submit *submit = f->submit;
	size_t count = submit->files.len - f->first;
	for (size_t i = 0; i < count && i < SUBMIT_NAMED; i++)
		buf_addf(&submit->taken, "%s%s", i ? ", " : "", submit->files.at[f->first + i].path);
	if (count > SUBMIT_NAMED)
		buf_addf(&submit->taken, " and %zu more", count - SUBMIT_NAMED);
}

/* The folder to which a path is relative: `local` ends in the path. The caller frees it. */
static char *imports_root(const char *local, const char *path)
{
	size_t len = strlen(local) - strlen(path);
	return len == 0 ? mem_strdup(".") : len == 1 ? mem_strdup("") : mem_copy(local, len - 1);
}

void submit_follow_imports(struct submit *submit)
{
	const char *script = node_get_string(submit->tree, "script");
	struct follow_imports f = {.submit = submit, .first = submit->files.len};
	if (!script || !submit->files.len || strcmp(submit->files.at[0].path, script) != 0 ||
	    !text_ends(submit->files.at[0].local, script))
		return;
	struct modules_tree tree = {
		.ctx = &f,
		.is_file = imports_is_file,
		.list = imports_list,
		.read = imports_read_file,
		.take = imports_take,
		.note_path = imports_note_path,
	};
	f.root = imports_root(submit->files.at[0].local, script);
	modules_follow(&tree, script);
	imports_say(&f);
	free(f.root);
}
