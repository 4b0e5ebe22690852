/* Symmetric eigenvalues by Householder's reduction and the QL method with implicit shifts (Bowdler, Martin,
 * Reinsch and Wilkinson 1968), and Cholesky's factor: see matrix.h. */
#include "search/matrix.h"

#include <math.h>

#define QL_STEPS_MOST 60

/* One reflection that clears column k of `a` below the subdiagonal; applied to `q` too. v and w are
 * scratch. */
static void matrix_reflect(double *a, double *q, size_t n, size_t k, double *v, double *w)
{
	double length = 0, square = 0, dot = 0;
	for (size_t i = k + 1; i < n; i++)
		length += a[i * n + k] * a[i * n + k];
	length = sqrt(length);
	if (length == 0)
		return;
	double alpha = a[(k + 1) * n + k] > 0 ? -length : length;
	for (size_t i = k + 1; i < n; i++) {
		v[i] = a[i * n + k] - (i == k + 1 ? alpha : 0);
		square += v[i] * v[i];
	}
	for (size_t i = k + 1; i < n; i++) {
		w[i] = 0;
		for (size_t j = k + 1; j < n; j++)
			w[i] += a[i * n + j] * v[j];
		w[i] *= 2 / square;
		dot += w[i] * v[i];
	}
	for (size_t i = k + 1; i < n; i++)
		w[i] -= dot / square * v[i];
	for (size_t i = k + 1; i < n; i++) {
		for (size_t j = k + 1; j < n; j++)
			a[i * n + j] -= v[i] * w[j] + w[i] * v[j];
		a[i * n + k] = a[k * n + i] = i == k + 1 ? alpha : 0;
	}
	for (size_t i = 0; i < n; i++) {
		double along = 0;
		for (size_t j = k + 1; j < n; j++)
			along += q[i * n + j] * v[j];
		along *= 2 / square;
		for (size_t j = k + 1; j < n; j++)
			q[i * n + j] -= along * v[j];
	}
}

/* One QL step on the block l..m of the tridiagonal matrix (d, e). */
static void matrix_ql_step(double *d, double *e, double *q, size_t n, size_t l, size_t m)
{
	double g = (d[l + 1] - d[l]) / (2 * e[l]), r = hypot(g, 1), s = 1, c = 1, p = 0;
	g = d[m] - d[l] + e[l] / (g + copysign(r, g));
	for (size_t i = m; i-- > l;) {
		double f = s * e[i], b = c * e[i];
		r = hypot(f, g);
		e[i + 1] = r;
		if (r == 0) {
			d[i + 1] -= p;
			e[m] = 0;
			return;
		}
		s = f / r;
		c = g / r;
		g = d[i + 1] - p;
		r = (d[i] - g) * s + 2 * c * b;
		p = s * r;
		d[i + 1] = g + p;
		g = c * r - b;
		for (size_t k = 0; k < n; k++) {
			double *row = q + k * n + i, above = row[1];
			row[1] = s * row[0] + c * above;
			row[0] = c * row[0] - s * above;
		}
	}
	d[l] -= p;
	e[l] = g;
	e[m] = 0;
}

void matrix_eigen(const double *matrix, size_t n, double *ret_values, double *ret_vectors)
{
	double *a = mem_resize(NULL, n * n + 3 * n + 1, sizeof(double)), *e = a + n * n, *v = e + n, *w = v + n;
	double *d = ret_values, *q = ret_vectors;
	memcpy(a, matrix, n * n * sizeof(double));
	for (size_t i = 0; i < n * n; i++)
		q[i] = i % (n + 1) == 0;
	for (size_t k = 0; k + 2 < n; k++)
		matrix_reflect(a, q, n, k, v, w);
	for (size_t i = 0; i < n; i++) {
		d[i] = a[i * n + i];
		e[i] = i + 1 < n ? a[(i + 1) * n + i] : 0;
	}
	for (size_t l = 0; l < n; l++) {
		for (int step = 0; step < QL_STEPS_MOST; step++) {
			size_t m = l;
			for (; m + 1 < n; m++) {
				double size = fabs(d[m]) + fabs(d[m + 1]);
				if (fabs(e[m]) + size == size)
					break;
			}
			if (m == l)
				break;
			matrix_ql_step(d, e, q, n, l, m);
		}
	}
	free(a);
}

/* In four sums, which need not wait for each other. */
double matrix_dot(const double *a, const double *b, size_t n)
{
	double sums[4] = {0}, rest = 0;
	size_t i = 0;
	for (; i + 4 <= n; i += 4)
		for (size_t k = 0; k < 4; k++)
			sums[k] += a[i + k] * b[i + k];
	for (; i < n; i++)
		rest += a[i] * b[i];
	return sums[0] + sums[1] + (sums[2] + sums[3]) + rest;
}

bool matrix_cholesky(double *matrix, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double *row = matrix + i * n;
		for (size_t j = 0; j <= i; j++) {
			const double *other = matrix + j * n;
			double sum = row[j] - matrix_dot(row, other, j);
			if (j < i)
				row[j] = sum / other[j];
			else if (!(sum > 0))
				return false;
			else
				row[j] = sqrt(sum);
		}
	}
	return true;
}

double matrix_normal_tail(double p)
{
	double low = -40, high = 40;
	for (int i = 0; i < 100; i++) {
		double middle = (low + high) / 2;
		if (erfc(middle * M_SQRT1_2) / 2 > p)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}
