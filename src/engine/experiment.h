/* An experiment that has something to do, as the engine has it in memory. load.c makes it from its row. */
#ifndef ENGINE_EXPERIMENT_H
#define ENGINE_EXPERIMENT_H

#include "engine/engine.h"
#include "engine/streak.h"
#include "engine/unstarted.h"
#include "model/sharing.h"
#include "store/rows.h"

struct engine;
struct engine_backend;
struct engine_question;
struct search;
struct spec;

struct engine_experiment {
	int64_t id;
	struct spec *spec;
	struct search *search; /* do not use it while there is a question */
	struct engine_question *question;
	double ask_ms; /* how long its (slow) search computed the last answer; 0: none yet */
	bool needs_result; /* its (slow) search proposes nothing until it gets another result */
	struct engine_backend *backend;
	enum store_state state;
	int64_t parallel, planned, created_ms, started_ms;
	bool asked_all, removing;
	int64_t keep_until_ms; /* it stays in memory until then, although it has ended, monotonic: workers may go on */
	bool unread; /* its search was opened without what was proposed so far */
	enum store_stop stopping; /* 0: it is not being stopped */
	int64_t met_task; /* with STORE_STOP_WHEN: the number of the task that met the condition; 0 */
	enum store_sweep sweep; /* an action on all tasks that is being carried out, */
	int64_t sweep_from, sweep_ms; /* from this number on, asked for at this time */
	int64_t removed; /* how many of its tasks were removed */
	int64_t remove_from; /* tasks from this number on may be marked for removal; 0: none is */
	int64_t ended_ms; /* when the last of the tasks ended that this turn settled, wall clock; 0: none */
	bool changed; /* its counts or its best value: update the state, tell the listeners */
	bool best_changed;
	int64_t best_ms; /* when its best was last looked for, monotonic; 0: never */
	int64_t counts[STORE_STATE_COUNT];
	int64_t sent_ms; /* when it was last sent to listeners (monotonic), and in which state */
	enum store_state sent_state;
	int64_t last_number, last_asked, next_seq;
	bool parallel_changed; /* the backend must get it */
	uint64_t served; /* which turn was its last at a backend: engine->served; 0: none yet */
	int64_t live; /* its attempts in engine->live */
	char *step_name;
	char *note; /* what its waiting tasks wait for, as the store has it; NULL */
	char *paused; /* why it is paused (pause.h), as the store has it; NULL: it is not */
	bool differs; /* tasks have different values of the objective; false: not known */
	bool missing_noted; /* the user was notified of a task without the objective */
	struct sharing sharing; /* with `share: auto` */
	struct {
		char *model; /* of this machine's GPUs; NULL: not known yet, and the store was not asked */
		char *script; /* digest of what is measured; NULL: it cannot be read, and nothing is kept */
		double card_bytes; /* memory of the smallest GPU */
		bool slices; /* there are MIG slices: nothing is shared */
	} share; /* what `sharing` is kept for: share.h */
	int64_t slow_next_ms; /* when its slow tasks are looked for next, monotonic: slow.h */
	double mean_ms; /* about how long its tasks take that finish; 0: not known: ahead.h */
	bool brief; /* its tasks are so short that they may be handed over ahead */
	struct streak streak; /* failures of a kind since something succeeded */
	int64_t note_old_ms; /* since when `note` is no longer true, monotonic; 0 */
	struct unstarted unstarted; /* attempts that ended before their script began: hold.h */
	char *excluded; /* the nodes that it avoids because of that; NULL: none */
	bool excluded_shown; /* the store says the same */
	VEC(struct engine_untold {
		int64_t number, until_ms; /* a task; told then at the latest, monotonic */
	}) untold; /* ended, and their energy is awaited: accounted.h */
	VEC(struct engine_claimant {
		struct engine_worker worker;
		int64_t claimed; /* and not asked for yet */
	}) workers; /* on this machine, that claimed or took tasks: worker.h. Not stored */
	int64_t workers_next_ms; /* when it is looked whether they live, monotonic */
	VEC(struct engine_metric {
		char *name;
		int64_t id;
	}) metrics;
};

/* The task that met `stop: {when}` runs on to its end, while the others are stopped. */
static inline bool engine_runs_on(const struct engine_experiment *e, int64_t number)
{
	return e->stopping == STORE_STOP_WHEN && number == e->met_task;
}

/* The experiment in memory, or NULL. */
struct engine_experiment *engine_find(struct engine *engine, int64_t experiment);

#endif
