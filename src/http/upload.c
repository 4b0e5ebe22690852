/* Uploads: see upload.h. */
#include "http/upload.h"

#include "base/fs.h"
#include "base/limits.h"
#include "base/token.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define UPLOAD_KEEP_MS (24 * 3600 * (int64_t)1000)

struct upload {
	int fd;
	uint64_t bytes;
	char *part, *path;
	char id[24];
};

int upload_open(const char *dir, struct upload **ret, struct error *err)
{
	char random[TOKEN_ID_CHARS];
	struct upload *upload = mem_alloc(sizeof(*upload));
	token_make_id(random);
	snprintf(upload->id, sizeof(upload->id), "u%.16s", random);
	upload->path = mem_printf("%s/%s", dir, upload->id);
	upload->part = mem_printf("%s/%s.part", dir, upload->id);
	upload->fd = open(upload->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (upload->fd < 0) {
		int rc = errorf(err, -errno, "%s: %s", upload->part, strerror(errno));
		free(upload->path);
		free(upload->part);
		free(upload);
		return rc;
	}
	*ret = upload;
	return 0;
}

int upload_write(struct upload *upload, const void *data, size_t len)
{
	if (len > LIMIT_UPLOAD_BYTES - upload->bytes)
		return -E2BIG;
	upload->bytes += len;
	return fs_write_all(upload->fd, data, len);
}

static void upload_free(struct upload *upload)
{
	if (upload->fd >= 0)
		close(upload->fd);
	free(upload->path);
	free(upload->part);
	free(upload);
}

int upload_finish(struct upload *upload, char ret_id[static 24], uint64_t *ret_bytes, struct error *err)
{
	int rc = close(upload->fd) < 0 || rename(upload->part, upload->path) < 0 ? -errno : 0;
	upload->fd = -1;
	if (rc < 0) {
		errorf(err, rc, "%s: %s", upload->path, strerror(-rc));
		unlink(upload->part);
	} else {
		memcpy(ret_id, upload->id, sizeof(upload->id));
		*ret_bytes = upload->bytes;
	}
	upload_free(upload);
	return rc;
}

void upload_abandon(struct upload *upload)
{
	if (!upload)
		return;
	unlink(upload->part);
	upload_free(upload);
}

void upload_clean(const char *dir, int64_t now_ms)
{
	DIR *stream = opendir(dir);
	if (!stream)
		return;
	struct dirent *entry;
	while ((entry = readdir(stream))) {
		struct stat st;
		if (entry->d_name[0] != 'u' || fstatat(dirfd(stream), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (strstr(entry->d_name, ".part") || (int64_t)st.st_mtime * 1000 < now_ms - UPLOAD_KEEP_MS)
			unlinkat(dirfd(stream), entry->d_name, 0);
	}
	closedir(stream);
}
