/* The samples of a task for people: least, mean and most of each figure, and its course as a line of small blocks. */
#ifndef CLI_SAMPLES_H
#define CLI_SAMPLES_H

#include "base/buf.h"
#include "base/node.h"
#include "cli/term.h"

/* `samples`: the answer of GET …/samples. */
void samples_show(const struct node *samples, const struct term *term, struct buf *out);

#endif
