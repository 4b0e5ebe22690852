/* Tables of tasks, as `show` and `best` print them. */
#ifndef CLI_TASKS_H
#define CLI_TASKS_H

#include "base/buf.h"
#include "base/node.h"
#include "cli/term.h"

/* Writes the list answer `tasks` with a column for every parameter that varies in the experiment, and says how
 * many more there are. */
void tasks_write(const struct node *tasks, const struct node *experiment, const struct term *term, struct buf *out);

#endif
