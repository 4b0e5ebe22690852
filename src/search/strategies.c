/* The table of strategies. One row adds one: the parser, the help, the form and `auto` read it. */
#include "search/search_internal.h"

#define DECLARE(id)                                                                                \
	extern const struct search_option id##_options[];                                          \
	extern const struct strategy_ops id##_ops

DECLARE(grid);
DECLARE(random);
DECLARE(sobol);

const struct strategy search_strategies[] = {
	{"grid", "Grid", "Every combination, in the order of the file or shuffled", SEARCH_FINITE_ONLY | SEARCH_MULTI_OBJECTIVE,
	 grid_options, &grid_ops},
	{"random", "Random", "Independent draws from the space", SEARCH_MULTI_OBJECTIVE, random_options, &random_ops},
	{"sobol", "Sobol", "Draws that cover the space evenly (scrambled Sobol sequence)", SEARCH_MULTI_OBJECTIVE,
	 sobol_options, &sobol_ops},
	{0},
};

const struct strategy *search_find(const char *name)
{
	for (const struct strategy *s = search_strategies; s->name; s++)
		if (strcmp(s->name, name) == 0)
			return s;
	return NULL;
}
