/* The stop mark, for when no signal reaches a runner: one that has not started its script never will, one that has ends
 * it. */
#ifndef SPOOL_STOP_H
#define SPOOL_STOP_H

#include "base/error.h"

#include <stdbool.h>

/* Makes the attempt's folder where it is missing. A second call changes nothing. */
int spool_stop_write(const char *attempt_dir, struct error *err) MUST_USE;
bool spool_stop_exists(const char *attempt_dir);

#endif
