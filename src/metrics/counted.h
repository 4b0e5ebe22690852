/* By what each name of printed output is counted: rows, epochs or steps. One that is counted in two ways is two curves,
 * with two names. */
#ifndef METRICS_COUNTED_H
#define METRICS_COUNTED_H

#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

enum counted_kind { COUNTED_ROWS, COUNTED_EPOCHS, COUNTED_STEPS };

/* A count of a line; NAN: it has none of that kind. */
struct counted_at {
	double epoch, step;
};
enum counted_kind counted_kind_of(struct counted_at at);

struct counted_name {
	uint32_t key;
	enum counted_kind kind;
	uint32_t section; /* the heading that it came under first */
	struct counted_at last; /* the last count that stood on one line with it */
	enum counted_kind last_kind; /* by what that line was counted */
};

struct counted {
	VEC(struct counted_name) names;
};

/* NULL: it has not come yet. */
struct counted_name *counted_find(struct counted *counted, const char *name);
/* Takes note of the name, and gives it its kind behind it where it had another one before. The name has room for
 * LIMIT_METRIC_NAME_BYTES. `at` is the count on its own line; NULL: it has none. */
void counted_settle(struct counted *counted, char *name, enum counted_kind kind, uint32_t section,
		    const struct counted_at *at);
/* Did it stand on the line with this count, which counted by `kind`? */
bool counted_stood_at(const struct counted_name *name, struct counted_at at, enum counted_kind kind);

#endif
