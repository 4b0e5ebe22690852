/* The interface of a strategy: one file with its options and ops, and one row in strategies.c.
 *
 * The core (search.c) has what all strategies share: the budget, repeats, user defaults first, constraints and
 * duplicates (a refused candidate is asked for again), failed and late results, the goal, and the history. A strategy
 * turns history into points of the unit cube:
 *
 *   ask   fills trial->unit (and fidelity/continues, and its own notes). While candidates are refused, it is called
 *	   again with a larger trial->redraw: then it must draw something else. It must not remember the candidate:
 *	   `accepted` tells which one was taken.
 *   tell  gets a trial when its last repeat has been told: trial->state and trial->score are set. It also gets trials
 *	   that the search did not choose (foreign), except in multi-fidelity strategies, whose rungs cannot take
 *	   them.
 *
 * Rules: all randomness comes from search->rng (for strategies with `recalls` it is seeded again for every ask). An ask
 * that answers SEARCH_WAIT or SEARCH_DONE changes nothing. SEARCH_WAIT is only allowed while something is pending.
 * Tells come in any order, late or never. Scores are minimised, and a failed trial has +INFINITY in all of them, so that
 * comparing is safe. A model of the values takes `measured`. */
#ifndef SEARCH_SEARCH_INTERNAL_H
#define SEARCH_SEARCH_INTERNAL_H

#include "base/rng.h"
#include "search/search.h"
#include "search/seen.h"

enum search_trial_state {
	SEARCH_TRIAL_PENDING,
	SEARCH_TRIAL_FINISHED,
	SEARCH_TRIAL_PRUNED, /* score is what it had reached when it was ended */
	SEARCH_TRIAL_FAILED, /* also stopped by the user, or no finite value: score is +INFINITY */
};

#define SEARCH_NOTES 4

/* One configuration (its repeats together), in the order of the asks. */
struct search_trial {
	size_t index; /* in search->trials */
	int64_t id; /* of its first task */
	double *unit; /* dim_count coordinates; as proposed, not snapped to the cells */
	double *score; /* objective_count; smaller is better; valid once it is not pending */
	/* What was measured, minimised: equal to the score, unless the trial is beyond a limit. Its score is then worse
	 * than that of any trial within the limits, and the better the nearer it is to them (K. Deb, An efficient
	 * constraint handling method for genetic algorithms, 2000). */
	double *measured;
	double *excess; /* per limit, how far it is beyond it: above 0 is too far; of several repeats the farthest */
	bool beyond; /* at least one limit is not kept */
	enum search_trial_state state;
	double fidelity; /* NAN unless the strategy sets it */
	int64_t continues; /* id of the task it goes on from; -1 */
	unsigned redraw; /* during ask: how many candidates were refused before */
	bool foreign; /* not the strategy's own: tag is -1, notes are empty */
	bool earlier; /* foreign, and a result of an earlier experiment */
	bool taken; /* during ask: search_take_known was true */
	/* The strategy's own: kept from ask to tell. */
	int64_t tag;
	double notes[SEARCH_NOTES];
	/* The core's own. */
	uint64_t asked, told;
	size_t good; /* repeats with values */
	bool all_pruned;
	double *sums;
	uint64_t identity; /* what it holds in `seen` for its proposal; 0: nothing */
	uint64_t ran; /* and for what it ran with instead; 0 */
	double *proposed; /* unit, as it was before it was corrected; NULL: it was not */
	bool *lacks; /* by parameter: it ran without this one, which is optional; NULL: it has all */
};

struct search_task;

struct search {
	const struct search_spec *spec;
	const struct space *space;
	size_t dims, objectives;
	struct rng rng;
	void *state; /* the strategy's; allocated in open, freed in free */
	/* The history, pending ones included; pointers stay valid. */
	VEC(struct search_trial *) trials;
	size_t pending; /* trials not told yet */
	size_t unspent; /* trials that do not count against the budget */
	size_t lost; /* what counts against it and is no trial */
	size_t earlier; /* trials of earlier experiments */
	/* The core's own. */
	VEC(struct search_task) tasks;
	struct seen seen; /* configurations that are not proposed again */
	bool given_back; /* one of them did not run, and may be proposed again */
	double *known; /* the point of a proposal that is recalled */
	double known_fidelity; /* of it; NAN */
	bool recalling;
	bool used_up; /* during ask: everything was tried, and an open search goes on */
	struct space_value *values; /* scratch: space->count */
	struct space_value *walk_values; /* where the walk for something new stands */
	uint64_t walk_cursor;
	bool walk_stands; /* it has not been passed yet */
};

struct search_task {
	int64_t id;
	struct search_trial *trial;
	bool told, failed;
};

struct strategy_ops {
	/* All but ask may be NULL. */
	int (*open)(struct search *search, struct error *err);
	void (*free)(struct search *search);
	enum search_answer (*ask)(struct search *search, struct search_trial *trial);
	void (*accepted)(struct search *search, struct search_trial *trial);
	/* All configurations were tried. Returns true if the strategy may have something else to propose now. */
	bool (*exhausted)(struct search *search);
	/* A foreign trial was added to the history. For strategies that keep a copy of the history. */
	void (*added)(struct search *search, struct search_trial *trial);
	/* The point of a trial that was accepted or added is another one now. For the same strategies. */
	void (*corrected)(struct search *search, struct search_trial *trial);
	/* A trial that was told has another score now, or a first one: a task that had failed was run again. For strategies
	 * that keep scores; the others find it in the trial. */
	void (*retold)(struct search *search, struct search_trial *trial);
	void (*tell)(struct search *search, struct search_trial *trial);
	/* Adds members to the open map. */
	void (*write_state)(const struct search *search, struct json *out);
	/* Configurations it plans when no budget is given; NULL: the default budget. */
	uint64_t (*planned)(const struct search_spec *spec, const struct space *space);
	/* Its proposals cost so much that a replay takes them from the record (search_take_known). Points then follow
	 * from their configurations: unit is what space_encode makes of the values. */
	bool recalls;
};

/* The value of an option of the strategy (words as their index). Aborts on a name it does not have. */
double search_option(const struct search_spec *spec, const char *name);
/* Replay: if the proposal is known, sets trial->unit to it and returns true; then nothing needs to be computed. */
bool search_take_known(const struct search *search, struct search_trial *trial);
/* A uniform point of the cube. */
void search_random_point(struct search *search, double *unit);
/* True if the trial has a value (finished, or pruned with a value). */
static inline bool search_has_score(const struct search_trial *trial)
{
	return trial->state == SEARCH_TRIAL_FINISHED || trial->state == SEARCH_TRIAL_PRUNED;
}
/* The configurations of the space, at most LIMIT_TASKS; UINT64_MAX beyond or when not finite. */
uint64_t search_space_size(const struct space *space);
/* The budget when none is given. */
uint64_t search_default_tasks(const struct space *space);
/* Chooses a strategy: see search_auto.c. *ret_option is an option of it to turn on, or NULL. The caller frees
 * *ret_reason. */
const struct strategy *search_choose(const struct search_spec *spec, const struct space *space, bool has_fidelity,
				     const char **ret_option, char **ret_reason);

/* Points of the Sobol sequence (sobol.c), for strategies that start evenly. `scramble` 0: none. */
void sobol_point(uint32_t index, uint64_t scramble, size_t dims, double *unit);
/* The first `count` of them, one after the other, for a small part of the time. */
void sobol_points(uint32_t count, uint64_t scramble, size_t dims, double *units);
#define SOBOL_DIMS 64

#endif
