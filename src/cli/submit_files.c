/* The files that travel with an experiment: see submit_files.h. */
#include "cli/submit_files.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "cli/submit_git.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <sodium.h>
#include <unistd.h>

/* A request holds 16 MiB: larger files, and what no longer fits, go before it one by one. */
#define SUBMIT_INLINE_FILE_BYTES (4u << 20)
#define SUBMIT_INLINE_ALL_BYTES (8u << 20)
#define SUBMIT_SCAN_BYTES (1u << 20) /* a script that people wrote is smaller */
#define SUBMIT_FILES 2000 /* more is a data set: it belongs on the shared file system */
#define SUBMIT_DEPTH 16

static int submit_push(struct submit *submit, const char *path, const char *local, const struct stat *st, bool named,
		       struct error *err)
{
	for (size_t i = 0; i < submit->files.len; i++) {
		if (strcmp(submit->files.at[i].path, path) != 0)
			continue;
		struct stat other;
		if (strcmp(submit->files.at[i].local, local) == 0 ||
		    (stat(submit->files.at[i].local, &other) == 0 && other.st_dev == st->st_dev &&
		     other.st_ino == st->st_ino))
			return 0;
		return errorf(err, -EEXIST, "%s and %s would both be called %s in the experiment: rename one",
			      submit->files.at[i].local, local, path);
	}
	if (!named && st->st_size > submit->copy_limit_bytes) {
		char bytes[32], most[32];
		text_format_two_bytes(st->st_size, submit->copy_limit_bytes, bytes, most, sizeof(most));
		return errorf(err, -E2BIG,
			      "%s has %s, more than copy_limit (%s): pass its path as a parameter, name it in files: "
			      "(tasks get a read-only link), or raise copy_limit",
			      local, bytes, most);
	}
	if (submit->files.len >= SUBMIT_FILES)
		return errorf(err, -E2BIG,
			      "more than %d files: leave data where it is and pass its path as a parameter",
			      SUBMIT_FILES);
	struct submit_file file = {.path = mem_strdup(path),
				   .local = mem_strdup(local),
				   .bytes = (uint64_t)st->st_size,
				   .mode = st->st_mode & 0777};
	vec_push(&submit->files, file);
	return 0;
}

/* Every file in a folder, but for version control and Python's caches. */
static int submit_add_folder(struct submit *submit, const char *path, const char *local, int depth, struct error *err)
{
	if (depth > SUBMIT_DEPTH)
		return errorf(err, -ELOOP, "%s: more than %d folders deep", local, SUBMIT_DEPTH);
	struct dirent **entries;
	int count = scandir(local, &entries, NULL, alphasort), rc = 0;
	if (count < 0)
		return errorf(err, -errno, "%s: %s", local, strerror(errno));
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		if (rc == 0 && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && strcmp(name, ".git") != 0 &&
		    strcmp(name, "__pycache__") != 0) {
			char *below = mem_printf("%s/%s", path, name), *there = mem_printf("%s/%s", local, name);
			rc = submit_add_path(submit, below, there, depth + 1, err);
			free(below);
			free(there);
		}
		free(entries[i]);
	}
	free(entries);
	return rc;
}

