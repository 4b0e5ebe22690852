/* The chunked coding: see chunked.h. */
#include "http/chunked.h"

#include "base/text.h"

#include <errno.h>

/* Unused chunk extensions must not fill the connection. */
#define EXTENSION_MAX 256

enum chunked_state {
	CHUNK_SIZE,
	CHUNK_EXTENSION,
	CHUNK_SIZE_LF,
	CHUNK_DATA,
	CHUNK_DATA_CR,
	CHUNK_DATA_LF,
	CHUNK_END_CR,
	CHUNK_END_LF,
};

static int chunked_take_size(struct chunked *chunked, char c)
{
	int digit = text_hex_digit(c);
	if (digit >= 0) {
		/* Fifteen hex digits are more than any body and cannot overflow. */
		if (++chunked->digits > 15)
			return -EINVAL;
		chunked->left = chunked->left * 16 + (uint64_t)digit;
		return 0;
	}
	if (!chunked->digits || (c != ';' && c != '\r'))
		return -EINVAL;
	chunked->state = c == ';' ? CHUNK_EXTENSION : CHUNK_SIZE_LF;
	return 0;
}

/* One byte of framing. */
static int chunked_take_byte(struct chunked *chunked, char c)
{
	switch (chunked->state) {
	case CHUNK_SIZE: return chunked_take_size(chunked, c);
	case CHUNK_EXTENSION:
		if (c == '\r')
			chunked->state = CHUNK_SIZE_LF;
		else if ((unsigned char)c < 0x20 || c == 0x7f || ++chunked->extension > EXTENSION_MAX)
			return -EINVAL;
		return 0;
	case CHUNK_SIZE_LF: chunked->state = chunked->left ? CHUNK_DATA : CHUNK_END_CR; return c == '\n' ? 0 : -EINVAL;
	case CHUNK_DATA_CR: chunked->state = CHUNK_DATA_LF; return c == '\r' ? 0 : -EINVAL;
	case CHUNK_DATA_LF: *chunked = (struct chunked){.state = CHUNK_SIZE}; return c == '\n' ? 0 : -EINVAL;
	case CHUNK_END_CR: chunked->state = CHUNK_END_LF; return c == '\r' ? 0 : -EINVAL;
	default: return c == '\n' ? 1 : -EINVAL;
	}
}

int chunked_read(struct chunked *chunked, const char **data, size_t *len, const char **ret_body, size_t *ret_body_len)
{
	*ret_body_len = 0;
	while (*len) {
		if (chunked->state == CHUNK_DATA) {
			size_t n = *len < chunked->left ? *len : (size_t)chunked->left;
			*ret_body = *data;
			*ret_body_len = n;
			*data += n;
			*len -= n;
			chunked->left -= n;
			if (!chunked->left)
				chunked->state = CHUNK_DATA_CR;
			return 0;
		}
		int rc = chunked_take_byte(chunked, **data);
		++*data;
		--*len;
		if (rc)
			return rc;
	}
	return 0;
}
