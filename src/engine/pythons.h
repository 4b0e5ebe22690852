/* The Python environments of this machine, for a form to offer. Home folders may be slow, so libuv's pool looks. */
#ifndef ENGINE_PYTHONS_H
#define ENGINE_PYTHONS_H

#include "base/buf.h"

#include <uv.h>

struct engine_pythons {
	uv_work_t work;
	bool looking;
	struct buf text; /* what the last look found: a JSON list; empty: there was none yet */
	struct buf next; /* the worker's, while it looks */
	int64_t looked_ms; /* monotonic; when the last one ended */
};

#endif
