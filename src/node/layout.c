/* See layout.h. */
#include "node/layout.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "node/earlier.h"
#include "node/submitted.h"
#include "spool/paths.h"
#include "spool/stop.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

int layout_make_attempt(const struct spool_descriptor *d, struct error *err)
{
	if (mkdir(d->attempt_dir, SPOOL_FOLDER_MODE) == 0)
		return 0;
	return fs_make_dirs(d->attempt_dir, SPOOL_FOLDER_MODE, err);
}

static int layout_write_params(const struct spool_descriptor *d, struct error *err)
{
	struct buf text = buf_make(LIMIT_DOCUMENT_BYTES);
	struct json out = json_to(&text);
	if (d->params) {
		node_write_json(d->params, &out);
	} else {
		json_map(&out);
		json_end(&out);
	}
	buf_add_char(&text, '\n');
	int rc = fs_write(d->params_path, text.data, text.len, SPOOL_FILE_MODE, false, err);
	buf_free(&text);
	return rc;
}

static int layout_make_folder(const char *path, struct error *err)
{
	if (mkdir(path, SPOOL_FOLDER_MODE) == 0 || errno == EEXIST)
		return 0;
	return errorf(err, -errno, "%s: %s", path, strerror(errno));
}

/* A runner that was killed may have left one. */
static int layout_make_empty(const char *path, struct error *err)
{
	if (mkdir(path, SPOOL_FOLDER_MODE) == 0)
		return 0;
	int rc = errno == EEXIST ? fs_remove_tree(path, err) : 0;
	return rc < 0 ? rc : layout_make_folder(path, err);
}

/* The work folder gets its name when everything is in it: a runner that is killed before leaves no half of a file to the
 * next attempt. */
static int layout_make_new(const struct spool_descriptor *d, struct buf *notes, struct error *err)
{
	char *path = mem_printf("%s.new", d->work_dir);
	int rc = layout_make_empty(path, err);
	if (rc == 0)
		rc = submitted_lay(d, path, SUBMITTED_ALL, notes, err);
	if (rc == 0 && rename(path, d->work_dir) < 0)
		rc = errorf(err, -errno, "%s: %s", d->work_dir, strerror(errno));
	free(path);
	return rc;
}

/* What the script left stays. Only an attempt that came to a good end, or whose runner was killed then, may have removed
 * the copies. */
static int layout_keep_work(const struct spool_descriptor *d, struct buf *notes, struct error *err)
{
	bool removed = earlier_removed_copies(d);
	return submitted_lay(d, d->work_dir, removed ? SUBMITTED_MISSING : SUBMITTED_NEWER, notes, err);
}

static char *layout_aside(const char *path)
{
	return mem_printf("%s.old", path);
}

/* Out of the way of a fresh start, until the script has started. An older one may lie there already: where the attempt
 * before began, it was killed before it had removed that, and what it left itself is newer. Where it never began, what it
 * had laid is worth nothing. A first attempt finds nothing. */
static int layout_set_aside(const struct spool_descriptor *d, const char *path, struct error *err)
{
	if (access(path, F_OK) < 0)
		return 0;
	char *old = layout_aside(path);
	bool both = access(old, F_OK) == 0, newer = both && earlier_has_begun(d);
	int rc = both ? fs_remove_tree(newer ? old : path, err) : 0;
	if (rc == 0 && (newer || !both) && rename(path, old) < 0)
		rc = errorf(err, -errno, "%s: %s", old, strerror(errno));
	free(old);
	return rc;
}

bool layout_has_aside(const struct spool_descriptor *d)
{
	char *work = layout_aside(d->work_dir), *checkpoint = layout_aside(d->checkpoint_dir);
	bool has = access(work, F_OK) == 0 || access(checkpoint, F_OK) == 0;
	free(work);
	free(checkpoint);
	return has;
}

void layout_drop_aside(const struct spool_descriptor *d)
{
	const char *const folders[] = {d->work_dir, d->checkpoint_dir};
	for (size_t i = 0; i < COUNT_OF(folders); i++) {
		struct error err;
		char *old = layout_aside(folders[i]);
		if (access(old, F_OK) == 0 && fs_remove_tree(old, &err) < 0)
			log_warning("what an earlier attempt left cannot be removed: %s", err.text);
		free(old);
	}
}

int layout_make_work(const struct spool_descriptor *d, struct buf *notes, struct error *err)
{
	int rc = 0;
	if (d->fresh)
		rc = layout_set_aside(d, d->work_dir, err);
	if (rc == 0 && d->fresh)
		rc = layout_set_aside(d, d->checkpoint_dir, err);
	if (rc == 0)
		rc = layout_make_folder(d->checkpoint_dir, err);
	if (rc == 0)
		rc = access(d->work_dir, F_OK) == 0 ? layout_keep_work(d, notes, err) : layout_make_new(d, notes, err);
	if (rc == 0 && d->results) {
		char *results = mem_printf("%s/%s", d->work_dir, d->results);
		rc = fs_make_dirs(results, SPOOL_FOLDER_MODE, err);
		free(results);
	}
	return rc < 0 ? rc : layout_write_params(d, err);
}

static void layout_remove_empty_file(const char *attempt_dir, enum spool_file file)
{
	struct stat st;
	char *path = spool_path(attempt_dir, file);
	if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0)
		unlink(path);
	free(path);
}

/* results/e1/7, then results/e1, then results; rmdir(2) leaves what is not empty. */
static void layout_remove_empty_results(const struct spool_descriptor *d)
{
	char *path = mem_printf("%s/%s", d->work_dir, d->results);
	size_t work = strlen(d->work_dir);
	while (strlen(path) > work && rmdir(path) == 0)
		*strrchr(path, '/') = 0;
	free(path);
}

void layout_tidy(const struct spool_descriptor *d, bool finished)
{
	layout_remove_empty_file(d->attempt_dir, SPOOL_STDOUT);
	layout_remove_empty_file(d->attempt_dir, SPOOL_STDERR);
	/* With a stop mark it may have been given up, and the next attempt be at work in these folders already. */
	if (spool_stop_exists(d->attempt_dir))
		return;
	if (finished)
		submitted_remove(d);
	if (d->results)
		layout_remove_empty_results(d);
	rmdir(d->checkpoint_dir);
}

bool layout_is_seen(const struct spool_descriptor *d)
{
	if (access(d->work_dir, R_OK | X_OK) == 0)
		return true;
	return errno == ENOENT && access(d->task_dir, F_OK) == 0;
}
