/* The kernels of TPE: Bergstra, Bardenet, Bengio and Kegl 2011, with the widths, weights and priors of
 * Optuna (Watanabe 2023, section 3). See parzen.h; their density is in parzen_density.c. */
#include "search/parzen_internal.h"

#include <math.h>

#define FLAT_WEIGHTS 25 /* the newest points all weigh 1 */
#define DROPPED_MOST 256 /* places are closed up when so many are empty */

struct parzen *parzen_new(const struct parzen_axis *axes, size_t dims)
{
	struct parzen *p = mem_alloc(sizeof(*p));
	p->axes = mem_resize(NULL, dims + 1, sizeof(*axes));
	memcpy(p->axes, axes, dims * sizeof(*axes));
	p->dims = dims;
	p->columns = mem_array(dims + 1, sizeof(*p->columns));
	return p;
}

void parzen_free(struct parzen *p)
{
	if (!p)
		return;
	parzen_forget_masses(p, true);
	for (size_t d = 0; d < p->dims; d++) {
		struct parzen_column *c = &p->columns[d];
		free(c->x);
		if (c->mu != c->x)
			free(c->mu);
		free(c->sigma);
		free(c->half);
		free(c->norm);
		free(c->order);
	}
	free(p->columns);
	free(p->slots);
	free(p->counts);
	free(p->norms);
	free(p->places);
	free(p->hidden.at);
	free(p->axes);
	free(p);
}

void parzen_clear(struct parzen *p)
{
	p->len = p->held = p->kernels = p->dropped = p->hidden.len = 0;
	p->level = 0;
}

size_t parzen_count(const struct parzen *p)
{
	return p->len - p->hidden.len;
}

size_t parzen_kernels(const struct parzen *p)
{
	return p->kernels;
}

/* Room for more doubles; what is new is 0: whole blocks are read. */
static double *parzen_resize(double *array, size_t before, size_t count)
{
	array = mem_resize(array, count, sizeof(*array));
	memset(array + before, 0, (count - before) * sizeof(*array));
	return array;
}

static void parzen_grow(struct parzen *p)
{
	size_t before = p->cap;
	p->cap = before ? 2 * before : PARZEN_BLOCK;
	p->slots = mem_resize(p->slots, p->cap, sizeof(*p->slots));
	p->counts = mem_resize(p->counts, p->cap, sizeof(*p->counts));
	p->norms = parzen_resize(p->norms, before, p->cap);
	for (size_t d = 0; d < p->dims; d++) {
		struct parzen_column *c = &p->columns[d];
		bool apart = p->axes[d].kind == PARZEN_CELLS;
		c->x = parzen_resize(c->x, before, p->cap);
		if (p->axes[d].kind == PARZEN_CHOICE)
			continue;
		c->mu = apart ? parzen_resize(c->mu, before, p->cap) : c->x;
		c->sigma = parzen_resize(c->sigma, before, p->cap);
		c->half = parzen_resize(c->half, before, p->cap);
		c->norm = parzen_resize(c->norm, before, p->cap);
		c->order = mem_resize(c->order, p->cap, sizeof(uint32_t));
	}
}

/* Puts what is in the place `from` into another one before it. */
static void parzen_move_place(struct parzen *p, size_t from, size_t to)
{
	p->slots[to] = p->slots[from];
	p->counts[to] = p->counts[from];
	p->norms[to] = p->norms[from];
	p->places[p->slots[to]] = (uint32_t)to;
	for (size_t d = 0; d < p->dims; d++) {
		struct parzen_column *c = &p->columns[d];
		c->x[to] = c->x[from];
		if (!c->mu)
			continue;
		c->mu[to] = c->mu[from];
		c->sigma[to] = c->sigma[from];
		c->half[to] = c->half[from];
		c->norm[to] = c->norm[from];
	}
}

/* Takes the empty places out. */
static void parzen_close_up(struct parzen *p)
{
	uint32_t *now = mem_resize(NULL, p->held + 1, sizeof(*now));
	size_t kept = 0;
	for (size_t i = 0; i < p->held; i++) {
		now[i] = (uint32_t)kept;
		if (p->places[p->slots[i]] == i)
			parzen_move_place(p, i, kept++);
	}
	for (size_t d = 0; d < p->dims; d++)
		for (size_t i = 0; i < p->kernels && p->columns[d].order; i++)
			p->columns[d].order[i] = now[p->columns[d].order[i]];
	p->held = kept;
	p->dropped = 0;
	free(now);
}

/* The width of the kernel at a place of the order: the larger gap to a neighbour. The bounds are neighbours
 * of a point that is alone; else an outer point would be as wide as the empty part of the axis, and the
 * good points, being few, would not draw the search together. */
