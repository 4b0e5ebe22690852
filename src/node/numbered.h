/* Results that a script writes into a file of their own each time: metrics_epoch_0.json, step_500/results.json. Together they
 * are one record. */
#ifndef NODE_NUMBERED_H
#define NODE_NUMBERED_H

#include <stdbool.h>
#include <stdint.h>

struct numbered {
	char *path; /* with a star in place of the number; NULL: the path has none; free it */
	int64_t number;
	const char *step_name; /* "epoch" or "step": what the number counts */
};

/* Only a number right behind a word that counts is one: folds, seeds and versions are different things. */
struct numbered numbered_of(const char *path);

#endif
