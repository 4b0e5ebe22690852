/* See local_trace.h. */
#include "backend/local_trace.h"

#include "base/fs.h"
#include "base/num.h"
#include "base/pace.h"
#include "base/proc.h"
#include "base/text.h"
#include "spool/claim.h"
#include "spool/paths.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define TRACE_FILE_BYTES 65536
#define TRACE_WORDS_BYTES 300
/* Larger environments are cut: ours comes early enough in any that people have. */
#define TRACE_ENVIRON_BYTES (1u << 20)
/* The most looks for what a dead runner left. */
#define TRACE_LOOKS_MOST 10

void local_trace_read(const char *batch_dir, uint32_t index, int64_t silent_ms, struct local_trace *ret)
{
	struct spool_claim claim;
	char here[256] = "";
	uint64_t start;

	*ret = (struct local_trace){.state = LOCAL_TRACE_NONE};
	int rc = spool_claim_read(batch_dir, index, &claim);
	if (rc < 0)
		ret->state = LOCAL_TRACE_UNKNOWN;
	if (rc <= 0)
		return;
	gethostname(here, sizeof(here) - 1);
	ret->pid = (pid_t)claim.pid;
	if (claim.host[0] && strcmp(claim.host, here) != 0)
		ret->state = silent_ms > TRACE_SILENT_MS ? LOCAL_TRACE_SILENT : LOCAL_TRACE_ELSEWHERE;
	else if (claim.boot_id[0] && strcmp(claim.boot_id, proc_boot_id()) != 0)
		ret->state = LOCAL_TRACE_REBOOT;
	else if (ret->pid > 0 && proc_start_time(ret->pid, &start) == 0 && (int64_t)start == claim.pid_start)
		ret->state = LOCAL_TRACE_ALIVE;
	else
		ret->state = LOCAL_TRACE_GONE;
	ret->earlier = ret->state == LOCAL_TRACE_GONE && proc_start_time(getpid(), &start) == 0 &&
		claim.pid_start <= (int64_t)start;
}

enum trace_owner { TRACE_OTHER, TRACE_OURS, TRACE_NOT_KNOWN };

/* Does a process have this line in its environment? Those of other users cannot be read. One that is just becoming another
 * program has memory and no environment yet. */
static enum trace_owner trace_owner_of(const char *pid, const char *variable)
{
	char path[64];
	struct buf text = buf_make(TRACE_ENVIRON_BYTES), size = buf_make(TRACE_WORDS_BYTES);
	enum trace_owner owner = TRACE_OTHER;
	snprintf(path, sizeof(path), "/proc/%.20s/environ", pid);
	int rc = fs_read(path, TRACE_ENVIRON_BYTES, &text, NULL);
	for (size_t at = 0; rc == 0 && at < text.len && owner == TRACE_OTHER; at += strlen(text.data + at) + 1)
		owner = strcmp(text.data + at, variable) == 0 ? TRACE_OURS : TRACE_OTHER;
	snprintf(path, sizeof(path), "/proc/%.20s/statm", pid);
	if (rc == 0 && !text.len && fs_read(path, TRACE_WORDS_BYTES, &size, NULL) == 0 && buf_text(&size)[0] > '0')
		owner = TRACE_NOT_KNOWN;
	buf_free(&text);
	buf_free(&size);
	return owner;
}

/* One look at all processes. True when another one is due: what was killed may have started something meanwhile. */
static bool trace_kill(const char *variable)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	uint64_t pid;
	bool again = false;
	while (dir && (entry = readdir(dir))) {
		if (num_parse_unsigned(entry->d_name, strlen(entry->d_name), INT32_MAX, &pid) < 0 || pid <= 1)
			continue;
		enum trace_owner owner = trace_owner_of(entry->d_name, variable);
		if (owner == TRACE_OURS)
			kill((pid_t)pid, SIGKILL);
		again |= owner != TRACE_OTHER;
	}
	if (dir)
		closedir(dir);
	return again;
}

void local_kill_leftovers(const char *attempt_dir)
{
	char *path = spool_path(attempt_dir, SPOOL_REPORT), *variable = mem_printf("SLUICE_REPORT=%s", path);
	for (int i = 0; i < TRACE_LOOKS_MOST && trace_kill(variable); i++)
		usleep(TRACE_LOOK_US);
	free(path);
	free(variable);
}

char *local_last_words(const char *batch_dir, uint32_t index)
{
	char *path = spool_item_path(batch_dir, index, SPOOL_OUTPUT);
	struct buf text = buf_make(TRACE_FILE_BYTES), clean = buf_make(BUF_UNLIMITED);
	char *words = NULL;
	int rc = fs_read(path, TRACE_FILE_BYTES, &text, NULL);
	free(path);
	while (text.len && (text.data[text.len - 1] == '\n' || text.data[text.len - 1] == ' '))
		text.len--;
	if ((rc == 0 || rc == -E2BIG) && text.len) {
		const char *from = memrchr(text.data, '\n', text.len);
		from = from ? from + 1 : text.data;
		size_t len = text.len - (size_t)(from - text.data);
		text_utf8_clean(from, len < TRACE_WORDS_BYTES ? len : TRACE_WORDS_BYTES, &clean);
		words = buf_take(&clean);
	}
	buf_free(&text);
	return words;
}
