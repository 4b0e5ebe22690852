/* The folders an attempt runs in: docs/internals/node.md. */
#ifndef NODE_LAYOUT_H
#define NODE_LAYOUT_H

#include "spool/descriptor.h"

/* Makes the attempt folder: the first thing, as the journal lives there. */
int layout_make_attempt(const struct spool_descriptor *descriptor, struct error *err) MUST_USE;
/* Makes (removes first, for a fresh start) the work and checkpoint folders, links every submitted file
 * into the work folder and writes params.json. What is there already stays. */
int layout_make_work(const struct spool_descriptor *descriptor, struct error *err) MUST_USE;

/* The script has ended: removes outputs without a byte, and the checkpoint and results folders where nothing is in them.
 * Before END: after it the next attempt may use those folders. */
void layout_remove_empty(const struct spool_descriptor *descriptor);

#endif
