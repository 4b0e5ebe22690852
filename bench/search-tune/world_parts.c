/* Random functions that are sums of parts, of kinds that people have: many choices with effects of one, two or three of
 * them, sums over axes with few interactions, several narrow and wide peaks along every axis, ratios of whole numbers,
 * plateaus, and parameters that only apply under a choice. */
#include "world.h"

#include <math.h>

#define RATIO_FIRST 8 /* the least whole number of a ratio */

/* Effects of single choices, of some pairs, and of `terms` threes instead. Only `matter` of the choices have any. */
static void parts_make_flags(struct world *w, struct rng *rng)
{
	int n = w->kind->cats, order[WORLD_AXES], matter = w->kind->matter ? w->kind->matter : n;
	double share = fmin(1, 3.0 / matter);
	for (int i = 0; i < n; i++)
		order[i] = i;
	for (int i = n - 1; i > 0; i--) {
		int k = (int)rng_below(rng, (uint64_t)i + 1), swap = order[i];
		order[i] = order[k];
		order[k] = swap;
	}
	for (int i = 0; i < matter && !w->kind->terms; i++) {
		for (int j = 0; j < i; j++)
			if (rng_unit(rng) < share && w->part_count < WORLD_PARTS)
				w->parts[w->part_count++] = (struct world_part){.axes = {order[i], order[j], order[j]}};
		w->parts[w->part_count++] = (struct world_part){.axes = {order[i], order[i], order[i]}};
	}
	for (int i = 0; i < w->kind->terms; i++) {
		struct world_part *part = &w->parts[w->part_count++];
		for (int k = 0; k < 3; k++)
			part->axes[k] = (int)rng_below(rng, (uint64_t)n);
	}
	for (int i = 0; i < w->part_count; i++)
		for (int k = 0; k < 8; k++)
			w->parts[i].value[k] = rng_normal(rng);
	for (int i = 0; i < n; i++)
		for (int c = 0; c < w->kind->choices; c++)
			w->alone[i][c] = (double)rng_below(rng, 8); /* which bits a choice has in the tables */
}

static double parts_flags(const struct world *w, const struct world_point *p)
{
	double sum = 0;
	for (int i = 0; i < w->part_count; i++) {
		const struct world_part *part = &w->parts[i];
		int a = part->axes[0], b = part->axes[1], c = part->axes[2], at;
		if (w->kind->choices == 2)
			at = p->c[a] + 2 * p->c[b] + 4 * p->c[c];
		else
			at = ((int)w->alone[a][p->c[a]] + 3 * (b != a ? (int)w->alone[b][p->c[b]] : 0)) % 8;
		sum += part->value[at];
	}
	return sum;
}

/* Of the waves of a smooth function only two thirds of those along one axis are kept, and those along two. */
static void parts_make_lower(struct world *w, struct rng *rng)
{
	int n = world_axes(w->kind), all = n + w->kind->cats;
	for (int k = 0; k < WORLD_FEATURES; k++) {
		int a = k % all, b = k % 3 ? a : (int)rng_below(rng, (uint64_t)all);
		for (int d = 0; d < n; d++)
			w->often[k][d] = d == a || d == b ? 2 * M_PI * 1.5 * (2 * rng_unit(rng) - 1) : 0;
		for (int d = 0; d < w->kind->cats; d++)
			for (int c = 0; c < w->kind->choices; c++)
				w->by_choice[k][d][c] = n + d == a || n + d == b ? 1.5 * rng_normal(rng) : 0;
	}
	memset(w->alone, 0, sizeof(w->alone));
}

/* `terms` peaks along every axis, each of another height and width. */
static void parts_make_needles(struct world *w, struct rng *rng)
{
	int n = world_axes(w->kind);
	w->least = 0;
	for (int d = 0; d < n; d++) {
		double most = 0, weight = pow(2, rng_normal(rng));
		for (int k = 0; k < w->kind->terms; k++) {
			double height = weight * (0.3 + 0.7 * rng_unit(rng));
			w->parts[w->part_count++] = (struct world_part){.axes = {d},
									.at = {rng_unit(rng)},
									.width = {0.02 * pow(15, rng_unit(rng))},
									.value = {height}};
			most = fmax(most, height);
		}
		w->least -= most;
	}
}

