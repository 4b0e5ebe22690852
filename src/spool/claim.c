/* link(2) is atomic, also on NFS, where it may report a failure after having worked: then the private
 * file has two names, and that is what counts. */
#include "spool/claim.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/node.h"
#include "base/proc.h"
#include "spool/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define CLAIM_BYTES 4096

static void claim_write_text(struct buf *text)
{
	char host[256] = "";
	uint64_t start = 0;
	gethostname(host, sizeof(host) - 1);
	if (proc_own_start_time(&start) < 0)
		start = 0;
	struct json out = json_to(text);
	json_map(&out);
	json_key_string(&out, "host", host);
	json_key_int(&out, "pid", getpid());
	json_key_int(&out, "pid_start", (int64_t)start);
	json_key_string(&out, "boot_id", proc_boot_id());
	json_key_int(&out, "time", clock_now_ms());
	json_end(&out);
	buf_add_char(text, '\n');
}

static int claim_link(const char *private, const char *claim)
{
	struct stat st;
	if (link(private, claim) == 0)
		return 0;
	int rc = -errno;
	return stat(private, &st) == 0 && st.st_nlink == 2 ? 0 : rc;
}

/* On a network file system the answer to our own link(2) may be lost, and the next try finds what it made. */
static bool claim_is_ours(const char *batch_dir, uint32_t index)
{
	struct spool_claim held = {0};
	char host[256] = "";
	uint64_t start = 0;
	gethostname(host, sizeof(host) - 1);
	return proc_own_start_time(&start) == 0 && spool_claim_read(batch_dir, index, &held) == 1 &&
		held.pid == getpid() && held.pid_start == (int64_t)start && strcmp(held.host, host) == 0 &&
		strcmp(held.boot_id, proc_boot_id()) == 0;
}

int spool_claim_take(const char *batch_dir, uint32_t index, struct error *err)
{
	char host[256] = "";
	struct buf text = buf_make(CLAIM_BYTES);
	gethostname(host, sizeof(host) - 1);
	char *claim = spool_item_path(batch_dir, index, SPOOL_CLAIM);
	char *private = mem_printf("%s.%s.%ld", claim, host, (long)getpid());
	claim_write_text(&text);

	int rc = 0;
	/* One of the same name was left by a runner that was killed: with two names it would look like ours. */
	unlink(private);
	int fd = open(private, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, SPOOL_FILE_MODE);
	if (fd < 0) {
		rc = -errno;
		goto out;
	}
	rc = fs_write_all(fd, text.data, text.len);
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	if (rc == 0)
		rc = claim_link(private, claim);
	unlink(private);
	if (rc == -EEXIST && claim_is_ours(batch_dir, index))
		rc = 0;
out:
	if (rc < 0 && rc != -EEXIST)
		errorf(err, rc, "%s: %s", claim, strerror(-rc));
	free(claim);
	free(private);
	buf_free(&text);
	return rc;
}

void spool_claim_drop(const char *batch_dir, uint32_t index)
{
	char *claim = spool_item_path(batch_dir, index, SPOOL_CLAIM);
	unlink(claim);
	free(claim);
}

static void claim_copy(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from ? from : "");
}

int spool_claim_read(const char *batch_dir, uint32_t index, struct spool_claim *ret)
{
	char *path = spool_item_path(batch_dir, index, SPOOL_CLAIM);
	struct buf text = buf_make(CLAIM_BYTES);
	struct node *tree = NULL;
	int rc = fs_read(path, CLAIM_BYTES, &text, NULL);
	if (rc == 0 && node_parse_json(buf_text(&text), text.len, &tree, NULL) == 0) {
		*ret = (struct spool_claim){
			.pid = node_get_int(tree, "pid", 0),
			.pid_start = node_get_int(tree, "pid_start", -1),
			.time_ms = node_get_int(tree, "time", 0),
		};
		claim_copy(ret->host, sizeof(ret->host), node_get_string(tree, "host"));
		claim_copy(ret->boot_id, sizeof(ret->boot_id), node_get_string(tree, "boot_id"));
	}
	bool there = tree != NULL;
	node_free(tree);
	buf_free(&text);
	free(path);
	return rc < 0 && rc != -ENOENT ? rc : there;
}

int spool_claim_look(const char *batch_dir, uint32_t index)
{
	char *path = spool_item_path(batch_dir, index, SPOOL_CLAIM);
	int rc = access(path, F_OK) == 0 ? 1 : errno == ENOENT ? 0 : -errno;
	free(path);
	return rc;
}
