/* The random functions of search-tune: see world.h. */
#include "world.h"

#include "base/buf.h"

#include <math.h>

#define TRIES 12000
#define CLIMBS 8
#define PEAKS 25
#define SLOPES 6

const struct world_kind world_kinds[] = {
	{"smooth2", WORLD_SMOOTH, 2, 0, 0, 0, 0, 0, 0, 0},
	{"smooth4", WORLD_SMOOTH, 4, 0, 0, 0, 0, 0, 0, 0},
	{"smooth8", WORLD_SMOOTH, 8, 0, 0, 0, 0, 0, 0, 0},
	{"hidden30", WORLD_SMOOTH, 30, 0, 0, 0, 3, 0, 0, 0},
	{"bowl6", WORLD_BOWL, 6, 0, 0, 0, 0, 0, 0, 0},
	{"bowl15", WORLD_BOWL, 15, 0, 0, 0, 0, 0, 0, 0},
	{"valley4", WORLD_VALLEY, 4, 0, 0, 0, 0, 0, 0, 0},
	{"waves3", WORLD_WAVES, 3, 0, 0, 0, 0, 0, 0, 0},
	{"peaks3", WORLD_PEAKS, 3, 0, 0, 0, 0, 0, 0, 0},
	{"separate5", WORLD_SEPARATE, 5, 0, 0, 0, 0, 0, 0, 0},
	{"wholes5", WORLD_SMOOTH, 1, 4, 0, 0, 0, 0, 0, 0},
	{"mixed8", WORLD_SMOOTH, 3, 2, 3, 3, 0, 0, 0, 0},
	{"switches18", WORLD_PAIRS, 0, 0, 18, 2, 0, 0, 0, 0},
	{"places9", WORLD_PAIRS, 0, 0, 9, 5, 0, 0, 0, 0},
	{"failing4", WORLD_SMOOTH, 4, 0, 0, 0, 0, .4, 0, 0},
	{"noisy5", WORLD_SMOOTH, 5, 0, 0, 0, 0, 0, .1, 0},
	{"noisymixed8", WORLD_SMOOTH, 3, 2, 3, 3, 0, 0, .1, 0},
	{"slope7", WORLD_SLOPE, 7, 0, 0, 0, 0, 0, 0, 0},
	{"slope10", WORLD_SLOPE, 10, 0, 0, 0, 0, 0, 0, 0},
	{"slope10noisy", WORLD_SLOPE, 10, 0, 0, 0, 0, 0, .1, 0},
	{"skewed5", WORLD_SKEWED, 5, 0, 0, 0, 0, 0, 0, 0},
	{"training8", WORLD_TRAINING, 5, 2, 1, 3, 0, 0, 0, 0},
	{"training8noisy", WORLD_TRAINING, 5, 2, 1, 3, 0, 0, .02, 0},
	{"flags14", WORLD_FLAGS, 0, 0, 14, 2, 0, 0, 0, 0},
	{"flags24", WORLD_FLAGS, 0, 0, 24, 2, 0, 0, 0, 0},
	{"flags24few", WORLD_FLAGS, 0, 0, 24, 2, 6, 0, 0, 0},
	{"flags18threes", WORLD_FLAGS, 0, 0, 18, 2, 0, 0, 0, 50},
	{"flags30noisy", WORLD_FLAGS, 0, 0, 30, 2, 0, 0, 1, 0},
	{"choices12", WORLD_FLAGS, 0, 0, 12, 4, 0, 0, 0, 0},
	{"choices16few", WORLD_FLAGS, 0, 0, 16, 3, 5, 0, 0, 0},
	{"lower6", WORLD_LOWER, 6, 0, 0, 0, 0, 0, 0, 0},
	{"lower10", WORLD_LOWER, 10, 0, 0, 0, 0, 0, 0, 0},
	{"lower8mixed", WORLD_LOWER, 3, 2, 3, 3, 0, 0, 0, 0},
	{"lower12half", WORLD_LOWER, 3, 2, 7, 3, 0, 0, 0, 0},
	{"smooth10half", WORLD_SMOOTH, 3, 1, 6, 4, 0, 0, 0, 0},
	{"lower12most", WORLD_LOWER, 2, 1, 9, 3, 0, 0, 0, 0},
	{"smooth10most", WORLD_SMOOTH, 1, 1, 8, 4, 0, 0, 0, 0},
	{"needles4", WORLD_NEEDLES, 4, 0, 0, 0, 0, 0, 0, 4},
	{"needles6", WORLD_NEEDLES, 6, 0, 0, 0, 0, 0, 0, 3},
	{"needles6noisy", WORLD_NEEDLES, 6, 0, 0, 0, 0, 0, .1, 3},
	{"ratio3", WORLD_RATIOS, 0, 3, 0, 0, 0, 0, 0, 1},
	{"ratio5", WORLD_RATIOS, 0, 5, 0, 0, 0, 0, 0, 1},
	{"ratios6", WORLD_RATIOS, 0, 6, 0, 0, 0, 0, 0, 3},
	{"steps5", WORLD_STEPS, 5, 0, 0, 0, 0, 0, 0, 0},
	{"boxes6", WORLD_STEPS, 6, 0, 0, 0, 0, 0, 0, 40},
	{"branches8", WORLD_BRANCHES, 8, 0, 1, 3, 0, 0, 0, 0},
	{"wholes4", WORLD_SMOOTH, 0, 4, 0, 0, 0, 0, 0, 0},
	{"wholes8", WORLD_SMOOTH, 0, 8, 0, 0, 0, 0, 0, 0},
	{"wholeslope6", WORLD_SLOPE, 0, 6, 0, 0, 0, 0, 0, 0},
	{"wholetrain5", WORLD_TRAINING, 0, 5, 0, 0, 0, 0, 0, 0},
	{"wholevalley4", WORLD_VALLEY, 0, 4, 0, 0, 0, 0, 0, 0},
	{"wholebowl6", WORLD_BOWL, 0, 6, 0, 0, 0, 0, 0, 0},
	{"wholepeaks4", WORLD_PEAKS, 0, 4, 0, 0, 0, 0, 0, 0},
	{"peaks5", WORLD_PEAKS, 5, 0, 0, 0, 0, 0, 0, 0},
	{"peaks4noisy", WORLD_PEAKS, 4, 0, 0, 0, 0, 0, .1, 0},
	{"waves5", WORLD_WAVES, 5, 0, 0, 0, 0, 0, 0, 0},
	{"separate8", WORLD_SEPARATE, 8, 0, 0, 0, 0, 0, 0, 0},
	{"separate5noisy", WORLD_SEPARATE, 5, 0, 0, 0, 0, 0, .1, 0},
	{"needles10", WORLD_NEEDLES, 10, 0, 0, 0, 0, 0, 0, 3},
	{"few6", WORLD_SMOOTH, 0, 6, 0, 0, 0, 0, 0, 5},
	{"fewslope6", WORLD_SLOPE, 0, 6, 0, 0, 0, 0, 0, 4},
	{"fewtrain5", WORLD_TRAINING, 0, 5, 0, 0, 0, 0, 0, 7},
	{"fewnoisy6", WORLD_SMOOTH, 0, 6, 0, 0, 0, 0, .1, 5},
	{"wholenoisy5", WORLD_SMOOTH, 0, 5, 0, 0, 0, 0, .1, 0},
	{0},
};

