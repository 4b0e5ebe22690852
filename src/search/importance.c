/* PED-ANOVA: S. Watanabe, A. Bansal and F. Hutter, PED-ANOVA: efficiently quantifying hyperparameter
 * importance in arbitrary subspaces, IJCAI 2023; parameters that apply only at times as in its
 * conditional successor. How differently a parameter is distributed among the best tenth and among all. */
#include "search/importance.h"

#include "base/num.h"
#include "search/pareto.h"
#include "search/parzen.h"

#include <math.h>

#define TOP_PORTION 0.1
#define CELLS_MOST 50
#define SCOTT 1.059
#define IQR_SIGMA 1.34
#define SIGMA_LEAST (0.5 / 1.64) /* nine tenths of a kernel fit its cell */
#define TINY 1e-12

struct histogram {
	double *counts;
	size_t cells;
	bool unordered;
};

/* How finely an axis is cut. */
static size_t importance_cells_of(const struct space_param *p, const struct parzen_axis *axis)
{
	double cells = axis->kind == PARZEN_REAL ? CELLS_MOST : axis->cells;
	if (axis->uneven)
		cells = ceil(log2(p->max - p->min + 1)) + 1;
	return axis->kind == PARZEN_CHOICE || cells < CELLS_MOST ? (size_t)cells : CELLS_MOST;
}

/* The cell of a value: evenly spaced points from the least value to the largest, the nearest one. */
static size_t importance_cell_of(const struct space *space, size_t param, const struct parzen_axis *axis,
				 const double *unit, size_t dim, const struct space_value *values, size_t cells)
{
	const struct space_param *p = &space->params[param];
	double at = parzen_coordinate(axis, unit[dim]);
	if (axis->kind == PARZEN_CHOICE)
		return (size_t)at;
	if (axis->uneven)
		at = (log(values[param].real) - log(p->min)) / (log(p->max) - log(p->min));
	else if (axis->kind == PARZEN_CELLS)
		at /= axis->cells - 1;
	double cell = ceil(at * (double)(cells - 1) - 0.5);
	return cell > 0 ? (cell < (double)cells ? (size_t)cell : cells - 1) : 0;
}

static double importance_mass(double low, double high)
{
	return (erfc(low * M_SQRT1_2) - erfc(high * M_SQRT1_2)) / 2;
}

/* A kernel's share of every cell, truncated to all of them. */
static void importance_add_kernel(double mu, double sigma, double weight, double *density, size_t cells)
{
	double whole = importance_mass((-0.5 - mu) / sigma, ((double)cells - 0.5 - mu) / sigma);
	for (size_t i = 0; i < cells; i++)
		density[i] += weight / whole *
			importance_mass(((double)i - 0.5 - mu) / sigma, ((double)i + 0.5 - mu) / sigma);
}

/* Scott's rule on the histogram. */
static double importance_scott_width(const double *counts, size_t cells)
{
	double n = 0, mean = 0, square = 0, sum = 0, first = -1, third = -1, last = 0;
	for (size_t i = 0; i < cells; i++) {
		n += counts[i];
		mean += counts[i] * (double)i;
		last = counts[i] > 0 ? (double)i : last;
	}
	mean /= n;
	for (size_t i = 0; i < cells; i++) {
		if (!(counts[i] > 0))
			continue;
		square += counts[i] * ((double)i - mean) * ((double)i - mean);
		sum += counts[i];
		first = first < 0 && sum >= floor(n / 4) ? (double)i : first;
		third = third < 0 && sum > floor(n * 3 / 4) ? (double)i : third;
	}
	double sigma = sqrt(square / fmax(1, n - 1)), range = (third < 0 ? last : third) - first;
	return fmax(SCOTT * fmin(range / IQR_SIGMA, sigma) * pow(n, -0.2), SIGMA_LEAST);
}

static void importance_density_of(const struct histogram *h, double *density)
{
	double n = 1, seen = 0; /* the prior counts as one run */
	for (size_t i = 0; i < h->cells; i++) {
		density[i] = 0;
		n += h->counts[i];
		seen += h->counts[i] > 0;
	}
	if (h->unordered) {
		double rest = 1 / (seen + 1), whole = 1 + (double)h->cells * rest;
		for (size_t i = 0; i < h->cells; i++)
			density[i] = h->counts[i] / n / whole + rest / whole * (n - 1) / n + 1 / n / (double)h->cells;
		return;
	}
	double sigma = importance_scott_width(h->counts, h->cells);
	for (size_t i = 0; i < h->cells; i++)
		if (h->counts[i] > 0)
			importance_add_kernel((double)i, sigma, h->counts[i] / n, density, h->cells);
	importance_add_kernel(((double)h->cells - 1) / 2, (double)h->cells, 1 / n, density, h->cells);
}

/* Pearson's divergence of the distribution of the best from that of all. */
static double importance_divergence(const struct histogram *all, const struct histogram *top)
{
	double *a = mem_resize(NULL, 2 * all->cells, sizeof(double)), *t = a + all->cells, sum = 0;
	importance_density_of(all, a);
	importance_density_of(top, t);
	for (size_t i = 0; i < all->cells; i++) {
		double ratio = (t[i] + TINY) / (a[i] + TINY) - 1;
		sum += (a[i] + TINY) * ratio * ratio;
	}
	free(a);
	return sum;
}

