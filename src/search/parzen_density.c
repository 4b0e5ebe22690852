/* The density of a Parzen estimator at many points together. Kernels are worked on in blocks, axis by axis; a
 * block is left as soon as none of its kernels can matter to a point. See parzen.h. */
#include "search/parzen_internal.h"

#include <math.h>

#define BLOCK PARZEN_BLOCK
#define LANES 4		/* sums and minima are taken side by side, always the same way */
#define NEGLIGIBLE 40.0 /* exp(-40) does not change a sum of doubles */
#define TABLE_ROWS 64	/* widths of even cells that have a table, in cells */
#define TABLE_CELLS 1024

/* What all points of an evaluation share. */
struct work {
	struct parzen *p;
	const double *points;
	size_t count;
	double *weights;
	size_t *sequence; /* the axes, those that tell kernels apart at little cost first */
	/* Of the block: cells of the kernels and rows of their tables (-1: none), per axis. */
	int *cells, *rows;
};

void parzen_forget_masses(struct parzen *p, bool all)
{
	for (size_t d = 0; d < p->dims; d++) {
		struct parzen_column *c = &p->columns[d];
		const struct parzen_axis *axis = &p->axes[d];
		size_t count = !c->masses ? 0 : axis->uneven ? (size_t)axis->cells : all ? TABLE_ROWS + 1 : 1;
		for (size_t i = 0; i < count; i++) {
			free(c->masses[i]);
			c->masses[i] = NULL;
		}
		if (!all)
			continue;
		free(c->masses);
		c->masses = NULL;
	}
}

static double *table_row(struct parzen *p, size_t d, size_t row)
{
	struct parzen_column *c = &p->columns[d];
	size_t cells = (size_t)p->axes[d].cells, rows = p->axes[d].uneven ? cells : TABLE_ROWS + 1;
	if (!c->masses)
		c->masses = mem_alloc(rows * sizeof(*c->masses));
	if (!c->masses[row]) {
		c->masses[row] = mem_resize(NULL, cells, sizeof(double));
		for (size_t i = 0; i < cells; i++)
			c->masses[row][i] = NAN;
	}
	return c->masses[row];
}

/* The prior's own logarithm at a point: the density to start the sum from. */
static double log_prior(const struct parzen *p, const double *point)
{
	double sum = 0, whole = parzen_log_mass(-0.5 / PARZEN_PRIOR_SIGMA, 0.5 / PARZEN_PRIOR_SIGMA);
	for (size_t d = 0; d < p->dims; d++) {
		const struct parzen_axis *axis = &p->axes[d];
		if (axis->kind == PARZEN_CHOICE) {
			sum -= log(axis->cells);
		} else if (axis->kind == PARZEN_REAL) {
			double z = (point[d] - 0.5) / PARZEN_PRIOR_SIGMA;
			sum -= z * z / 2 + log(PARZEN_PRIOR_SIGMA) + PARZEN_HALF_LOG_TWO_PI + whole;
		} else {
			double low, high;
			parzen_edges(axis, point[d], &low, &high);
			sum += parzen_log_mass((low - 0.5) / PARZEN_PRIOR_SIGMA, (high - 0.5) / PARZEN_PRIOR_SIGMA) - whole;
		}
	}
	return sum;
}

/* Adds to the sums of a block, which are what is subtracted from the logarithm; returns the least of them. */
static double add_square(double *restrict sums, const double *restrict mu, const double *restrict half, double x)
{
	double least[LANES];
	for (size_t k = 0; k < LANES; k++)
		least[k] = INFINITY;
	for (size_t i = 0; i < BLOCK; i += LANES)
		for (size_t k = 0; k < LANES; k++) {
			double away = x - mu[i + k], sum = sums[i + k] + away * away * half[i + k];
			sums[i + k] = sum;
			least[k] = sum < least[k] ? sum : least[k];
		}
	return fmin(fmin(least[0], least[1]), fmin(least[2], least[3]));
}

static void add_choice(double *restrict sums, const double *restrict own, double x, double match, double miss)
{
	for (size_t i = 0; i < BLOCK; i++)
		sums[i] += own[i] == x ? match : miss;
}

/* The mass of a kernel in the cell of a point, from the tables where it has one. Even cells: widths are gaps
 * between middles of cells, so that there are few, and what counts is how far the cells are apart. */