static void world_turn(struct world *w, struct rng *rng, int n)
{
	for (int i = 0; i < n; i++) {
		double length = 0;
		for (int d = 0; d < n; d++)
			w->turn[i][d] = rng_normal(rng);
		for (int j = 0; j < i; j++) {
			double along = 0;
			for (int d = 0; d < n; d++)
				along += w->turn[i][d] * w->turn[j][d];
			for (int d = 0; d < n; d++)
				w->turn[i][d] -= along * w->turn[j][d];
		}
		for (int d = 0; d < n; d++)
			length += w->turn[i][d] * w->turn[i][d];
		for (int d = 0; d < n; d++)
			w->turn[i][d] /= sqrt(length);
	}
}

double world_smooth(const struct world *w, const struct world_point *p)
{
	double sum = 0;
	for (int k = 0; k < WORLD_FEATURES; k++) {
		double angle = w->phase[k];
		for (int d = 0; d < world_axes(w->kind); d++)
			angle += w->often[k][d] * p->u[d];
		for (int d = 0; d < w->kind->cats; d++)
			angle += w->by_choice[k][d][p->c[d]];
		sum += w->weight[k] * cos(angle);
	}
	for (int d = 0; d < w->kind->cats; d++)
		sum += w->alone[d][p->c[d]];
	return sum;
}

