/* For the files of the Gaussian process (gaussian.h) only. */
#ifndef SEARCH_GAUSSIAN_INTERNAL_H
#define SEARCH_GAUSSIAN_INTERNAL_H

#include "search/gaussian.h"

#define GAUSSIAN_NOISE_LEAST 1e-8

/* gaussian_prior.c */

/* Where the wide prior of theta has its middle. */
double gaussian_wide_middle(const struct gaussian *gaussian);
/* How likely the parameters are before there are values; adds to the gradient by theta. */
double gaussian_add_prior(const struct gaussian *gaussian, const double *scales, double *gradient);

/* gaussian_sums.c: the part of the kernel that is a sum of functions of one axis each. */

/* Adds its covariances of a point with the first `count` points. */
void gaussian_add_sums(const struct gaussian *gaussian, const double *x, size_t count, double *ret);
/* The same, and adds what these pairs do for the gradient by the length scales: weights say how often each counts. */
void gaussian_add_pairs_of_sums(const struct gaussian *gaussian, const double *x, size_t count, const double *weights,
				double *covariances, double *gradient);
/* Adds its part of the slopes of mean and variance; solved is the inverse of the covariance times -k. */
void gaussian_add_slopes_of_sums(const struct gaussian *gaussian, const double *x, const double *solved,
				 double *mean_slope, double *variance_slope);

#endif
