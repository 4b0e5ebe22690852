/* Random functions to tune a search on: every seed gives another one of the same kind, so that a rule cannot be fitted to
 * a single function. None of them is one of the functions that are held back (bench/search/held.py, race_problems.py). */
#ifndef WORLD_H
#define WORLD_H

#include "base/rng.h"
#include "space/space.h"

#define WORLD_AXES 48
#define WORLD_FEATURES 40
#define WORLD_CHOICES 5
#define WORLD_PARTS 400
#define WORLD_RATIO_CELLS 50 /* of whole numbers in ratios */
#define WORLD_CELLS 20 /* of all others */

enum world_shape {
	WORLD_SMOOTH,
	WORLD_PEAKS,
	WORLD_BOWL,
	WORLD_VALLEY,
	WORLD_WAVES,
	WORLD_SEPARATE,
	WORLD_PAIRS,
	WORLD_SLOPE,
	WORLD_SKEWED,
	WORLD_TRAINING,
	WORLD_FLAGS, /* from here on: world_parts.c */
	WORLD_LOWER,
	WORLD_NEEDLES,
	WORLD_RATIOS,
	WORLD_STEPS,
	WORLD_BRANCHES
};

struct world_kind {
	const char *name;
	enum world_shape shape;
	int reals, wholes, cats, choices;
	int matter; /* axes that matter; 0: all */
	double failing; /* about this share fails, 0: nothing */
	double noise;
	int terms; /* what that is depends on the shape; up to WORLD_TRAINING the cells of whole numbers */
};

/* The numbers between 0 and 1, and which choice. */
struct world_point {
	double u[WORLD_AXES];
	int c[WORLD_AXES];
};

struct world_part {
	int axes[3];
	double at[3], width[3], value[8];
};

struct world {
	const struct world_kind *kind;
	double centre[WORLD_AXES], turn[WORLD_AXES][WORLD_AXES], scale[WORLD_AXES];
	double often[WORLD_FEATURES][WORLD_AXES], phase[WORLD_FEATURES], weight[WORLD_FEATURES];
	double by_choice[WORLD_FEATURES][WORLD_AXES][WORLD_CHOICES];
	double alone[WORLD_AXES][WORLD_CHOICES], pair[WORLD_AXES][WORLD_AXES][WORLD_CHOICES][WORLD_CHOICES];
	double edge[WORLD_AXES], edge_at;
	struct world_part parts[WORLD_PARTS];
	int part_count;
	double least; /* the least that a search of its own has found */
};

extern const struct world_kind world_kinds[]; /* the last has no name */

void world_make(struct world *world, const struct world_kind *kind, uint64_t seed);
/* The parameters as YAML; the caller frees it. */
char *world_parameters(const struct world_kind *kind);
/* NAN where it fails. */
double world_value(const struct world *world, const struct space_value *values);

/* Shared by the two files. */
static inline int world_axes(const struct world_kind *kind)
{
	return kind->reals + kind->wholes;
}
static inline int world_cells(const struct world_kind *kind)
{
	if (kind->shape < WORLD_FLAGS && kind->terms)
		return kind->terms;
	return kind->shape == WORLD_RATIOS ? WORLD_RATIO_CELLS : WORLD_CELLS;
}
double world_smooth(const struct world *world, const struct world_point *point);
void world_make_parts(struct world *world, uint64_t seed);
double world_parts_value(const struct world *world, const struct world_point *point);

#endif
