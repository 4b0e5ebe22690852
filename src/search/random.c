/* Random search (Bergstra and Bengio 2012): independent uniform draws on the scales of the space. */
#include "search/search_internal.h"

const struct search_option random_options[] = {{0}};

static enum search_answer random_ask(struct search *s, struct search_trial *trial)
{
	search_random_point(s, trial->unit);
	return SEARCH_PROPOSED;
}

const struct strategy_ops random_ops = {.ask = random_ask};
