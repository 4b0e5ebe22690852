/* Shared by the strategies of the differential evolution family: the population, the archive, the two modes, selection,
 * and the steps from which mutations are made.
 *
 * Published results are generational: a whole generation is asked for, and nothing new until all its results are told.
 * Then all members are selected in order. On a cluster that leaves slots idle. So the default is steady: a trial
 * competes with its own target as soon as its result is told, and the steps that the papers do after each generation
 * are done after every N results. */
#ifndef SEARCH_EVOLVE_H
#define SEARCH_EVOLVE_H

#include "search/search_internal.h"

struct evolve_member {
	double *x;
	double f; /* +INFINITY when it failed */
	double F, CR; /* of the self-adaptive ones */
	int64_t key; /* names it while the population shrinks around it */
	bool known; /* its first point has been told */
	struct search_trial *child; /* generational: told, waiting for the others */
};

struct evolve;

/* The memories of SHADE and its successors (Tanabe and Fukunaga 2013, equations 10 to 15). */
struct evolve_memory {
	double *F, *CR; /* CR < 0: terminal, always 0 */
	size_t size, next;
	VEC(double) won_F, won_CR, weight; /* the successes of this generation */
	bool lehmer_CR, terminal, halve;
};

struct evolve_rules {
	/* Makes a trial vector for a target in trial->unit; its F and CR go into trial->notes. At least
	 * four members are known. */
	void (*make)(struct evolve *e, size_t target, struct search_trial *trial);
	/* The trial is about to replace its parent; `better` unless it is only as good. */
	void (*win)(struct evolve *e, struct evolve_member *parent, const struct search_trial *trial, bool better);
	/* After N tells. */
	void (*generation)(struct evolve *e);
	/* The moment something is told, before selection; may be NULL. */
	void (*told)(struct evolve *e, const struct search_trial *trial);
	bool ties_win; /* as good as the parent is good enough */
};

struct evolve {
	struct search *search;
	const struct evolve_rules *rules;
	struct evolve_member *at;
	size_t n, n_start, known;
	size_t begun; /* members whose first point has been asked for */
	bool generational;
	size_t cursor, told; /* in this generation */
	uint64_t fes, generation;
	double **archive;
	size_t archive_count, archive_most;
	size_t *ranking; /* members by ascending f; see evolve_rank */
	bool ranking_stale;
	struct evolve_memory memory;
	void *own; /* of the algorithm; freed with free() */
};

/* The smallest population: more than enough members for a mutation. */
#define EVOLVE_LEAST 8

#define EVOLVE_F 0
#define EVOLVE_CR 1

/* The options every member of the family has, and those of the ones that have no others. */
#define EVOLVE_OPTIONS                                                                                                 \
	{"population", SEARCH_OPTION_INT, 0, 0, 10000, NULL, "individuals; 0: as published, fewer for small budgets"}, \
	{                                                                                                              \
		"mode", SEARCH_OPTION_WORD, 0, 0, 1, "steady|generational",                                            \
			"steady: never wait; generational: as published"                                               \
	}
extern const struct search_option evolve_options[];

/* The size of the population: as the user asked. Else as published, if the budget is enough for 20 generations of that
 * size. Else the size for which the budget is enough for 20 generations, but at least 8. */
size_t evolve_population(const struct search_spec *spec, size_t published);
/* For strategies that learn F and CR while they run, which needs many generations rather than many members. `full` is
 * the published population for 10 dimensions and the 100,000 tasks that the results have: with fewer, `steady` has
 * fewer members and fewer generations alike, by the square root, at least `least` and at most as published. As above
 * when generational. */
size_t evolve_population_root(const struct search_spec *spec, size_t published, size_t full, size_t least);
struct evolve *evolve_open(struct search *s, const struct evolve_rules *rules, size_t n);
/* The ops of a strategy whose search->state is a struct evolve. */
#define EVOLVE_OPS(opens)                                                                                              \
	{                                                                                                              \
		.open = opens, .free = evolve_free, .ask = evolve_ask, .accepted = evolve_accepted,                    \
		.tell = evolve_tell, .write_state = evolve_write_state                                                 \
	}
void evolve_free(struct search *s);
enum search_answer evolve_ask(struct search *s, struct search_trial *trial);
void evolve_accepted(struct search *s, struct search_trial *trial);
void evolve_tell(struct search *s, struct search_trial *trial);
void evolve_write_state(const struct search *s, struct json *out);

/* The part of the budget that is spent, 0..1. */
double evolve_progress(const struct evolve *e);
/* A known member that is none of the first `count` of `not`. */
size_t evolve_pick(struct evolve *e, const size_t * not, size_t count);
void evolve_archive(struct evolve *e, const double *x);
/* Drops the worst until n are left; the archive keeps at most archive_most rows. */
void evolve_shrink(struct evolve *e, size_t n, size_t archive_most);
void evolve_remove(struct evolve *e, size_t at);
/* Binomial crossover with the target: u_j = v_j where U < CR or j is the drawn one. `u` holds v. */
void evolve_cross(struct evolve *e, const double *target, double CR, double *u);
/* A coordinate out of bounds becomes the middle between the bound and the target's. */
void evolve_repair(const struct evolve *e, const double *target, double *u);
/* v = x_r1 + F (x_r2 - x_r3), all different and none the target. */
void evolve_rand_1(struct evolve *e, size_t target, double F, double *v);
/* v = x + Fw (x_pb - x) + F (x_r1 - x~_r2), pb among the best `best`. */
void evolve_current_to_pbest(struct evolve *e, size_t target, double Fw, double F, size_t best, bool not_itself,
			     double *v);
/* The trial of SHADE and its successors: v as above with pb among the best `portion` (two at least), crossed,
 * repaired, and F and CR noted. */
void evolve_make_pbest(struct evolve *e, size_t target, double Fw, double F, double CR, double portion, bool not_itself,
		       struct search_trial *trial);

void evolve_memory_open(struct evolve_memory *m, size_t size, double F, double CR);
void evolve_memory_free(struct evolve_memory *m);
void evolve_memory_add(struct evolve_memory *m, double F, double CR, double weight);
/* A success: the parent goes to the archive, F and CR are remembered with their weight. */
void evolve_remember(struct evolve *e, const struct evolve_member *parent, const struct search_trial *trial,
		     double weight);
/* The `win` of those that weigh a success by what it gained. */
void evolve_win_by_gain(struct evolve *e, struct evolve_member *parent, const struct search_trial *trial, bool better);
/* Writes the next slot from the successes, if there were any, and forgets them. */
void evolve_memory_update(struct evolve_memory *m);
/* CR ~ N(M_CR, .1) clipped to [0,1]; F ~ Cauchy(M_F, .1), redrawn while <= 0, capped at 1. */
double evolve_draw_CR(struct rng *rng, double mean);
double evolve_draw_F(struct rng *rng, double location);
/* Linear population size reduction (Tanabe and Fukunaga 2014, equation 10). */
size_t evolve_linear_size(size_t n_start, size_t n_end, uint64_t fes, uint64_t most);

#endif