static double parts_needles(const struct world *w, const struct world_point *p)
{
	double most[WORLD_AXES] = {0}, sum = 0;
	for (int i = 0; i < w->part_count; i++) {
		const struct world_part *part = &w->parts[i];
		double away = (p->u[part->axes[0]] - part->at[0]) / part->width[0];
		most[part->axes[0]] = fmax(most[part->axes[0]], part->value[0] * exp(-away * away / 2));
	}
	for (int d = 0; d < world_axes(w->kind); d++)
		sum -= most[d];
	return sum;
}

/* `terms` products of powers -1, 0 and 1 of whole numbers, each with the value that it shall have, that of a random
 * configuration, but for a few per cent. With more than one, large numbers cost a little. */
static void parts_make_ratios(struct world *w, struct rng *rng)
{
	int n = world_axes(w->kind);
	double at[WORLD_AXES];
	for (int d = 0; d < n; d++)
		at[d] = log(RATIO_FIRST + (double)rng_below(rng, WORLD_RATIO_CELLS));
	for (int k = 0; k < w->kind->terms; k++) {
		w->phase[k] = 0.05 * rng_normal(rng);
		for (int d = 0; d < n; d++) {
			bool alone = w->kind->terms == 1;
			w->often[k][d] = alone ? (d % 2 ? 1 : -1) : (double)rng_below(rng, 3) - 1;
			w->phase[k] += w->often[k][d] * at[d];
		}
	}
}

static double parts_ratios(const struct world *w, const struct world_point *p)
{
	double sum = 0;
	for (int k = 0; k < w->kind->terms; k++) {
		double power = -w->phase[k];
		for (int d = 0; d < world_axes(w->kind); d++)
			power += w->often[k][d] * log(RATIO_FIRST + p->u[d] * (WORLD_RATIO_CELLS - 1));
		sum += fabs(expm1(power));
	}
	for (int d = 0; d < world_axes(w->kind) && w->kind->terms > 1; d++)
		sum += 0.1 * p->u[d];
	return sum;
}

/* Boxes along one, two or three axes, each with a value. */
static void parts_make_boxes(struct world *w, struct rng *rng)
{
	int n = world_axes(w->kind);
	for (int i = 0; i < w->kind->terms; i++) {
		struct world_part *part = &w->parts[w->part_count++];
		part->value[0] = rng_normal(rng);
		for (int k = 0; k < 3; k++) {
			part->axes[k] = k <= i % 3 ? (int)rng_below(rng, (uint64_t)n) : part->axes[0];
			part->at[k] = k <= i % 3 ? rng_unit(rng) : part->at[0];
			part->width[k] = k <= i % 3 ? 0.15 + 0.35 * rng_unit(rng) : part->width[0];
		}
	}
}

static double parts_boxes(const struct world *w, const struct world_point *p)
{
	double sum = 0;
	for (int i = 0; i < w->part_count; i++) {
		const struct world_part *part = &w->parts[i];
		bool inside = true;
		for (int k = 0; k < 3; k++)
			inside = inside && fabs(p->u[part->axes[k]] - part->at[k]) < part->width[k];
		sum += inside ? part->value[0] : 0;
	}
	return sum;
}

/* Two axes apply always, two only under each of the choices. */
static double parts_branches(const struct world *w, const struct world_point *p)
{
	struct world_point at = *p;
	for (int d = 2; d < world_axes(w->kind); d++)
		at.u[d] = (d - 2) / 2 == p->c[0] ? p->u[d] : 0.5;
	return world_smooth(w, &at);
}

void world_make_parts(struct world *w, uint64_t seed)
{
	struct rng rng;
	rng_seed(&rng, rng_derive(seed, 0x7061727473));
	switch (w->kind->shape) {
	case WORLD_FLAGS: parts_make_flags(w, &rng); break;
	case WORLD_LOWER: parts_make_lower(w, &rng); break;
	case WORLD_NEEDLES: parts_make_needles(w, &rng); break;
	case WORLD_RATIOS: parts_make_ratios(w, &rng); break;
	case WORLD_STEPS: parts_make_boxes(w, &rng); break;
	default: break;
	}
}

double world_parts_value(const struct world *w, const struct world_point *p)
{
	switch (w->kind->shape) {
	case WORLD_FLAGS: return parts_flags(w, p);
	case WORLD_NEEDLES: return parts_needles(w, p);
	case WORLD_RATIOS: return parts_ratios(w, p);
	case WORLD_STEPS: return w->kind->terms ? parts_boxes(w, p) : floor(4 * world_smooth(w, p)) / 4;
	case WORLD_BRANCHES: return parts_branches(w, p);
	default: return world_smooth(w, p);
	}
}