/* Marks the best tenth of the rows; equal to the last of them is good enough. */
static void importance_mark_top(const double *rows, size_t count, size_t objectives, bool *ret)
{
	size_t want = (size_t)ceil(TOP_PORTION * (double)count);
	memset(ret, 0, count * sizeof(*ret));
	if (objectives > 1) {
		size_t *chosen = mem_resize(NULL, want, sizeof(*chosen));
		pareto_select(rows, count, objectives, want, chosen);
		for (size_t i = 0; i < want; i++)
			ret[chosen[i]] = true;
		free(chosen);
		return;
	}
	double *sorted = mem_resize(NULL, count, sizeof(double));
	memcpy(sorted, rows, count * sizeof(double));
	qsort(sorted, count, sizeof(double), num_compare_reals);
	for (size_t i = 0; i < count; i++)
		ret[i] = rows[i] <= sorted[want - 1];
	free(sorted);
}

static bool importance_says_something(const struct importance_run *run, size_t objectives)
{
	for (size_t m = 0; m < objectives; m++)
		if (!run->scores || !isfinite(run->scores[m]))
			return false;
	return true;
}

/* One parameter: (alpha^2 / beta) times the divergence among the runs that have it, times the square of the
 * top's share. */
static double importance_score_of(const struct space *space, size_t dim, const struct importance_run *const *runs,
				  size_t count, const bool *top, const double *units)
{
	size_t param = space->dims[dim], has = 0, has_top = 0, tops = 0;
	struct parzen_axis axis = parzen_axis_of(&space->params[param]);
	struct histogram all = {.cells = importance_cells_of(&space->params[param], &axis),
				.unordered = axis.kind == PARZEN_CHOICE};
	struct histogram best = all;
	all.counts = mem_array(2 * all.cells, sizeof(double));
	best.counts = all.counts + all.cells;
	for (size_t i = 0; i < count; i++) {
		tops += top[i];
		if (runs[i]->values[param].kind == SPACE_VALUE_NONE)
			continue;
		size_t cell = importance_cell_of(space, param, &axis, units + i * space->dim_count, dim,
						 runs[i]->values, all.cells);
		all.counts[cell]++;
		has++;
		if (top[i]) {
			best.counts[cell]++;
			has_top++;
		}
	}
	double score = has < 2 ? NAN : 0;
	if (has >= 2 && has_top) {
		double alpha = (double)has_top / (double)tops, beta = (double)has / (double)count;
		double share = (double)tops / (double)count;
		score = share * share * alpha * alpha / beta * importance_divergence(&all, &best);
	}
	free(all.counts);
	return score;
}

size_t importance_scores(const struct space *space, const struct importance_run *runs, size_t count, size_t objectives,
			 const bool *maximise, double *ret_scores)
{
	const struct importance_run **known = mem_array(count + 1, sizeof(*known));
	size_t n = 0;
	for (size_t i = 0; i < count; i++)
		if (importance_says_something(&runs[i], objectives))
			known[n++] = &runs[i];
	for (size_t i = 0; i < space->count; i++)
		ret_scores[i] = NAN;
	double *rows = mem_array(n * objectives + 1, sizeof(double));
	double *units = mem_array(n * space->dim_count + 1, sizeof(double));
	bool *top = mem_alloc(n + 1);
	for (size_t i = 0; i < n; i++) {
		for (size_t m = 0; m < objectives; m++)
			rows[i * objectives + m] = maximise[m] ? -known[i]->scores[m] : known[i]->scores[m];
		space_encode(space, known[i]->values, units + i * space->dim_count);
	}
	if (n >= 2) {
		importance_mark_top(rows, n, objectives, top);
		for (size_t d = 0; d < space->dim_count; d++)
			ret_scores[space->dims[d]] = importance_score_of(space, d, known, n, top, units);
	}
	free(known);
	free(rows);
	free(units);
	free(top);
	return n;
}

static size_t importance_runs_with(const struct importance_run *runs, size_t count, size_t objectives, size_t param)
{
	size_t n = 0;
	for (size_t i = 0; i < count; i++)
		n += importance_says_something(&runs[i], objectives) && runs[i].values[param].kind != SPACE_VALUE_NONE;
	return n;
}

void importance_write(const struct space *space, const struct importance_run *runs, size_t count, size_t objectives,
		      const bool *maximise, long without, struct json *out)
{
	double *scores = mem_array(space->count + 1, sizeof(double)), sum = 0;
	if (importance_scores(space, runs, count, objectives, maximise, scores) < IMPORTANCE_RUNS_LEAST)
		for (size_t i = 0; i < space->count; i++)
			scores[i] = NAN;
	if (without >= 0)
		scores[without] = NAN;
	for (size_t i = 0; i < space->count; i++)
		sum += isnan(scores[i]) ? 0 : scores[i];
	json_list(out);
	for (size_t written = 0; written < space->count; written++) {
		size_t best = space->count;
		for (size_t i = 0; i < space->count; i++)
			if (!isnan(scores[i]) && (best == space->count || scores[i] > scores[best]))
				best = i;
		if (best == space->count)
			break;
		json_map(out);
		json_key_string(out, "parameter", space->params[best].name);
		json_key_real(out, "importance", sum > 0 ? scores[best] / sum : 0);
		json_key_real(out, "score", scores[best]);
		json_key_int(out, "runs", (int64_t)importance_runs_with(runs, count, objectives, best));
		json_end(out);
		scores[best] = NAN;
	}
	json_end(out);
	free(scores);
}
