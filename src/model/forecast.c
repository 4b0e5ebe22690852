/* Ridge regression with the leave-one-out error in closed form (Allen 1974: e_i / (1 - h_ii)), and a limit from the
 * errors on runs that were left out (the jackknife of Barber and others 2021, one-sided): see forecast.h. */
#include "model/forecast.h"

#include "base/num.h"
#include "search/matrix.h"

#include <math.h>

/* 500 runs of 32 columns are fitted 24 times in about 10 ms. */
#define FORECAST_COLUMNS_MOST 32
#define FORECAST_LABELS_MOST 12
#define FORECAST_CHANCE 0.95
/* How far a number may lie outside those that were seen: a quarter of their range on the logarithmic scale, and twice
 * as much in any case. */
#define FORECAST_BEYOND_SHARE 0.25
#define FORECAST_BEYOND_FACTOR 2.0

static const double forecast_penalties[] = {1e-3, 1e-2, 1e-1, 1, 10, 100};

/* Each form has the columns of the ones before it. */
enum forecast_form { FORM_MEAN, FORM_LINEAR, FORM_SQUARES, FORM_PRODUCTS, FORM_COUNT };

/* How the values of a parameter become columns. */
struct forecast_param {
	size_t numbers, labels_seen, absent; /* runs with each kind */
	bool log; /* all numbers are above 0 */
	double low, high, mean, spread; /* of the numbers, on the scale; spread 0: they are all equal */
	char *labels[FORECAST_LABELS_MOST];
	size_t label_count;
	bool too_many; /* labels: they are not distinguished */
};

struct forecast_run {
	struct forecast_value *values;
	double took; /* its logarithm */
};

struct forecast {
	struct forecast_param *params;
	size_t count;
	VEC(struct forecast_run) runs;
	enum forecast_form form;
	size_t columns; /* with the first, which is 1 */
	double *weights;
	double over; /* added to a median's logarithm: the limit */
	double error;
	bool seen, fitted;
};

struct forecast *forecast_new(size_t params)
{
	struct forecast *f = mem_alloc(sizeof(*f));
	f->params = mem_array(params, sizeof(*f->params));
	f->count = params;
	return f;
}

void forecast_free(struct forecast *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->runs.len; i++) {
		for (size_t j = 0; j < f->count; j++)
			free((char *)f->runs.at[i].values[j].label);
		free(f->runs.at[i].values);
	}
	for (size_t j = 0; j < f->count; j++)
		for (size_t k = 0; k < f->params[j].label_count; k++)
			free(f->params[j].labels[k]);
	free(f->runs.at);
	free(f->params);
	free(f->weights);
	free(f);
}

bool forecast_add(struct forecast *f, const struct forecast_value *values, double took)
{
	if (!(took > 0) || isinf(took) || f->runs.len == FORECAST_RUNS_MOST)
		return false;
	struct forecast_run run = {.values = mem_array(f->count, sizeof(*values)), .took = log(took)};
	for (size_t j = 0; j < f->count; j++) {
		run.values[j] = values[j];
		run.values[j].label = values[j].kind == FORECAST_LABEL ? mem_strdup(values[j].label) : NULL;
	}
	vec_push(&f->runs, run);
	return true;
}

size_t forecast_runs(const struct forecast *f)
{
	return f->runs.len;
}

bool forecast_has(const struct forecast *f, size_t param)
{
	return f->params[param].numbers || f->params[param].labels_seen;
}

double forecast_error(const struct forecast *f)
{
	return f->error;
}

static double forecast_scale(const struct forecast_param *param, double number)
{
	return param->log ? log(number) : number;
}

static size_t forecast_find_label(const struct forecast_param *param, const char *label)
{
	size_t k = 0;
	while (k < param->label_count && strcmp(param->labels[k], label) != 0)
		k++;
	return k;
}

static void forecast_see_label(struct forecast_param *param, const char *label)
{
	param->labels_seen++;
	if (forecast_find_label(param, label) < param->label_count)
		return;
	if (param->label_count < FORECAST_LABELS_MOST)
		param->labels[param->label_count++] = mem_strdup(label);
	else
		param->too_many = true;
}

static void forecast_see_numbers(struct forecast *f, size_t j)
{
	struct forecast_param *param = &f->params[j];
	double sum = 0, squares = 0;
	for (size_t i = 0; i < f->runs.len; i++) {
		const struct forecast_value *value = &f->runs.at[i].values[j];
		if (value->kind != FORECAST_NUMBER)
			continue;
		double at = forecast_scale(param, value->number);
		param->low = param->numbers && param->low < at ? param->low : at;
		param->high = param->numbers && param->high > at ? param->high : at;
		param->numbers++;
		sum += at;
		squares += at * at;
	}
	if (!param->numbers)
		return;
	double n = (double)param->numbers, variance;
	param->mean = sum / n;
	variance = squares / n - param->mean * param->mean;
	param->spread = param->high > param->low && variance > 0 ? sqrt(variance) : 0;
}

