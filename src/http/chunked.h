/* The chunked transfer coding, strictly: CRLF only, extensions ignored, no trailers. */
#ifndef HTTP_CHUNKED_H
#define HTTP_CHUNKED_H

#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

struct chunked {
	int state;
	uint64_t left; /* of this chunk */
	unsigned digits, extension;
};

/* Takes bytes from *data, which moves on. Sets *ret_body to a piece of the body within them (len 0: none
 * this time). 1 when the body has ended, 0 to be called again (with more bytes when *len is 0 now), or
 * -EINVAL when the coding is broken. {0} is the start. */
int chunked_read(struct chunked *chunked, const char **data, size_t *len, const char **ret_body,
		 size_t *ret_body_len) MUST_USE;

#endif