static double world_peaks(const struct world *w, const struct world_point *p)
{
	double most = 0;
	for (int k = 0; k < PEAKS; k++) {
		double away = 0;
		for (int d = 0; d < world_axes(w->kind); d++)
			away += w->scale[d] * pow(p->u[d] - w->often[k][d], 2);
		most = fmax(most, w->weight[k] * exp(-away * w->phase[k]));
	}
	return -most;
}

static double world_turned(const struct world *w, const struct world_point *p)
{
	int n = world_axes(w->kind);
	double z[WORLD_AXES], sum = 0;
	for (int i = 0; i < n; i++) {
		z[i] = 0;
		for (int d = 0; d < n; d++)
			z[i] += w->turn[i][d] * (p->u[d] - w->centre[d]);
	}
	if (w->kind->shape == WORLD_VALLEY) {
		for (int i = 0; i < n; i++)
			z[i] = 3 * (p->u[i] - w->centre[i]) + 1;
		for (int i = 0; i + 1 < n; i++)
			sum += 100 * pow(z[i + 1] - z[i] * z[i], 2) + pow(1 - z[i], 2);
		return sum;
	}
	for (int i = 0; i < n; i++)
		sum += w->kind->shape == WORLD_BOWL ? pow(1000, (double)i / (n - 1)) * z[i] * z[i]
						    : 25 * z[i] * z[i] + 2 - 2 * cos(2 * M_PI * 4 * z[i]);
	return sum;
}

static double world_separate(const struct world *w, const struct world_point *p)
{
	double sum = 0;
	for (int k = 0; k < WORLD_FEATURES; k++)
		sum += w->weight[k] *
			cos(w->phase[k] + 2 * M_PI * (1 + k / world_axes(w->kind)) * p->u[k % world_axes(w->kind)]);
	return sum;
}

/* What a product of powers is after a logarithm: every axis says mostly "more" or "less", the best is often at an edge. */
static double world_slope(const struct world *w, const struct world_point *p)
{
	double sum = 0;
	for (int k = 0; k < SLOPES; k++) {
		double power = 0;
		for (int d = 0; d < world_axes(w->kind); d++)
			power += w->often[k][d] * (p->u[d] - 0.5);
		sum += w->weight[k] * sqrt((double)WORLD_FEATURES / SLOPES) * exp(power);
	}
	return sum;
}

/* A loss: a few parameters matter much, far from the best nothing is learnt (a plateau), one choice is better than another,
 * and beyond an edge (too large a step) it diverges. */
static double world_training(const struct world *w, const struct world_point *p)
{
	double far = 0, beyond = 0, z[WORLD_AXES];
	for (int d = 0; d < world_axes(w->kind); d++)
		z[d] = p->u[d] - w->centre[d];
	for (int d = 0; d < world_axes(w->kind); d++) {
		double along = z[d] + (d ? 0.4 * sin(w->phase[d]) * z[d - 1] : 0);
		far += 40 * pow(0.45, d) * along * along;
	}
	beyond = z[0] + 0.3 * z[1] - 0.25;
	return 2.3 * (1 - exp(-far)) * (1 - 0.2 * exp(-far / 20)) + (beyond > 0 ? 3 * expm1(6 * beyond) : 0) +
		0.5 * fabs(w->alone[0][p->c[0]]);
}

