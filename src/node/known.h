/* Remembers which rows of metrics a journal has. */
#ifndef NODE_KNOWN_H
#define NODE_KNOWN_H

#include "base/metric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct known_slot {
	uint64_t place; /* source, step and columns; 0: free */
	uint64_t values;
};

/* The newest values of every step and set of columns of a source. */
struct known {
	struct known_slot *slots;
	size_t count, size;
};

/* Remembers a row. True if it is new: there was no row with this step and these columns, or the last one had other
 * values. */
bool known_add(struct known *known, const char *source, int64_t step, const struct metric *metrics, size_t count);
void known_free(struct known *known);

#endif
