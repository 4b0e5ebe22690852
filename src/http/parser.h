/* The head of a request, from bytes. Stricter than the protocol asks: anything that two programs could read
 * differently is refused, so that nothing can be smuggled past a check. */
#ifndef HTTP_PARSER_H
#define HTTP_PARSER_H

#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

#define PARSER_HEADERS_MAX 64

enum method {
	METHOD_GET,
	METHOD_HEAD,
	METHOD_POST,
	METHOD_PUT,
	METHOD_DELETE,
	METHOD_PATCH, /* known, so that it gets a 405; no route has it */
	METHOD_OPTIONS, /* the same */
	METHOD_TRACE, /* the same */
	METHOD_OTHER,
};
const char *method_name(enum method method);
/* GET and HEAD change nothing. */
static inline bool method_is_safe(enum method method)
{
	return method == METHOD_GET || method == METHOD_HEAD;
}

struct header {
	const char *name, *value; /* NUL-terminated; the value without space around it */
};

struct head {
	enum method method;
	const char *target; /* begins with '/', visible ASCII only */
	struct header headers[PARSER_HEADERS_MAX];
	size_t header_count;
	bool has_length, chunked; /* never both */
	uint64_t length;
	bool close; /* Connection: close */
	bool expect_continue; /* Expect: 100-continue */
};

/* Looks for the end of the head that begins at data. Returns its length including the empty line; 0 if more bytes are
 * needed; or a negative HTTP status if it is invalid already (bare LF, NUL and other control bytes, a first line that
 * is not HTTP/1.1, too long). `from`: how many bytes earlier calls have checked. */
int64_t parser_find_end(const char *data, size_t len, size_t from);
/* Reads a complete head. The texts in ret point into data, which is changed (names and values get their
 * NUL). 0, or the status to refuse it with and a reason for people. */
int parser_read_head(char *data, size_t len, struct head *ret, const char **ret_reason) MUST_USE;
/* The value of a header that appears once; NULL when it is absent. Names in lower case. */
const char *head_get(const struct head *head, const char *name);

#endif
