/* Folders of the work folder are real ones and only files are links, so that a script may write beside
 * what was submitted without changing it for the other tasks. */
#include "node/layout.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/limits.h"
#include "spool/paths.h"
#include "spool/stop.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int layout_make_attempt(const struct spool_descriptor *d, struct error *err)
{
	if (mkdir(d->attempt_dir, SPOOL_FOLDER_MODE) == 0)
		return 0;
	return fs_make_dirs(d->attempt_dir, SPOOL_FOLDER_MODE, err);
}

static bool layout_is_folder(int dir, const struct dirent *entry)
{
	struct stat st;
	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static int layout_link_folder(const char *from, const char *to, int depth, struct error *err)
{
	if (depth > LIMIT_DOCUMENT_DEPTH)
		return errorf(err, -ELOOP, "%s: nested too deep", from);
	DIR *dir = opendir(from);
	if (!dir)
		return errorf(err, -errno, "%s: %s", from, strerror(errno));
	int rc = 0;
	struct dirent *entry;
	while (rc == 0 && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		char *source = mem_printf("%s/%s", from, entry->d_name);
		char *target = mem_printf("%s/%s", to, entry->d_name);
		bool folder = layout_is_folder(dirfd(dir), entry);
		if ((folder ? mkdir(target, SPOOL_FOLDER_MODE) : symlink(source, target)) < 0 && errno != EEXIST)
			rc = errorf(err, -errno, "%s: %s", target, strerror(errno));
		else if (folder)
			rc = layout_link_folder(source, target, depth + 1, err);
		free(source);
		free(target);
	}
	closedir(dir);
	return rc;
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

int layout_make_work(const struct spool_descriptor *d, struct error *err)
{
	int rc = 0;
	/* A first attempt finds nothing to remove; asking costs less than removing. */
	if (d->fresh && access(d->work_dir, F_OK) == 0)
		rc = fs_remove_tree(d->work_dir, err);
	if (rc == 0 && d->fresh && access(d->checkpoint_dir, F_OK) == 0)
		rc = fs_remove_tree(d->checkpoint_dir, err);
	if (rc == 0)
		rc = layout_make_folder(d->work_dir, err);
	if (rc == 0)
		rc = layout_make_folder(d->checkpoint_dir, err);
	if (rc == 0)
		rc = layout_link_folder(d->files_dir, d->work_dir, 0, err);
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

void layout_remove_empty(const struct spool_descriptor *d)
{
	layout_remove_empty_file(d->attempt_dir, SPOOL_STDOUT);
	layout_remove_empty_file(d->attempt_dir, SPOOL_STDERR);
	/* With a stop mark it may have been given up, and the next attempt be at work in these folders already. */
	if (spool_stop_exists(d->attempt_dir))
		return;
	if (d->results)
		layout_remove_empty_results(d);
	rmdir(d->checkpoint_dir);
}
