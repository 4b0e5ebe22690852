/* The Python environments of this machine, for the web form. Home folders may be slow, so libuv's pool does the
 * scan. */
#ifndef ENGINE_PYTHONS_H
#define ENGINE_PYTHONS_H

#include "base/buf.h"

#include <uv.h>

struct engine;
struct pythons_scan;

struct engine_pythons {
	struct pythons_scan *scan; /* on the pool; NULL: none */
	struct buf text; /* the result of the last scan: a JSON list; empty: there was no scan yet */
	int64_t looked_ms; /* when the last scan ended, monotonic */
};

/* The engine closes. A scan is not waited for: a mount that does not answer would hold it for ever. */
void engine_leave_pythons(struct engine *engine);

#endif
