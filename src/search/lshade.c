/* L-SHADE: SHADE with linear population size reduction. R. Tanabe and A. Fukunaga, CEC 2014. */
#include "search/evolve.h"

#include <math.h>

#define LSHADE_PER_DIM 18
#define LSHADE_LEAST 4
#define LSHADE_BEST 0.11
#define LSHADE_MEMORY 6
#define LSHADE_ARCHIVE 2.6

const struct search_option lshade_options[] = {EVOLVE_OPTIONS, {0}};

static void lshade_make(struct evolve *e, size_t target, struct search_trial *trial)
{
	struct rng *rng = &e->search->rng;
	const struct evolve_memory *m = e->own;
	size_t slot = rng_below(rng, m->size);
	double CR = m->CR[slot] < 0 ? 0 : evolve_draw_CR(rng, m->CR[slot]);
	double F = evolve_draw_F(rng, m->F[slot]);
	double best = round(LSHADE_BEST * (double)e->n);
	evolve_current_to_pbest(e, target, F, F, best > 2 ? (size_t)best : 2, false, trial->unit);
	evolve_cross(e, e->at[target].x, CR, trial->unit);
	evolve_repair(e, e->at[target].x, trial->unit);
	trial->notes[EVOLVE_F] = F;
	trial->notes[EVOLVE_CR] = CR;
}

static void lshade_win(struct evolve *e, struct evolve_member *parent, const struct search_trial *trial,
		       bool better)
{
	if (!better)
		return;
	evolve_archive(e, parent->x);
	evolve_memory_add(e->own, trial->notes[EVOLVE_F], trial->notes[EVOLVE_CR],
			  parent->f - trial->score[0]);
}

static void lshade_generation(struct evolve *e)
{
	evolve_memory_update(e->own);
	size_t n = evolve_linear_size(e->n_start, LSHADE_LEAST, e->fes, e->search->spec->tasks);
	if (n < e->n)
		evolve_shrink(e, n, (size_t)round(LSHADE_ARCHIVE * (double)n));
}

static const struct evolve_rules rules = {
	.make = lshade_make, .win = lshade_win, .generation = lshade_generation, .ties_win = true};

static int lshade_open(struct search *s, struct error *err)
{
	(void)err;
	struct evolve *e = evolve_open(s, &rules, evolve_population(s->spec, LSHADE_PER_DIM * s->dims));
	e->archive_most = (size_t)round(LSHADE_ARCHIVE * (double)e->n);
	struct evolve_memory *m = e->own = mem_alloc(sizeof(*m));
	evolve_memory_open(m, LSHADE_MEMORY, 0.5, 0.5);
	m->lehmer_CR = m->terminal = true;
	return 0;
}

static void lshade_free(struct search *s)
{
	struct evolve *e = s->state;
	if (e && e->own)
		evolve_memory_free(e->own);
	evolve_free(s);
}

const struct strategy_ops lshade_ops = {.open = lshade_open,
					.free = lshade_free,
					.ask = evolve_ask,
					.accepted = evolve_accepted,
					.tell = evolve_tell,
					.write_state = evolve_write_state};
