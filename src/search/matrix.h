/* The little linear algebra that CMA-ES and the Gaussian process need. Square matrices in rows. */
#ifndef SEARCH_MATRIX_H
#define SEARCH_MATRIX_H

#include "base/mem.h"

#include <stdbool.h>

double matrix_dot(const double *a, const double *b, size_t n);
/* Eigenvalues, in no particular order, and eigenvectors (the columns of ret_vectors) of a symmetric matrix. */
void matrix_eigen(const double *matrix, size_t n, double *ret_values, double *ret_vectors);
/* The lower triangle L with L L^T = matrix, in place (the upper one is left alone). False when it is not
 * positive definite. */
bool matrix_cholesky(double *matrix, size_t n);
/* The x beyond which a standard normal variable lies with probability p, 0 < p < 1. */
double matrix_normal_tail(double p);

#endif
