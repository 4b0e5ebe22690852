/* Asks the search for configurations, tells it results, and replays both after a restart. Inside the transaction; 0 or
 * a negative errno. */
#ifndef ENGINE_PROPOSE_H
#define ENGINE_PROPOSE_H

#include "search/search.h"
#include "store/rows.h"

struct engine;
struct engine_experiment;
struct spec;

int engine_propose(struct engine *engine) MUST_USE;
/* For one experiment: as many as it wants now. */
int engine_propose_now(struct engine *engine, struct engine_experiment *experiment) MUST_USE;
/* The seed that the task of this number gets. */
int64_t engine_task_seed(const struct spec *spec, int64_t number);
/* At most `wanted` new tasks. */
int engine_propose_for(struct engine *engine, struct engine_experiment *experiment, int64_t wanted) MUST_USE;
int engine_tell(struct engine *engine, struct engine_experiment *experiment, int64_t asked, enum search_outcome outcome,
		const double *values) MUST_USE;
/* What a task really ran with (parameters: the same as JSON), before it is told. */
int engine_correct(struct engine *engine, struct engine_experiment *experiment, int64_t asked,
		   const struct space_value *values, const char *parameters) MUST_USE;
/* Adds a configuration that the search did not choose. Writes it into the sequence (parameters: JSON) and tells the
 * search. values: NULL where they lie outside the space; the search then learns nothing of it, as after a restart. */
int engine_add_foreign(struct engine *engine, struct engine_experiment *experiment, int64_t asked,
		       const struct space_value *values, const char *parameters) MUST_USE;
/* Adds a configuration of an earlier experiment (parameters: JSON; from: "e3/12"), before anything was asked. It gets the
 * number experiment->last_asked. */
int engine_add_earlier(struct engine *engine, struct engine_experiment *experiment, const char *parameters,
		       const char *from) MUST_USE;
/* Applies an answer of the search: a new task, a promoted task, or the end of the search. seq: its place in the
 * sequence. */
int engine_add_proposal(struct engine *engine, struct engine_experiment *experiment, enum search_answer answer,
			int64_t asked, int64_t seq, const struct search_proposal *proposal) MUST_USE;
/* Nothing more will be proposed. Where those who ask decide how many tasks there are, what they have not asked for is
 * given up. */
int engine_note_all(struct engine *engine, struct engine_experiment *experiment) MUST_USE;
/* Tells the search these events, which are already in the sequence, as a replay does. */
int engine_tell_events(struct engine_experiment *experiment, const struct store_event *events, size_t count) MUST_USE;
int engine_replay(struct engine *engine, struct engine_experiment *experiment, struct error *err) MUST_USE;
/* Opens the search without a replay, and finds where its sequence continues. */
int engine_skip_replay(struct engine *engine, struct engine_experiment *experiment, struct error *err) MUST_USE;
/* Goes on after the specification, or the recorded results, have changed. Where only the budget changed, most strategies would
 * have proposed the same until now: then they simply continue, with their rungs and populations. Else all so far becomes
 * history. Inside the transaction. */
int engine_continue_search(struct engine *engine, struct engine_experiment *experiment, struct error *err) MUST_USE;

#endif
