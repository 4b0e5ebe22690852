/* Rungs and brackets as tables. */
#ifndef CLI_LADDER_H
#define CLI_LADDER_H

#include "base/node.h"
#include "cli/term.h"

/* Writes them from the answer of GET …/search; nothing for a search with one fidelity. */
void ladder_write(const struct node *search, const struct term *term, struct buf *out);

#endif
