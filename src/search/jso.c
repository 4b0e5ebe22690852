/* jSO: J. Brest, M. S. Maučec and B. Bošković, Single objective real-parameter optimization: algorithm
 * jSO, CEC 2017. iL-SHADE with a weighted mutation and bounds on F and CR that loosen over time. */
#include "search/jso.h"

#include <math.h>

#define JSO_DIMS 10 /* of the published results */
#define JSO_LEAST 4
#define JSO_MEMORY 5
#define JSO_BEST 0.25

struct jso {
	jso_weight_f weight;
	double p; /* refreshed when the population shrinks */
};

static double jso_draw_CR(struct rng *rng, double mean, double t)
{
	double CR = mean < 0 ? 0 : evolve_draw_CR(rng, mean);
	double least = t < 0.25 ? 0.7 : t < 0.5 ? 0.6 : 0;
	return CR < least ? least : CR;
}

static double jso_draw_F(struct rng *rng, double location, double t)
{
	double F = evolve_draw_F(rng, location);
	return t < 0.6 && F > 0.7 ? 0.7 : F;
}

static void jso_make(struct evolve *e, size_t target, struct search_trial *trial)
{
	struct rng *rng = &e->search->rng;
	const struct jso *own = e->own;
	size_t slot = rng_below(rng, e->memory.size);
	bool last = slot == e->memory.size - 1; /* always .9 and .9 */
	double t = evolve_progress(e);
	double CR = jso_draw_CR(rng, last ? 0.9 : e->memory.CR[slot], t);
	double F = jso_draw_F(rng, last ? 0.9 : e->memory.F[slot], t);
	double Fw = F * (t < 0.2 ? 0.7 : t < 0.4 ? 0.8 : 1.2);
	evolve_make_pbest(e, target, Fw, F, CR, own->p, t < 0.5, trial);
}

static void jso_win(struct evolve *e, struct evolve_member *parent, const struct search_trial *trial, bool better)
{
	const struct jso *own = e->own;
	if (better)
		evolve_remember(e, parent, trial, own->weight(e, parent, trial));
}

static void jso_generation(struct evolve *e)
{
	struct jso *own = e->own;
	evolve_memory_update(&e->memory);
	size_t n = evolve_linear_size(e->n_start, JSO_LEAST, e->fes, e->search->spec->tasks);
	if (n < e->n) {
		evolve_shrink(e, n, n);
		own->p = JSO_BEST * (1 - 0.5 * evolve_progress(e));
	}
}

static const struct evolve_rules jso_rules = {
	.make = jso_make, .win = jso_win, .generation = jso_generation, .ties_win = true};

static size_t jso_population(double dims)
{
	return (size_t)round(25 * log(dims) * sqrt(dims));
}

void jso_start(struct search *s, jso_weight_f weight)
{
	size_t published = jso_population(s->dims > 1 ? (double)s->dims : 2); /* ln 1 is no population */
	size_t n = evolve_population_root(s->spec, published, jso_population(JSO_DIMS), EVOLVE_LEAST);
	struct evolve *e = evolve_open(s, &jso_rules, n);
	e->archive_most = e->n;
	struct jso *own = e->own = mem_alloc(sizeof(*own));
	evolve_memory_open(&e->memory, JSO_MEMORY, 0.3, 0.8);
	e->memory.lehmer_CR = e->memory.terminal = e->memory.halve = true;
	own->weight = weight;
	own->p = JSO_BEST;
}

static double jso_gain(const struct evolve *e, const struct evolve_member *parent, const struct search_trial *trial)
{
	(void)e;
	return parent->f - trial->score[0];
}

static int jso_open(struct search *s, struct error *err)
{
	(void)err;
	jso_start(s, jso_gain);
	return 0;
}

const struct strategy_ops jso_ops = EVOLVE_OPS(jso_open);
