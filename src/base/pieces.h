/* A text that is made in pieces: each takes some milliseconds (LIMIT_HOLD_MS), so that the loop can run between them
 * and no request waits for the whole text. The data may change in between: each piece shows the data at the time when
 * it is made. */
#ifndef BASE_PIECES_H
#define BASE_PIECES_H

#include "base/buf.h"

struct pieces {
	/* Adds the next piece: 1 when there are more, 0 when that was the last. A negative errno: it cannot be made,
	 * and the text so far is incomplete. */
	int (*make)(void *ctx, struct buf *out);
	void (*free)(void *ctx);
	void *ctx;
};

/* Makes all pieces at once, and frees them. 0, or the error of `make`. */
static inline int pieces_finish(struct pieces *pieces, struct buf *out)
{
	int rc;
	while ((rc = pieces->make(pieces->ctx, out)) > 0)
		;
	pieces->free(pieces->ctx);
	*pieces = (struct pieces){0};
	return rc;
}

/* Frees the pieces; the rest is not made. Does nothing if there are none. */
static inline void pieces_free(struct pieces *pieces)
{
	if (pieces->free)
		pieces->free(pieces->ctx);
	*pieces = (struct pieces){0};
}

#endif
