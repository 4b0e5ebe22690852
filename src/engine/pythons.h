/* The Python environments of this machine, for the web form. Home folders may be slow, so libuv's pool does the
 * scan. */
#ifndef ENGINE_PYTHONS_H
#define ENGINE_PYTHONS_H

#include "base/buf.h"

#include <uv.h>

struct engine_pythons {
	uv_work_t work;
	bool looking;
	struct buf text; /* the result of the last scan: a JSON list; empty: there was no scan yet */
	struct buf next; /* used by the worker during a scan */
	int64_t looked_ms; /* when the last scan ended, monotonic */
};

#endif