static double world_pairs(const struct world *w, const struct world_point *p)
{
	double sum = 0;
	for (int i = 0; i < w->kind->cats; i++) {
		sum += w->alone[i][p->c[i]];
		for (int j = 0; j < i; j++)
			sum += w->pair[i][j][p->c[i]][p->c[j]];
	}
	return sum;
}

static double world_at(const struct world *w, const struct world_point *p)
{
	double beyond = -w->edge_at;
	for (int d = 0; d < world_axes(w->kind); d++)
		beyond += w->edge[d] * p->u[d];
	if (w->kind->failing > 0 && beyond > 0)
		return NAN;
	switch (w->kind->shape) {
	case WORLD_SMOOTH: return world_smooth(w, p);
	case WORLD_PEAKS: return world_peaks(w, p);
	case WORLD_SEPARATE: return world_separate(w, p);
	case WORLD_PAIRS: return world_pairs(w, p);
	case WORLD_SLOPE: return world_slope(w, p);
	case WORLD_SKEWED: return exp(2.5 * world_smooth(w, p));
	case WORLD_TRAINING: return world_training(w, p);
	case WORLD_BOWL:
	case WORLD_VALLEY:
	case WORLD_WAVES: return world_turned(w, p);
	default: return world_parts_value(w, p);
	}
}

/* The cells of whole numbers. */
static double world_cell(const struct world *w, int d, double u)
{
	int cells = world_cells(w->kind);
	return d < w->kind->reals ? u : floor(fmin(u, 0.999999) * cells) / (cells - 1);
}

static void world_draw(const struct world *w, struct rng *rng, struct world_point *p)
{
	for (int d = 0; d < world_axes(w->kind); d++)
		p->u[d] = world_cell(w, d, rng_unit(rng));
	for (int d = 0; d < w->kind->cats; d++)
		p->c[d] = (int)rng_below(rng, (uint64_t)w->kind->choices);
}

static double world_climb(const struct world *w, struct rng *rng, struct world_point *at)
{
	double best = world_at(w, at), step = 0.2, cells = world_cells(w->kind) - 1;
	for (int i = 0; i < 3000 && step > 1e-7; i++) {
		struct world_point p = *at;
		for (int d = 0; d < world_axes(w->kind); d++)
			if (rng_unit(rng) < 0.5) {
				if (d < w->kind->reals)
					p.u[d] = fmin(fmax(p.u[d] + step * rng_normal(rng), 0), 1);
				else
					p.u[d] = fmin(fmax(p.u[d] + ((double)rng_below(rng, 5) - 2) / cells, 0), 1);
			}
		for (int d = 0; d < w->kind->cats; d++)
			if (rng_unit(rng) < 1.5 / w->kind->cats)
				p.c[d] = (int)rng_below(rng, (uint64_t)w->kind->choices);
		double value = world_at(w, &p);
		if (value < best) {
			best = value;
			*at = p;
			step *= 1.3;
		} else if (w->kind->reals) {
			step *= 0.97;
		}
	}
	return best;
}

static double world_find_least(const struct world *w, struct rng *rng)
{
	bool met = w->kind->wholes == 0; /* the least lies between whole numbers */
	if (met && (w->kind->shape == WORLD_BOWL || w->kind->shape == WORLD_VALLEY || w->kind->shape == WORLD_WAVES))
		return 0;
	if (met && w->kind->shape == WORLD_PEAKS)
		return -w->weight[0];
	if (w->kind->shape == WORLD_NEEDLES)
		return w->least;
	double least = INFINITY;
	for (int i = 0; i < CLIMBS; i++) {
		struct world_point best = {0};
		double most = INFINITY;
		for (int k = 0; k < TRIES / CLIMBS; k++) {
			struct world_point p = {0};
			world_draw(w, rng, &p);
			double value = world_at(w, &p);
			if (value < most) {
				most = value;
				best = p;
			}
		}
		least = fmin(least, world_climb(w, rng, &best));
	}
	return least;
}

