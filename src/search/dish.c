/* DISH: jSO that weighs a success by how far it went instead of how much it gained. A. Viktorin et al.,
 * Distance based parameter adaptation for success-history based differential evolution, Swarm and
 * Evolutionary Computation 50 (2019); details as in Zamuda's release. */
#include "search/jso.h"

#include <math.h>

static double dish_distance(const struct evolve *e, const struct evolve_member *parent,
			    const struct search_trial *trial)
{
	double sum = 0;
	for (size_t j = 0; j < e->search->dims; j++)
		sum += (trial->unit[j] - parent->x[j]) * (trial->unit[j] - parent->x[j]);
	return sqrt(sum);
}

static int dish_open(struct search *s, struct error *err)
{
	(void)err;
	jso_start(s, dish_distance);
	return 0;
}

const struct strategy_ops dish_ops = EVOLVE_OPS(dish_open);
