/* What a user can do about a failure, found by the words of its message. The table has the most common failures. */
#ifndef ENGINE_REMEDY_H
#define ENGINE_REMEDY_H

#include "base/cause.h"

#include <stdint.h>

/* The remedy for this message, or else the one for the cause. */
const char *remedy_of(enum cause cause, const char *text);
/* Fills in the remedy: ID becomes the experiment's id, SCRIPT the name of its script. Without a script, `--with SCRIPT`
 * is left out. The caller frees it. NULL for NULL. */
char *remedy_say(const char *remedy, int64_t experiment, const char *script);

/* The remedy with the memory to ask for in the place of 32G: at least twice what the attempt had asked for, and never more
 * than the backend offers. Where it had that much already, another remedy. 0: nothing was asked for; not known. Takes the
 * text. */
char *remedy_fit_memory(char *text, int64_t had_bytes, int64_t most_bytes);

#endif
