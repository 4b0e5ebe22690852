/* The kernels of TPE: Bergstra, Bardenet, Bengio and Kegl 2011, with the widths, weights and priors of
 * Optuna (Watanabe 2023, section 3). See parzen.h. */
#include "search/parzen.h"

#include <math.h>

#define MAGIC_KERNELS 100.0  /* no kernel is narrower than a hundredth of the range */
#define FLAT_WEIGHTS 25	     /* the newest points all weigh 1 */
#define PRIOR_SIGMA 1.0	     /* of the range, at its middle */
#define BLOCK 128	     /* slots worked on at a time: their sums stay in the cache */
#define NEGLIGIBLE 40.0	     /* exp(-40) does not change a sum of doubles */
/* In a cell this much narrower than the kernel, mass is density times width to 4 digits. */
#define NARROW_CELL 0.1
#define HALF_LOG_TWO_PI 0.91893853320467274178

/* What is kept of one axis for every slot. */
struct column {
	double *x;	 /* the coordinate */
	double *mu;	 /* the kernel's middle in [0, 1]; the same array as x for REAL, NULL for CHOICE */
	double *sigma;	 /* not for CHOICE */
	double *half;	 /* 1 / (2 sigma^2) */
	double *norm;	 /* what is subtracted from the logarithm of the kernel */
	uint32_t *order; /* the slots that count, by mu */
};

struct parzen {
	struct parzen_axis *axes;
	size_t dims;
	struct column *columns;
	bool *counts;
	size_t len, cap, live;
	double min_sigma;
};

struct parzen_axis parzen_axis_of(const struct space_param *p)
{
	struct parzen_axis axis = {.kind = PARZEN_REAL, .param = p, .cells = (double)p->cardinality};
	if (!p->ordered)
		axis.kind = PARZEN_CHOICE;
	else if (p->cardinality)
		axis.kind = PARZEN_CELLS;
	axis.uneven = axis.kind == PARZEN_CELLS && !p->choice_count && p->log;
	axis.dense = axis.kind == PARZEN_CELLS && !axis.uneven && axis.cells >= MAGIC_KERNELS / NARROW_CELL;
	return axis;
}

static double clip(double value, double min, double max)
{
	return value < min ? min : value > max ? max : value;
}

double parzen_coordinate(const struct parzen_axis *axis, double unit)
{
	unit = clip(unit, 0, 1);
	if (axis->kind == PARZEN_REAL)
		return unit;
	double cell = unit * axis->cells;
	if (axis->uneven) {
		const struct space_param *p = axis->param;
		cell = (exp(p->low + unit * p->span) - p->min) / p->step + 0.5;
	}
	return clip(floor(cell), 0, axis->cells - 1);
}

void parzen_edges(const struct parzen_axis *axis, double cell, double *ret_low, double *ret_high)
{
	*ret_low = cell / axis->cells;
	*ret_high = (cell + 1) / axis->cells;
	if (axis->uneven) {
		const struct space_param *p = axis->param;
		double value = p->min + cell * p->step;
		*ret_low = cell > 0 ? (log(value - p->step / 2) - p->low) / p->span : 0;
		*ret_high = cell < axis->cells - 1 ? (log(value + p->step / 2) - p->low) / p->span : 1;
	}
}

double parzen_unit(const struct parzen_axis *axis, double coordinate)
{
	if (axis->kind == PARZEN_REAL)
		return coordinate;
	double low, high;
	parzen_edges(axis, coordinate, &low, &high);
	return (low + high) / 2;
}

/* Where the kernel of a coordinate sits. */
static double middle_of(const struct parzen_axis *axis, double coordinate)
{
	if (!axis->uneven)
		return parzen_unit(axis, coordinate);
	const struct space_param *p = axis->param;
	return clip((log(p->min + coordinate * p->step) - p->low) / p->span, 0, 1);
}

/* log of the mass that a normal distribution has between low and high, without loss in the tails. */
static double log_mass(double low, double high)
{
	double a = low * M_SQRT1_2, b = high * M_SQRT1_2;
	double mass = a > 0 ? erfc(a) - erfc(b) : b < 0 ? erfc(-b) - erfc(-a) : erf(b) - erf(a);
	return log(mass / 2);
}

