/* The positions in the files of a work folder at which earlier, resumed attempts began to write. A script that goes
 * back to its checkpoint repeats steps in the file to which it appends. Without these positions, that looks like a
 * second training after the first. They come from the journals of those attempts (BEFORE). */
#ifndef NODE_CUTS_H
#define NODE_CUTS_H

#include "base/mem.h"
#include "spool/descriptor.h"

#include <stdbool.h>
#include <stdint.h>

struct cut {
	char *path; /* relative to the work folder */
	int64_t at;
	int64_t sum; /* of the bytes before it, as find_sum has it */
};

struct cuts {
	VEC(struct cut) list;
};

void cuts_load(const struct spool_descriptor *descriptor, struct cuts *ret);
void cuts_free(struct cuts *cuts);
/* The first cut of this file after the position `after`; false: there is none. The list owns the text. */
bool cuts_next(const struct cuts *cuts, const char *path, int64_t after, struct cut *ret);

#endif
