/* The table of strategies. One row adds one: the parser, the help, the form and `auto` read it. */
#include "search/evolve.h"

#define DECLARE(id)                                                                                                    \
	extern const struct search_option id##_options[];                                                              \
	extern const struct strategy_ops id##_ops

DECLARE(grid);
DECLARE(random);
DECLARE(sobol);
DECLARE(tpe);
extern const struct search_option motpe_options[];
DECLARE(cmaes);
DECLARE(gp);
DECLARE(de);
extern const struct strategy_ops jde_ops, shade_ops, lshade_ops, jso_ops, dish_ops, spsrdemms_ops;
DECLARE(evolution);
DECLARE(nsga2);
DECLARE(gde3);
DECLARE(asha);
DECLARE(hyperband);
DECLARE(dehb);

#define MODEL (SEARCH_ADAPTIVE | SEARCH_LEARNS)
#define EVOLUTION (SEARCH_ADAPTIVE | SEARCH_GENERATIONAL)
#define FIDELITY (SEARCH_ADAPTIVE | SEARCH_MULTI_FIDELITY | SEARCH_GENERATIONAL)

const struct strategy search_strategies[] = {
	{"grid", "Grid", "Every combination, in the order of the file or shuffled",
	 SEARCH_FINITE_ONLY | SEARCH_MULTI_OBJECTIVE, grid_options, &grid_ops},
	{"random", "Random", "Independent draws from the space", SEARCH_MULTI_OBJECTIVE, random_options, &random_ops},
	{"sobol", "Sobol", "Draws that cover the space evenly (scrambled Sobol sequence)", SEARCH_MULTI_OBJECTIVE,
	 sobol_options, &sobol_ops},
	{"tpe", "TPE", "Draws where good results are frequent and bad ones are rare (tree-structured Parzen estimator)",
	 MODEL | SEARCH_MULTI_OBJECTIVE, tpe_options, &tpe_ops},
	{"motpe", "MOTPE", "TPE for several objectives: non-dominated first, ties by hypervolume",
	 MODEL | SEARCH_MULTI_OBJECTIVE, motpe_options, &tpe_ops},
	{"cmaes", "CMA-ES",
	 "A normal distribution that adapts its centre and shape to good results; for numeric parameters", MODEL,
	 cmaes_options, &cmaes_ops},
	{"gp", "Gaussian process", "Bayesian optimisation for few and costly tasks (Matern 5/2, expected improvement)",
	 MODEL | SEARCH_MULTI_OBJECTIVE | SEARCH_SLOW, gp_options, &gp_ops},
	{"de", "Differential evolution", "rand/1/bin with fixed F and CR", EVOLUTION, de_options, &de_ops},
	{"jde", "jDE", "Differential evolution whose individuals adapt their own F and CR", EVOLUTION, evolve_options,
	 &jde_ops},
	{"shade", "SHADE", "Differential evolution that remembers which F and CR succeeded", EVOLUTION, evolve_options,
	 &shade_ops},
	{"lshade", "L-SHADE", "SHADE with a population that shrinks as the budget is spent", EVOLUTION, evolve_options,
	 &lshade_ops},
	{"jso", "jSO", "L-SHADE with a weighted mutation and bounds that loosen over time", EVOLUTION, evolve_options,
	 &jso_ops},
	{"dish", "DISH", "jSO that weighs successes by the distance they went", EVOLUTION, evolve_options, &dish_ops},
	{"spsrdemms", "SPSRDEMMS", "jDE in a structured population that is halved in stages", EVOLUTION, evolve_options,
	 &spsrdemms_ops},
	{"evolution", "Ageing evolution", "Mutates the best of a sample and drops the oldest; for architectures",
	 SEARCH_ADAPTIVE, evolution_options, &evolution_ops},
	{"nsga2", "NSGA-II", "Several objectives: keeps a front that is spread out", EVOLUTION | SEARCH_MULTI_OBJECTIVE,
	 nsga2_options, &nsga2_ops},
	{"gde3", "GDE3", "Several objectives by differential evolution, for numbers",
	 SEARCH_ADAPTIVE | SEARCH_MULTI_OBJECTIVE, gde3_options, &gde3_ops},
	{"asha", "ASHA", "Short runs first; the best go on at once (asynchronous successive halving)",
	 FIDELITY | SEARCH_SLOW, asha_options, &asha_ops},
	{"hyperband", "Hyperband", "Brackets from many short runs to few long ones", FIDELITY | SEARCH_SLOW,
	 hyperband_options, &hyperband_ops},
	{"dehb", "DEHB", "Hyperband's brackets with differential evolution", FIDELITY, dehb_options, &dehb_ops},
	{0},
};

const struct strategy *search_find(const char *name)
{
	for (const struct strategy *s = search_strategies; s->name; s++)
		if (strcmp(s->name, name) == 0)
			return s;
	return NULL;
}
