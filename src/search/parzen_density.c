/* The density of a Parzen estimator at many points together. Kernels are worked on in blocks of neighbours on one
 * axis, axis by axis; a block is left as soon as none of its kernels can matter to a point. See parzen.h. */
#include "search/parzen_internal.h"

#include <math.h>

#define BLOCK PARZEN_BLOCK
#define NEGLIGIBLE 40.0 /* exp(-40) does not change a sum of doubles */
#define TABLE_ROWS 64 /* widths of even cells that have a table, in cells */
#define TABLE_CELLS 1024

/* Two numbers side by side, which every machine has registers for: the same sums everywhere. */
#define LANES 2
typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t lane_bits __attribute__((vector_size(LANES * sizeof(int64_t))));

/* What is needed of a block's kernels on one axis, gathered when a point first needs it. */
struct slice {
	bool there;
	double mu[BLOCK], half[BLOCK];
	double x[BLOCK]; /* not of a real axis */
	/* On an axis of cells: */
	int cell[BLOCK];
	const double *row[BLOCK]; /* of its masses, where they stand somewhere */
};

/* Kernels that lie side by side on the axis `along`. */
struct block {
	uint32_t places[BLOCK];
	double weights[BLOCK], norms[BLOCK];
	double least_norm, least_half, low, high; /* a bound for all of them: of the norms, and along the axis */
	struct slice *slices; /* per axis */
};

/* The kernels of a block that may matter to a point. */
struct near {
	size_t count;
	unsigned which[BLOCK];
	double sums[BLOCK]; /* what is subtracted from the logarithm */
};

/* What all points of an evaluation share. */
struct work {
	struct parzen *p;
	const double *points;
	size_t count;
	double *weights; /* of all places */
	uint32_t *places; /* that count, by `along` */
	size_t along; /* SIZE_MAX: there is no such axis */
	size_t *sequence; /* the axes, the real ones first */
	size_t reals; /* how many those are */
	double *match, *miss; /* per axis: minus the log of a choice's own and of another's probability */
	struct block block;
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
static double *density_table_row(struct parzen *p, size_t d, size_t row, bool *ret_new)
{
	struct parzen_column *c = &p->columns[d];
	size_t cells = (size_t)p->axes[d].cells, rows = p->axes[d].uneven ? cells : TABLE_ROWS + 1;
	if (!c->masses)
		c->masses = mem_array(rows, sizeof(*c->masses));
	*ret_new = !c->masses[row];
	if (*ret_new)
		c->masses[row] = mem_resize(NULL, cells, sizeof(double));
	return c->masses[row];
}

/* Even cells: what counts is how many cells the point is from the kernel, and how many cells wide that is. */
static const double *density_even_row(struct parzen *p, size_t d, size_t row)
{
	bool new;
	double *masses = density_table_row(p, d, row, &new),
	       width = row ? (double)row : p->min_sigma * p->axes[d].cells;
	for (size_t i = 0; new &&i < (size_t)p->axes[d].cells; i++)
		masses[i] = parzen_log_mass(((double)i - 0.5) / width, ((double)i + 0.5) / width);
	return masses;
}

/* Uneven cells: kernels of the least width, by their cell; found one by one, as there may be many. */
static double *density_uneven_row(struct parzen *p, size_t d, double at)
{
	bool new;
	double *masses = density_table_row(p, d, (size_t)at, &new);
	for (size_t i = 0; new &&i < (size_t)p->axes[d].cells; i++)
		masses[i] = NAN;
	return masses;
}

/* The prior's own logarithm at a point: the density to start the sum from. */
static double density_log_prior(const struct parzen *p, const double *point)
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
			sum += parzen_log_mass((low - 0.5) / PARZEN_PRIOR_SIGMA, (high - 0.5) / PARZEN_PRIOR_SIGMA) -
				whole;
		}
	}
	return sum;
}

static inline lanes density_load(const double *from)
{
	lanes x;
	memcpy(&x, from, sizeof(x));
	return x;
}

static inline lanes density_choose(lane_bits which, lanes yes, lanes no)
{
	return (lanes)((which & (lane_bits)yes) | (~which & (lane_bits)no));
}

static inline double density_smaller(double a, double b)
{
	return a < b ? a : b;
}

