/* Differential evolution, rand/1/bin: R. Storn and K. Price, J. Global Optimization 11 (1997). */
#include "search/evolve.h"

const struct search_option de_options[] = {
	EVOLVE_OPTIONS,
	{"F", SEARCH_OPTION_REAL, 0.5, 0, 2, NULL, "weight of the difference"},
	{"CR", SEARCH_OPTION_REAL, 0.9, 0, 1, NULL, "part of the genes taken from the mutant"},
	{0},
};

static void de_make(struct evolve *e, size_t target, struct search_trial *trial)
{
	const struct search_spec *spec = e->search->spec;
	evolve_rand_1(e, target, search_option(spec, "F"), trial->unit);
	evolve_cross(e, e->at[target].x, search_option(spec, "CR"), trial->unit);
	evolve_repair(e, e->at[target].x, trial->unit);
}

static void de_win(struct evolve *e, struct evolve_member *parent, const struct search_trial *trial, bool better)
{
	(void)e, (void)parent, (void)trial, (void)better;
}

static void de_generation(struct evolve *e)
{
	(void)e;
}

static const struct evolve_rules de_rules = {
	.make = de_make, .win = de_win, .generation = de_generation, .ties_win = true};

static int de_open(struct search *s, struct error *err)
{
	(void)err;
	size_t published = 10 * (s->dims ? s->dims : 1);
	evolve_open(s, &de_rules, evolve_population(s->spec, published));
	return 0;
}

const struct strategy_ops de_ops = EVOLVE_OPS(de_open);
