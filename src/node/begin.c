/* See begin.h. */
#include "node/begin.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/pace.h"
#include "node/layout.h"
#include "spool/batch.h"
#include "spool/claim.h"

#include <errno.h>

static int begin_claim(const char *batch_dir, uint32_t index, struct room *room, struct error *err)
{
	int rc;
	do {
		rc = spool_claim_take(batch_dir, index, err);
		bool over = rc == -ENOENT && room->status && clock_mono_ms() - room->since_ms >= EXEC_OVER_MS;
		if (over && spool_batch_is_visible(batch_dir))
			return -ESRCH;
	} while (rc < 0 && room_wait(room, rc, err));
	return rc;
}

/* What to run, and the journal to record it in. -ESRCH: the attempt is over. */
static int begin_open(const char *batch_dir, uint32_t index, struct spool_descriptor *d, struct recorder *recorder,
		      struct error *err)
{
	int rc = d->tree ? 0 : spool_descriptor_read(batch_dir, index, d, err);
	if (rc == -ENOENT && spool_batch_is_visible(batch_dir))
		return -ESRCH;
	if (rc == 0)
		rc = layout_make_attempt(d, err);
	return rc < 0 ? rc : recorder_open(recorder, d->attempt_dir, err);
}

int begin_attempt(const char *batch_dir, uint32_t index, struct room *room, struct spool_descriptor *d,
		  struct recorder *recorder)
{
	struct error err;
	int rc = begin_claim(batch_dir, index, room, &err);
	if (rc < 0 && rc != -ESRCH && rc != -EEXIST)
		log_error("%s", err.text);
	if (rc < 0)
		return rc;
	*room = (struct room){0};
	while ((rc = begin_open(batch_dir, index, d, recorder, &err)) < 0 && room_wait(room, rc, &err))
		;
	if (rc < 0 && rc != -ESRCH) {
		log_error("%s", err.text);
		spool_claim_drop(batch_dir, index);
	}
	return rc;
}
