/* SHADE: success-history based parameter adaptation. R. Tanabe and A. Fukunaga, CEC 2013.
 *
 * The parent that lost is archived, as the paper says. The authors' released program overwrites the
 * parent before it archives it, so that the child goes in; their published table carries that fault. */
#include "search/evolve.h"

#include <math.h>

#define SHADE_POPULATION 100
/* With 100 tasks 5 to 7 were alike and 8 was worse (bench/search). The archive keeps so few apart. */
#define SHADE_LEAST 6

static void shade_make(struct evolve *e, size_t target, struct search_trial *trial)
{
	struct rng *rng = &e->search->rng;
	const struct evolve_memory *m = &e->memory;
	size_t slot = rng_below(rng, m->size);
	double CR = evolve_draw_CR(rng, m->CR[slot]);
	double F = evolve_draw_F(rng, m->F[slot]);
	double least = 2.0 / (double)e->n;
	double p = least < 0.2 ? least + (0.2 - least) * rng_unit(rng) : 0.2;
	evolve_make_pbest(e, target, F, F, CR, p, false, trial);
}

static void shade_generation(struct evolve *e)
{
	evolve_memory_update(&e->memory);
}

static const struct evolve_rules shade_rules = {
	.make = shade_make, .win = evolve_win_by_gain, .generation = shade_generation, .ties_win = true};

static int shade_open(struct search *s, struct error *err)
{
	(void)err;
	size_t n = evolve_population_root(s->spec, SHADE_POPULATION, SHADE_POPULATION, SHADE_LEAST);
	struct evolve *e = evolve_open(s, &shade_rules, n);
	e->archive_most = e->n;
	evolve_memory_open(&e->memory, e->n, 0.5, 0.5);
	return 0;
}

const struct strategy_ops shade_ops = EVOLVE_OPS(shade_open);
