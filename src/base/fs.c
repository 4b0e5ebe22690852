/* Files: see fs.h. */
#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As much as a commit takes, about. */
#define FS_TRIAL_BYTES 65536

static int fs_read_fd(int fd, const char *path, size_t max, struct buf *out, struct error *err)
{
	int rc = 0;
	size_t total = 0;
	for (;;) {
		char chunk[65536];
		ssize_t n = read(fd, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			rc = errorf(err, -errno, "%s: %s", path, strerror(errno));
		if (n <= 0)
			break;
		total += (size_t)n;
		if (total > max) {
			rc = errorf(err, -E2BIG, "%s: larger than %zu bytes", path, max);
			break;
		}
		buf_add(out, chunk, (size_t)n);
		if (out->full) {
			rc = errorf(err, -E2BIG, "%s: larger than %zu bytes", path, out->max);
			break;
		}
	}
	close(fd);
	return rc;
}

int fs_read(const char *path, size_t max, struct buf *out, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? errorf(err, -errno, "%s: %s", path, strerror(errno)) : fs_read_fd(fd, path, max, out, err);
}

int fs_read_regular(const char *path, size_t max, struct buf *out, struct error *err)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		return errorf(err, -EINVAL, "%s is not a regular file", path);
	}
	return fd < 0 ? errorf(err, -errno, "%s: %s", path, strerror(errno)) : fs_read_fd(fd, path, max, out, err);
}

