/* Random functions to tune a search on: every seed gives another one of the same kind, so that a rule cannot be fitted to
 * a single function. None of them is one of the functions that are held back (bench/search/held.py, race_problems.py). */
#ifndef WORLD_H
#define WORLD_H

#include "base/rng.h"
#include "space/space.h"

#define WORLD_AXES 48
#define WORLD_FEATURES 40
#define WORLD_CHOICES 5

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
	WORLD_TRAINING
};

struct world_kind {
	const char *name;
	enum world_shape shape;
	int reals, wholes, cats, choices;
	int matter; /* axes that matter; 0: all */
	double failing; /* about this share fails, 0: nothing */
	double noise;
};

struct world {
	const struct world_kind *kind;
	double centre[WORLD_AXES], turn[WORLD_AXES][WORLD_AXES], scale[WORLD_AXES];
	double often[WORLD_FEATURES][WORLD_AXES], phase[WORLD_FEATURES], weight[WORLD_FEATURES];
	double by_choice[WORLD_FEATURES][WORLD_AXES][WORLD_CHOICES];
	double alone[WORLD_AXES][WORLD_CHOICES], pair[WORLD_AXES][WORLD_AXES][WORLD_CHOICES][WORLD_CHOICES];
	double edge[WORLD_AXES], edge_at;
	double least; /* the least that a search of its own has found */
};

extern const struct world_kind world_kinds[]; /* the last has no name */

void world_make(struct world *world, const struct world_kind *kind, uint64_t seed);
/* The parameters as YAML; the caller frees it. */
char *world_parameters(const struct world_kind *kind);
/* NAN where it fails. */
double world_value(const struct world *world, const struct space_value *values);

#endif
