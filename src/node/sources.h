/* Where the script of an attempt may write its metrics, for the runner and for what looks after it. */
#ifndef NODE_SOURCES_H
#define NODE_SOURCES_H

#include "node/follow.h"
#include "spool/descriptor.h"

struct sources {
	char *first; /* results/EXP/TASK/TASK.csv; NULL */
	char *printed[2]; /* stdout, stderr */
	struct cuts cuts; /* of earlier attempts */
};

/* Fills in which files are followed; callbacks are left to the caller. What it points to belongs to `ret`, which stays
 * where it is, and to the descriptor. */
void sources_find(const struct spool_descriptor *descriptor, struct sources *ret, struct follow_config *config);
void sources_free(struct sources *sources);

#endif
