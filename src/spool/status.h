/* Exit statuses of a runner that gave up before it started its attempt. If nothing can be written, the status is the
 * only report. The same table says how long a runner waits for each problem to pass. */
#ifndef SPOOL_STATUS_H
#define SPOOL_STATUS_H

#include <stdint.h>

/* A script may exit with the same status. But then its END is in the journal, which has priority. */
enum spool_status {
	SPOOL_STATUS_FAILED = 1, /* any other reason; waiting would not help */
	SPOOL_STATUS_FULL = 170,
	SPOOL_STATUS_QUOTA = 171,
	SPOOL_STATUS_STALE = 172,
	SPOOL_STATUS_INPUT = 173,
	SPOOL_STATUS_UNSEEN = 174,
	SPOOL_STATUS_DENIED = 175,
	SPOOL_STATUS_CROWDED = 176,
};

/* The status for a negative errno. */
int spool_status_of(int rc);
/* How long a runner waits for this problem to pass; 0: it does not wait. */
int64_t spool_status_patience_ms(int status);
/* What happened, in words; NULL: not one of these. */
const char *spool_status_text(int status);

#endif
