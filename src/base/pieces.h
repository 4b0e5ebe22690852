/* A text that is made in pieces: each takes some milliseconds (LIMIT_HOLD_MS), so that the loop turns between them and
 * no request waits for the whole. What it is made of may change meanwhile: a piece shows what is true when it is made. */
#ifndef BASE_PIECES_H
#define BASE_PIECES_H

#include "base/buf.h"

struct pieces {
	/* Adds the next piece: 1 when there are more, 0 when that was the last. A negative errno: it cannot be made, and
	 * what was made so far is not whole. */
	int (*make)(void *ctx, struct buf *out);
	void (*free)(void *ctx);
	void *ctx;
};

/* All of it at once, and frees it. 0, or what `make` failed with. */
static inline int pieces_finish(struct pieces *pieces, struct buf *out)
{
	int rc;
	while ((rc = pieces->make(pieces->ctx, out)) > 0)
		;
	pieces->free(pieces->ctx);
	*pieces = (struct pieces){0};
	return rc;
}

/* What was not made yet will not be. Harmless where there is nothing. */
static inline void pieces_free(struct pieces *pieces)
{
	if (pieces->free)
		pieces->free(pieces->ctx);
	*pieces = (struct pieces){0};
}

#endif
