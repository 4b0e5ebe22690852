/* SHADE: success-history based parameter adaptation. R. Tanabe and A. Fukunaga, CEC 2013.
 *
 * The parent that lost is archived, as the paper says. The authors' released program overwrites the
 * parent before it archives it, so that the child goes in; their published table carries that fault. */
#include "search/evolve.h"

#include <math.h>

#define SHADE_POPULATION 100 /* published for 10 dimensions and more */
/* As plain DE: with 100 on two to six axes it was behind that after 3,000 tasks (bench/search). */
#define SHADE_PER_DIM 10

const struct search_option shade_options[] = {EVOLVE_OPTIONS, {0}};

static void shade_make(struct evolve *e, size_t target, struct search_trial *trial)
{
	struct rng *rng = &e->search->rng;
	const struct evolve_memory *m = e->own;
	size_t slot = rng_below(rng, m->size);
	double CR = evolve_draw_CR(rng, m->CR[slot]);
	double F = evolve_draw_F(rng, m->F[slot]);
	double least = 2.0 / (double)e->n;
	double p = least < 0.2 ? least + (0.2 - least) * rng_unit(rng) : 0.2;
	double best = round(p * (double)e->n);
	evolve_current_to_pbest(e, target, F, F, best > 2 ? (size_t)best : 2, false, trial->unit);
	evolve_cross(e, e->at[target].x, CR, trial->unit);
	evolve_repair(e, e->at[target].x, trial->unit);
	trial->notes[EVOLVE_F] = F;
	trial->notes[EVOLVE_CR] = CR;
}

static void shade_win(struct evolve *e, struct evolve_member *parent, const struct search_trial *trial,
		      bool better)
{
	if (!better)
		return;
	evolve_archive(e, parent->x);
	evolve_memory_add(e->own, trial->notes[EVOLVE_F], trial->notes[EVOLVE_CR],
			  parent->f - trial->score[0]);
}

static void shade_generation(struct evolve *e)
{
	evolve_memory_update(e->own);
}

static const struct evolve_rules rules = {
	.make = shade_make, .win = shade_win, .generation = shade_generation, .ties_win = true};

static int shade_open(struct search *s, struct error *err)
{
	(void)err;
	size_t population = SHADE_POPULATION, few = SHADE_PER_DIM * (s->dims ? s->dims : 1);
	if (search_option(s->spec, "mode") == 0 && few < population)
		population = few; /* generational: as published */
	struct evolve *e = evolve_open(s, &rules, evolve_population(s->spec, population));
	e->archive_most = e->n;
	struct evolve_memory *m = e->own = mem_alloc(sizeof(*m));
	evolve_memory_open(m, e->n, 0.5, 0.5);
	return 0;
}

static void shade_free(struct search *s)
{
	struct evolve *e = s->state;
	if (e && e->own)
		evolve_memory_free(e->own);
	evolve_free(s);
}

const struct strategy_ops shade_ops = {.open = shade_open,
				       .free = shade_free,
				       .ask = evolve_ask,
				       .accepted = evolve_accepted,
				       .tell = evolve_tell,
				       .write_state = evolve_write_state};
