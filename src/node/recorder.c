/* See recorder.h. */
#include "node/recorder.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/pace.h"
#include "spool/paths.h"

#include <errno.h>
#include <linux/magic.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

/* On a network file system other hosts see what was written only once it is synced or the file closed.
 * On a local one the daemon sees it at once, and a sync for every task would cost more than the task:
 * after a power failure the daemon finds no end and says "lost", which is true. */
static bool recorder_is_shared(const char *dir)
{
	static const unsigned long local[] = {EXT4_SUPER_MAGIC, TMPFS_MAGIC,           BTRFS_SUPER_MAGIC,
					      XFS_SUPER_MAGIC,  OVERLAYFS_SUPER_MAGIC, RAMFS_MAGIC};
	struct statfs st;
	if (statfs(dir, &st) < 0)
		return true;
	for (size_t i = 0; i < COUNT_OF(local); i++)
		if ((unsigned long)st.f_type == local[i])
			return false;
	return true;
}

int recorder_open(struct recorder *r, const char *attempt_dir, struct error *err)
{
	char *path = spool_path(attempt_dir, SPOOL_JOURNAL);
	int rc = journal_open(path, &r->journal, err);
	if (rc == 0)
		r->shared = recorder_is_shared(attempt_dir);
	free(path);
	return rc;
}

void recorder_close(struct recorder *r)
{
	journal_close(r->journal);
	r->journal = NULL;
}

void recorder_append(struct recorder *r, struct journal_record *record)
{
	struct error err;
	if (!record->time_ms)
		record->time_ms = clock_now_ms();
	int rc = journal_append(r->journal, record, &err);
	if (rc < 0 && !r->blocked)
		log_error("%s", err.text);
	/* A record that is too large is gone and was logged; any other is kept by the writer. */
	r->blocked = rc < 0 && rc != -E2BIG;
	if (r->blocked)
		r->had_to_wait = rc;
	r->unsynced = true;
}

void recorder_note(void *ctx, const char *text)
{
	recorder_append(ctx, &(struct journal_record){.kind = JOURNAL_NOTE, .text = text});
}

void recorder_note_renumbered(void *ctx, const char *text)
{
	recorder_append(ctx, &(struct journal_record){.kind = JOURNAL_NOTE, .text = text, .renumbered = true});
}

void recorder_note_wait(struct recorder *r)
{
	if (!r->had_to_wait)
		return;
	char *text = mem_printf(
		"for a while nothing could be written to its folder (%s): what its script wrote then may be "
		"missing",
		strerror(-r->had_to_wait));
	recorder_note(r, text);
	free(text);
}

void recorder_note_warm(struct recorder *r, bool warm, const char *modules)
{
	char *text = mem_printf(warm ? "started from a process that had imported %s"
				     : "started cold: the process that had imported %s did not start it",
				modules);
	recorder_append(r,
			&(struct journal_record){.kind = JOURNAL_NOTE, .text = text, .has_warm = true, .warm = warm});
	free(text);
}

void recorder_row_cb(void *ctx, const struct metrics_row *row)
{
	struct recorder *r = ctx;
	bool planned = row->epochs > 0 && row->epochs != r->epochs && !row->earlier;
	r->rows += !row->earlier;
	r->epochs = planned ? row->epochs : r->epochs;
	recorder_append(r,
			&(struct journal_record){.kind = JOURNAL_METRIC,
						 .time_ms = row->time_ms,
						 .step = row->step,
						 .step_name = row->step_name,
						 .source = row->source,
						 .earlier = row->earlier,
						 .has_epoch = !isnan(row->epoch),
						 .epoch = row->epoch,
						 .epochs = planned ? row->epochs : 0,
						 .metrics = row->metrics,
						 .metric_count = row->count});
}

bool recorder_is_blocked(void *ctx)
{
	const struct recorder *r = ctx;
	return r->blocked;
}

void recorder_flush(struct recorder *r)
{
	if (r->blocked)
		r->blocked = journal_flush(r->journal, NULL) < 0;
}

static void recorder_sync(struct recorder *r)
{
	if (!r->shared || !r->unsynced)
		return;
	if (journal_sync(r->journal) < 0)
		log_warning("the journal cannot be synced");
	r->unsynced = false;
	r->next_sync_ms = clock_mono_ms() + EXEC_SYNC_MS;
}

void recorder_settle(struct recorder *r)
{
	while (r->blocked) {
		usleep(EXEC_RETRY_MS * 1000);
		recorder_flush(r);
	}
	recorder_sync(r);
}

void recorder_sync_due(struct recorder *r, int64_t now_ms)
{
	if (now_ms >= r->next_sync_ms)
		recorder_sync(r);
}
