/* The lease: see lease.h. The lock decides; the text is for people, and for the command line that looks
 * for a daemon on another host.
 *
 * It is a lock of the process (fcntl), not of the open file (flock). Children between fork and exec also hold the
 * latter, so a daemon that was killed while it started a program still seemed to run. An fcntl lock is lost when the
 * process closes any other descriptor of the file, so the holder never opens it again. */
#include "http/lease.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/node.h"
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

static int lease_refuse(const char *path, struct error *err)
{
	struct buf text = buf_make(4096);
	struct node *root = NULL;
	if (fs_read(path, 4096, &text, NULL) < 0 || node_parse_json(buf_text(&text), text.len, &root, NULL) < 0)
		root = NULL;
	const char *host = node_get_string(root, "host");
	int rc = errorf(err, -EBUSY,
			"another sluice daemon uses this state folder: process %" PRId64
			" on %s. Stop that one, or use another folder (--state, SLUICE_STATE)",
			node_get_int(root, "pid", 0), host ? host : "an unknown host");
	node_free(root);
	buf_free(&text);
	return rc;
}

static int lease_write(int fd)
{
	struct buf text = buf_make(4096);
	struct json out = json_to(&text);
	char host[256] = "";
	gethostname(host, sizeof(host) - 1);
	json_map(&out);
	json_key_string(&out, "host", host);
	json_key_string(&out, "boot_id", proc_boot_id());
	json_key_int(&out, "pid", getpid());
	json_key_time(&out, "since", clock_now_ms());
	json_end(&out);
	buf_add_char(&text, '\n');
	/* Over the old text first: on a full disk there may be no room for a new one. */
	int rc = fs_write_all(fd, buf_text(&text), text.len);
	if (rc == 0 && ftruncate(fd, (off_t)text.len) < 0)
		rc = -errno;
	buf_free(&text);
	return rc;
}

int lease_take(const char *state_dir, struct error *err)
{
	char *path = mem_printf("%s/lease", state_dir);
	int rc = 0;
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		rc = errorf(err, -errno, "%s: %s", path, strerror(errno));
	} else if (fcntl(fd, F_SETLK, &whole) < 0) {
		rc = errno == EACCES || errno == EAGAIN
			? lease_refuse(path, err)
			: errorf(err, -errno, "%s cannot be locked: %s", path, strerror(errno));
	} else {
		/* The lock holds without the text. On a full disk, what is there can still be looked at. */
		rc = lease_write(fd);
		if (rc == -ENOSPC || rc == -EDQUOT)
			rc = 0;
		else if (rc < 0)
			errorf(err, rc, "%s: %s", path, strerror(-rc));
	}
	if (rc < 0 && fd >= 0)
		close(fd);
	free(path);
	return rc < 0 ? rc : fd;
}

void lease_give(int fd)
{
	if (fd < 0)
		return;
	/* The lease is free now. The file stays: a lock on a removed file has no effect. */
	if (ftruncate(fd, 0) < 0)
		errno = 0;
	close(fd);
}