void world_make(struct world *w, const struct world_kind *kind, uint64_t seed)
{
	struct rng rng;
	int n = kind->reals + kind->wholes;
	memset(w, 0, sizeof(*w));
	w->kind = kind;
	rng_seed(&rng, rng_derive(seed, 0x74756e65));
	world_turn(w, &rng, n);
	double rough[WORLD_AXES];
	for (int d = 0; d < n; d++) {
		w->centre[d] = 0.1 + 0.8 * rng_unit(&rng);
		w->scale[d] = pow(10, rng_unit(&rng));
		rough[d] = kind->matter && d >= kind->matter ? 0 : pow(10, rng_unit(&rng) - 0.2) * (n > 4 ? 0.7 : 1);
		w->edge[d] = rng_normal(&rng);
		w->edge_at += w->edge[d] * w->centre[d];
	}
	for (int d = n - 1; d > 0 && kind->matter; d--) { /* which ones matter */
		int k = (int)rng_below(&rng, (uint64_t)d + 1);
		double swap = rough[d];
		rough[d] = rough[k];
		rough[k] = swap;
	}
	for (int k = 0; k < WORLD_FEATURES; k++) {
		w->phase[k] = kind->shape == WORLD_PEAKS ? 3 + 17 * rng_unit(&rng) : 2 * M_PI * rng_unit(&rng);
		w->weight[k] = kind->shape == WORLD_PEAKS ? (k ? 0.95 * rng_unit(&rng) : 1)
							  : rng_normal(&rng) / sqrt(WORLD_FEATURES);
		if (kind->shape == WORLD_SEPARATE)
			w->weight[k] /= sqrt(1 + k / n);
		for (int d = 0; d < n; d++)
			w->often[k][d] = kind->shape == WORLD_PEAKS
				? rng_unit(&rng)
				: (kind->shape == WORLD_SLOPE ? fmin(rough[d], 1) : rough[d]) * rng_normal(&rng);
		for (int d = 0; d < kind->cats; d++)
			for (int c = 0; c < kind->choices; c++)
				w->by_choice[k][d][c] = 0.5 * rng_normal(&rng);
	}
	for (int i = 0; i < kind->cats; i++)
		for (int c = 0; c < kind->choices; c++) {
			w->alone[i][c] = (kind->shape == WORLD_PAIRS ? 1 : 0.15) * rng_normal(&rng);
			for (int j = 0; j < i; j++)
				for (int e = 0; e < kind->choices; e++)
					w->pair[i][j][c][e] = rng_unit(&rng) < 0.3 ? 0.8 * rng_normal(&rng) : 0;
		}
	w->least = INFINITY;
	if (kind->shape >= WORLD_FLAGS)
		world_make_parts(w, seed);
	w->least = world_find_least(w, &rng);
}

char *world_parameters(const struct world_kind *kind)
{
	struct buf b = buf_make(BUF_UNLIMITED);
	for (int d = 0; d < kind->reals; d++)
		if (kind->shape == WORLD_BRANCHES && d >= 2)
			buf_addf(&b, "r%d: {min: 0.0, max: 1.0, when: {c0: %c}}\n", d, 'a' + (d - 2) / 2);
		else
			buf_addf(&b, "r%d: {min: 0.0, max: 1.0}\n", d);
	for (int d = 0; d < kind->wholes; d++)
		buf_addf(&b, "n%d: {min: 0, max: %d, type: int}\n", d, world_cells(kind) - 1);
	for (int d = 0; d < kind->cats; d++) {
		buf_addf(&b, "c%d: [", d);
		for (int c = 0; c < kind->choices; c++)
			buf_addf(&b, "%s%c", c ? ", " : "", 'a' + c);
		buf_addf(&b, "]\n");
	}
	return buf_take(&b);
}

double world_value(const struct world *w, const struct space_value *values)
{
	struct world_point p = {0};
	int n = world_axes(w->kind);
	for (int d = 0; d < n; d++)
		p.u[d] = values[d].kind == SPACE_VALUE_NONE ? 0.5
			: d < w->kind->reals                ? values[d].real
							    : values[d].real / (world_cells(w->kind) - 1);
	for (int d = 0; d < w->kind->cats; d++)
		p.c[d] = values[n + d].text[0] - 'a';
	return world_at(w, &p);
}
