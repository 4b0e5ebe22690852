/* What a new search learns from earlier experiments: their finished tasks, when it is the same program with the same
 * parameters and metric, so that they are results of the same function. They are written into the sequence of the new
 * experiment when it is created: what happens to the earlier ones later changes nothing. */
#ifndef ENGINE_LEARN_H
#define ENGINE_LEARN_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>

struct engine;
struct engine_experiment;
struct node;
struct spec;

struct learn {
	VEC(struct learn_result {
		int64_t experiment, number; /* of the task */
		char *parameters; /* JSON */
		double value;
		bool imported, copy; /* copy: of a result that is there, too */
	}) results; /* the oldest first */
};

/* Finds the results for this specification. `files` are those that come with the new experiment. Adds to problems where
 * `learn_from` names an experiment that is not there, and the sentence about it to the reason of the search. 0, or a
 * negative errno when the store cannot be read. */
int learn_find(struct engine *engine, struct spec *spec, const struct node *files, struct problems *problems,
	       struct learn *ret) MUST_USE;
/* Adds a caution to the specification for every objective, and for the metric of `stop: {when}`, that the same program,
 * with the same files, has not reported when it ran last, though it reported metrics. */
int learn_warn(struct engine *engine, struct spec *spec, const struct node *files) MUST_USE;
void learn_free(struct learn *learn);
/* Gives them to the search of the new experiment, and writes them into its sequence. Inside the transaction. */
int learn_apply(struct engine *engine, struct engine_experiment *experiment, const struct learn *learn) MUST_USE;

#endif
