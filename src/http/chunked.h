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

/* Reads bytes from *data and moves it forward. Sets *ret_body to a piece of the body in them (length 0: none this
 * time). Returns 1 when the body has ended; 0 when it must be called again (with more bytes if *len is 0 now); -EINVAL
 * when the coding is broken. Initialise the struct with {0}. */
int chunked_read(struct chunked *chunked, const char **data, size_t *len, const char **ret_body,
		 size_t *ret_body_len) MUST_USE;

#endif
