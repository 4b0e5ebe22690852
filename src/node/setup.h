/* The setup lines of an experiment (`module load cuda`, `source …/activate`): the user's own shell text, run by bash
 * before the program. A line that fails ends the attempt; the runner then knows which line it was. */
#ifndef NODE_SETUP_H
#define NODE_SETUP_H

#include "spool/descriptor.h"

static inline bool setup_is_needed(const struct spool_descriptor *d)
{
	return d->setup && d->setup->count;
}

/* The text that bash runs, with the program as its arguments. The caller frees it. */
char *setup_text(const struct spool_descriptor *descriptor);

/* The line at which bash ended instead of becoming the program. */
struct setup_failure {
	size_t line; /* from 1, with those that the runner added; 0: it did not */
	size_t added; /* by the runner, before those of the user */
	int status; /* 0 for a line that says `exit` */
	const char *text; /* the line, owned by the descriptor */
};
struct setup_failure setup_read_failure(const struct spool_descriptor *descriptor);

#endif
