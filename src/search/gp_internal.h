/* Shared by the files of the Gaussian process only: gp.c (when it learns, what it proposes), gp_data.c (what it learns
 * from), gp_improve.c (where to look next), gp_vary.c (the same without the model), gp_many.c (several objectives). */
#ifndef SEARCH_GP_INTERNAL_H
#define SEARCH_GP_INTERNAL_H

#include "search/feasible.h"
#include "search/gaussian.h"
#include "search/gp.h"
#include "search/parzen.h"

#define GP_RESULTS_MOST 300
#define GP_OUTCOMES_MOST 200
#define GP_RUNNING_MOST 64
#define GP_FIT_FEW 100 /* results that the parameters are found from first */
#define GP_KEPT 32 /* candidates kept for the case that one is refused */

struct candidate {
	double value;
	double *unit;
};

struct gp {
	size_t dims; /* of the model: those of the cube, and the fidelity where there is one */
	bool fidelity;
	long fidelity_axis; /* of the cube, where the fidelity is a range: it says nothing; -1 */
	size_t startup, results, failures, next_fit, reals;
	bool starts; /* there are too few results for a model */
	/* What the parameters are to be found from, before the next proposal. What failed then may finish later. */
	const struct search_trial *fit[GP_RESULTS_MOST], *fit_outcomes[GP_OUTCOMES_MOST];
	size_t fit_count, fit_outcome_count;
	bool fit_cells; /* with the prior of numbers with steps */
	double fit_labels[GP_OUTCOMES_MOST];
	struct gaussian *models[2]; /* of the results as they are, and bent */
	struct gaussian
		*sums; /* of the values of the more likely one, with a kernel that is mostly a sum over the axes */
	struct gaussian *usual; /* the most likely one of them */
	bool bent; /* its values are */
	struct gaussian *wide; /* of the same values, with the other prior */
	struct gaussian *model; /* the one that this ask uses: usual or wide */
	struct feasible *feasible; /* does a task finish? */
	struct feasible **limits; /* is it within each of the limits? */
	size_t limit_count;
	struct parzen_axis *axes; /* dims */
	bool *unordered;
	bool choices; /* all axes are choices, and there is one objective: another prior */
	bool cells; /* all are numbers with steps, there is one objective and no fidelity: a third prior */
	bool quick; /* every axis stands for itself, and its cells are of one width */
	struct candidate kept[GP_KEPT + 1]; /* best first */
	size_t kept_count;
	struct space_value *values;
	double *weighed; /* several objectives: of every trial, as this ask weighs them */
	bool seeks; /* no result is within the limits: only the chance to be counts */
	double best; /* to be improved on, in the model's values */
	double reach; /* around a result: its value most likely repeats there; 0: nowhere */
};

/* A point as the model sees it: the middles of cells, and 0.5 if a parameter does not apply; then the fidelity's place
 * between 0 (the shortest run) and 1 (the full one). */
void gp_see(const struct gp *gp, const struct search *search, const double *unit, double level, double *ret);
/* The fidelity's place of a trial. */
double gp_level(const struct gp *gp, const struct search *search, const struct search_trial *trial);
/* How far apart two results are that differ in nothing but real parameters, as the model measures it; else INFINITY. */
double gp_distance(const struct gp *gp, const double *a, const double *b);
/* Several objectives: computes a weighted value for this ask, which gp_score then returns. */
void gp_weigh(struct gp *gp, struct search *search);
/* The value that the model minimises. */
static inline double gp_score(const struct gp *gp, const struct search *search, const struct search_trial *trial)
{
	return search->objectives == 1 ? trial->measured[0] : gp->weighed[trial->index];
}
/* Does a come before b? By the fidelity, then within the limits, then by the value. */
bool gp_is_better(const struct gp *gp, const struct search *search, const struct search_trial *a,
		  const struct search_trial *b);

/* gp_data.c */

/* The results that the model sees: all, or the best and the newest. ret has GP_RESULTS_MOST places. */
size_t gp_choose_results(const struct gp *gp, const struct search *search, const struct search_trial **ret);
/* The newest trials that ended, in their order, and what became of them: 1 or -1. Both have GP_OUTCOMES_MOST places. */
size_t gp_choose_outcomes(const struct search *search, const struct search_trial **ret, double *ret_labels);
/* Points of trials for the model of failures; the caller frees them. For how long they ran is left out: what fails at once
 * never has a long run, so that long runs would look safe everywhere. */
double *gp_see_all(const struct gp *gp, const struct search *search, const struct search_trial *const *trials,
		   size_t count);
/* Points and standardised values of results, with room for what runs; the caller frees both. Returns what
 * gp_values_even_out does. */
double gp_collect(const struct gp *gp, const struct search *search, const struct search_trial *const *chosen, size_t n,
		  bool bent, double **ret_x, double **ret_y);
/* Of `count` points and values an even part of GP_FIT_FEW, in their place. Returns how many. */
size_t gp_thin(double *x, double *y, size_t count, size_t dims);
/* Those of the trials for which it is known how far they are from a limit: their points (the caller frees them), and how
 * far within it they are, in standard deviations. */
double *gp_margins(const struct gp *gp, const struct search *search, const struct search_trial *const *trials,
		   size_t count, size_t limit, double *ret_margins, size_t *ret_count);
/* Steps: how far around a result its value most likely repeats. */
double gp_find_steps(const struct gp *gp, const struct search *search, const struct search_trial *const *chosen,
		     const double *x, size_t n);

/* gp_vary.c */

/* Is this a turn of gp_vary? Never up to GP_RESULTS_MOST results; then all turns but every second, third, fourth, ... with
 * 300, 600, 900, ... results, so that the mean time of an ask falls. Never with a fidelity. */
bool gp_varies(const struct gp *gp, const struct search_trial *trial);
/* Fills trial->unit with a mixture of good results. */
void gp_vary(const struct gp *gp, struct search *search, struct search_trial *trial);

/* gp_improve.c: fills `kept` with the most promising points, best first. */
void gp_improve(struct gp *gp, struct search *search);

#endif