int submit_add_path(struct submit *submit, const char *path, const char *local, int depth, struct error *err)
{
	struct stat st;
	if (stat(local, &st) < 0)
		return errno == ENOENT ? errorf(err, -ENOENT, "%s: there is no such file", local)
				       : errorf(err, -errno, "%s: %s", local, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return submit_add_folder(submit, path, local, depth, err);
	if (!S_ISREG(st.st_mode))
		return errorf(err, -EINVAL, "%s is not a regular file", local);
	if (access(local, R_OK) < 0)
		return errorf(err, -errno, "%s: %s", local, strerror(errno));
	if ((uint64_t)st.st_size > LIMIT_UPLOAD_BYTES)
		return errorf(err, -E2BIG,
			      "%s is larger than 4 GB: leave it where it is and pass its path as a parameter", local);
	return submit_push(submit, path, local, &st, depth == 0, err);
}

/* The name under which a path goes: itself without "./" in front, or its last part where it leaves the folder. */
static char *submit_name_of(const char *path)
{
	while (text_starts(path, "./"))
		path += 2 + strspn(path + 2, "/");
	char *name = mem_strdup(path);
	size_t len = strlen(name);
	while (len > 1 && name[len - 1] == '/')
		name[--len] = 0;
	if (fs_is_safe_relative(name))
		return name;
	char *base = mem_strdup(basename(name));
	free(name);
	return base;
}

static int submit_add_named(struct submit *submit, const char *folder, const char *path, const char *key,
			    struct node *names, struct error *err)
{
	struct error inner;
	char *name = submit_name_of(path);
	char *local = path[0] == '/' || strcmp(folder, ".") == 0 ? mem_strdup(path) : mem_printf("%s/%s", folder, path);
	int rc = submit_add_path(submit, name, local, 0, &inner);
	if (rc < 0)
		errorf(err, rc, "%s%s%s", key ? key : "", key ? ": " : "", inner.text);
	else if (names)
		node_add(names, NULL, node_new_string(name));
	submit->changed |= strcmp(name, path) != 0;
	free(local);
	free(name);
	return rc;
}

/* With its place in the experiment file in front, where it has one. All that is missing is reported at once, and with
 * also when other things are wrong. */
static void submit_note_missing(struct submit *submit, const struct node *at, const struct error *err)
{
	if (submit->name && at && at->line)
		buf_addf(&submit->missing, "%s:%d:%d: %s\n", submit->name, at->line, at->column, err->text);
	else
		buf_addf(&submit->missing, "sluice: %s\n", err->text);
}

/* What `copy_limit` says; what is no size the daemon explains. */
static void submit_read_copy_limit(struct submit *submit)
{
	const struct node *limit = node_get(submit->tree, "copy_limit");
	int64_t bytes = LIMIT_COPY_BYTES;
	if (limit && limit->type == NODE_INT)
		bytes = limit->integer;
	else if (limit && node_string(limit) && text_parse_bytes(node_string(limit), &bytes) < 0)
		bytes = LIMIT_COPY_BYTES;
	submit->copy_limit_bytes = bytes;
}

static void submit_add_script(struct submit *submit, const char *folder, const char *given, bool is_script)
{
	struct node *script = node_get(submit->tree, "script");
	struct error err;
	if (!node_string(script))
		return; /* a command, or an error that the daemon explains */
	char *name = submit_name_of(script->string);
	int rc = is_script ? submit_add_path(submit, script->string, given, 0, &err)
			   : submit_add_named(submit, folder, script->string, "script", NULL, &err);
	if (rc < 0)
		submit_note_missing(submit, script, &err);
	else if (strcmp(name, script->string) != 0)
		node_add(submit->tree, "script", node_new_string(name));
	free(name);
}

/* What --file names. The script lies at the top of a task's folder, so what lies in or below the script's folder has its
 * place from there. */
static int submit_add_option(struct submit *submit, const char *folder, const char *path, struct node *names,
			     struct error *err)
{
	size_t len = strlen(folder);
	if (strcmp(folder, ".") != 0 && text_starts(path, folder) && path[len] == '/' &&
	    path[len + 1 + strspn(path + len + 1, "/")])
		return submit_add_named(submit, folder, path + len + 1, "--file", names, err);
	return submit_add_named(submit, ".", path, "--file", names, err);
}

void submit_find_files(struct submit *submit, const char *given, bool is_script, const struct options *options)
{
	char *copy = mem_strdup(given), *folder = dirname(copy), *root = NULL;
	struct error err;
	submit_read_copy_limit(submit);
	struct node *names = node_new(NODE_LIST), *files = node_get(submit->tree, "files");
	bool odd = false, git = submit_wants_git(submit->tree);
	if (!git)
		submit_add_script(submit, folder, given, is_script);
	else if (submit_begin_git(submit, given, is_script, &root, &err) < 0)
		submit_note_missing(submit, files, &err);
	if (git)
		node_add(names, NULL, node_new_string("git"));
	size_t listed = files && files->type == NODE_LIST ? files->count : 0;
	for (size_t i = 0; i < listed; i++) {
		if (!node_string(files->items[i])) { /* the daemon says what is wrong with it */
			odd = true;
			continue;
		}
		if (git && strcmp(files->items[i]->string, "git") == 0)
			continue;
		if (submit_add_named(submit, folder, files->items[i]->string, "files", names, &err) < 0)
			submit_note_missing(submit, files->items[i], &err);
	}
	for (size_t i = 0; i < options->given.len; i++) {
		if (!options_is(options->given.at[i].option, "file"))
			continue;
		if (submit_add_option(submit, git ? "." : folder, options->given.at[i].value, names, &err) < 0)
			submit_note_missing(submit, NULL, &err);
		submit->changed = true;
	}
	if (root && submit_add_tracked(submit, root, &err) < 0) /* after those that were named: they may be large */
		submit_note_missing(submit, files, &err);
	if (submit->changed && names->count && !odd) {
		node_add(submit->tree, "files", names);
		names = NULL;
	}
	node_free(names);
	free(copy);
	free(root);
}

static int submit_upload(struct submit_file *file, struct client *client, struct error *err)
{
	struct reply reply;
	struct node *answer = NULL;
	struct buf path = buf_make(4096);
	char *copy = mem_strdup(file->path);
	buf_add_text(&path, "/uploads/");
	client_add_encoded(&path, basename(copy));
	struct request request = {.method = "PUT",
				  .path = buf_text(&path),
				  .type = "application/octet-stream",
				  .file = open(file->local, O_RDONLY | O_CLOEXEC),
				  .body_len = file->bytes};
	int rc = request.file < 0 ? errorf(err, -errno, "%s: %s", file->local, strerror(errno)) : 0;
	if (rc == 0 && (rc = client_send(client, &request, &reply, err)) == 0) {
		if (reply.status >= 300)
			rc = client_problem(&reply, err);
		else
			rc = node_parse_json(buf_text(&reply.body), reply.body.len, &answer, err);
		reply_free(&reply);
	}
	if (rc == 0 && !node_get_string(answer, "id"))
		rc = errorf(err, -EBADMSG, "%s: the daemon took the upload but gave it no id", file->local);
	if (rc == 0)
		file->upload = mem_strdup(node_get_string(answer, "id"));
	if (request.file >= 0)
		close(request.file);
	node_free(answer);
	buf_free(&path);
	free(copy);
	return rc;
}

static int submit_write_file(const struct submit_file *file, struct json *json, struct error *err)
{
	struct buf content = buf_make(SUBMIT_INLINE_FILE_BYTES + 1);
	char mode[8];
	snprintf(mode, sizeof(mode), "%03o", file->mode);
	int rc = file->upload ? 0 : fs_read(file->local, SUBMIT_INLINE_FILE_BYTES, &content, err);
	if (rc < 0)
		return rc;
	json_map(json);
	json_key_string(json, "path", file->path);
	json_key_string(json, "mode", mode);
	const char *text = buf_text(&content);
	if (file->upload) {
		json_key_string(json, "upload", file->upload);
	} else if (text_utf8_check(text, content.len) == content.len && !memchr(text, 0, content.len)) {
		json_key(json, "text");
		json_put_string_n(json, text, content.len);
	} else {
		size_t size = sodium_base64_encoded_len(content.len, sodium_base64_VARIANT_ORIGINAL);
		char *base64 = mem_alloc(size);
		sodium_bin2base64(base64, size, (const unsigned char *)text, content.len,
				  sodium_base64_VARIANT_ORIGINAL);
		json_key_string(json, "base64", base64);
		free(base64);
	}
	json_end(json);
	buf_free(&content);
	return 0;
}

static void submit_write_experiment(const struct submit *submit, struct json *json)
{
	if (submit->changed) {
		json_key(json, "experiment");
		node_write_json(submit->tree, json);
		return;
	}
	char *copy = mem_strdup(submit->name);
	json_key(json, "source");
	json_map(json);
	json_key_string(json, "name", basename(copy));
	json_key(json, "text");
	json_put_string_n(json, buf_text(&submit->source), submit->source.len);
	json_end(json);
	free(copy);
}

static void submit_write_caller(const struct submit *submit, struct json *json)
{
	if (!submit->caller)
		return;
	json_key(json, "caller");
	node_write_json(submit->caller, json);
}

int submit_write_request(struct submit *submit, struct client *client, struct buf *out, struct error *err)
{
	uint64_t inside = 0;
	for (size_t i = 0; i < submit->files.len; i++) {
		struct submit_file *file = &submit->files.at[i];
		if (file->bytes <= SUBMIT_INLINE_FILE_BYTES && inside + file->bytes <= SUBMIT_INLINE_ALL_BYTES) {
			inside += file->bytes;
			continue;
		}
		int rc = submit_upload(file, client, err);
		if (rc < 0)
			return rc;
	}
	struct json json = json_to(out);
	json_map(&json);
	submit_write_experiment(submit, &json);
	submit_write_caller(submit, &json);
	json_key(&json, "files");
	json_list(&json);
	for (size_t i = 0; i < submit->files.len; i++) {
		int rc = submit_write_file(&submit->files.at[i], &json, err);
		if (rc < 0)
			return rc;
	}
	json_end(&json);
	json_end(&json);
	return out->full ? errorf(err, -E2BIG, "the experiment is too large to send") : 0;
}

int submit_write_check(struct submit *submit, struct buf *out, struct error *err)
{
	const char *script = node_get_string(submit->tree, "script");
	struct json json = json_to(out);
	int rc = 0;
	json_map(&json);
	submit_write_experiment(submit, &json);
	submit_write_caller(submit, &json);
	json_key(&json, "files");
	json_list(&json);
	for (size_t i = 0; rc == 0 && script && i < submit->files.len; i++)
		if (strcmp(submit->files.at[i].path, script) == 0 && submit->files.at[i].bytes <= SUBMIT_SCAN_BYTES)
			rc = submit_write_file(&submit->files.at[i], &json, err);
	json_end(&json);
	json_key(&json, "beside");
	json_list(&json);
	for (size_t i = 0; script && i < submit->files.len; i++)
		if (strcmp(submit->files.at[i].path, script) != 0)
			json_put_string(&json, submit->files.at[i].path);
	json_end(&json);
	json_end(&json);
	return rc;
}
