/* The density of a Parzen estimator at many points together. Kernels are worked on in blocks, axis by axis; a
 * block is left as soon as none of its kernels can matter to a point. See parzen.h. */
#include "search/parzen_internal.h"

#include <math.h>

#define BLOCK PARZEN_BLOCK
#define NEGLIGIBLE 40.0 /* exp(-40) does not change a sum of doubles */
#define TABLE_ROWS 64	/* widths of even cells that have a table, in cells */
#define TABLE_CELLS 1024

/* Two numbers side by side, which every machine has registers for: the same sums everywhere. */
#define LANES 2
typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t lane_bits __attribute__((vector_size(LANES * sizeof(int64_t))));

/* What all points of an evaluation share. */
struct work {
	struct parzen *p;
	const double *points;
	size_t count;
	double *weights;
	size_t *sequence; /* the axes, those that tell kernels apart at little cost first */
	double *match, *miss; /* per axis: minus the log of a choice's own and of another's probability */
	struct cells *cells; /* per axis */
	double *zeros;	     /* as many as an axis has cells */
};

/* What is needed of a block's kernels on an axis of cells. */
struct cells {
	int cell[BLOCK];
	const double *row[BLOCK]; /* of its masses; even cells only */
	size_t odd[BLOCK], odds;  /* those whose masses stand nowhere */
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

/* A row of the table, empty when it is new. */
static double *table_row(struct parzen *p, size_t d, size_t row, bool *ret_new)
{
	struct parzen_column *c = &p->columns[d];
	size_t cells = (size_t)p->axes[d].cells, rows = p->axes[d].uneven ? cells : TABLE_ROWS + 1;
	if (!c->masses)
		c->masses = mem_alloc(rows * sizeof(*c->masses));
	*ret_new = !c->masses[row];
	if (*ret_new)
		c->masses[row] = mem_resize(NULL, cells, sizeof(double));
	return c->masses[row];
}

/* Even cells: what counts is how many cells the point is from the kernel, and how many cells wide that is. */
static const double *even_row(struct parzen *p, size_t d, size_t row)
{
	bool new;
	double *masses = table_row(p, d, row, &new), width = row ? (double)row : p->min_sigma * p->axes[d].cells;
	for (size_t i = 0; new && i < (size_t)p->axes[d].cells; i++)
		masses[i] = parzen_log_mass(((double)i - 0.5) / width, ((double)i + 0.5) / width);
	return masses;
}

/* Uneven cells: kernels of the least width, by their cell; found one by one, as there may be many. */
static double *uneven_row(struct parzen *p, size_t d, double at)
{
	bool new;
	double *masses = table_row(p, d, (size_t)at, &new);
	for (size_t i = 0; new && i < (size_t)p->axes[d].cells; i++)
		masses[i] = NAN;
	return masses;
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

static inline lanes load(const double *from)
{
	lanes x;
	memcpy(&x, from, sizeof(x));
	return x;
}

static inline void save(double *to, lanes x)
{
	memcpy(to, &x, sizeof(x));
}

static inline lanes choose(lane_bits which, lanes yes, lanes no)
{
	return (lanes)((which & (lane_bits)yes) | (~which & (lane_bits)no));
}

static inline lanes all_of(double x)
{
	return (lanes){x, x};
}

static inline double smaller(double a, double b)
{
	return a < b ? a : b;
}

/* Adds to the sums of a block, which are what is subtracted from the logarithm; returns the least of them. */
static double add_square(double *restrict sums, const double *restrict mu, const double *restrict half, double x)
{
	double least[4] = {INFINITY, INFINITY, INFINITY, INFINITY}; /* side by side: compilers see it */
	for (size_t i = 0; i < BLOCK; i += COUNT_OF(least))
		for (size_t k = 0; k < COUNT_OF(least); k++) {
			double away = x - mu[i + k], sum = sums[i + k] + away * away * half[i + k];
			sums[i + k] = sum;
			least[k] = smaller(sum, least[k]);
		}
	return smaller(smaller(least[0], least[1]), smaller(least[2], least[3]));
}

static double find_least(const double *sums)
{
	double least[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
	for (size_t i = 0; i < BLOCK; i += COUNT_OF(least))
		for (size_t k = 0; k < COUNT_OF(least); k++)
			least[k] = smaller(sums[i + k], least[k]);
	return smaller(smaller(least[0], least[1]), smaller(least[2], least[3]));
}

static void add_choice(double *restrict sums, const double *restrict own, double x, double match, double miss)
{
	lanes at = all_of(x), yes = all_of(match), no = all_of(miss);
	for (size_t i = 0; i < BLOCK; i += LANES)
		save(sums + i, load(sums + i) + choose(load(own + i) == at, yes, no));
}

/* The mass of a kernel in the cell of a point, from the tables where it has one. */
static void add_mass(struct work *w, size_t d, size_t from, double at, double *sums)
{
	struct parzen *p = w->p;
	const struct parzen_axis *axis = &p->axes[d];
	const struct parzen_column *c = &p->columns[d];
	const struct cells *cells = &w->cells[d];
	double low, high, *mine = axis->uneven && axis->cells <= TABLE_CELLS ? uneven_row(p, d, at) : NULL;
	parzen_edges(axis, at, &low, &high);
	for (size_t i = 0; i < BLOCK && !axis->uneven; i++)
		sums[i] -= cells->row[i][abs(cells->cell[i] - (int)at)];
	for (size_t k = 0; k < cells->odds; k++) {
		size_t i = cells->odd[k];
		double sigma = c->sigma[from + i], mu = c->mu[from + i];
		double *known = mine && sigma == p->min_sigma ? &mine[cells->cell[i]] : NULL;
		double mass = known && !isnan(*known) ? *known : parzen_log_mass((low - mu) / sigma, (high - mu) / sigma);
		if (known)
			*known = mass;
		sums[i] -= mass;
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

/* The cells of a block's kernels and where their masses stand. Of even cells a width is a gap between middles, so
 * that there are few. */
static void find_cells(struct work *w, size_t d, size_t from)
{
	struct parzen *p = w->p;
	const struct parzen_axis *axis = &p->axes[d];
	const struct parzen_column *c = &p->columns[d];
	struct cells *cells = &w->cells[d];
	cells->odds = 0;
	for (size_t i = 0; i < BLOCK; i++) {
		double sigma = c->sigma[from + i], wide = sigma * axis->cells, row = round(wide);
		bool counts = w->weights[from + i] != 0;
		cells->cell[i] = (int)c->x[from + i];
		if (!axis->uneven)
			cells->row[i] = even_row(p, d, 0); /* for want of another */
		if (!counts || (!axis->uneven && sigma == p->min_sigma))
			continue;
		if (!axis->uneven && row >= 1 && row <= TABLE_ROWS && fabs(wide - row) < 1e-6) {
			cells->row[i] = even_row(p, d, (size_t)row);
			continue;
		}
		if (!axis->uneven)
			cells->row[i] = w->zeros;
		cells->odd[cells->odds++] = i;
	}
}

/* exp for -700 <= x <= 0 to 12 digits: 2^k times a polynomial on half a power of two (Taylor's; its remainder
 * there is below 1e-13). */
static inline lanes small_exp(lanes x)
{
	const double shift = 0x1.8p52, log2e = 1.44269504088896340736, high = 0x1.62e42fefa3800p-1,
		     low = 0x1.ef35793c76730p-45;
	x = choose(x > -700, x, all_of(-700));
	lanes shifted = x * log2e + shift, k = shifted - shift;
	lanes r = x - k * high - k * low, r2 = r * r, r4 = r2 * r2;
	lanes poly = (1 + r + r2 * (1.0 / 2 + r * (1.0 / 6))) +
		     r4 * ((1.0 / 24 + r * (1.0 / 120)) + r2 * (1.0 / 720 + r * (1.0 / 5040)) +
			   r4 * (1.0 / 40320 + r * (1.0 / 362880) + r2 * (1.0 / 3628800)));
	return (lanes)((lane_bits)poly + ((lane_bits)shifted << 52));
}

/* The sum of weight times exp(log - top) over a block. */
static double sum_exp(const double *restrict sums, const double *restrict weights, double top)
{
	lanes part = {0};
	for (size_t i = 0; i < BLOCK; i += LANES)
		part += load(weights + i) * small_exp(-load(sums + i) - top);
	return part[0] + part[1];
}

/* The logarithm of the kernels of a block at a point, negated. Nothing that an axis adds is negative, so that
 * the rest can be left out once the least is past `limit`. Returns the least. */
static double add_axes(struct work *w, size_t from, const double *point, double limit, double *sums)
{
	const struct parzen *p = w->p;
	for (size_t i = 0; i < p->dims; i++) {
		size_t d = w->sequence[i];
		const struct parzen_column *c = &p->columns[d];
		if (p->axes[d].kind == PARZEN_REAL) {
			double least = add_square(sums, c->mu + from, c->half + from, point[d]);
			if (!(least < limit))
				return least;
		} else if (p->axes[d].kind == PARZEN_CHOICE) {
			add_choice(sums, c->x + from, point[d], w->match[d], w->miss[d]);
		} else {
			add_cells(w, d, from, point[d], sums);
		}
	}
	return find_least(sums);
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

static void begin_work(struct work *w, size_t blocks)
{
	static const enum parzen_kind kinds[] = {PARZEN_REAL, PARZEN_CHOICE, PARZEN_CELLS};
	const struct parzen *p = w->p;
	double rest = 1 / (double)(parzen_count(p) + 1);
	w->weights = mem_alloc((blocks * BLOCK + 1) * sizeof(double));
	w->sequence = mem_resize(NULL, p->dims + 1, sizeof(*w->sequence));
	w->cells = mem_resize(NULL, p->dims + 1, sizeof(*w->cells));
	w->zeros = mem_alloc(TABLE_CELLS * sizeof(*w->zeros));
	w->match = mem_resize(NULL, 2 * p->dims + 1, sizeof(double));
	w->miss = w->match + p->dims;
	for (size_t kind = 0, n = 0; kind < COUNT_OF(kinds); kind++)
		for (size_t d = 0; d < p->dims; d++)
			if (p->axes[d].kind == kinds[kind])
				w->sequence[n++] = d;
	for (size_t d = 0; d < p->dims; d++) {
		double whole = 1 + p->axes[d].cells * rest;
		w->match[d] = -log((1 + rest) / whole);
		w->miss[d] = -log(rest / whole);
	}
}

void parzen_log_density(struct parzen *p, bool recent, const double *points, size_t count, double *ret)
{
	struct work w = {.p = p, .points = points, .count = count};
	size_t blocks = (p->held + BLOCK - 1) / BLOCK;
	double *total = mem_resize(NULL, count + 1, sizeof(double));
	parzen_settle(p);
	begin_work(&w, blocks);
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
	free(w.zeros);
	free(w.match);
	free(total);
}
