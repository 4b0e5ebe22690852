/* A streaming JSON writer. It writes commas and colons by itself. Strings are escaped, invalid UTF-8 becomes U+FFFD,
 * and numbers read back the same. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/buf.h"

struct json {
	struct buf *out;
	unsigned depth;
	bool comma; /* the next value needs a comma before it */
	char close[64];
};

static inline struct json json_to(struct buf *out)
{
	return (struct json){.out = out};
}

void json_map(struct json *w); /* { */
void json_list(struct json *w); /* [ */
void json_end(struct json *w); /* closes the innermost */
void json_key(struct json *w, const char *key);

void json_put_null(struct json *w);
void json_put_bool(struct json *w, bool value);
void json_put_int(struct json *w, int64_t value);
/* NaN and infinities become the strings "NaN", "Infinity", "-Infinity". */
void json_put_real(struct json *w, double value);
/* The same, but never looking like a whole number: 1.0 stays 1.0, so that a reader keeps its type. */
void json_put_float(struct json *w, double value);
void json_put_string(struct json *w, const char *text); /* NULL writes null */
void json_put_string_n(struct json *w, const char *text, size_t len);
/* RFC 3339 in UTC; 0 writes null. */
void json_put_time(struct json *w, int64_t ms);
/* Text that is JSON already; NULL or "" writes null. */
void json_put_raw(struct json *w, const char *text);
/* The members of a map that is JSON already ("{…}"), into the open map. */
void json_members(struct json *w, const char *map);

void json_key_null(struct json *w, const char *key);
void json_key_bool(struct json *w, const char *key, bool value);
void json_key_int(struct json *w, const char *key, int64_t value);
void json_key_real(struct json *w, const char *key, double value);
void json_key_string(struct json *w, const char *key, const char *text);
void json_key_time(struct json *w, const char *key, int64_t ms);
void json_key_raw(struct json *w, const char *key, const char *text);

#endif
