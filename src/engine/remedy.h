/* What a user can do about a failure, by its words: the rows are the failures that are most common. */
#ifndef ENGINE_REMEDY_H
#define ENGINE_REMEDY_H

#include "base/cause.h"

#include <stdint.h>

/* The remedy for these words, else that of the cause. */
const char *remedy_of(enum cause cause, const char *text);
/* The remedy with the experiment's id for ID and the name of its script for SCRIPT; without `--with SCRIPT` where the
 * experiment has none. The caller frees it. NULL for NULL. */
char *remedy_say(const char *remedy, int64_t experiment, const char *script);

#endif