static void forecast_see(struct forecast *f)
{
	for (size_t j = 0; j < f->count; j++) {
		struct forecast_param *param = &f->params[j];
		param->log = true;
		for (size_t i = 0; i < f->runs.len; i++) {
			const struct forecast_value *value = &f->runs.at[i].values[j];
			if (value->kind == FORECAST_LABEL)
				forecast_see_label(param, value->label);
			else if (value->kind == FORECAST_NONE)
				param->absent++;
			else if (!(value->number > 0))
				param->log = false;
		}
		forecast_see_numbers(f, j);
	}
}

struct forecast_columns {
	double *at;
	size_t len, numbers[FORECAST_COLUMNS_MOST], number_count;
};

static void forecast_put(struct forecast_columns *to, double value)
{
	if (to->len < FORECAST_COLUMNS_MOST)
		to->at[to->len] = value;
	to->len++;
}

static void forecast_put_param(const struct forecast_param *param, const struct forecast_value *value,
			       struct forecast_columns *to)
{
	if (param->spread > 0) {
		bool here = value->kind == FORECAST_NUMBER;
		if (to->number_count < FORECAST_COLUMNS_MOST)
			to->numbers[to->number_count++] = to->len;
		forecast_put(to, here ? (forecast_scale(param, value->number) - param->mean) / param->spread : 0);
	}
	if (param->absent && (param->numbers || param->labels_seen))
		forecast_put(to, value->kind == FORECAST_NONE ? 1 : 0);
	if (param->label_count > 1 && !param->too_many)
		for (size_t k = 0; k < param->label_count; k++)
			forecast_put(to,
				     value->kind == FORECAST_LABEL && !strcmp(param->labels[k], value->label) ? 1 : 0);
}

/* The columns of a run in a form. Returns how many there are; beyond FORECAST_COLUMNS_MOST the form cannot be used. */
static size_t forecast_encode(const struct forecast *f, enum forecast_form form, const struct forecast_value *values,
			      double at[static FORECAST_COLUMNS_MOST])
{
	struct forecast_columns to = {.at = at};
	forecast_put(&to, 1);
	for (size_t j = 0; form >= FORM_LINEAR && j < f->count; j++)
		forecast_put_param(&f->params[j], &values[j], &to);
	if (form < FORM_SQUARES || to.len > FORECAST_COLUMNS_MOST)
		return to.len;
	for (size_t a = 0; a < to.number_count; a++)
		for (size_t b = a; b < to.number_count; b++)
			if (a == b || form == FORM_PRODUCTS)
				forecast_put(&to, at[to.numbers[a]] * at[to.numbers[b]]);
	return to.len;
}

/* x = L^-1 x. */
static void forecast_forward(const double *lower, size_t n, double *x)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i; k++)
			x[i] -= lower[i * n + k] * x[k];
		x[i] /= lower[i * n + i];
	}
}

/* x = L^-T x. */
static void forecast_backward(const double *lower, size_t n, double *x)
{
	for (size_t i = n; i-- > 0;) {
		for (size_t k = i + 1; k < n; k++)
			x[i] -= lower[k * n + i] * x[k];
		x[i] /= lower[i * n + i];
	}
}

/* Sums over the runs: X^T X and X^T y. */
struct forecast_sums {
	size_t columns;
	double *x; /* a row of FORECAST_COLUMNS_MOST for each run */
	double square[FORECAST_COLUMNS_MOST * FORECAST_COLUMNS_MOST], side[FORECAST_COLUMNS_MOST];
};

static void forecast_sum(const struct forecast *f, enum forecast_form form, struct forecast_sums *sums)
{
	memset(sums->square, 0, sizeof(sums->square));
	memset(sums->side, 0, sizeof(sums->side));
	for (size_t i = 0; i < f->runs.len; i++) {
		double *x = &sums->x[i * FORECAST_COLUMNS_MOST];
		sums->columns = forecast_encode(f, form, f->runs.at[i].values, x);
		if (sums->columns > FORECAST_COLUMNS_MOST)
			return;
		for (size_t a = 0; a < sums->columns; a++) {
			sums->side[a] += x[a] * f->runs.at[i].took;
			for (size_t b = 0; b < sums->columns; b++)
				sums->square[a * sums->columns + b] += x[a] * x[b];
		}
	}
}

/* Fits one penalty. The first column has none. ret_left gets the error on each run when it is left out. False when
 * the system cannot be solved. */