/* Adds to the sums of a block, which are what is subtracted from the logarithm; returns the least of them. */
static double density_add_square(double *restrict sums, const double *restrict mu, const double *restrict half,
				 double x)
{
	double least[4] = {INFINITY, INFINITY, INFINITY, INFINITY}; /* side by side: compilers see it */
	for (size_t i = 0; i < BLOCK; i += COUNT_OF(least))
		for (size_t k = 0; k < COUNT_OF(least); k++) {
			double away = x - mu[i + k], sum = sums[i + k] + away * away * half[i + k];
			sums[i + k] = sum;
			least[k] = density_smaller(sum, least[k]);
		}
	return density_smaller(density_smaller(least[0], least[1]), density_smaller(least[2], least[3]));
}

/* The cells of a block's kernels and where their masses stand. Of even cells a width is a gap between middles, so
 * that there are few. */
static void density_find_cells(struct work *w, size_t d)
{
	struct parzen *p = w->p;
	const struct parzen_axis *axis = &p->axes[d];
	struct slice *slice = &w->block.slices[d];
	const double *least = axis->uneven ? NULL : density_even_row(p, d, 0);
	for (size_t i = 0; i < BLOCK; i++) {
		double sigma = p->columns[d].sigma[w->block.places[i]];
		slice->cell[i] = (int)slice->x[i];
		slice->row[i] = sigma == p->min_sigma ? least : NULL;
		if (axis->uneven || sigma == p->min_sigma)
			continue;
		double wide = sigma * axis->cells, row = round(wide);
		if (row >= 1 && row <= TABLE_ROWS && fabs(wide - row) < 1e-6)
			slice->row[i] = density_even_row(p, d, (size_t)row);
	}
}

/* What a block's kernels are on an axis. */
static struct slice *density_gather(struct work *w, size_t d)
{
	const struct parzen_column *c = &w->p->columns[d];
	struct slice *slice = &w->block.slices[d];
	if (slice->there)
		return slice;
	slice->there = true;
	for (size_t i = 0; i < BLOCK && c->x != c->mu; i++)
		slice->x[i] = c->x[w->block.places[i]];
	for (size_t i = 0; i < BLOCK && c->mu; i++) {
		slice->mu[i] = c->mu[w->block.places[i]];
		slice->half[i] = c->half[w->block.places[i]];
	}
	if (w->p->axes[d].kind == PARZEN_CELLS && !w->p->axes[d].dense)
		density_find_cells(w, d);
	return slice;
}

/* The mass of a kernel in the cell of a point, from the tables where it has one. */
static double density_find_mass(struct work *w, size_t d, size_t i, double at, double low, double high)
{
	struct parzen *p = w->p;
	const struct parzen_axis *axis = &p->axes[d];
	const struct slice *slice = &w->block.slices[d];
	if (slice->row[i])
		return slice->row[i][abs(slice->cell[i] - (int)at)];
	double sigma = p->columns[d].sigma[w->block.places[i]], mu = slice->mu[i];
	if (!axis->uneven || axis->cells > TABLE_CELLS || sigma != p->min_sigma)
		return parzen_log_mass((low - mu) / sigma, (high - mu) / sigma);
	double *known = &density_uneven_row(p, d, at)[slice->cell[i]];
	if (isnan(*known))
		*known = parzen_log_mass((low - mu) / sigma, (high - mu) / sigma);
	return *known;
}

/* Density times width, in cells that are narrow enough for it; else their mass. */
static void density_add_cells(struct work *w, size_t d, double at, struct near *near)
{
	const struct parzen *p = w->p;
	const struct parzen_axis *axis = &p->axes[d];
	const struct slice *slice = density_gather(w, d);
	double low, high;
	parzen_edges(axis, at, &low, &high);
	bool narrow = axis->dense || (axis->uneven && high - low <= PARZEN_NARROW_CELL * p->min_sigma);
	double width = log(high - low), middle = (low + high) / 2;
	for (size_t k = 0; k < near->count; k++) {
		size_t i = near->which[k];
		if (!narrow) {
			near->sums[k] -= density_find_mass(w, d, i, at, low, high);
			continue;
		}
		double away = middle - slice->mu[i];
		near->sums[k] += away * away * slice->half[i] - width;
		if (!axis->dense)
			near->sums[k] += PARZEN_HALF_LOG_TWO_PI + log(p->columns[d].sigma[w->block.places[i]]);
	}
}

static void density_add_choice(struct work *w, size_t d, double at, struct near *near)
{
	const struct slice *slice = density_gather(w, d);
	for (size_t k = 0; k < near->count; k++)
		near->sums[k] += slice->x[near->which[k]] == at ? w->match[d] : w->miss[d];
}