static void parzen_widen(struct parzen *p, size_t d, size_t at)
{
	const struct parzen_axis *axis = &p->axes[d];
	struct parzen_column *c = &p->columns[d];
	uint32_t place = c->order[at];
	double mu = c->mu[place], alone = p->kernels == 1;
	double left = at ? mu - c->mu[c->order[at - 1]] : alone * mu;
	double right = at + 1 < p->kernels ? c->mu[c->order[at + 1]] - mu : alone * (1 - mu);
	double sigma = fmin(fmax(fmax(left, right), p->min_sigma), 1);
	if (sigma == c->sigma[place])
		return; /* so is all that follows from it */
	c->sigma[place] = sigma;
	c->half[place] = 1 / (2 * sigma * sigma);
	c->norm[place] = parzen_log_mass(-mu / sigma, (1 - mu) / sigma);
	if (axis->kind == PARZEN_REAL || axis->dense)
		c->norm[place] += log(sigma) + PARZEN_HALF_LOG_TWO_PI;
	p->norms[place] = 0;
	for (size_t i = 0; i < p->dims; i++)
		p->norms[place] += p->columns[i].norm ? p->columns[i].norm[place] : 0;
}

void parzen_settle(struct parzen *p)
{
	if (!p->stale)
		return;
	p->stale = false;
	for (size_t d = 0; d < p->dims; d++)
		for (size_t i = 0; i < p->kernels && p->columns[d].order; i++)
			parzen_widen(p, d, i);
}

