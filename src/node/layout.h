/* The folders an attempt runs in: docs/internals/node.md. */
#ifndef NODE_LAYOUT_H
#define NODE_LAYOUT_H

#include "base/buf.h"
#include "spool/descriptor.h"

/* Makes the attempt folder: the first thing, as the journal lives there. */
int layout_make_attempt(const struct spool_descriptor *descriptor, struct error *err) MUST_USE;
/* Makes (puts the old ones aside, for a fresh start) the work and checkpoint folders, copies the submitted files into the work folder
 * and writes params.json. A later attempt finds the work folder as the script left it. Adds a line to notes for each file that
 * is a link. */
int layout_make_work(const struct spool_descriptor *descriptor, struct buf *notes, struct error *err) MUST_USE;

/* The folders that a fresh start has put aside: is there one; and removed, once the script has started. */
bool layout_has_aside(const struct spool_descriptor *descriptor);
void layout_drop_aside(const struct spool_descriptor *descriptor);

/* The script has ended: removes outputs without a byte, and the checkpoint and results folders where nothing is in them;
 * after a good end also the copies of submitted files that it has not changed. Before END: after it the next attempt may
 * use those folders. */
void layout_tidy(const struct spool_descriptor *descriptor, bool finished);

#endif