static void add_mass(struct work *w, size_t d, size_t from, double at, double *sums)
{
	struct parzen *p = w->p;
	const struct parzen_axis *axis = &p->axes[d];
	const struct parzen_column *c = &p->columns[d];
	const int *cells = w->cells + d * BLOCK, *rows = w->rows + d * BLOCK;
	double low, high, *mine = NULL;
	parzen_edges(axis, at, &low, &high);
	if (axis->uneven && axis->cells <= TABLE_CELLS)
		mine = table_row(p, d, (size_t)at);
	for (size_t i = 0; i < BLOCK; i++) {
		double sigma = c->sigma[from + i], mu = c->mu[from + i];
		if (!(sums[i] < INFINITY))
			continue;
		if (rows[i] < 0 || (axis->uneven && !mine)) {
			sums[i] -= parzen_log_mass((low - mu) / sigma, (high - mu) / sigma);
			continue;
		}
		int away = cells[i] - (int)at;
		away = away < 0 ? -away : away;
		double *known = mine ? &mine[cells[i]] : &p->columns[d].masses[rows[i]][away];
		if (isnan(*known) && mine)
			*known = parzen_log_mass((low - mu) / sigma, (high - mu) / sigma);
		else if (isnan(*known)) {
			double width = rows[i] ? rows[i] : p->min_sigma * axis->cells;
			*known = parzen_log_mass((away - 0.5) / width, (away + 0.5) / width);
		}
		sums[i] -= *known;
	}
}

/* Density times width, in cells that are narrow enough for it; else their mass. */
static void add_cells(struct work *w, size_t d, size_t from, double at, double *sums)
{
	const struct parzen *p = w->p;
	const struct parzen_axis *axis = &p->axes[d];
	const struct parzen_column *c = &p->columns[d];
	double low, high;
	parzen_edges(axis, at, &low, &high);
	if (!axis->dense && !(axis->uneven && high - low <= PARZEN_NARROW_CELL * p->min_sigma)) {
		add_mass(w, d, from, at, sums);
		return;
	}
	double width = log(high - low);
	add_square(sums, c->mu + from, c->half + from, (low + high) / 2);
	for (size_t i = 0; i < BLOCK; i++)
		sums[i] += (axis->dense ? 0 : PARZEN_HALF_LOG_TWO_PI + log(c->sigma[from + i])) - width;
}

/* The cells of a block's kernels and where their masses stand. */
static void find_cells(struct work *w, size_t d, size_t from)
{
	struct parzen *p = w->p;
	const struct parzen_axis *axis = &p->axes[d];
	const struct parzen_column *c = &p->columns[d];
	for (size_t i = 0; i < BLOCK; i++) {
		double sigma = c->sigma[from + i], wide = sigma * axis->cells, row = round(wide);
		int *ret = &w->rows[d * BLOCK + i];
		w->cells[d * BLOCK + i] = (int)c->x[from + i];
		*ret = -1;
		if (from + i >= p->held || !p->counts[from + i])
			continue;
		if (sigma == p->min_sigma)
			*ret = 0;
		else if (!axis->uneven && row >= 1 && row <= TABLE_ROWS && fabs(wide - row) < 1e-6)
			*ret = (int)row;
		if (*ret >= 0 && !axis->uneven)
			table_row(p, d, (size_t)*ret);
	}
}

/* exp for -700 <= x <= 0 to 12 digits, in a form that compilers vectorise: 2^k times a polynomial on
 * half a power of two (Taylor's; its remainder there is below 1e-13). */
static inline double small_exp(double x)
{
	const double shift = 0x1.8p52, log2e = 1.44269504088896340736, high = 0x1.62e42fefa3800p-1,
		     low = 0x1.ef35793c76730p-45;
	x = x > -700 ? x : -700;
	double shifted = x * log2e + shift, k = shifted - shift;
	double r = x - k * high - k * low;
	double poly = 1 + r * (1 + r * (1.0 / 2 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720 +
		      r * (1.0 / 5040 + r * (1.0 / 40320 + r * (1.0 / 362880 + r / 3628800)))))))));
	uint64_t bits, scale;
	memcpy(&bits, &poly, sizeof(bits));
	memcpy(&scale, &shifted, sizeof(scale));
	bits += scale << 52;
	memcpy(&poly, &bits, sizeof(poly));
	return poly;
}