/* Leaves those out that do not matter. */
static void density_keep_near(struct near *near, double limit)
{
	size_t kept = 0;
	for (size_t k = 0; k < near->count; k++) {
		near->sums[kept] = near->sums[k];
		near->which[kept] = near->which[k];
		kept += near->sums[k] < limit;
	}
	near->count = kept;
}

/* exp for -700 <= x <= 0 to 12 digits: 2^k times a polynomial on half a power of two (Taylor's; its remainder
 * there is below 1e-13). */
static inline lanes density_small_exp(lanes x)
{
	const double shift = 0x1.8p52, log2e = 1.44269504088896340736, high = 0x1.62e42fefa3800p-1,
		     low = 0x1.ef35793c76730p-45;
	x = density_choose(x > -700, x, (lanes){-700, -700});
	lanes shifted = x * log2e + shift, k = shifted - shift;
	lanes r = x - k * high - k * low, r2 = r * r, r4 = r2 * r2;
	lanes poly = (1 + r + r2 * (1.0 / 2 + r * (1.0 / 6))) +
		r4 *
			((1.0 / 24 + r * (1.0 / 120)) + r2 * (1.0 / 720 + r * (1.0 / 5040)) +
			 r4 * (1.0 / 40320 + r * (1.0 / 362880) + r2 * (1.0 / 3628800)));
	return (lanes)((lane_bits)poly + ((lane_bits)shifted << 52));
}

/* The sum of weight times exp(log - top) over what is near. */
static double density_sum_exp(const struct near *near, const double *weights, double top)
{
	double logs[BLOCK + LANES], factors[BLOCK + LANES];
	lanes part = {0};
	for (size_t k = 0; k < near->count; k++) {
		logs[k] = -near->sums[k] - top;
		factors[k] = weights[near->which[k]];
	}
	for (size_t k = near->count; k % LANES; k++)
		logs[k] = factors[k] = 0;
	for (size_t k = 0; k < near->count; k += LANES)
		part += density_load(factors + k) * density_small_exp(density_load(logs + k));
	return part[0] + part[1];
}

/* Finds what is near. Nothing that an axis adds is negative, so that what is past `limit` stays so. The real axes
 * tell kernels apart at little cost, all of a block together; few are left for the others. */
static void density_add_axes(struct work *w, const double *point, double limit, struct near *near)
{
	const struct parzen *p = w->p;
	near->count = 0;
	memcpy(near->sums, w->block.norms, sizeof(near->sums));
	for (size_t i = 0; i < w->reals; i++) {
		size_t d = w->sequence[i];
		const struct slice *slice = density_gather(w, d);
		if (!(density_add_square(near->sums, slice->mu, slice->half, point[d]) < limit))
			return;
	}
	near->count = BLOCK;
	for (size_t i = 0; i < BLOCK; i++)
		near->which[i] = (unsigned)i;
	density_keep_near(near, limit);
	for (size_t i = w->reals; i < p->dims && near->count; i++) {
		size_t d = w->sequence[i];
		if (p->axes[d].kind == PARZEN_CHOICE)
			density_add_choice(w, d, point[d], near);
		else
			density_add_cells(w, d, point[d], near);
		density_keep_near(near, limit);
	}
}

/* The block of the kernels from the `from`th on. The last one is filled up with what weighs nothing. */
static void density_begin_block(struct work *w, size_t from)
{
	const struct parzen *p = w->p;
	struct block *b = &w->block;
	b->least_norm = b->least_half = INFINITY;
	for (size_t d = 0; d < p->dims; d++)
		b->slices[d].there = false;
	for (size_t i = 0; i < BLOCK; i++) {
		bool counts = from + i < p->kernels;
		b->places[i] = w->places[counts ? from + i : p->kernels - 1];
		b->weights[i] = counts ? w->weights[b->places[i]] : 0;
		b->norms[i] = counts ? p->norms[b->places[i]] : INFINITY;
		b->least_norm = density_smaller(b->norms[i], b->least_norm);
	}
	if (w->along == SIZE_MAX)
		return;
	const struct slice *slice = density_gather(w, w->along);
	b->low = slice->mu[0];
	b->high = slice->mu[BLOCK - 1];
	for (size_t i = 0; i < BLOCK; i++)
		b->least_half = density_smaller(slice->half[i], b->least_half);
}

/* No kernel of the block has a smaller sum at this point. */
static double density_bound(const struct work *w, const double *point)
{
	const struct block *b = &w->block;
	if (w->along == SIZE_MAX)
		return b->least_norm;
	double x = point[w->along], away = x < b->low ? b->low - x : x > b->high ? x - b->high : 0;
	return b->least_norm + away * away * b->least_half;
}

