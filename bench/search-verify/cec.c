/* The functions: see cec.h. Every one is shifted, most are rotated; what the 2013 suite does besides
 * (oscillation, asymmetry, ill-conditioning) follows its report and its reference values. */
#include "cec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N CEC_DIMS

static int read_numbers(const char *path, double *to, int count)
{
	FILE *file = fopen(path, "r");
	if (!file) {
		perror(path);
		return -1;
	}
	int n = 0;
	while (n < count && fscanf(file, "%lf", &to[n]) == 1)
		n++;
	fclose(file);
	if (n == count)
		return 0;
	fprintf(stderr, "%s: %d numbers, not %d\n", path, n, count);
	return -1;
}

int cec_open(struct cec *f, const char *data, int year, int function)
{
	char path[1024];
	*f = (struct cec){.year = year, .function = function};
	f->bias = year == 2014 ? 100 * function : function <= 14 ? 100 * function - 1500 : 100 * function - 1400;
	snprintf(path, sizeof(path), year == 2013 ? "%s/2013/shift_data.txt" : "%s/2014/shift_data_%d.txt", data,
		 function);
	if (read_numbers(path, f->shift, N) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/%d/M_D%d.txt", data, year, N);
	if (year == 2014)
		snprintf(path, sizeof(path), "%s/2014/M_%d_D%d.txt", data, function, N);
	return read_numbers(path, &f->rotation[0][0][0], (year == 2013 ? 2 : 1) * N * N);
}

static void rotate(const double m[N][N], const double *x, double *to)
{
	for (int i = 0; i < N; i++) {
		to[i] = 0;
		for (int j = 0; j < N; j++)
			to[i] += x[j] * m[i][j];
	}
}

/* Shift, scale, rotate: where every function starts. */
static void start(const struct cec *f, const double *x, double scale, bool rotated, double *z)
{
	double y[N];
	for (int i = 0; i < N; i++)
		y[i] = (x[i] - f->shift[i]) * scale;
	if (rotated)
		rotate(f->rotation[0], y, z);
	else
		memcpy(z, y, sizeof(y));
}

/* 10^(power * i / (n - 1)) */
static double conditioned(double power, int i)
{
	return pow(10, power * i / (N - 1));
}

/* T_osz; the suite applies it to the first and the last coordinate only. */
static void oscillate(double *z)
{
	for (int i = 0; i < N; i += N - 1) {
		if (z[i] == 0)
			continue;
		double l = log(fabs(z[i])), c1 = z[i] > 0 ? 10 : 5.5, c2 = z[i] > 0 ? 7.9 : 3.1;
		z[i] = copysign(exp(l + 0.049 * (sin(c1 * l) + sin(c2 * l))), z[i]);
	}
}

static double elliptic(const double *z)
{
	double sum = 0;
	for (int i = 0; i < N; i++)
		sum += conditioned(6, i) * z[i] * z[i];
	return sum;
}

static double rosenbrock(const double *z)
{
	double sum = 0;
	for (int i = 0; i + 1 < N; i++) {
		double a = z[i] + 1, b = z[i + 1] + 1, t = a * a - b;
		sum += 100 * t * t + (a - 1) * (a - 1);
	}
	return sum;
}

static double rastrigin(const double *z)
{
	double sum = 0;
	for (int i = 0; i < N; i++)
		sum += z[i] * z[i] - 10 * cos(2 * M_PI * z[i]) + 10;
	return sum;
}

static double griewank_2013(const struct cec *f, const double *x)
{
	double z[N], sum = 0, product = 1;
	start(f, x, 600.0 / 100, true, z);
	for (int i = 0; i < N; i++) {
		z[i] *= conditioned(1, i);
		sum += z[i] * z[i] / 4000;
		product *= cos(z[i] / sqrt(i + 1));
	}
	return 1 + sum - product;
}

/* Oscillation, asymmetry and conditioning between the rotations. A coordinate that is not positive
 * after the oscillation keeps the value it had before it, as in the suite's own values. */
static double rastrigin_2013(const struct cec *f, const double *x, bool rotated)
{
	double z[N], y[N];
	start(f, x, 5.12 / 100, rotated, z);
	memcpy(y, z, sizeof(y));
	oscillate(y);
	for (int i = 0; i < N; i++)
		if (y[i] > 0)
			z[i] = pow(y[i], 1 + 0.2 * i / (N - 1) * sqrt(y[i]));
	if (rotated)
		rotate(f->rotation[1], z, y);
	else
		memcpy(y, z, sizeof(y));
	for (int i = 0; i < N; i++)
		y[i] *= conditioned(0.5, i);
	if (rotated)
		rotate(f->rotation[0], y, z);
	else
		memcpy(z, y, sizeof(y));
	return rastrigin(z);
}

static double schwefel(double *z)
{
	double sum = 0;
	for (int i = 0; i < N; i++) {
		double v = z[i] + 420.9687462275036, rest = 500 - fmod(fabs(v), 500), over;
		if (fabs(v) <= 500) {
			sum -= v * sin(sqrt(fabs(v)));
			continue;
		}
		over = (fabs(v) - 500) / 100;
		sum -= copysign(rest, v) * sin(sqrt(rest));
		sum += over * over / N;
	}
	return 418.9828872724338 * N + sum;
}

static double katsuura(const double *z)
{
	double product = 1, power = 10 / pow(N, 1.2);
	for (int i = 0; i < N; i++) {
		double sum = 0;
		for (int j = 1; j <= 32; j++) {
			double two = ldexp(1, j), v = two * z[i];
			sum += fabs(v - floor(v + 0.5)) / two;
		}
		product *= pow(1 + (i + 1) * sum, power);
	}
	return product * 10 / N / N - 10.0 / N / N;
}

static double happycat(const double *z)
{
	double square = 0, sum = 0;
	for (int i = 0; i < N; i++) {
		double v = z[i] - 1;
		square += v * v;
		sum += v;
	}
	return pow(fabs(square - N), 0.25) + (0.5 * square + sum) / N + 0.5;
}

static double griewank_rosenbrock(const double *z)
{
	double sum = 0;
	for (int i = 0; i < N; i++) {
		double a = z[i] + 1, b = z[(i + 1) % N] + 1, t = a * a - b;
		double r = 100 * t * t + (a - 1) * (a - 1);
		sum += r * r / 4000 - cos(r) + 1;
	}
	return sum;
}

static double value_2013(const struct cec *f, const double *x)
{
	double z[N], sum = 0;
	switch (f->function) {
	case 1:
		start(f, x, 1, false, z);
		for (int i = 0; i < N; i++)
			sum += z[i] * z[i];
		return sum;
	case 2:
		start(f, x, 1, true, z);
		oscillate(z);
		return elliptic(z);
	case 4:
		start(f, x, 1, true, z);
		oscillate(z);
		for (int i = 0; i < N; i++)
			sum += (i ? 1 : 1e6) * z[i] * z[i];
		return sum;
	case 6: start(f, x, 2.048 / 100, true, z); return rosenbrock(z);
	case 10: return griewank_2013(f, x);
	case 11:
	case 12: return rastrigin_2013(f, x, f->function == 12);
	case 15:
		start(f, x, 1000.0 / 100, true, z);
		for (int i = 0; i < N; i++)
			z[i] *= conditioned(0.5, i);
		return schwefel(z);
	}
	abort();
}

static double value_2014(const struct cec *f, const double *x)
{
	double z[N];
	switch (f->function) {
	case 1: start(f, x, 1, true, z); return elliptic(z);
	case 4: start(f, x, 2.048 / 100, true, z); return rosenbrock(z);
	case 8:
	case 9: start(f, x, 5.12 / 100, f->function == 9, z); return rastrigin(z);
	case 11: start(f, x, 1000.0 / 100, true, z); return schwefel(z);
	case 12: start(f, x, 5.0 / 100, true, z); return katsuura(z);
	case 13: start(f, x, 5.0 / 100, true, z); return happycat(z);
	case 15: start(f, x, 5.0 / 100, true, z); return griewank_rosenbrock(z);
	}
	abort();
}

double cec_value(const struct cec *f, const double *x)
{
	return f->bias + (f->year == 2013 ? value_2013(f, x) : value_2014(f, x));
}

double cec_check(const char *data, int year, int *ret_count)
{
	char path[1024], line[4096];
	snprintf(path, sizeof(path), "%s/%d/vectors_d%d.txt", data, year, N);
	FILE *file = fopen(path, "r");
	if (!file) {
		perror(path);
		return -1;
	}
	double worst = 0;
	*ret_count = 0;
	while (fgets(line, sizeof(line), file)) {
		char *at = line;
		double x[N], want;
		if (*at == '#')
			continue;
		struct cec f;
		if (cec_open(&f, data, year, (int)strtol(at, &at, 10)) < 0)
			break;
		for (int i = 0; i < N; i++)
			x[i] = strtod(at, &at);
		want = strtod(at, NULL);
		double off = fabs(cec_value(&f, x) - want) / fabs(want);
		if (off > 1e-9)
			fprintf(stderr, "%d F%d: %.17g, should be %.17g\n", year, f.function, cec_value(&f, x), want);
		worst = off > worst ? off : worst;
		++*ret_count;
	}
	fclose(file);
	return worst;
}
