/* Where in the files of a work folder the resumed attempts before this one began to write. A script that goes back to its
 * checkpoint repeats steps in the file it appends to; read without these places, that looks like a second training behind
 * the first. The journals of those attempts have them (BEFORE). */
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
/* The first cut of this file behind `after`; false: there is none. The text stays the list's. */
bool cuts_next(const struct cuts *cuts, const char *path, int64_t after, struct cut *ret);

#endif