/* The sum of weight times exp(log - top) over a block. */
static double sum_exp(const double *restrict sums, const double *restrict weights, double top)
{
	double part[LANES] = {0};
	for (size_t i = 0; i < BLOCK; i += LANES)
		for (size_t k = 0; k < LANES; k++)
			part[k] += weights[i + k] * small_exp(-sums[i + k] - top);
	return (part[0] + part[1]) + (part[2] + part[3]);
}

/* The logarithm of the kernels of a block at a point, negated. Nothing that an axis adds is negative, so that
 * the rest can be left out once the least is past `limit`. Returns the least. */
static double add_axes(struct work *w, size_t from, const double *point, double limit, double *sums)
{
	const struct parzen *p = w->p;
	double rest = 1 / (double)(parzen_count(p) + 1), least = 0;
	for (size_t i = 0; i < p->dims && least < limit; i++) {
		size_t d = w->sequence[i];
		const struct parzen_column *c = &p->columns[d];
		double whole = 1 + p->axes[d].cells * rest;
		if (p->axes[d].kind == PARZEN_REAL)
			least = add_square(sums, c->mu + from, c->half + from, point[d]);
		else if (p->axes[d].kind == PARZEN_CHOICE)
			add_choice(sums, c->x + from, point[d], -log((1 + rest) / whole), -log(rest / whole));
		else
			add_cells(w, d, from, point[d], sums);
	}
	least = INFINITY;
	for (size_t i = 0; i < BLOCK; i++)
		least = sums[i] < least ? sums[i] : least;
	return least;
}

/* Adds a block of kernels to the running sums, each kept as exp(top) times total. */
static void add_block(struct work *w, size_t from, double *top, double *total)
{
	const struct parzen *p = w->p;
	double norms[BLOCK] = {0}, sums[BLOCK];
	for (size_t d = 0; d < p->dims; d++) {
		if (p->axes[d].kind == PARZEN_CELLS && !p->axes[d].dense)
			find_cells(w, d, from);
		for (size_t i = 0; i < BLOCK && p->columns[d].norm; i++)
			norms[i] += p->columns[d].norm[from + i];
	}
	for (size_t i = 0; i < BLOCK; i++)
		if (w->weights[from + i] == 0)
			norms[i] = INFINITY;
	for (size_t k = 0; k < w->count; k++) {
		memcpy(sums, norms, sizeof(sums));
		double most = -add_axes(w, from, w->points + k * p->dims, NEGLIGIBLE - top[k], sums);
		if (!(most > top[k] - NEGLIGIBLE))
			continue;
		if (most > top[k]) {
			total[k] *= exp(top[k] - most);
			top[k] = most;
		}
		total[k] += sum_exp(sums, w->weights + from, top[k]);
	}
}

void parzen_log_density(struct parzen *p, bool recent, const double *points, size_t count, double *ret)
{
	struct work w = {.p = p, .points = points, .count = count};
	size_t blocks = (p->held + BLOCK - 1) / BLOCK;
	parzen_settle(p);
	w.weights = mem_alloc((blocks * BLOCK + 1) * sizeof(double));
	w.sequence = mem_resize(NULL, p->dims + 1, sizeof(*w.sequence));
	w.cells = mem_resize(NULL, 2 * p->dims * BLOCK + 1, sizeof(*w.cells));
	w.rows = w.cells + p->dims * BLOCK;
	for (size_t kind = 0, n = 0; kind < 3; kind++)
		for (size_t d = 0; d < p->dims; d++)
			if (p->axes[d].kind == (enum parzen_kind[]){PARZEN_REAL, PARZEN_CHOICE, PARZEN_CELLS}[kind])
				w.sequence[n++] = d;
	double *total = mem_resize(NULL, count + 1, sizeof(double));
	double all = parzen_weigh(p, recent, w.weights);
	for (size_t k = 0; k < count; k++) {
		ret[k] = log_prior(p, points + k * p->dims);
		total[k] = 1;
	}
	for (size_t i = 0; i < blocks; i++)
		add_block(&w, i * BLOCK, ret, total);
	for (size_t k = 0; k < count; k++)
		ret[k] += log(total[k] / all);
	free(w.weights);
	free(w.sequence);
	free(w.cells);
	free(total);
}