int fs_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;
	while (len) {
		ssize_t n = write(fd, p, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int fs_write(const char *path, const void *data, size_t len, mode_t mode, bool sync, struct error *err)
{
	char *private = mem_printf("%s.%ld.tmp", path, (long)getpid());
	int rc = 0;
	int fd = open(private, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0) {
		rc = errorf(err, -errno, "%s: %s", private, strerror(errno));
		goto out;
	}
	rc = fs_write_all(fd, data, len);
	if (rc == 0 && sync && fdatasync(fd) < 0)
		rc = -errno;
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	if (rc == 0 && rename(private, path) < 0)
		rc = -errno;
	if (rc < 0) {
		errorf(err, rc, "%s: %s", path, strerror(-rc));
		unlink(private);
	}
out:
	free(private);
	return rc;
}

/* On a network file system, close() waits for the server and gives its answer. */
int fs_try_writing(const char *folder)
{
	static const char bytes[FS_TRIAL_BYTES];
	char *path = mem_printf("%s/room", folder);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	int rc = fd < 0 ? -errno : fs_write_all(fd, bytes, sizeof(bytes));
	if (fd >= 0) {
		if (close(fd) < 0 && rc == 0)
			rc = -errno;
		unlink(path);
	}
	free(path);
	return rc == -EMFILE || rc == -ENFILE ? 0 : rc; /* says nothing about the folder */
}

const char *fs_write_remedy(int rc)
{
	static const struct {
		int rc;
		const char *text;
	} remedies[] = {
		{-ENOSPC, "Free some space there"},
		{-EDQUOT, "Free some of your quota there"},
		{-EROFS, "It is mounted read-only: ask your administrator, or set SLUICE_STATE to another folder"},
		{-EACCES, "Give yourself the right to write there, or set SLUICE_STATE to a folder of yours"},
	};
	for (size_t i = 0; i < COUNT_OF(remedies); i++)
		if (remedies[i].rc == rc)
			return remedies[i].text;
	return "Check the disk or the file server, or ask your administrator";
}

/* Makes the folder that a path lies in. */
static int fs_make_parent(const char *path, mode_t mode, struct error *err)
{
	size_t len = strlen(path);
	while (len && path[len - 1] == '/')
		len--;
	while (len && path[len - 1] != '/')
		len--;
	if (len <= 1)
		return 0;
	char *parent = mem_copy(path, len - 1);
	int rc = fs_make_dirs(parent, mode, err);
	free(parent);
	return rc;
}

int fs_make_dirs(const char *path, mode_t mode, struct error *err)
{
	struct stat st;
	if (!*path)
		return errorf(err, -ENOENT, "a folder without a name");
	/* From the bottom: mostly only the last ones are missing, and on a network file system every call is a request. */
	if (mkdir(path, mode) == 0)
		return 0;
	if (errno == ENOENT) {
		int rc = fs_make_parent(path, mode, err);
		if (rc < 0 || mkdir(path, mode) == 0)
			return rc;
	}
	if (errno != EEXIST)
		return errorf(err, -errno, "%s: %s", path, strerror(errno));
	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		return errorf(err, -ENOTDIR, "%s is not a folder", path);
	return 0;
}

static int fs_remove_at(int parent, const char *name)
{
	if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	DIR *dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -errno;
	}
	int rc = 0;
	struct dirent *entry;
	while (rc == 0 && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			rc = fs_remove_at(fd, entry->d_name);
	closedir(dir);
	if (rc == 0 && unlinkat(parent, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		rc = -errno;
	return rc;
}

int fs_remove_tree(const char *path, struct error *err)
{
	int rc = fs_remove_at(AT_FDCWD, path);
	return rc < 0 ? errorf(err, rc, "%s: cannot be removed: %s", path, strerror(-rc)) : 0;
}

bool fs_is_safe_relative(const char *rel)
{
	if (!*rel || *rel == '/' || strlen(rel) > 1024)
		return false;
	for (const char *p = rel;;) {
		size_t n = strcspn(p, "/");
		if (n == 0 || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
			return false;
		if (!p[n])
			return true;
		p += n + 1;
	}
}

/* Where the kernel has no openat2: each component by itself, none of them a link. */
static int fs_walk_beneath(int dir, const char *rel, int flags, mode_t mode)
{
	int at = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	while (at >= 0) {
		size_t n = strcspn(rel, "/");
		char *part = mem_copy(rel, n);
		bool last = !rel[n];
		int next = openat(at, part, (last ? flags : O_PATH | O_DIRECTORY) | O_NOFOLLOW | O_CLOEXEC, mode);
		int failure = errno;
		free(part);
		close(at);
		errno = failure;
		if (last || next < 0)
			return next < 0 ? -failure : next;
		at = next;
		rel += n + 1;
	}
	return -errno;
}

int fs_open_beneath(const char *dir, const char *rel, int flags, mode_t mode)
{
	if (!fs_is_safe_relative(rel))
		return -EINVAL;
	int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (at < 0)
		return -errno;
	struct open_how how = {
		.flags = (uint64_t)(flags | O_CLOEXEC),
		.mode = flags & O_CREAT ? mode : 0,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, at, rel, &how, sizeof(how));
	int rc = fd < 0 ? -errno : fd;
	if (rc == -ENOSYS)
		rc = fs_walk_beneath(at, rel, flags, mode);
	close(at);
	return rc;
}

int fs_copy_file(const char *from, const char *to, mode_t mode, struct error *err)
{
	int rc = 0, out = -1;
	int in = open(from, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (in < 0)
		return errorf(err, -errno, "%s: %s", from, strerror(errno));
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
	if (out < 0) {
		rc = errorf(err, -errno, "%s: %s", to, strerror(errno));
		goto out;
	}
	/* Where the file system can, both share their bytes until one is changed. */
	bool cloned = ioctl(out, FICLONE, in) == 0;
	while (!cloned) {
		char chunk[65536];
		ssize_t n = read(in, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			rc = n < 0 ? -errno : 0;
			break;
		}
		if ((rc = fs_write_all(out, chunk, (size_t)n)) < 0)
			break;
	}
	if (close(out) < 0 && rc == 0)
		rc = -errno;
	if (rc < 0)
		errorf(err, rc, "copying %s to %s: %s", from, to, strerror(-rc));
out:
	close(in);
	return rc;
}

char *fs_program(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	return n > 0 ? mem_copy(path, (size_t)n) : mem_strdup("sluice");
}

char *fs_usual_state(void)
{
	const char *home = getenv("HOME");
	return home && *home ? mem_printf("%s/.local/state/sluice", home) : NULL;
}
