/* What people see of an experiment or a task: what the store knows, and what is in its folders. */

#include "engine/call.h"
#include "engine/descriptor.h"
#include "engine/engine.h"
#include "engine/experiment.h"
#include "engine/folder.h"
#include "engine/left.h"
#include "engine/load.h"
#include "engine/share.h"
#include "engine/slow.h"
#include "engine/spec.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/token.h"
#include "spool/caller.h"
#include "spool/logtimes.h"
#include "spool/paths.h"
#include "store/json.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* As many as a page shows; a script may write any number. What was submitted is listed in full, for a copy. */
#define DETAIL_FILES_MAX 200
#define DETAIL_DEPTH_MAX 6

/* A submitted file of more bytes is taken for unchanged if its size is: the page must not wait for the disk. */
#define DETAIL_COMPARE_BYTES (256 << 10)

struct detail_files {
	size_t count, most;
	unsigned depth_most;
	int submitted; /* the folder of the submitted files, which are left out where unchanged; -1: none */
	struct json *out;
};

static bool detail_same_bytes(int a, int b)
{
	char left[8192], right[8192];
	for (size_t done = 0; done < DETAIL_COMPARE_BYTES;) {
		ssize_t n = read(a, left, sizeof(left)), m = read(b, right, sizeof(right));
		if (n != m || n < 0 || memcmp(left, right, (size_t)n) != 0)
			return false;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return true;
}

/* Is the file `name` in `dir` a submitted one that the task has not changed? `path` is its path below both folders. */
static bool detail_is_submitted(const struct detail_files *list, int dir, const char *name, const char *path,
				int64_t bytes)
{
	struct stat st;
	if (list->submitted < 0 || fstatat(list->submitted, path, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode) || st.st_size != bytes)
		return false;
	int theirs = openat(list->submitted, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	int ours = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool same = theirs >= 0 && ours >= 0 && detail_same_bytes(theirs, ours);
	if (theirs >= 0)
		close(theirs);
	if (ours >= 0)
		close(ours);
	return same;
}

static void detail_files_at(int dir, const char *prefix, unsigned depth, struct detail_files *list)
{
	struct json *out = list->out;
	DIR *stream = fdopendir(dir);
	if (!stream) {
		close(dir);
		return;
	}
	struct dirent *entry;
	while (list->count < list->most && (entry = readdir(stream))) {
		struct stat st;
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		    fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		char *path = mem_printf("%s%s%s", prefix, *prefix ? "/" : "", entry->d_name);
		if (S_ISREG(st.st_mode) && !detail_is_submitted(list, dir, entry->d_name, path, st.st_size)) {
			json_map(out);
			json_key_string(out, "path", path);
			json_key_int(out, "bytes", st.st_size);
			char mode[8];
			snprintf(mode, sizeof(mode), "%03o", (unsigned)st.st_mode & 0777);
			json_key_string(out, "mode", mode);
			json_end(out);
			list->count++;
		} else if (S_ISDIR(st.st_mode) && depth < list->depth_most) {
			int below = openat(dir, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			if (below >= 0)
				detail_files_at(below, path, depth + 1, list);
		}
		free(path);
	}
	closedir(stream);
}

/* Regular files only, and no links followed. Of a task (`submitted` names the folder of the files it was given) what it
 * wrote or changed, and not more than a page shows. */
static void detail_put_files(const char *folder, const char *submitted, struct json *out)
{
	struct detail_files list = {
		.most = submitted ? DETAIL_FILES_MAX : SIZE_MAX,
		.depth_most = submitted ? DETAIL_DEPTH_MAX : LIMIT_SCRIPT_DEPTH,
		.submitted = submitted ? open(submitted, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1,
		.out = out,
	};
	json_key(out, "files");
	json_list(out);
	int dir = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir >= 0)
		detail_files_at(dir, "", 0, &list);
	if (list.submitted >= 0)
		close(list.submitted);
	json_end(out);
}

/* Of a script: enough for its first line. */
#define DETAIL_HEAD_BYTES 512

struct detail_task {
	struct node *params;
	int64_t attempt, seed;
};

static int detail_task_cb(void *ctx, const struct store_task *row)
{
	struct detail_task *task = ctx;
	task->attempt = row->attempt;
	task->seed = row->seed;
	return node_parse_json(row->parameters, strlen(row->parameters), &task->params, NULL);
}

/* NULL before the first attempt. */
static int detail_make_argv(struct engine *engine, const struct spec *spec, int64_t experiment, int64_t number,
			    struct node **ret)
{
	struct detail_task task = {0};
	int rc = store_read_task(engine_store(engine), experiment, number, detail_task_cb, &task);
	if (rc == 0 && task.attempt)
		*ret = engine_make_argv(spec, experiment, number, task.seed, task.params);
	node_free(task.params);
	return rc;
}

static char *detail_files_folder(struct engine *engine, int64_t experiment)
{
	char *root = engine_folder(engine, experiment, 0, 0), *folder = spool_files_dir(root);
	free(root);
	return folder;
}

/* As the runner starts it: with the program that the first line of the submitted script names. */
static struct node *detail_as_run(struct engine *engine, const struct spec *spec, int64_t experiment,
				  const struct node *argv)
{
	char head[DETAIL_HEAD_BYTES + 1];
	char *folder = detail_files_folder(engine, experiment);
	int fd = spec->script ? fs_open_beneath(folder, spec->script, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0) : -1;
	ssize_t n = fd < 0 ? -1 : read(fd, head, DETAIL_HEAD_BYTES);
	if (fd >= 0)
		close(fd);
	free(folder);
	head[n > 0 ? n : 0] = '\0';
	return call_as_run(argv, spec, n > 0 ? head : NULL);
}

/* What the newest attempt runs; empty before the first one, and where the experiment names no program. */
static int detail_put_argv(struct engine *engine, int64_t experiment, int64_t number, struct json *out)
{
	struct engine_experiment *e = engine_find(engine, experiment);
	struct spec *read = NULL;
	struct node *argv = NULL;
	int rc = e ? 0 : engine_read_spec(engine, experiment, &read);
	const struct spec *spec = e ? e->spec : read;
	if (rc == 0 && (spec->script || spec->command))
		rc = detail_make_argv(engine, spec, experiment, number, &argv);
	json_key(out, "argv");
	struct node *run = argv ? detail_as_run(engine, spec, experiment, argv) : NULL;
	if (run)
		node_write_json(run, out);
	else
		json_put_raw(out, "[]");
	node_free(run);
	node_free(argv);
	spec_free(read);
	return rc == -EIO ? rc : 0; /* one that this version does not understand is shown all the same */
}

int engine_write_task(struct engine *engine, int64_t experiment, int64_t number, struct json *out)
{
	int rc = store_json_open_task(engine_store(engine), experiment, number, out);
	if (rc < 0)
		return rc;
	char *folder = engine_folder(engine, experiment, number, 0), *work = spool_work_dir(folder);
	json_key_string(out, "folder", folder);
	char *submitted = detail_files_folder(engine, experiment);
	detail_put_files(work, submitted, out);
	free(submitted);
	rc = detail_put_argv(engine, experiment, number, out);
	if (rc == 0)
		rc = left_write_task(engine, experiment, number, out);
	json_end(out);
	free(work);
	free(folder);
	return rc;
}

int engine_write_experiment(struct engine *engine, int64_t experiment, struct json *out)
{
	int rc = store_json_open_experiment(engine_store(engine), experiment, out);
	if (rc < 0)
		return rc;
	char *folder = engine_folder(engine, experiment, 0, 0);
	json_key_string(out, "folder", folder);
	engine_write_sharing(engine_find(engine, experiment), out);
	engine_write_slow(engine, experiment, out);
	rc = store_json_failed(engine_store(engine), experiment, out);
	if (rc == 0)
		rc = left_write_experiment(engine, experiment, out);
	json_end(out);
	free(folder);
	return rc;
}

void engine_write_files(struct engine *engine, int64_t experiment, struct json *out)
{
	char *folder = detail_files_folder(engine, experiment);
	detail_put_files(folder, NULL, out);
	free(folder);
	/* What was active in the shell that submitted it: a copy that is submitted elsewhere needs it, too. */
	char *root = engine_folder(engine, experiment, 0, 0), *path = spool_caller_path(root);
	struct spool_caller caller = spool_caller_read(path);
	json_key_string(out, "python", caller.python);
	json_key(out, "modules");
	json_list(out);
	for (size_t i = 0; caller.modules && i < caller.modules->count; i++)
		json_put_string(out, node_string(caller.modules->items[i]));
	json_end(out);
	spool_caller_free(&caller);
	free(path);
	free(root);
}

/* A regular file, which no link leads to. */
static int detail_open(const char *folder, const char *path)
{
	struct stat st;
	int fd = fs_open_beneath(folder, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		return -ENOENT;
	}
	return fd;
}

int engine_open_file(struct engine *engine, int64_t experiment, const char *path)
{
	char *folder = detail_files_folder(engine, experiment);
	int fd = detail_open(folder, path);
	free(folder);
	return fd;
}

int engine_open_task_file(struct engine *engine, int64_t experiment, int64_t number, const char *path)
{
	char *folder = engine_folder(engine, experiment, number, 0), *work = spool_work_dir(folder);
	int fd = detail_open(work, path);
	free(work);
	free(folder);
	return fd;
}

int engine_open_log(struct engine *engine, int64_t experiment, int64_t number, int64_t attempt, bool is_error)
{
	char *folder = engine_folder(engine, experiment, number, attempt);
	int fd = detail_open(folder, spool_name(is_error ? SPOOL_STDERR : SPOOL_STDOUT));
	free(folder);
	return fd;
}

void engine_read_log_times(struct engine *engine, int64_t experiment, int64_t number, int64_t attempt, bool is_error,
			   int64_t from, int64_t to, logtimes_f each, void *ctx)
{
	char *folder = engine_folder(engine, experiment, number, attempt);
	logtimes_read(folder, is_error, from, to, each, ctx);
	free(folder);
}

/* What a version before this one submitted last. */
static int detail_read_old_script(struct engine *engine, int64_t experiment, struct buf *out)
{
	struct buf token = buf_make(TOKEN_ID_CHARS);
	int rc = store_read_text(engine_store(engine), experiment, "last_batch", &token);
	if (rc == 0) {
		char *folder = engine_batch_folder(engine, experiment, buf_text(&token));
		char *path = spool_old_script_path(folder);
		rc = fs_read(path, LIMIT_DOCUMENT_BYTES, out, NULL) < 0 ? -ENOENT : 0;
		free(path);
		free(folder);
	}
	buf_free(&token);
	return rc;
}

int engine_read_script(struct engine *engine, int64_t experiment, struct buf *out)
{
	char *folder = engine_folder(engine, experiment, 0, 0), *path = spool_script_path(folder);
	int rc = fs_read(path, LIMIT_DOCUMENT_BYTES, out, NULL);
	free(path);
	free(folder);
	return rc < 0 ? detail_read_old_script(engine, experiment, out) : 0;
}
