/* jSO: J. Brest, M. S. Maučec and B. Bošković, Single objective real-parameter optimization: algorithm
 * jSO, CEC 2017. iL-SHADE with a weighted mutation and bounds on F and CR that loosen over time. */
#include "search/jso.h"

#include <math.h>

#define JSO_LEAST 4
#define JSO_MEMORY 5
#define JSO_BEST 0.25

const struct search_option jso_options[] = {EVOLVE_OPTIONS, {0}};

struct jso {
	struct evolve_memory memory;
	jso_weight_f weight;
	double p; /* refreshed when the population shrinks */
};

static double draw_CR(struct rng *rng, double mean, double t)
{
	double CR = mean < 0 ? 0 : evolve_draw_CR(rng, mean);
	double least = t < 0.25 ? 0.7 : t < 0.5 ? 0.6 : 0;
	return CR < least ? least : CR;
}

static double draw_F(struct rng *rng, double location, double t)
{
	double F = evolve_draw_F(rng, location);
	return t < 0.6 && F > 0.7 ? 0.7 : F;
}

static void jso_make(struct evolve *e, size_t target, struct search_trial *trial)
{
	struct rng *rng = &e->search->rng;
	const struct jso *own = e->own;
	size_t slot = rng_below(rng, own->memory.size);
	bool last = slot == own->memory.size - 1; /* always .9 and .9 */
	double t = evolve_progress(e);
	double CR = draw_CR(rng, last ? 0.9 : own->memory.CR[slot], t);
	double F = draw_F(rng, last ? 0.9 : own->memory.F[slot], t);
	double Fw = F * (t < 0.2 ? 0.7 : t < 0.4 ? 0.8 : 1.2);
	double best = round(own->p * (double)e->n);
	evolve_current_to_pbest(e, target, Fw, F, best > 2 ? (size_t)best : 2, t < 0.5, trial->unit);
	evolve_cross(e, e->at[target].x, CR, trial->unit);
	evolve_repair(e, e->at[target].x, trial->unit);
	trial->notes[EVOLVE_F] = F;
	trial->notes[EVOLVE_CR] = CR;
}

static void jso_win(struct evolve *e, struct evolve_member *parent, const struct search_trial *trial,
		    bool better)
{
	struct jso *own = e->own;
	if (!better)
		return;
	evolve_archive(e, parent->x);
	evolve_memory_add(&own->memory, trial->notes[EVOLVE_F], trial->notes[EVOLVE_CR],
			  own->weight(e, parent, trial));
}

static void jso_generation(struct evolve *e)
{
	struct jso *own = e->own;
	evolve_memory_update(&own->memory);
	size_t n = evolve_linear_size(e->n_start, JSO_LEAST, e->fes, e->search->spec->tasks);
	if (n < e->n) {
		evolve_shrink(e, n, n);
		own->p = JSO_BEST * (1 - 0.5 * evolve_progress(e));
	}
}

static const struct evolve_rules rules = {
	.make = jso_make, .win = jso_win, .generation = jso_generation, .ties_win = true};

void jso_start(struct search *s, jso_weight_f weight)
{
	double dims = s->dims > 1 ? (double)s->dims : 2; /* ln 1 is no population */
	size_t published = (size_t)round(25 * log(dims) * sqrt(dims));
	struct evolve *e = evolve_open(s, &rules, evolve_population(s->spec, published));
	e->archive_most = e->n;
	struct jso *own = e->own = mem_alloc(sizeof(*own));
	evolve_memory_open(&own->memory, JSO_MEMORY, 0.3, 0.8);
	own->memory.lehmer_CR = own->memory.terminal = own->memory.halve = true;
	own->weight = weight;
	own->p = JSO_BEST;
}

void jso_end(struct search *s)
{
	struct evolve *e = s->state;
	if (e && e->own)
		evolve_memory_free(&((struct jso *)e->own)->memory);
	evolve_free(s);
}

static double gain(const struct evolve *e, const struct evolve_member *parent,
		   const struct search_trial *trial)
{
	(void)e;
	return parent->f - trial->score[0];
}

static int jso_open(struct search *s, struct error *err)
{
	(void)err;
	jso_start(s, gain);
	return 0;
}

const struct strategy_ops jso_ops = {.open = jso_open,
				     .free = jso_end,
				     .ask = evolve_ask,
				     .accepted = evolve_accepted,
				     .tell = evolve_tell,
				     .write_state = evolve_write_state};
