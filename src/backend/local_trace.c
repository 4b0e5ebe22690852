/* See local_trace.h. */
#include "backend/local_trace.h"

#include "base/fs.h"
#include "base/pace.h"
#include "base/proc.h"
#include "base/text.h"
#include "spool/claim.h"
#include "spool/paths.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define TRACE_FILE_BYTES 65536
#define TRACE_WORDS_BYTES 300

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
	ret->earlier = ret->state == LOCAL_TRACE_GONE && proc_own_start_time(&start) == 0 &&
		claim.pid_start <= (int64_t)start;
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
