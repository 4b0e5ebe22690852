/* A text that is made in pieces: each takes some milliseconds (LIMIT_HOLD_MS), so that the loop turns between them and
 * no request waits for the whole. What it is made of may change meanwhile: a piece shows what is true when it is made. */
#ifndef BASE_PIECES_H
#define BASE_PIECES_H

#include "base/buf.h"

struct pieces {
	bool (*make)(void *ctx, struct buf *out); /* adds the next piece; false: that was the last */
	void (*free)(void *ctx);
	void *ctx;
};

/* All of it at once, and frees it. */
static inline void pieces_finish(struct pieces *pieces, struct buf *out)
{
	while (pieces->make(pieces->ctx, out))
		;
	pieces->free(pieces->ctx);
	*pieces = (struct pieces){0};
}

/* What was not made yet will not be. Harmless where there is nothing. */
static inline void pieces_free(struct pieces *pieces)
{
	if (pieces->free)
		pieces->free(pieces->ctx);
	*pieces = (struct pieces){0};
}

#endif