/* Adds a block of kernels to the running sums, each kept as exp(top) times total. */
static void density_add_block(struct work *w, double *top, double *total)
{
	struct near near;
	for (size_t k = 0; k < w->count; k++) {
		const double *point = w->points + k * w->p->dims;
		double limit = NEGLIGIBLE - top[k], most = top[k];
		if (!(density_bound(w, point) < limit))
			continue;
		density_add_axes(w, point, limit, &near);
		for (size_t i = 0; i < near.count; i++)
			most = most > -near.sums[i] ? most : -near.sums[i];
		if (most > top[k])
			total[k] *= exp(top[k] - most);
		top[k] = most;
		total[k] += density_sum_exp(&near, w->block.weights, most);
	}
}

/* The axis on which the middle half of the kernels is spread the most: blocks of neighbours there are far from most
 * points. */
static size_t density_find_along(const struct parzen *p)
{
	size_t found = SIZE_MAX;
	double most = -1;
	for (size_t d = 0; d < p->dims; d++) {
		const struct parzen_column *c = &p->columns[d];
		if (p->axes[d].kind != PARZEN_REAL || !p->kernels)
			continue;
		double spread = c->mu[c->order[p->kernels * 3 / 4]] - c->mu[c->order[p->kernels / 4]];
		if (spread > most) {
			most = spread;
			found = d;
		}
	}
	return found;
}

static void density_sort_places(struct work *w)
{
	const struct parzen *p = w->p;
	w->along = density_find_along(p);
	if (w->along != SIZE_MAX) {
		memcpy(w->places, p->columns[w->along].order, p->kernels * sizeof(*w->places));
		return;
	}
	for (size_t i = 0, n = 0; i < p->held; i++)
		if (p->counts[i])
			w->places[n++] = (uint32_t)i;
}

/* The axis of the blocks first: it is gathered anyway. */
static void density_sort_axes(struct work *w)
{
	static const enum parzen_kind kinds[] = {PARZEN_REAL, PARZEN_CHOICE, PARZEN_CELLS};
	const struct parzen *p = w->p;
	size_t n = 0;
	if (w->along != SIZE_MAX)
		w->sequence[n++] = w->along;
	for (size_t d = 0; d < p->dims; d++)
		w->reals += p->axes[d].kind == PARZEN_REAL;
	for (size_t kind = 0; kind < COUNT_OF(kinds); kind++)
		for (size_t d = 0; d < p->dims; d++)
			if (p->axes[d].kind == kinds[kind] && d != w->along)
				w->sequence[n++] = d;
}

static void density_begin_work(struct work *w)
{
	const struct parzen *p = w->p;
	double rest = 1 / (double)(parzen_count(p) + 1);
	w->weights = mem_resize(NULL, p->held + 1, sizeof(double));
	w->places = mem_resize(NULL, p->kernels + 1, sizeof(*w->places));
	w->sequence = mem_resize(NULL, p->dims + 1, sizeof(*w->sequence));
	w->block.slices = mem_resize(NULL, p->dims + 1, sizeof(*w->block.slices));
	w->match = mem_resize(NULL, 2 * p->dims + 1, sizeof(double));
	w->miss = w->match + p->dims;
	density_sort_places(w);
	density_sort_axes(w);
	for (size_t d = 0; d < p->dims; d++) {
		double whole = 1 + p->axes[d].cells * rest;
		w->match[d] = -log((1 + rest) / whole);
		w->miss[d] = -log(rest / whole);
	}
}

static void density_end_work(struct work *w)
{
	free(w->weights);
	free(w->places);
	free(w->sequence);
	free(w->block.slices);
	free(w->match);
}

void parzen_log_density(struct parzen *p, bool recent, const double *points, size_t count, double *ret)
{
	struct work w = {.p = p, .points = points, .count = count};
	double *total = mem_resize(NULL, count + 1, sizeof(double));
	parzen_settle(p);
	density_begin_work(&w);
	double all = parzen_weigh(p, recent, w.weights);
	for (size_t k = 0; k < count; k++) {
		ret[k] = density_log_prior(p, points + k * p->dims);
		total[k] = 1;
	}
	for (size_t from = 0; from < p->kernels; from += BLOCK) {
		density_begin_block(&w, from);
		density_add_block(&w, ret, total);
	}
	for (size_t k = 0; k < count; k++)
		ret[k] += log(total[k] / all);
	density_end_work(&w);
	free(total);
}
