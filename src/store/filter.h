/* The filter of a list of tasks, as a person types it: "lr < 1e-3 and (optimizer = adam or state = error)". Names are
 * columns; what a column holds is the caller's. A word without a comparison is looked for in the whole row. */
#ifndef STORE_FILTER_H
#define STORE_FILTER_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct filter;

/* What may follow a number that is compared with the column: 10m, 2kJ, 4G. */
enum filter_unit { FILTER_PLAIN, FILTER_DURATION, FILTER_ENERGY, FILTER_BYTES };

struct filter_column {
	const char *name;
	enum filter_unit unit;
	const char *(*word)(size_t i); /* the values that it can have, NULL behind the last; NULL: any */
};

/* A value of a column. NONE: the row has none; no comparison holds then, but "= none" does. */
struct filter_value {
	enum { FILTER_NONE, FILTER_NUMBER, FILTER_TEXT } kind;
	double number;
	const char *text;
	bool list; /* the text is several values, one a line: `=` holds when one of them is equal */
};

/* One row: gives the value of a column, and says whether a word stands anywhere in the row. */
struct filter_row {
	struct filter_value (*value)(void *ctx, size_t column);
	bool (*word)(void *ctx, const char *word);
	void *ctx;
};

/* The column of that name; a beginning is enough where it fits one column only. -EINVAL with a text that names the
 * nearest. */
int filter_find_column(const struct filter_column *columns, size_t count, const char *name, size_t *ret,
		       struct error *err) MUST_USE;
/* 0, or -EINVAL with a text for the user. The caller frees it. */
int filter_parse(const char *text, const struct filter_column *columns, size_t count, struct filter **ret,
		 struct error *err) MUST_USE;
void filter_free(struct filter *filter); /* NULL is fine */
/* Does the row pass? NULL passes every row. */
bool filter_holds(const struct filter *filter, const struct filter_row *row);

#endif
