/* See ran.h. */
#include "spool/ran.h"

#include "base/fs.h"
#include "base/log.h"
#include "base/text.h"
#include "spool/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <unistd.h>

/* The sum in 16 digits, a space, the digest, a newline. */
#define RAN_LAST_CHARS 64

int spool_ran_hash_file(const char *path, char hex[65])
{
	unsigned char chunk[32768], digest[crypto_hash_sha256_BYTES];
	crypto_hash_sha256_state state;
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	crypto_hash_sha256_init(&state);
	while ((n = read(fd, chunk, sizeof(chunk))) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			crypto_hash_sha256_update(&state, chunk, (size_t)n);
	int rc = n < 0 ? -errno : 0;
	close(fd);
	crypto_hash_sha256_final(&state, digest);
	if (rc == 0)
		sodium_bin2hex(hex, 65, digest, sizeof(digest));
	return rc;
}

void spool_ran_digest(const char *text, size_t len, char digest[SPOOL_RAN_CHARS])
{
	unsigned char whole[crypto_hash_sha256_BYTES];
	crypto_hash_sha256(whole, (const unsigned char *)text, len);
	sodium_bin2hex(digest, SPOOL_RAN_CHARS, whole, (SPOOL_RAN_CHARS - 1) / 2);
}

bool spool_ran_is_digest(const char *digest)
{
	return digest && strlen(digest) == SPOOL_RAN_CHARS - 1 && strspn(digest, "0123456789abcdef") == strlen(digest);
}

int spool_ran_write(const char *ran_dir, const char *text, size_t len, bool sync, char digest[SPOOL_RAN_CHARS],
		    struct error *err)
{
	spool_ran_digest(text, len, digest);
	char *path = mem_printf("%s/%s.json", ran_dir, digest);
	int rc = 0;
	if (access(path, F_OK) < 0) {
		if (mkdir(ran_dir, SPOOL_FOLDER_MODE) < 0 && errno != EEXIST)
			rc = errorf(err, -errno, "%s: %s", ran_dir, strerror(errno));
		if (rc == 0)
			rc = fs_write(path, text, len, SPOOL_FILE_MODE, sync, err);
		if (rc < 0 && access(path, F_OK) == 0) /* another runner was quicker */
			rc = 0;
	}
	free(path);
	return rc;
}

int spool_ran_read(const char *ran_dir, const char *digest, struct buf *out, struct error *err)
{
	char found[SPOOL_RAN_CHARS];
	if (!spool_ran_is_digest(digest))
		return errorf(err, -EINVAL, "'%s' is not a digest", digest ? digest : "");
	char *path = mem_printf("%s/%s.json", ran_dir, digest);
	int rc = fs_read(path, SPOOL_RAN_BYTES, out, err);
	if (rc == 0) {
		spool_ran_digest(buf_text(out), out->len, found);
		if (strcmp(found, digest) != 0)
			rc = errorf(err, -EBADMSG, "%s: it was changed, or is not whole", path);
	}
	free(path);
	return rc;
}

static char *ran_last_path(const char *ran_dir)
{
	char host[256] = "";
	gethostname(host, sizeof(host) - 1);
	return mem_printf("%s/%s.last", ran_dir, host);
}

bool spool_ran_recall(const char *ran_dir, uint64_t sum, char digest[SPOOL_RAN_CHARS])
{
	char line[RAN_LAST_CHARS] = "", begin[RAN_LAST_CHARS];
	char *path = ran_last_path(ran_dir);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
	if (fd >= 0)
		close(fd);
	free(path);
	int len = snprintf(begin, sizeof(begin), "%016" PRIx64 " ", sum);
	if (n != len + SPOOL_RAN_CHARS || strncmp(line, begin, (size_t)len) != 0)
		return false;
	line[n - 1] = 0; /* the end of the line */
	path = mem_printf("%s/%s.json", ran_dir, line + len);
	bool found = spool_ran_is_digest(line + len) && access(path, F_OK) == 0;
	free(path);
	if (found)
		memcpy(digest, line + len, SPOOL_RAN_CHARS);
	return found;
}

void spool_ran_remember(const char *ran_dir, uint64_t sum, const char *digest)
{
	struct error err;
	char *path = ran_last_path(ran_dir), *line = mem_printf("%016" PRIx64 " %s\n", sum, digest);
	if (fs_write(path, line, strlen(line), SPOOL_FILE_MODE, false, &err) < 0)
		log_warning("%s", err.text);
	free(path);
	free(line);
}
