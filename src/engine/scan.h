/* Reading a training script to say what it takes and what it writes: help for the form, never a
 * condition. */
#ifndef ENGINE_SCAN_H
#define ENGINE_SCAN_H

#include "base/json.h"

/* Writes the "scan" map of POST /check. */
void scan_script(const char *text, struct json *out);
/* Does it take its arguments by their places, as S-TFManager's scripts do? */
bool scan_reads_positions(const char *text);

#endif
