/* The stop mark, for when no signal reaches a runner: one that has not started its script never will, one that has ends
 * it. */
#ifndef SPOOL_STOP_H
#define SPOOL_STOP_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Makes the attempt's folder where it is missing. A second call changes nothing. */
int spool_stop_write(const char *attempt_dir, struct error *err) MUST_USE;
bool spool_stop_exists(const char *attempt_dir);
/* No script is given longer than this to save. */
#define SPOOL_SAVE_MOST_MS (24 * 3600 * 1000LL)
/* The save mark: the script is told to save, and has this long to end. */
int spool_save_write(const char *attempt_dir, int64_t within_ms, struct error *err) MUST_USE;
/* Takes it away; 0: there was none that can be read. */
int64_t spool_save_take(const char *attempt_dir);

#endif