struct parzen *parzen_new(const struct parzen_axis *axes, size_t dims)
{
	struct parzen *p = mem_alloc(sizeof(*p));
	p->axes = mem_resize(NULL, dims + 1, sizeof(*axes));
	memcpy(p->axes, axes, dims * sizeof(*axes));
	p->dims = dims;
	p->columns = mem_alloc((dims + 1) * sizeof(*p->columns));
	return p;
}

void parzen_free(struct parzen *p)
{
	if (!p)
		return;
	for (size_t d = 0; d < p->dims; d++) {
		struct column *c = &p->columns[d];
		free(c->x);
		if (c->mu != c->x)
			free(c->mu);
		free(c->sigma);
		free(c->half);
		free(c->norm);
		free(c->order);
	}
	free(p->columns);
	free(p->counts);
	free(p->axes);
	free(p);
}

void parzen_clear(struct parzen *p)
{
	p->len = p->live = 0;
}

size_t parzen_count(const struct parzen *p)
{
	return p->live;
}

void parzen_point(const struct parzen *p, size_t slot, double *ret_point)
{
	for (size_t d = 0; d < p->dims; d++)
		ret_point[d] = p->columns[d].x[slot];
}

static void grow(struct parzen *p)
{
	p->cap = p->cap ? 2 * p->cap : 32;
	p->counts = mem_resize(p->counts, p->cap, sizeof(*p->counts));
	for (size_t d = 0; d < p->dims; d++) {
		struct column *c = &p->columns[d];
		bool apart = p->axes[d].kind == PARZEN_CELLS;
		c->x = mem_resize(c->x, p->cap, sizeof(double));
		if (p->axes[d].kind == PARZEN_CHOICE)
			continue;
		c->mu = apart ? mem_resize(c->mu, p->cap, sizeof(double)) : c->x;
		c->sigma = mem_resize(c->sigma, p->cap, sizeof(double));
		c->half = mem_resize(c->half, p->cap, sizeof(double));
		c->norm = mem_resize(c->norm, p->cap, sizeof(double));
		c->order = mem_resize(c->order, p->cap, sizeof(uint32_t));
	}
}

/* The width of the kernel at a place of the order: the larger gap to a neighbour. The bounds are neighbours
 * of a point that is alone; else an outer point would be as wide as the empty part of the axis, and the
 * good points, being few, would not draw the search together. */
static void widen(struct parzen *p, size_t d, size_t place)
{
	struct column *c = &p->columns[d];
	uint32_t slot = c->order[place];
	double mu = c->mu[slot], alone = p->live == 1;
	double left = place ? mu - c->mu[c->order[place - 1]] : alone * mu;
	double right = place + 1 < p->live ? c->mu[c->order[place + 1]] - mu : alone * (1 - mu);
	double sigma = clip(fmax(left, right), p->min_sigma, 1);
	c->sigma[slot] = sigma;
	c->half[slot] = 1 / (2 * sigma * sigma);
	c->norm[slot] = log_mass(-mu / sigma, (1 - mu) / sigma);
	if (p->axes[d].kind == PARZEN_REAL || p->axes[d].dense)
		c->norm[slot] += log(sigma) + HALF_LOG_TWO_PI;
}

