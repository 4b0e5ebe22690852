/* A Gaussian process with a Matern 5/2 kernel (and a sum over the axes as a part of it, where wished) and a separate length
 * scale for every axis: the posterior of noisy values at points, and how much a new point is expected to improve on the
 * best. */
#ifndef SEARCH_GAUSSIAN_H
#define SEARCH_GAUSSIAN_H

#include <stdbool.h>
#include <stddef.h>

/* Parameters by their logarithms: one inverse squared length scale per axis, then the kernel's
 * variance, then the noise's. */
struct gaussian {
	size_t dims, count;
	const bool *unordered; /* per axis: points there are equal or one apart */
	bool wide; /* the prior: scales about as long as the diagonal of the cube, not as long as an axis */
	bool brief; /* the prior, where it is not wide: scales of a third to a half of an axis, seldom as long as one */
	bool alike; /* the prior, too: about one scale for all axes that are unordered, if the first is; else for the ordered ones */
	double share; /* of the kernel: a sum of functions of one axis each; 0: none */
	double *theta; /* dims + 2 */
	double *x; /* count x dims */
	double *columns; /* the same, dims x count */
	double *half; /* the inverse of the covariance's Cholesky factor, its rows one after the other */
	double *alpha; /* the inverse of the covariance times the values */
	double *scales; /* exp(theta) as last conditioned on */
	double *scratch; /* 4 x count: covariances with the point asked for last, and what is made of them */
	double mean; /* the most likely one */
	double log_likelihood;
};

/* unordered must live longer than the returned object. */
struct gaussian *gaussian_new(size_t dims, const bool *unordered);
void gaussian_free(struct gaussian *gaussian);
/* Conditions on values at points, with the present parameters. */
void gaussian_set(struct gaussian *gaussian, const double *x, const double *y, size_t count);
/* Finds the parameters that make the values most likely (with a weak prior that keeps them sane), then
 * conditions on them. Always starts from the same ones: length scales of an axis, or where the wide prior has its
 * middle. */
void gaussian_fit(struct gaussian *gaussian, const double *x, const double *y, size_t count);
/* Starts from length scales of a third and of three axes too, and takes what is most likely. */
void gaussian_fit_more(struct gaussian *gaussian, const double *x, const double *y, size_t count);
/* Continues from the current parameters, for a few steps. */
void gaussian_refine(struct gaussian *gaussian, const double *x, const double *y, size_t count, int steps);
void gaussian_predict(struct gaussian *gaussian, const double *x, double *ret_mean, double *ret_variance);
/* The mean, and a variance that the true one does not exceed (as if the nearest point were the only one), for a
 * small part of the time; gaussian_variance gives the true one of the point asked for last. */
void gaussian_predict_quickly(struct gaussian *gaussian, const double *x, double *ret_mean, double *ret_most);
double gaussian_variance(struct gaussian *gaussian);
/* With the slopes of both along every ordered axis, 0 along the others. */
void gaussian_predict_slopes(struct gaussian *gaussian, const double *x, double *ret_mean, double *ret_variance,
			     double *ret_mean_slope, double *ret_variance_slope);
/* log E[max(best - f, 0)] for f normal; finite however small the chance is. */
double gaussian_log_improvement(double mean, double variance, double best);
/* The same at a point, or -INFINITY where it is no more than `least`: that is cheap to see of most points. */
double gaussian_promise(struct gaussian *gaussian, const double *x, double best, double least);
/* How it changes with the mean and with the variance. */
void gaussian_improvement_slopes(double mean, double variance, double best, double *ret_by_mean,
				 double *ret_by_variance);
/* The next step uphill along one axis, from its slope. before (0 at first) and step (the first step) are
 * kept between calls. */
double gaussian_step_up(double slope, double *before, double *step, double least, double most);
/* The gradient of the penalised log likelihood by theta, for the test. */
double gaussian_gradient(struct gaussian *gaussian, const double *y, double *ret_gradient);

#endif
