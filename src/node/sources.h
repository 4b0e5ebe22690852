/* The places where the script of an attempt may write its metrics, for the runner and for `sluice exec --collect`. */
#ifndef NODE_SOURCES_H
#define NODE_SOURCES_H

#include "node/follow.h"
#include "spool/descriptor.h"

struct sources {
	char *first; /* results/EXP/TASK/TASK.csv; NULL */
	char *printed[2]; /* stdout, stderr */
	const char **wanted; /* the objectives; the texts are the descriptor's */
	struct cuts cuts; /* of earlier attempts */
};

/* Sets which files are followed; the caller sets the callbacks. The config points into `ret`, which must not move, and
 * into the descriptor. */
void sources_find(const struct spool_descriptor *descriptor, struct sources *ret, struct follow_config *config);
void sources_free(struct sources *sources);

#endif
