/* How much longer running tasks and their experiments take, in time and energy, from the steps so far. */
#ifndef ENGINE_LEFT_H
#define ENGINE_LEFT_H

#include "base/json.h"
#include "model/rhythm.h"

struct engine;
struct engine_live;
struct journal_record;

/* What is known of an attempt's steps. A zeroed struct knows nothing. */
struct left_seen {
	int64_t ended_ms[RHYTHM_STEPS_MOST + 1]; /* when steps ended, by the node's clock, the newest last */
	int64_t steps[RHYTHM_STEPS_MOST + 1]; /* which steps those were */
	size_t count;
	double energy_from_j, energy_j; /* at the first sample after the first step, and now; NAN */
	double wall_from_ms, wall_ms; /* of the same samples */
	bool read; /* from the store, after a start of the daemon */
};

/* A row of metrics has come; call it when the step of the task has grown. */
void left_take_step(struct engine_live *live, int64_t time_ms);
void left_take_sample(struct engine_live *live, const struct journal_record *sample);
/* A new attempt begins. */
void left_clear(struct engine_live *live);

/* Fills what is known of the attempt's steps from the store, after a start of the daemon. */
int left_read(struct engine *engine, struct engine_live *live) MUST_USE;
/* The newest steps of a task, as far as they ended at this time (wall clock) or later. */
int left_read_steps(struct engine *engine, int64_t task, int64_t from_ms, struct left_seen *ret) MUST_USE;

/* Writes the member "left" of a task: null where it is not known or the task does not run. */
int left_write_task(struct engine *engine, int64_t experiment, int64_t number, struct json *out) MUST_USE;
/* The same of an experiment. */
int left_write_experiment(struct engine *engine, int64_t experiment, struct json *out) MUST_USE;

#endif
