/* The advice of the daemon about what an experiment should ask for. */
#ifndef CLI_ADVICE_H
#define CLI_ADVICE_H

#include "cli/verbs.h"

/* Adds a line for each advice, if there are any. */
void advice_show(const struct node *advice, const struct term *term, struct buf *out);

#endif
