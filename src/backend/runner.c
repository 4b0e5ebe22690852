/* See runner.h. A hard link to the program itself would be cheaper, but installers overwrite files in place; a
 * link between our own copies is safe, and its count says whether a copy is still used. */
#include "backend/runner.h"

#include "base/fs.h"
#include "base/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <unistd.h>

#define RUNNER_CHUNK 65536
#define RUNNER_DIGEST_BYTES 16

void runner_open(const char *program, struct runner *ret)
{
	*ret = (struct runner){.fd = open(program, O_RDONLY | O_CLOEXEC | O_NOCTTY)};
}

void runner_close(struct runner *runner)
{
	if (runner->fd >= 0)
		close(runner->fd);
	runner->fd = -1;
}

/* Reads the program to its end, into `to` unless that is -1; gives its name and size. */
static int runner_read(const struct runner *runner, int to, char name[static RUNNER_NAME_CHARS], int64_t *ret_size)
{
	unsigned char digest[RUNNER_DIGEST_BYTES];
	char hex[2 * RUNNER_DIGEST_BYTES + 1];
	crypto_generichash_state state;
	char *chunk = mem_alloc(RUNNER_CHUNK);
	int64_t at = 0;
	int rc = 0;
	ssize_t n;

	crypto_generichash_init(&state, NULL, 0, sizeof(digest));
	while (rc == 0 && (n = pread(runner->fd, chunk, RUNNER_CHUNK, at)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			rc = -errno;
			break;
		}
		crypto_generichash_update(&state, (const unsigned char *)chunk, (size_t)n);
		if (to >= 0)
			rc = fs_write_all(to, chunk, (size_t)n);
		at += n;
	}
	free(chunk);
	if (rc < 0)
		return rc;
	crypto_generichash_final(&state, digest, sizeof(digest));
	sodium_bin2hex(hex, sizeof(hex), digest, sizeof(digest));
	snprintf(name, RUNNER_NAME_CHARS, "%s-%s", SLUICE_VERSION, hex);
	*ret_size = at;
	return 0;
}

int runner_identify(struct runner *runner, struct error *err)
{
	if (runner->name[0])
		return 0;
	if (runner->fd < 0)
		return errorf(err, -EBADF, "the program cannot be read");
	int rc = runner_read(runner, -1, runner->name, &runner->size);
	if (rc < 0)
		runner_close(runner); /* what cannot be read now is not tried again: the answer stays the same */
	return rc < 0 ? errorf(err, -EBADF, "the program cannot be read: %s", strerror(-rc)) : 0;
}

char *runner_path(const struct runner *runner, const char *dir)
{
	return mem_printf("%s/bin/%s/sluice", dir, runner->name);
}

static bool runner_is_there(const struct runner *runner, const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == runner->size && (st.st_mode & 0111);
}

/* The folder's entries too must outlive a power failure: a job may wait for the name. */
static int runner_sync_folder(const char *path)
{
	char *folder = mem_copy(path, (size_t)(strrchr(path, '/') - path));
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 || fsync(fd) < 0 ? -errno : 0;
	if (fd >= 0)
		close(fd);
	free(folder);
	/* Some file systems cannot sync a folder, and some need not. */
	return rc == -EINVAL || rc == -ENOTSUP || rc == -EBADF ? 0 : rc;
}

/* Fills `private` with the program. */
static int runner_write(const struct runner *runner, const char *private)
{
	char name[RUNNER_NAME_CHARS];
	int64_t size = 0;
	int fd = open(private, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (fd < 0)
		return -errno;
	int rc = runner_read(runner, fd, name, &size);
	/* Overwritten in place since: it is not what the daemon is. */
	if (rc == 0 && strcmp(name, runner->name) != 0)
		rc = -ETXTBSY;
	if (rc == 0 && (fchmod(fd, 0755) < 0 || fsync(fd) < 0)) /* whatever the umask */
		rc = -errno;
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	return rc;
}

/* Puts the file at path in one step: a link to `from`, or a copy where there is none or links are not possible. The
 * private name is fixed, so that what a killed daemon left is taken away by the next one. */
static int runner_put(const struct runner *runner, const char *from, const char *path, struct error *err)
{
	char *private = mem_printf("%s.part", path);
	char *folder = mem_copy(path, (size_t)(strrchr(path, '/') - path));
	int rc = fs_make_dirs(folder, 0700, err);
	if (rc < 0)
		goto out;
	/* Never written through: a link that was left here leads to another program. */
	if (unlink(private) < 0 && errno != ENOENT)
		rc = -errno;
	if (rc == 0 && (!from || link(from, private) < 0))
		rc = runner_write(runner, private);
	if (rc == 0 && rename(private, path) < 0)
		rc = -errno;
	if (rc == 0)
		rc = runner_sync_folder(path);
	if (rc == -ETXTBSY)
		errorf(err, rc,
		       "the program of the daemon was overwritten while it runs: restart the daemon (sluice daemon restart)");
	else if (rc < 0)
		errorf(err, rc, "the compute nodes' copy of sluice cannot be made: %s: %s%s", path, strerror(-rc),
		       rc == -ENOSPC || rc == -EDQUOT ? "; free some space there, then sluice goes on by itself" : "");
	if (rc < 0)
		unlink(private);
out:
	free(folder);
	free(private);
	return rc;
}

/* Removes copies that no experiment links to; the one of `runner` stays. */
static void runner_tidy(const struct runner *runner, const char *state_dir)
{
	char *folder = mem_printf("%s/bin", state_dir);
	DIR *dir = opendir(folder);
	struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || strcmp(entry->d_name, runner->name) == 0)
			continue;
		char *path = mem_printf("%s/%s", folder, entry->d_name), *copy = mem_printf("%s/sluice", path);
		struct error err;
		struct stat st;
		bool used = lstat(copy, &st) == 0 ? st.st_nlink > 1 : errno != ENOENT;
		if (!used && fs_remove_tree(path, &err) < 0)
			log_warning("%s", err.text);
		free(copy);
		free(path);
	}
	if (dir)
		closedir(dir);
	free(folder);
}

int runner_place(const struct runner *runner, const char *state_dir, const char *dir, struct error *err)
{
	char *master = runner_path(runner, state_dir), *path = runner_path(runner, dir);
	int rc = 0;
	if (!runner_is_there(runner, path)) {
		if (!runner_is_there(runner, master)) {
			rc = runner_put(runner, NULL, master, err);
			if (rc == 0)
				runner_tidy(runner, state_dir);
		}
		if (rc == 0)
			rc = runner_put(runner, master, path, err);
	}
	free(master);
	free(path);
	return rc;
}