static bool forecast_solve(const struct forecast *f, const struct forecast_sums *sums, double penalty,
			   double *ret_weights, double *ret_left)
{
	size_t p = sums->columns;
	double lower[FORECAST_COLUMNS_MOST * FORECAST_COLUMNS_MOST], x[FORECAST_COLUMNS_MOST];
	memcpy(lower, sums->square, p * p * sizeof(*lower));
	for (size_t a = 1; a < p; a++)
		lower[a * p + a] += penalty;
	if (!matrix_cholesky(lower, p))
		return false;
	memcpy(ret_weights, sums->side, p * sizeof(*ret_weights));
	forecast_forward(lower, p, ret_weights);
	forecast_backward(lower, p, ret_weights);
	for (size_t i = 0; i < f->runs.len; i++) {
		const double *row = &sums->x[i * FORECAST_COLUMNS_MOST];
		double error = f->runs.at[i].took - matrix_dot(row, ret_weights, p);
		memcpy(x, row, p * sizeof(*x));
		forecast_forward(lower, p, x);
		double keeps = 1 - matrix_dot(x, x, p);
		if (!(keeps > 1e-9))
			return false;
		ret_left[i] = error / keeps;
	}
	return true;
}

/* The limit and the typical error, from the errors on runs that were left out. */
static void forecast_judge(struct forecast *f, double *left)
{
	size_t n = f->runs.len;
	double *size = mem_array(n, sizeof(*size));
	qsort(left, n, sizeof(*left), num_compare_reals);
	size_t k = (size_t)ceil(FORECAST_CHANCE * (double)(n + 1));
	f->over = left[k - 1] > 0 ? left[k - 1] : 0;
	for (size_t i = 0; i < n; i++)
		size[i] = expm1(fabs(left[i]));
	qsort(size, n, sizeof(*size), num_compare_reals);
	f->error = size[n / 2];
	free(size);
}

bool forecast_fit(struct forecast *f)
{
	size_t n = f->runs.len;
	if (f->seen)
		return f->fitted;
	forecast_see(f);
	f->seen = true;
	if (n < FORECAST_RUNS_LEAST)
		return false;
	struct forecast_sums *sums = mem_alloc(sizeof(*sums));
	double weights[FORECAST_COLUMNS_MOST], *left = mem_array(n, sizeof(*left)), *best = mem_array(n, sizeof(*best));
	double least = INFINITY;
	sums->x = mem_array(n * FORECAST_COLUMNS_MOST, sizeof(*sums->x));
	f->weights = mem_array(FORECAST_COLUMNS_MOST, sizeof(*f->weights));
	for (enum forecast_form form = FORM_MEAN; form < FORM_COUNT; form++) {
		forecast_sum(f, form, sums);
		/* With fewer than two runs a column the error on what is left out says little. */
		for (size_t k = 0; sums->columns <= FORECAST_COLUMNS_MOST && sums->columns * 2 <= n &&
		     k < COUNT_OF(forecast_penalties);
		     k++) {
			if (!forecast_solve(f, sums, forecast_penalties[k], weights, left))
				continue;
			double error = matrix_dot(left, left, n);
			if (error >= least * (1 - 1e-9))
				continue;
			least = error;
			f->form = form;
			f->columns = sums->columns;
			memcpy(f->weights, weights, sizeof(weights));
			memcpy(best, left, n * sizeof(*best));
		}
	}
	f->fitted = true;
	forecast_judge(f, best);
	free(sums->x);
	free(sums);
	free(left);
	free(best);
	return true;
}

/* Is the value so far from those of the runs that nothing can be said? */
static bool forecast_is_far(const struct forecast_param *param, const struct forecast_value *value)
{
	if (value->kind == FORECAST_NONE)
		return !param->absent;
	if (value->kind == FORECAST_LABEL)
		return !param->too_many && forecast_find_label(param, value->label) == param->label_count;
	if (!param->numbers || (param->log && !(value->number > 0)))
		return true;
	double at = forecast_scale(param, value->number), range = param->high - param->low;
	double more = param->log ? log(FORECAST_BEYOND_FACTOR) : 0;
	more = range * FORECAST_BEYOND_SHARE > more ? range * FORECAST_BEYOND_SHARE : more;
	return at < param->low - more || at > param->high + more;
}

enum forecast_answer forecast_at(const struct forecast *f, const struct forecast_value *values,
				 struct forecast_range *ret)
{
	double x[FORECAST_COLUMNS_MOST];
	for (size_t j = 0; f->seen && j < f->count; j++)
		if (forecast_is_far(&f->params[j], &values[j])) {
			ret->far = j;
			return FORECAST_FAR;
		}
	if (!f->fitted)
		return FORECAST_FEW;
	forecast_encode(f, f->form, values, x);
	double at = matrix_dot(x, f->weights, f->columns);
	ret->median = exp(at);
	ret->limit = exp(at + f->over);
	return FORECAST_KNOWN;
}
