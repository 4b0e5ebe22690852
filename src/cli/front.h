/* The front of an analysis as a table, as `best` and `analyse` print it. */
#ifndef CLI_FRONT_H
#define CLI_FRONT_H

#include "base/node.h"
#include "cli/term.h"

/* One entry of "fronts"; the first axis best first, at most `limit` rows. varying: names of the parameters that vary. */
void front_print(const struct node *front, const char *experiment, const struct node *varying, size_t limit,
		 const struct term *term, struct buf *out);

#endif
