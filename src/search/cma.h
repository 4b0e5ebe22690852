/* The covariance matrix adaptation evolution strategy as an optimiser on R^n, without bounds and without
 * bookkeeping: cmaes.c makes a search strategy of it. */
#ifndef SEARCH_CMA_H
#define SEARCH_CMA_H

#include "base/rng.h"

#include <stdbool.h>
#include <stddef.h>

struct cma_constants {
	size_t lambda, mu;
	double *weights; /* lambda: positive ones sum to 1, negative ones follow */
	double mu_eff, c1, c_mu, c_sigma, d_sigma, c_c, chi;
};

struct cma {
	size_t n;
	struct cma_constants k;
	double *mean, sigma;
	double *cov; /* C, n x n */
	double *axes, *scales; /* C = axes diag(scales^2) axes^T */
	double *path_sigma, *path_c;
	size_t generation;
	double *best; /* of the last generations, a ring: has anything changed? */
	size_t best_len;
};

/* 4 + floor(3 ln n) */
size_t cma_default_lambda(size_t n);
struct cma_constants cma_constants_make(size_t n, size_t lambda);
void cma_constants_free(struct cma_constants *constants);

/* mean is copied; cov NULL: the identity. */
struct cma *cma_new(size_t n, size_t lambda, const double *mean, double sigma, const double *cov);
void cma_free(struct cma *cma);
void cma_sample(const struct cma *cma, struct rng *rng, double *ret);
/* One generation: lambda points with their scores (smaller is better; equal ones in the order given). A point that was
 * not drawn from the current distribution is `foreign`: its step is shortened to one that the distribution could have
 * made (Hansen 2011, injection). */
void cma_update(struct cma *cma, const double *const *points, const double *scores, const bool *foreign);
/* True if it has converged: steps too small, no change of the best, or a degenerate covariance. `fine`: the axes on
 * which small steps count. */
bool cma_is_done(const struct cma *cma, const bool *fine);

#endif
