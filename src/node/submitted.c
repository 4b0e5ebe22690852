/* See submitted.h. A copy keeps the time of its source: an equal time and size mean that the script has not written it,
 * and a later time of the source means that it was submitted again. */
#include "node/submitted.h"

#include "base/fs.h"
#include "base/limits.h"
#include "base/text.h"
#include "spool/paths.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* Not a name that people give. In a folder that a script has seen, a copy gets its name when it is whole. */
#define SUBMITTED_PART ".sluice-part"

struct submitted {
	const struct spool_descriptor *d;
	enum submitted_which which;
	struct buf *notes;
	struct error *err;
};

static int submitted_compare(const struct timespec *a, const struct timespec *b)
{
	if (a->tv_sec != b->tv_sec)
		return a->tv_sec < b->tv_sec ? -1 : 1;
	return a->tv_nsec < b->tv_nsec ? -1 : a->tv_nsec > b->tv_nsec;
}

static bool submitted_is_wanted(const struct submitted *s, const struct stat *source, const char *target)
{
	struct stat st;
	if (s->which == SUBMITTED_ALL)
		return true;
	if (lstat(target, &st) < 0)
		return s->which == SUBMITTED_MISSING && errno == ENOENT;
	return S_ISREG(st.st_mode) && submitted_compare(&source->st_mtim, &st.st_mtim) > 0;
}

static int submitted_copy(const struct submitted *s, const char *source, const struct stat *st, const char *target)
{
	bool fresh = s->which == SUBMITTED_ALL;
	char *path = fresh ? mem_strdup(target) : mem_printf("%s" SUBMITTED_PART, target);
	struct timespec times[2] = {st->st_atim, st->st_mtim};
	if (!fresh)
		unlink(path); /* a runner that was killed left it */
	/* Writable until its bytes are there, whatever its own mode. */
	int rc = fs_copy_file(source, path, SPOOL_FILE_MODE | (st->st_mode & S_IXUSR), s->err);
	if (rc == 0 &&
	    ((!(st->st_mode & S_IWUSR) && chmod(path, st->st_mode & 0700) < 0) ||
	     utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) < 0 || (!fresh && rename(path, target) < 0)))
		rc = errorf(s->err, -errno, "%s: %s", path, strerror(errno));
	free(path);
	return rc;
}

static int submitted_link(const struct submitted *s, const char *source, const struct stat *st, const char *target)
{
	char size[32], most[32];
	unlink(target);
	if (symlink(source, target) < 0)
		return errorf(s->err, -errno, "%s: %s", target, strerror(errno));
	text_format_bytes(st->st_size, size, sizeof(size));
	text_format_bytes(s->d->copy_limit_bytes, most, sizeof(most));
	buf_addf(s->notes,
		 "%s (%s) is a read-only link to the submitted file, because it is larger than copy_limit (%s)\n",
		 source + strlen(s->d->files_dir) + 1, size, most);
	return 0;
}

static int submitted_lay_folder(const struct submitted *s, const char *from, const char *to, int depth);

static int submitted_lay_entry(const struct submitted *s, const char *source, const char *target, int depth)
{
	struct stat st;
	if (lstat(source, &st) < 0)
		return errorf(s->err, -errno, "%s: %s", source, strerror(errno));
	if (S_ISDIR(st.st_mode)) {
		if (mkdir(target, SPOOL_FOLDER_MODE) < 0 && errno != EEXIST)
			return errorf(s->err, -errno, "%s: %s", target, strerror(errno));
		return submitted_lay_folder(s, source, target, depth + 1);
	}
	if (!S_ISREG(st.st_mode) || !submitted_is_wanted(s, &st, target))
		return 0;
	return st.st_size > s->d->copy_limit_bytes ? submitted_link(s, source, &st, target)
						   : submitted_copy(s, source, &st, target);
}

static int submitted_lay_folder(const struct submitted *s, const char *from, const char *to, int depth)
{
	if (depth > LIMIT_DOCUMENT_DEPTH)
		return errorf(s->err, -ELOOP, "%s: nested too deep", from);
	DIR *dir = opendir(from);
	if (!dir)
		return errorf(s->err, -errno, "%s: %s", from, strerror(errno));
	int rc = 0;
	struct dirent *entry;
	while (rc == 0 && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		char *source = mem_printf("%s/%s", from, entry->d_name);
		char *target = mem_printf("%s/%s", to, entry->d_name);
		rc = submitted_lay_entry(s, source, target, depth);
		free(source);
		free(target);
	}
	closedir(dir);
	return rc;
}

int submitted_lay(const struct spool_descriptor *d, const char *to, enum submitted_which which, struct buf *notes,
		  struct error *err)
{
	buf_clear(notes);
	return submitted_lay_folder(&(struct submitted){d, which, notes, err}, d->files_dir, to, 0);
}

static bool submitted_is_same(const struct stat *source, const struct stat *copy)
{
	return S_ISREG(copy->st_mode) && source->st_size == copy->st_size &&
		submitted_compare(&source->st_mtim, &copy->st_mtim) == 0;
}

bool submitted_is_untouched(const char *files_dir, const char *work_dir, const char *path, int64_t size,
			    int64_t mtime_ns)
{
	struct stat st;
	if (!files_dir || !text_starts(path, work_dir))
		return false;
	char *source = mem_printf("%s%s", files_dir, path + strlen(work_dir));
	bool same = lstat(source, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == size &&
		(int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec == mtime_ns;
	free(source);
	return same;
}

static void submitted_remove_caches(int folder)
{
	int fd = openat(folder, "__pycache__", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (text_ends(entry->d_name, ".pyc"))
			unlinkat(fd, entry->d_name, 0);
	closedir(dir);
	unlinkat(folder, "__pycache__", AT_REMOVEDIR);
}

/* `from` is a submitted folder, which this closes, `work` the one of the task. Descriptors, not paths: a script may have put a link in place of
 * a folder. */
static void submitted_remove_below(int from, int work, int depth)
{
	DIR *dir = depth > LIMIT_DOCUMENT_DEPTH ? NULL : fdopendir(from);
	struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		struct stat source, copy;
		const char *name = entry->d_name;
		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
		    fstatat(from, name, &source, AT_SYMLINK_NOFOLLOW) < 0 ||
		    fstatat(work, name, &copy, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(source.st_mode) && S_ISDIR(copy.st_mode)) {
			int below = openat(from, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
			int there = openat(work, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
			if (below >= 0 && there >= 0)
				submitted_remove_below(below, there, depth + 1);
			else if (below >= 0)
				close(below);
			if (there >= 0)
				close(there);
			unlinkat(work, name, AT_REMOVEDIR);
		} else if (S_ISREG(source.st_mode) && (S_ISLNK(copy.st_mode) || submitted_is_same(&source, &copy))) {
			unlinkat(work, name, 0);
		}
	}
	if (dir)
		closedir(dir);
	else
		close(from);
	submitted_remove_caches(work);
}

void submitted_remove(const struct spool_descriptor *d)
{
	int from = open(d->files_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int work = open(d->work_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (from >= 0 && work >= 0)
		submitted_remove_below(from, work, 0);
	else if (from >= 0)
		close(from);
	if (work >= 0)
		close(work);
}
