/* How far a task is and how good, as the rows of its journal say. All of this happens inside the transaction. */
#ifndef ENGINE_PROGRESS_H
#define ENGINE_PROGRESS_H

#include "base/mem.h"

struct engine;
struct engine_experiment;
struct engine_live;
struct journal_record;
struct metric;

/* Chooses the objective of an experiment whose file names none, among the metrics of a row. */
int progress_choose(struct engine *engine, struct engine_experiment *e, const struct metric *metrics,
		    size_t count) MUST_USE;
/* Chooses again when only the training's own loss was there, and now there is a result on other data: many scripts print it
 * later than the first loss. Not once a task has finished: its result stands. */
int progress_choose_better(struct engine *engine, struct engine_experiment *e, const struct metric *metrics,
			   size_t count) MUST_USE;
/* Once for an attempt, before its first row: a daemon that started again does not know what task.step counts. */
int progress_know_epochs(struct engine *engine, struct engine_live *live) MUST_USE;
/* How many epochs the task will have, as the script says in this row, where no parameter says it. Also for a row whose
 * metrics are not shown. */
void progress_take_epochs(struct engine_live *live, const struct journal_record *r);
/* Adds a row, whose metrics have the names under which they are shown, to the task in memory. */
void progress_take_row(struct engine_live *live, const struct journal_record *r);
/* Values were renamed or replaced: best and last are what the store has now. */
int progress_recount(struct engine *engine, struct engine_live *live) MUST_USE;
/* What a task is ranked by may be the mean of its last rows. */
int progress_mean(struct engine *engine, struct engine_live *live) MUST_USE;

#endif
