/* Questions about the attempts before this one. */
#ifndef NODE_EARLIER_H
#define NODE_EARLIER_H

#include "spool/descriptor.h"

/* Did the script of the attempt just before this one begin? */
bool earlier_has_begun(const struct spool_descriptor *descriptor);
/* Did the last earlier attempt whose script began write its END? If not, its runner was killed, and the last rows of
 * its script may be missing from the journal. True also if there was no such attempt. */
bool earlier_has_ended(const struct spool_descriptor *descriptor);
/* May the last attempt that began have removed the copies of the submitted files from the work folder? It removes them
 * before it writes a successful END, so they may be gone even without an END. */
bool earlier_removed_copies(const struct spool_descriptor *descriptor);

#endif
