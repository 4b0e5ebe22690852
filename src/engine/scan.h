/* Reading a training script to say what it takes and what it writes: help for the form, never a
 * condition. */
#ifndef ENGINE_SCAN_H
#define ENGINE_SCAN_H

#include "base/json.h"

/* Writes the "scan" map of POST /check. */
void scan_script(const char *text, struct json *out);

#endif
