/* The folders an attempt runs in: docs/internals/node.md. */
#ifndef NODE_LAYOUT_H
#define NODE_LAYOUT_H

#include "base/buf.h"
#include "spool/descriptor.h"

/* Makes the attempt folder. Call it first, because the journal is in this folder. */
int layout_make_attempt(const struct spool_descriptor *descriptor, struct error *err) MUST_USE;
/* Makes the work and checkpoint folders, copies the submitted files into the work folder, and writes params.json. For a
 * fresh start it moves the old folders aside first. A later attempt finds the work folder as the script left it. Adds a
 * line to notes for each file that is a link. */
int layout_make_work(const struct spool_descriptor *descriptor, struct buf *notes, struct error *err) MUST_USE;

/* The folders that a fresh start has moved aside. The first function says whether there are any; the second removes
 * them, once the script has started. */
bool layout_has_aside(const struct spool_descriptor *descriptor);
void layout_drop_aside(const struct spool_descriptor *descriptor);

/* Call it when the script has ended. Removes empty outputs, and empty checkpoint and results folders; after a
 * successful end also the copies of submitted files that the script has not changed. Call it before END is written:
 * after END the next attempt may use these folders. */
void layout_tidy(const struct spool_descriptor *descriptor, bool finished);

/* Can the work folder be read? One that is missing from a task folder that is there was removed by the script. */
bool layout_is_seen(const struct spool_descriptor *descriptor);

#endif
