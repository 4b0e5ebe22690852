/* Reads JSON as programs write it: Python's bare NaN and Infinity are allowed. A cursor over text, for the readers of
 * this folder. */
#ifndef METRICS_JSON_H
#define METRICS_JSON_H

#include "metrics/reader.h"

struct json_cursor {
	const char *at, *end;
};

/* Names of metrics that were made for one row. */
struct json_names {
	VEC(char *) list;
};

void json_skip_space(struct json_cursor *c);
bool json_take(struct json_cursor *c, char expected);
/* The text between the quotes, with its escapes as they stand: names with escapes stay readable. */
bool json_take_string(struct json_cursor *c, const char **ret, size_t *ret_len);
/* Takes any value; *ret_number says whether it is a number. Words for values that JSON cannot write as numbers (NaN)
 * count with and without quotes. */
bool json_take_value(struct json_cursor *c, bool *ret_number, double *ret);
/* Takes an object: its numbers are added to the reader's row. Objects in it are flattened: {"a": {"b": 1}} is a/b.
 * Lists are skipped. The names must stay valid until the row is given. */
bool json_take_row(struct json_cursor *c, struct metrics_reader *reader, struct json_names *names);
void json_names_clear(struct json_names *names);

#endif
