/* Shared by the files of the Gaussian process only: gp.c (what it learns from, and when), gp_improve.c (where to look
 * next), gp_many.c (several objectives). */
#ifndef SEARCH_GP_INTERNAL_H
#define SEARCH_GP_INTERNAL_H

#include "search/feasible.h"
#include "search/gaussian.h"
#include "search/parzen.h"
#include "search/search_internal.h"

#define GP_RESULTS_MOST 300
#define GP_OUTCOMES_MOST 200
#define GP_KEPT 32 /* candidates kept for the case that one is refused */

struct candidate {
	double value;
	double *unit;
};

struct gp {
	size_t startup, results, failures, next_fit, reals;
	bool starts; /* there are too few results for a model */
	/* What the parameters are to be found from, before the next proposal. What failed then may finish later. */
	const struct search_trial *fit[GP_RESULTS_MOST], *fit_outcomes[GP_OUTCOMES_MOST];
	size_t fit_count, fit_outcome_count;
	double fit_labels[GP_OUTCOMES_MOST];
	struct gaussian *models[2]; /* of the results as they are, and bent */
	struct gaussian *model; /* one of them */
	struct feasible *feasible;
	struct parzen_axis *axes;
	bool *unordered;
	struct candidate kept[GP_KEPT + 1]; /* best first */
	size_t kept_count;
	struct space_value *values;
	double *weighed; /* several objectives: of every trial, as this ask weighs them */
	double best; /* to be improved on, in the model's values */
	double reach; /* around a result: its value most likely repeats there; 0: nowhere */
};

/* A point as the model sees it: the middles of cells, and 0.5 if a parameter does not apply. */
void gp_see(const struct search *search, const double *unit, double *ret);
/* How far apart two results are that differ in nothing but real parameters, as the model measures it; else INFINITY. */
double gp_distance(const struct gp *gp, const double *a, const double *b);
/* Several objectives: computes a weighted value for this ask, which gp_score then returns. */
void gp_weigh(struct search *search);
/* The value that the model minimises. */
static inline double gp_score(const struct search *search, const struct search_trial *trial)
{
	return search->objectives == 1 ? trial->score[0] : ((const struct gp *)search->state)->weighed[trial->index];
}
/* Fills `kept`: the most promising points, best first. */
void gp_improve(struct search *search);

#endif
