/* The attempt before this one. */
#ifndef NODE_EARLIER_H
#define NODE_EARLIER_H

#include "spool/descriptor.h"

/* Did the script of the attempt just before this one begin? */
bool earlier_has_begun(const struct spool_descriptor *descriptor);
/* Did the last attempt before this one whose script began tell its end? When it did not, its runner was killed, and the
 * last rows that its script wrote may be in no journal. True also when there was none. */
bool earlier_has_ended(const struct spool_descriptor *descriptor);
/* May the last attempt that began have removed the copies of the submitted files from the work folder? It does so before it
 * tells a good end, so also where it told none. */
bool earlier_removed_copies(const struct spool_descriptor *descriptor);

#endif