/* Where a place is, or belongs, in the order. */
static size_t parzen_find_order(const struct parzen_column *c, size_t count, size_t place)
{
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = (low + high) / 2, other = c->order[middle];
		if (c->mu[other] < c->mu[place] || (c->mu[other] == c->mu[place] && other < place))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The least width depends on how many points there are, up to a hundred. */
static void parzen_set_least(struct parzen *p)
{
	double min_sigma = 1 / fmin(PARZEN_MAGIC_KERNELS, 2 + (double)parzen_count(p));
	if (min_sigma == p->min_sigma)
		return;
	p->min_sigma = min_sigma;
	p->stale = true;
	parzen_forget_masses(p, false);
}

/* Gives the point in a place a kernel, or takes it away. */
static void parzen_set_kernel(struct parzen *p, size_t place, bool counts)
{
	size_t before = p->kernels;
	p->counts[place] = counts;
	p->kernels = counts ? before + 1 : before - 1;
	for (size_t d = 0; d < p->dims; d++) {
		struct parzen_column *c = &p->columns[d];
		if (!c->order)
			continue;
		size_t at = parzen_find_order(c, before, place), after = before - at - !counts;
		if (counts) {
			memmove(c->order + at + 1, c->order + at, after * sizeof(*c->order));
			c->order[at] = (uint32_t)place;
		} else {
			memmove(c->order + at, c->order + at + 1, after * sizeof(*c->order));
		}
		for (size_t i = at ? at - 1 : 0; !p->stale && i < p->kernels && i <= at + counts; i++)
			parzen_widen(p, d, i);
	}
}

/* Which of the older points are held is a matter of chance, but always of the same: 2^-level of them are,
 * those of a level are among those of the level below. */
static bool parzen_is_held(uint32_t slot, unsigned level)
{
	return (rng_derive(slot, 0x7468696e) & ((1u << level) - 1)) == 0;
}

static bool parzen_is_old(const struct parzen *p, size_t slot)
{
	return slot + PARZEN_NEWEST < p->len;
}

static void parzen_drop(struct parzen *p, size_t place)
{
	if (p->counts[place])
		parzen_set_kernel(p, place, false);
	p->places[p->slots[place]] = PARZEN_DROPPED;
	p->dropped++;
}

/* The kernels are bounded in number, or a search of 100,000 could not be asked in time. The newest points all
 * have one. Of the older ones an even sample has, each for 2^level points: the sums over kernels that a
 * density is made of keep their expectation. Which points are held depends on their number alone, so that
 * sums are the same to the last digit however often points changed sides on the way. */
static void parzen_thin(struct parzen *p)
{
	if (p->len <= PARZEN_NEWEST)
		return;
	size_t old = p->len - PARZEN_NEWEST;
	if (old > (size_t)PARZEN_NEWEST << p->level) {
		p->level++;
		for (size_t i = 0; i < p->held && parzen_is_old(p, p->slots[i]); i++)
			if (p->places[p->slots[i]] == i && !parzen_is_held(p->slots[i], p->level))
				parzen_drop(p, i);
	} else if (!parzen_is_held((uint32_t)old - 1, p->level)) {
		parzen_drop(p, p->places[old - 1]);
	}
	if (p->dropped >= DROPPED_MOST)
		parzen_close_up(p);
}

/* The place of a slot among those that are hidden: where it is, or belongs. */
static size_t parzen_find_hidden(const struct parzen *p, size_t slot)
{
	size_t at = p->hidden.len;
	while (at && p->hidden.at[at - 1] >= slot)
		at--;
	return at;
}

void parzen_set(struct parzen *p, size_t slot, bool counts)
{
	size_t at = parzen_find_hidden(p, slot);
	bool is_hidden = at < p->hidden.len && p->hidden.at[at] == slot;
	if (is_hidden != counts)
		return;
	if (counts) {
		memmove(p->hidden.at + at, p->hidden.at + at + 1, (p->hidden.len - at - 1) * sizeof(*p->hidden.at));
		p->hidden.len--;
	} else {
		vec_push(&p->hidden, (uint32_t)slot);
		memmove(p->hidden.at + at + 1, p->hidden.at + at, (p->hidden.len - at - 1) * sizeof(*p->hidden.at));
		p->hidden.at[at] = (uint32_t)slot;
	}
	parzen_set_least(p);
	if (p->places[slot] != PARZEN_DROPPED)
		parzen_set_kernel(p, p->places[slot], counts);
}

size_t parzen_add(struct parzen *p, const double *point)
{
	if (p->held == p->cap)
		parzen_grow(p);
	if (p->len == p->slots_cap) {
		p->slots_cap = p->slots_cap ? 2 * p->slots_cap : 32;
		p->places = mem_resize(p->places, p->slots_cap, sizeof(*p->places));
	}
	size_t slot = p->len++, place = p->held++;
	p->slots[place] = (uint32_t)slot;
	p->places[slot] = (uint32_t)place;
	for (size_t d = 0; d < p->dims; d++) {
		struct parzen_column *c = &p->columns[d];
		c->x[place] = point[d];
		if (p->axes[d].kind == PARZEN_CELLS)
			c->mu[place] = parzen_middle(&p->axes[d], point[d]);
		if (c->sigma)
			c->sigma[place] = NAN;
	}
	parzen_set_least(p);
	parzen_set_kernel(p, place, true);
	parzen_thin(p);
	return slot;
}

/* The i-th oldest of n weighs low + i * rise, but for the newest, which weigh 1. */
struct ramp {
	size_t length;
	double low, rise;
};

static struct ramp ramp_of(size_t n, bool recent)
{
	struct ramp ramp = {.length = recent && n >= FLAT_WEIGHTS ? n - FLAT_WEIGHTS : 0, .low = 1 / (double)n};
	if (ramp.length > 1)
		ramp.rise = (1 - ramp.low) / (double)(ramp.length - 1);
	return ramp;
}

double parzen_weigh(const struct parzen *p, bool recent, double *weights)
{
	struct ramp ramp = ramp_of(parzen_count(p), recent);
	size_t hidden = 0;
	double sum = 1, share = (double)(1u << p->level);
	for (size_t i = 0; i < p->held; i++) {
		size_t slot = p->slots[i];
		while (hidden < p->hidden.len && p->hidden.at[hidden] < slot)
			hidden++;
		double weight = slot - hidden < ramp.length ? ramp.low + ramp.rise * (double)(slot - hidden) : 1;
		weights[i] = p->counts[i] ? weight * (parzen_is_old(p, slot) ? share : 1) : 0;
		sum += weights[i];
	}
	return sum;
}

/* The middle lies within [0, 1], so that at least a third of the draws do. */
static double parzen_draw_truncated(struct rng *rng, double mu, double sigma)
{
	double x;
	do
		x = mu + sigma * rng_normal(rng);
	while (!(x >= 0 && x <= 1));
	return x;
}

static double parzen_draw(const struct parzen *p, size_t d, size_t place, bool prior, struct rng *rng)
{
	const struct parzen_axis *axis = &p->axes[d];
	const struct parzen_column *c = &p->columns[d];
	if (axis->kind == PARZEN_CHOICE) {
		double own = 1 + (double)parzen_count(p), all = own + axis->cells; /* times n + 1 */
		if (!prior && rng_unit(rng) * all < own)
			return c->x[place];
		return (double)rng_below(rng, (uint64_t)axis->cells);
	}
	double x = prior ? parzen_draw_truncated(rng, 0.5, PARZEN_PRIOR_SIGMA)
			 : parzen_draw_truncated(rng, c->mu[place], c->sigma[place]);
	return parzen_coordinate(axis, x);
}

void parzen_sample(struct parzen *p, bool recent, struct rng *rng, double *ret_points, size_t count)
{
	double *weights = mem_resize(NULL, p->held + 1, sizeof(*weights));
	parzen_settle(p);
	double all = parzen_weigh(p, recent, weights);
	for (size_t k = 0; k < count; k++) {
		double rest = all * rng_unit(rng);
		size_t place = 0;
		while (place < p->held && rest >= weights[place])
			rest -= weights[place++];
		for (size_t d = 0; d < p->dims; d++)
			ret_points[k * p->dims + d] = parzen_draw(p, d, place, place == p->held, rng);
	}
	free(weights);
}
