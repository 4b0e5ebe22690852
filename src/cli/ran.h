/* Shows what an attempt ran. */
#ifndef CLI_RAN_H
#define CLI_RAN_H

#include "base/node.h"
#include "cli/term.h"

/* Writes it from the answer of GET …/ran. */
void ran_show(const struct node *answer, const struct term *term, struct buf *out);

#endif
