/* The strategies. Pure mathematics: a proposal is a function of (specification, space, seed, the
 * sequence of asks and tells) and of nothing else: no clock, no I/O, no globals. Replaying the
 * sequence after a crash gives the identical next proposal. */
#ifndef SEARCH_SEARCH_H
#define SEARCH_SEARCH_H

#include "space/space.h"

enum search_option_type { SEARCH_OPTION_BOOL, SEARCH_OPTION_INT, SEARCH_OPTION_REAL, SEARCH_OPTION_WORD };

/* One option of a strategy: a row that gives parser, validation, help and the form's field. */
struct search_option {
	const char *name;
	enum search_option_type type;
	double fallback, min, max;
	const char *words; /* WORD: "a|b|c", the first is the default */
	const char *help;
};

enum search_capability {
	SEARCH_ADAPTIVE = 1 << 0, /* tells change what is proposed next */
	SEARCH_FINITE_ONLY = 1 << 1, /* needs a finite space (grid) */
	SEARCH_MULTI_OBJECTIVE = 1 << 2,
	SEARCH_MULTI_FIDELITY = 1 << 3,
	SEARCH_GENERATIONAL = 1 << 4, /* may answer SEARCH_WAIT */
	SEARCH_SLOW = 1 << 5, /* an ask may take longer than the loop may be held: it is made on another thread */
	SEARCH_LEARNS = 1 << 6, /* results of earlier experiments make its first proposals better (search_learn) */
};

struct search;
struct search_spec;

struct strategy {
	const char *name, *title, *help;
	unsigned capabilities;
	const struct search_option *options; /* ends with a row without a name */
	const struct strategy_ops *ops; /* search_internal.h */
};

/* All strategies; ends with a row without a name. */
extern const struct strategy search_strategies[];
const struct strategy *search_find(const char *name); /* NULL when unknown */

/* `learn_from`: which earlier experiments a search starts from. */
enum search_learn_from {
	SEARCH_LEARN_SAME, /* those of the same program, parameters and metric */
	SEARCH_LEARN_NONE,
	SEARCH_LEARN_LISTED,
};

/* A limit that a result must keep: a metric is at most, or at least, so much. */
struct search_limit {
	double bound;
	bool at_least;
};

/* What the experiment file says about the search, checked. */
struct search_spec {
	const struct strategy *strategy;
	char *reason; /* why `auto` chose it; NULL when it was asked for */
	uint64_t seed;
	uint64_t tasks; /* budget in configurations (repeats not counted); 0: everything (grid) */
	bool tasks_given; /* false: the budget is a default of ours */
	uint64_t parallel; /* as asked for; 0: as many as fit */
	uint64_t repeats;
	bool open; /* `tasks` is what it plans with; how many there will be, those who ask decide */
	bool duplicates; /* a configuration may be proposed again (noisy objectives, verification) */
	enum search_learn_from learn_from;
	int64_t *learn_ids; /* LISTED: numbers of experiments */
	size_t learn_count;
	size_t objective_count;
	bool *maximise; /* per objective; false until search_set_goal */
	struct search_limit *limits; /* none until search_set_limits */
	size_t limit_count;
	double *option_values; /* in the order of strategy->options; words as their index */
	/* multi-fidelity: the parameter (index in the space, -1 none) and its range */
	long fidelity_param;
	double fidelity_min, fidelity_max;
};

/* `search` is the map of the experiment file (NULL: defaults), `fidelity` likewise. For an unknown strategy the error
 * lists the known ones. `auto` is resolved here, with its reason. A NULL space means that it could not be read: then
 * only what does not depend on it is checked, and the caller can only free the spec. */
int search_spec_parse(const struct node *search, const struct node *fidelity, const struct space *space,
		      uint64_t repeats, size_t objective_count, struct problems *problems,
		      struct search_spec **ret) MUST_USE;
void search_spec_free(struct search_spec *spec);
/* Sets whether an objective is maximised. Call it before the first tell that has values, at the latest when the first
 * metric arrives; the same on replay. */
void search_set_goal(struct search_spec *spec, size_t objective, bool maximise);
/* Sets the limits that results must keep: a configuration beyond one is never better than one within all of them. Call
 * it before search_open. */
void search_set_limits(struct search_spec *spec, const struct search_limit *limits, size_t count);
/* How many tasks it plans in all (repeats included). */
uint64_t search_planned(const struct search_spec *spec, const struct space *space);

enum search_answer {
	SEARCH_PROPOSED,
	SEARCH_WAIT, /* nothing until something is told (generational strategies) */
	SEARCH_DONE, /* budget or space used up */
};

struct search_proposal {
	struct space_value *values; /* space->count entries, given by the caller */
	uint64_t repeat; /* 1.. */
	double fidelity; /* NAN unless multi-fidelity */
	int64_t continues; /* id of the task to go on from (promotion); -1 */
};

enum search_outcome { SEARCH_FINISHED, SEARCH_FAILED, SEARCH_STOPPED, SEARCH_PRUNED };

int search_open(const struct search_spec *spec, const struct space *space, struct search **ret,
		struct error *err) MUST_USE;
void search_free(struct search *search);
/* `id` is the caller's number for what will be proposed (task numbers, ascending). Any other answer than
 * SEARCH_PROPOSED changes nothing, so it is not replayed. */
enum search_answer search_ask(struct search *search, int64_t id, struct search_proposal *ret);
/* The same for a proposal that is known, because it was made at this place of the sequence before (replay): on entry,
 * proposal->values and ->fidelity hold it. If computing it is expensive, the search uses it as given, and is then in the same state as
 * before. Else it is computed again, and the caller can compare. */
enum search_answer search_recall(struct search *search, int64_t id, struct search_proposal *proposal);
/* A configuration that the search did not choose (a user's suggestion, a result from elsewhere, what a search before a
 * change of its settings had proposed): part of the history, and told like any other. values has space->count
 * entries; fidelity NAN unless it was run at one; spent: it counts against the budget. */
void search_add(struct search *search, int64_t id, const struct space_value *values, double fidelity, bool spent);
/* A configuration of an earlier experiment, before the first ask: told like any other. It does not count against the
 * budget, and may be proposed again: the best of them is the first proposal, unless there are defaults. */
void search_learn(struct search *search, int64_t id, const struct space_value *values);
/* What a task really ran with, before it is told: the history has that in the place of the proposal. */
void search_correct(struct search *search, int64_t id, const struct space_value *values);
/* Counts a configuration against the budget that was proposed before a change and is no longer in the space. The search
 * does not remember it. */
void search_spend(struct search *search);
/* values: objective_count numbers as the script reported them (the goal is applied inside), then limit_count numbers,
 * one for each limit; NAN where there is none; NULL when outcome is not FINISHED or PRUNED. Of a pruned task the numbers
 * for the limits may be missing. Unknown ids are ignored. A second tell
 * of the same id (a restarted task) changes what the search remembers if the first one had failed. */
void search_tell(struct search *search, int64_t id, enum search_outcome outcome, const double *values);
/* The internal state of the search for the web page (rungs, population, mode), as a JSON map. */
void search_write_state(const struct search *search, struct json *out);

/* The "strategies" array of GET /info. */
void search_write_strategies(struct json *out);

#endif