static size_t place_of(const struct column *c, size_t count, size_t slot)
{
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = (low + high) / 2, other = c->order[middle];
		if (c->mu[other] < c->mu[slot] || (c->mu[other] == c->mu[slot] && other < slot))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void parzen_set(struct parzen *p, size_t slot, bool counts)
{
	if (p->counts[slot] == counts)
		return;
	size_t before = p->live;
	p->counts[slot] = counts;
	p->live = counts ? before + 1 : before - 1;
	double min_sigma = 1 / fmin(MAGIC_KERNELS, 2 + (double)p->live);
	bool all = min_sigma != p->min_sigma;
	p->min_sigma = min_sigma;
	for (size_t d = 0; d < p->dims; d++) {
		struct column *c = &p->columns[d];
		if (p->axes[d].kind == PARZEN_CHOICE)
			continue;
		size_t place = place_of(c, before, slot), after = before - place - !counts;
		if (counts) {
			memmove(c->order + place + 1, c->order + place, after * sizeof(*c->order));
			c->order[place] = (uint32_t)slot;
		} else {
			memmove(c->order + place, c->order + place + 1, after * sizeof(*c->order));
		}
		size_t from = all || !place ? 0 : place - 1;
		for (size_t i = from; i < p->live && (all || i <= place + counts); i++)
			widen(p, d, i);
	}
}

size_t parzen_add(struct parzen *p, const double *point)
{
	if (p->len == p->cap)
		grow(p);
	size_t slot = p->len++;
	for (size_t d = 0; d < p->dims; d++) {
		p->columns[d].x[slot] = point[d];
		if (p->axes[d].kind == PARZEN_CELLS)
			p->columns[d].mu[slot] = middle_of(&p->axes[d], point[d]);
	}
	p->counts[slot] = false;
	parzen_set(p, slot, true);
	return slot;
}

/* Of the i-th oldest of n. */
static double weight_of(size_t i, size_t n, bool recent)
{
	if (!recent || n < FLAT_WEIGHTS || i >= n - FLAT_WEIGHTS)
		return 1;
	size_t ramp = n - FLAT_WEIGHTS;
	double low = 1 / (double)n;
	return ramp == 1 ? low : low + (1 - low) * (double)i / (double)(ramp - 1);
}

/* Writes the weights of all slots (0: does not count) and returns their sum, the prior's included. */
static double weigh(const struct parzen *p, bool recent, double *weights)
{
	double sum = 1;
	for (size_t s = 0, i = 0; s < p->len; s++) {
		weights[s] = p->counts[s] ? weight_of(i++, p->live, recent) : 0;
		sum += weights[s];
	}
	return sum;
}

/* The middle lies within [0, 1], so that at least a third of the draws do. */
static double draw_truncated(struct rng *rng, double mu, double sigma)
{
	double x;
	do
		x = mu + sigma * rng_normal(rng);
	while (!(x >= 0 && x <= 1));
	return x;
}

static double draw(const struct parzen *p, size_t d, size_t slot, bool prior, struct rng *rng)
{
	const struct parzen_axis *axis = &p->axes[d];
	const struct column *c = &p->columns[d];
	if (axis->kind == PARZEN_CHOICE) {
		double own = 1 + (double)p->live, all = own + axis->cells; /* times n + 1 */
		if (!prior && rng_unit(rng) * all < own)
			return c->x[slot];
		return (double)rng_below(rng, (uint64_t)axis->cells);
	}
	double x = prior ? draw_truncated(rng, 0.5, PRIOR_SIGMA) : draw_truncated(rng, c->mu[slot], c->sigma[slot]);
	return parzen_coordinate(axis, x);
}

void parzen_sample(const struct parzen *p, bool recent, struct rng *rng, double *ret_point)
{
	double *weights = mem_resize(NULL, p->len + 1, sizeof(*weights));
	double rest = weigh(p, recent, weights) * rng_unit(rng);
	size_t slot = 0;
	while (slot < p->len && rest >= weights[slot])
		rest -= weights[slot++];
	for (size_t d = 0; d < p->dims; d++)
		ret_point[d] = draw(p, d, slot, slot == p->len, rng);
	free(weights);
}

/* The prior's own logarithm at a point: the density to start the sum from. */
static double log_prior(const struct parzen *p, const double *point)
{
	double sum = 0, whole = log_mass(-0.5 / PRIOR_SIGMA, 0.5 / PRIOR_SIGMA);
	for (size_t d = 0; d < p->dims; d++) {
		const struct parzen_axis *axis = &p->axes[d];
		if (axis->kind == PARZEN_CHOICE) {
			sum -= log(axis->cells);
		} else if (axis->kind == PARZEN_REAL) {
			double z = (point[d] - 0.5) / PRIOR_SIGMA;
			sum -= z * z / 2 + log(PRIOR_SIGMA) + HALF_LOG_TWO_PI + whole;
		} else {
			double low, high;
			parzen_edges(axis, point[d], &low, &high);
			sum += log_mass((low - 0.5) / PRIOR_SIGMA, (high - 0.5) / PRIOR_SIGMA) - whole;
		}
	}
	return sum;
}

/* What all points of an evaluation share. */
struct work {
	const struct parzen *p;
	const double *points;
	size_t count;
	double *weights;
	double *sums;	/* count x BLOCK: what is subtracted from the kernel's norm */
	double **rows;	/* dims x count tables: see add_mass; made when needed */
};

static void add_square(double *restrict sums, const double *restrict mu, const double *restrict half, size_t n,
		       double x)
{
	for (size_t i = 0; i < n; i++) {
		double away = x - mu[i];
		sums[i] += away * away * half[i];
	}
}

static void add_choice(double *restrict sums, const double *restrict own, size_t n, double x, double match,
		       double miss)
{
	for (size_t i = 0; i < n; i++)
		sums[i] += own[i] == x ? match : miss;
}

#define TABLE_CELLS 1024

/* The table of one axis for the cell that point k is in: shared with the points before it. */
static double *table_for(struct work *w, size_t d, size_t k)
{
	const struct parzen *p = w->p;
	double **rows = w->rows + d * w->count;
	size_t first = 0, cells = (size_t)p->axes[d].cells;
	while (w->points[first * p->dims + d] != w->points[k * p->dims + d])
		first++;
	if (!rows[first]) {
		rows[first] = mem_resize(NULL, cells, sizeof(double));
		for (size_t i = 0; i < cells; i++)
			rows[first][i] = NAN;
	}
	return rows[first];
}

/* Minus the log of the mass in the cell of point k. With many points nearly all kernels have the least
 * width (the gaps add up to 1, so that at most 200 are wider than a hundredth): theirs come from a
 * table by cell. `where` holds the cells of those, -1 for the others. */
static void add_mass(struct work *w, size_t d, size_t from, size_t n, size_t k, const int *where)
{
	const struct parzen *p = w->p;
	const struct column *c = &p->columns[d];
	double low, high, *sums = w->sums + k * BLOCK;
	double *table = p->axes[d].cells <= TABLE_CELLS ? table_for(w, d, k) : NULL;
	parzen_edges(&p->axes[d], w->points[k * p->dims + d], &low, &high);
	for (size_t i = 0; i < n; i++) {
		if (where[i] >= 0 && !isnan(table[where[i]])) {
			sums[i] -= table[where[i]];
			continue;
		}
		double sigma = c->sigma[from + i], mu = c->mu[from + i];
		double mass = log_mass((low - mu) / sigma, (high - mu) / sigma);
		if (where[i] >= 0)
			table[where[i]] = mass;
		sums[i] -= mass;
	}
}

static void add_cells(struct work *w, size_t d, size_t from, size_t n)
{
	const struct parzen *p = w->p;
	const struct column *c = &p->columns[d];
	double widths[BLOCK] = {0};
	int where[BLOCK];
	bool table = p->axes[d].cells <= TABLE_CELLS;
	for (size_t i = 0; i < n && p->axes[d].uneven; i++)
		widths[i] = HALF_LOG_TWO_PI + log(c->sigma[from + i]);
	for (size_t i = 0; i < n; i++)
		where[i] = table && c->sigma[from + i] == p->min_sigma ? (int)c->x[from + i] : -1;
	for (size_t k = 0; k < w->count; k++) {
		double low, high, *sums = w->sums + k * BLOCK;
		parzen_edges(&p->axes[d], w->points[k * p->dims + d], &low, &high);
		bool narrow = p->axes[d].dense || (p->axes[d].uneven && high - low <= NARROW_CELL * p->min_sigma);
		if (!narrow) {
			add_mass(w, d, from, n, k, where);
			continue;
		}
		double width = log(high - low);
		add_square(sums, c->mu + from, c->half + from, n, (low + high) / 2);
		for (size_t i = 0; i < n; i++)
			sums[i] += widths[i] - width;
	}
}

static void add_axis(struct work *w, size_t d, size_t from, size_t n)
{
	const struct parzen *p = w->p;
	const struct column *c = &p->columns[d];
	double rest = 1 / (double)(p->live + 1), whole = 1 + p->axes[d].cells * rest;
	double match = -log((1 + rest) / whole), miss = -log(rest / whole);
	if (p->axes[d].kind == PARZEN_CELLS) {
		add_cells(w, d, from, n);
		return;
	}
	for (size_t k = 0; k < w->count; k++) {
		double x = w->points[k * p->dims + d];
		if (p->axes[d].kind == PARZEN_CHOICE)
			add_choice(w->sums + k * BLOCK, c->x + from, n, x, match, miss);
		else
			add_square(w->sums + k * BLOCK, c->mu + from, c->half + from, n, x);
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

/* The sum of weight times exp(log - top) over a block; n is a multiple of 4. */
static double sum_exp(const double *restrict logs, const double *restrict weights, size_t n, double top)
{
	double part[4] = {0};
	for (size_t i = 0; i < n; i += 4)
		for (size_t k = 0; k < 4; k++)
			part[k] += weights[i + k] * small_exp(logs[i + k] - top);
	return (part[0] + part[1]) + (part[2] + part[3]);
}

/* Adds a block of kernels to the running sums, each kept as exp(top) times total. */
static void add_block(struct work *w, size_t from, size_t n, double *top, double *total)
{
	const struct parzen *p = w->p;
	double norms[BLOCK] = {0}, weights[BLOCK] = {0};
	memcpy(weights, w->weights + from, n * sizeof(double));
	for (size_t k = 0; k < w->count; k++)
		memset(w->sums + k * BLOCK, 0, BLOCK * sizeof(double));
	for (size_t d = 0; d < p->dims; d++) {
		add_axis(w, d, from, n);
		for (size_t i = 0; i < n && p->axes[d].kind != PARZEN_CHOICE; i++)
			norms[i] += p->columns[d].norm[from + i];
	}
	for (size_t i = 0; i < BLOCK; i++)
		if (weights[i] == 0)
			norms[i] = INFINITY;
	for (size_t k = 0; k < w->count; k++) {
		double *logs = w->sums + k * BLOCK, most = -INFINITY;
		for (size_t i = 0; i < BLOCK; i++) {
			logs[i] = -(norms[i] + logs[i]);
			most = logs[i] > most ? logs[i] : most;
		}
		if (!(most > top[k] - NEGLIGIBLE))
			continue;
		if (most > top[k]) {
			total[k] *= exp(top[k] - most);
			top[k] = most;
		}
		total[k] += sum_exp(logs, weights, (n + 3) & ~(size_t)3, top[k]);
	}
}

void parzen_log_density(const struct parzen *p, bool recent, const double *points, size_t count, double *ret)
{
	struct work w = {.p = p, .points = points, .count = count};
	w.weights = mem_resize(NULL, p->len + 1, sizeof(double));
	w.sums = mem_resize(NULL, count * BLOCK + 1, sizeof(double));
	w.rows = mem_alloc(p->dims * count * sizeof(*w.rows) + 1);
	double *total = mem_resize(NULL, count + 1, sizeof(double));
	double all = weigh(p, recent, w.weights);
	for (size_t k = 0; k < count; k++) {
		ret[k] = log_prior(p, points + k * p->dims);
		total[k] = 1;
	}
	for (size_t from = 0; from < p->len; from += BLOCK)
		add_block(&w, from, p->len - from < BLOCK ? p->len - from : BLOCK, ret, total);
	for (size_t k = 0; k < count; k++)
		ret[k] += log(total[k] / all);
	free(w.weights);
	free(w.sums);
	for (size_t i = 0; i < p->dims * count; i++)
		free(w.rows[i]);
	free(w.rows);
	free(total);
}
