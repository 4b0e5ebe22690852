/* NSGA-II: K. Deb, A. Pratap, S. Agarwal and T. Meyarivan, A fast and elitist multiobjective genetic
 * algorithm, IEEE Trans. Evol. Comput. 6 (2002). Uniform crossover and redrawing mutation as in Optuna,
 * which suit mixed spaces; steady state (Durillo et al. 2009), so that slots do not wait. */
#include "search/crowd.h"

const struct search_option nsga2_options[] = {
	{"population", SEARCH_OPTION_INT, 50, 4, 1000, NULL, "how many are kept; the first as many are random"},
	{"crossover", SEARCH_OPTION_REAL, 0.9, 0, 1, NULL, "how often a child has two parents"},
	{"swap", SEARCH_OPTION_REAL, 0.5, 0, 1, NULL, "how often a value comes from the second parent"},
	{0},
};

struct nsga2 {
	struct crowd *crowd;
	double crossover, swap;
};

static int nsga2_open(struct search *s, struct error *err)
{
	(void)err;
	struct nsga2 *n = s->state = mem_alloc(sizeof(*n));
	n->crowd = crowd_new((size_t)search_option(s->spec, "population"));
	n->crossover = search_option(s->spec, "crossover");
	n->swap = search_option(s->spec, "swap");
	return 0;
}

static void nsga2_free(struct search *s)
{
	struct nsga2 *n = s->state;
	if (n)
		crowd_free(n->crowd);
	free(n);
}

static const struct search_trial *tournament(struct search *s, const struct crowd *c)
{
	size_t a = rng_below(&s->rng, c->members.len), b = rng_below(&s->rng, c->members.len);
	return c->members.at[crowd_prefers(c, b, a) ? b : a];
}

static enum search_answer nsga2_ask(struct search *s, struct search_trial *trial)
{
	struct nsga2 *n = s->state;
	if (trial->index < n->crowd->most || n->crowd->members.len < 2) {
		search_random_point(s, trial->unit);
		return SEARCH_PROPOSED;
	}
	const struct search_trial *first = tournament(s, n->crowd), *second = tournament(s, n->crowd);
	bool cross = rng_unit(&s->rng) < n->crossover;
	for (size_t d = 0; d < s->dims; d++) {
		bool swap = cross && rng_unit(&s->rng) < n->swap;
		trial->unit[d] = swap ? second->unit[d] : first->unit[d];
		if (rng_unit(&s->rng) * (double)s->dims < 1)
			trial->unit[d] = rng_unit(&s->rng);
	}
	return SEARCH_PROPOSED;
}

static void nsga2_tell(struct search *s, struct search_trial *trial)
{
	struct nsga2 *n = s->state;
	crowd_add(n->crowd, s, trial);
}

static void nsga2_write_state(const struct search *s, struct json *out)
{
	const struct nsga2 *n = s->state;
	crowd_write(n->crowd, out);
}

const struct strategy_ops nsga2_ops = {
	.open = nsga2_open,
	.free = nsga2_free,
	.ask = nsga2_ask,
	.tell = nsga2_tell,
	.write_state = nsga2_write_state,
};
