/* A growing byte buffer that is given its maximum when it is made. The bytes are always followed by
 * a NUL. Past the maximum nothing more is added and `full` is set: check it once at the end. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

struct buf {
	char *data; /* never NULL after the first add; see buf_text */
	size_t len, cap, max;
	bool full;
};

#define BUF_UNLIMITED ((size_t)1 << 40)

static inline struct buf buf_make(size_t max)
{
	return (struct buf){.max = max};
}

void buf_add(struct buf *buf, const void *data, size_t len);
void buf_add_text(struct buf *buf, const char *text);
void buf_add_char(struct buf *buf, char c);
void buf_addf(struct buf *buf, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Room for at least `len` more bytes to be written at data + buf->len (the caller then adds to
 * buf->len), or NULL when that would pass the maximum. */
char *buf_reserve(struct buf *buf, size_t len);
/* Removes `len` bytes from the front. */
void buf_consume(struct buf *buf, size_t len);
/* The text; "" while empty. Valid until the next change. */
const char *buf_text(const struct buf *buf);
/* Gives the text to the caller, who frees it; the buffer is empty afterwards. */
char *buf_take(struct buf *buf);
void buf_clear(struct buf *buf);
void buf_free(struct buf *buf);

#endif
