/* What an attempt ran, for people. */
#ifndef CLI_RAN_H
#define CLI_RAN_H

#include "base/node.h"
#include "cli/term.h"

/* Of the answer of GET …/ran. */
void ran_show(const struct node *answer, const struct term *term, struct buf *out);

#endif
