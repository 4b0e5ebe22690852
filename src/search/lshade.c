/* L-SHADE: SHADE with linear population size reduction. R. Tanabe and A. Fukunaga, CEC 2014. */
#include "search/evolve.h"

#include <math.h>

#define LSHADE_PER_DIM 18
#define LSHADE_DIMS 10 /* of the published results */
#define LSHADE_LEAST 4
#define LSHADE_BEST 0.11
#define LSHADE_MEMORY 6
#define LSHADE_ARCHIVE 2.6

static void lshade_make(struct evolve *e, size_t target, struct search_trial *trial)
{
	struct rng *rng = &e->search->rng;
	const struct evolve_memory *m = &e->memory;
	size_t slot = rng_below(rng, m->size);
	double CR = m->CR[slot] < 0 ? 0 : evolve_draw_CR(rng, m->CR[slot]);
	double F = evolve_draw_F(rng, m->F[slot]);
	evolve_make_pbest(e, target, F, F, CR, LSHADE_BEST, false, trial);
}

static void lshade_generation(struct evolve *e)
{
	evolve_memory_update(&e->memory);
	size_t n = evolve_linear_size(e->n_start, LSHADE_LEAST, e->fes, e->search->spec->tasks);
	if (n < e->n)
		evolve_shrink(e, n, (size_t)round(LSHADE_ARCHIVE * (double)n));
}

static const struct evolve_rules lshade_rules = {
	.make = lshade_make, .win = evolve_win_by_gain, .generation = lshade_generation, .ties_win = true};

static int lshade_open(struct search *s, struct error *err)
{
	(void)err;
	size_t n = evolve_population_root(s->spec, LSHADE_PER_DIM * s->dims, LSHADE_PER_DIM * LSHADE_DIMS,
					  EVOLVE_LEAST);
	struct evolve *e = evolve_open(s, &lshade_rules, n);
	e->archive_most = (size_t)round(LSHADE_ARCHIVE * (double)e->n);
	evolve_memory_open(&e->memory, LSHADE_MEMORY, 0.5, 0.5);
	e->memory.lehmer_CR = e->memory.terminal = true;
	return 0;
}

const struct strategy_ops lshade_ops = EVOLVE_OPS(lshade_open);
