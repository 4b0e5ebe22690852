/* The stop mark, for when no signal reaches a runner. A runner that sees it does not start its script, or ends it if it
 * runs. */
#ifndef SPOOL_STOP_H
#define SPOOL_STOP_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Why a runner must stop: kept in the mark, for a daemon that is started again. */
enum spool_stop_why {
	SPOOL_STOP_OVER, /* its attempt is over, or a user ends it */
	SPOOL_STOP_SILENT, /* it gave no sign of life */
};

/* Makes the attempt's folder where it is missing. A second call changes at most why. */
int spool_stop_write(const char *attempt_dir, enum spool_stop_why why, struct error *err) MUST_USE;
bool spool_stop_exists(const char *attempt_dir);
/* Is there a mark that gives this reason? */
bool spool_stop_says(const char *attempt_dir, enum spool_stop_why why);
/* The most time that a script gets to save. */
#define SPOOL_SAVE_MOST_MS (24 * 3600 * 1000LL)
/* The save mark: the script is asked to save, and has this long to end. */
int spool_save_write(const char *attempt_dir, int64_t within_ms, struct error *err) MUST_USE;
/* Reads and removes the save mark, and returns its time; 0: there was none that can be read. */
int64_t spool_save_take(const char *attempt_dir);

#endif
