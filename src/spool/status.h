/* Why a runner gave up before it began with its attempt, as its exit status: where nothing can be written, the status is
 * all that comes back. The same table says how long a runner waits for each reason to pass. */
#ifndef SPOOL_STATUS_H
#define SPOOL_STATUS_H

#include <stdint.h>

/* A script's own status looks the same, but a script that ran has its end in the journal, which is believed first. */
enum spool_status {
	SPOOL_STATUS_FAILED = 1, /* anything else; waiting would not help */
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
/* How long it is worth to wait for this to pass; 0: it will not. */
int64_t spool_status_patience_ms(int status);
/* What happened, in words; NULL: not one of these. */
const char *spool_status_text(int status);

#endif
