/* jDE: every individual carries its own F and CR. J. Brest et al., IEEE Trans. Evol. Comp. 10 (2006). */
#include "search/evolve.h"

#define JDE_POPULATION 100
#define JDE_F_LOW 0.1
#define JDE_F_WIDTH 0.9 /* the paper's Fu is the width, not the upper end */
#define JDE_CHANGE 0.1 /* probability that F, and that CR, is drawn anew */

static void jde_make(struct evolve *e, size_t target, struct search_trial *trial)
{
	struct rng *rng = &e->search->rng;
	const struct evolve_member *m = &e->at[target];
	double F = rng_unit(rng) < JDE_CHANGE ? JDE_F_LOW + JDE_F_WIDTH * rng_unit(rng) : m->F;
	double CR = rng_unit(rng) < JDE_CHANGE ? rng_unit(rng) : m->CR;
	evolve_rand_1(e, target, F, trial->unit);
	evolve_cross(e, m->x, CR, trial->unit);
	evolve_repair(e, m->x, trial->unit);
	trial->notes[EVOLVE_F] = F;
	trial->notes[EVOLVE_CR] = CR;
}

static void jde_win(struct evolve *e, struct evolve_member *parent, const struct search_trial *trial, bool better)
{
	(void)e, (void)better;
	parent->F = trial->notes[EVOLVE_F];
	parent->CR = trial->notes[EVOLVE_CR];
}

static void jde_generation(struct evolve *e)
{
	(void)e;
}

static const struct evolve_rules jde_rules = {
	.make = jde_make, .win = jde_win, .generation = jde_generation, .ties_win = true};

static int jde_open(struct search *s, struct error *err)
{
	(void)err;
	/* With 6, as SHADE has, a quarter of the runs on a bowl of five dimensions came to rest on its slope. */
	size_t n = evolve_population_root(s->spec, JDE_POPULATION, JDE_POPULATION, EVOLVE_LEAST);
	struct evolve *e = evolve_open(s, &jde_rules, n);
	for (size_t i = 0; i < e->n; i++) {
		e->at[i].F = JDE_F_LOW + JDE_F_WIDTH * rng_unit(&s->rng);
		e->at[i].CR = rng_unit(&s->rng);
	}
	return 0;
}

const struct strategy_ops jde_ops = EVOLVE_OPS(jde_open);
