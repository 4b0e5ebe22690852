/* The chance that a configuration can be used: see feasible.h. It multiplies the expected improvement, as in M. A.
 * Gelbart, J. Snoek, R. P. Adams, Bayesian optimization with unknown constraints, 2014. */
#include "search/feasible.h"

#include "search/gaussian.h"
#include "search/matrix.h"

#include <math.h>

/* What a label says is not the whole truth: variance of what decides, beside the model's own. */
#define FEASIBLE_DOUBT 0.1
#define FEASIBLE_LIMIT_DOUBT 0.01
/* How often the chance multiplies the improvement: twice, or a search whose best lies at an edge keeps failing beyond it
 * (bench/search-compare, failing5 and training7). */
#define FEASIBLE_CAUTION 2

#define FEASIBLE_MANY 50 /* labels from which more than one start is tried */

struct feasible {
	struct gaussian *model;
	double doubt;
	bool mixed; /* not all labels are equal */
	double *by_mean, *by_variance; /* scratch: dims */
};

static void feasible_forget(struct feasible *f)
{
	for (size_t d = 0; d < f->model->dims + 2; d++)
		f->model->theta[d] = d == f->model->dims + 1 ? log(f->doubt) : 0;
}

struct feasible *feasible_new(size_t dims, const bool *unordered, enum feasible_kind kind)
{
	struct feasible *f = mem_alloc(sizeof(*f));
	f->doubt = kind == FEASIBLE_LIMIT ? FEASIBLE_LIMIT_DOUBT : FEASIBLE_DOUBT;
	f->model = gaussian_new(dims, unordered);
	f->by_mean = mem_array(2 * dims + 1, sizeof(double));
	f->by_variance = f->by_mean + dims;
	feasible_forget(f);
	return f;
}

void feasible_free(struct feasible *f)
{
	if (!f)
		return;
	gaussian_free(f->model);
	free(f->by_mean);
	free(f);
}

static bool feasible_are_mixed(const double *labels, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (labels[i] != labels[0])
			return true;
	return false;
}

void feasible_fit(struct feasible *f, const double *x, const double *labels, size_t count)
{
	bool mixed = feasible_are_mixed(labels, count);
	if (mixed)
		gaussian_fit(f->model, x, labels, count);
	if (mixed && count >= FEASIBLE_MANY)
		gaussian_fit_more(f->model, x, labels, count);
	if (!mixed)
		feasible_forget(f);
}

void feasible_set(struct feasible *f, const double *x, const double *labels, size_t count)
{
	f->mixed = feasible_are_mixed(labels, count);
	if (f->mixed)
		gaussian_set(f->model, x, labels, count);
}

/* log of the normal distribution's share below z. */
static double feasible_log_below(double z)
{
	if (z > -5)
		return log(erfc(-z * M_SQRT1_2) / 2);
	double square = z * z;
	return -square / 2 - log(-z) - log(2 * M_PI) / 2 + log1p(-1 / square + 3 / (square * square));
}

double feasible_log_weight(struct feasible *f, const double *x)
{
	double mean, variance;
	if (!f->mixed)
		return 0;
	gaussian_predict(f->model, x, &mean, &variance);
	return FEASIBLE_CAUTION * feasible_log_below(mean / sqrt(variance + f->doubt));
}

double feasible_add_slopes(struct feasible *f, const double *x, double *slopes)
{
	double mean, variance;
	if (!f->mixed)
		return 0;
	gaussian_predict_slopes(f->model, x, &mean, &variance, f->by_mean, f->by_variance);
	double sigma = sqrt(variance + f->doubt), z = mean / sigma, chance = feasible_log_below(z);
	double by_z = FEASIBLE_CAUTION * exp(-z * z / 2 - log(2 * M_PI) / 2 - chance);
	for (size_t d = 0; d < f->model->dims; d++)
		slopes[d] += by_z * (f->by_mean[d] / sigma - z * f->by_variance[d] / (2 * sigma * sigma));
	return FEASIBLE_CAUTION * chance;
}
