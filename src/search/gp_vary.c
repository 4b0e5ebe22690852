/* Proposals without the model, for searches with more results than it can see: a mixture of good results, as differential
 * evolution makes it (R. Storn and K. Price, 1997), with the best results so far as the population. Their differences are
 * as long as the region of good results is wide, so that the steps become finer as it shrinks. Everything follows from the
 * history and the randomness of the ask. With several objectives, "good" is what the weights of this ask say. */
#include "search/gp_internal.h"

#include <math.h>

#define VARY_POPULATION_MOST 100
#define VARY_LEADERS 5 /* a fifth of the population: what the mixture starts from */
#define VARY_WHOLE 0.5 /* how often all axes move together: the steps then follow narrow valleys across the axes */

bool gp_varies(const struct gp *g, const struct search_trial *trial)
{
	size_t turns = 1 + g->results / GP_RESULTS_MOST;
	return !g->fidelity && g->results > GP_RESULTS_MOST && trial->index % turns != 0;
}

/* The best results, best first. */
static size_t vary_choose(const struct gp *g, const struct search *s, const struct search_trial **ret)
{
	size_t count = 0, most = 8 + 4 * s->dims;
	most = most < VARY_POPULATION_MOST ? most : VARY_POPULATION_MOST;
	for (size_t i = 0; i < s->trials.len; i++) {
		const struct search_trial *t = s->trials.at[i];
		size_t at = count;
		while (search_has_score(t) && at > 0 && gp_is_better(g, s, t, ret[at - 1]))
			at--;
		if (!search_has_score(t) || at == most)
			continue;
		count += count < most;
		memmove(ret + at + 1, ret + at, (count - 1 - at) * sizeof(*ret));
		ret[at] = t;
	}
	return count;
}

/* Beyond the cube it stops halfway between where it came from and the side. */
static double vary_bound(double to, double from)
{
	return to < 0 ? from / 2 : to > 1 ? (1 + from) / 2 : to;
}

void gp_vary(const struct gp *g, struct search *s, struct search_trial *trial)
{
	const struct search_trial *good[VARY_POPULATION_MOST];
	size_t count = vary_choose(g, s, good), leaders = 1 + count / VARY_LEADERS;
	if (leaders > count) { /* one result or none: nothing to mix */
		search_random_point(s, trial->unit);
		return;
	}
	const double *from = good[rng_below(&s->rng, leaders)]->unit;
	const double *a = good[rng_below(&s->rng, count)]->unit, *b = good[rng_below(&s->rng, count)]->unit;
	double scale = 0.4 + 0.6 * rng_unit(&s->rng), share = rng_unit(&s->rng) < VARY_WHOLE ? 1 : rng_unit(&s->rng);
	size_t always = (size_t)rng_below(&s->rng, s->dims);
	for (size_t d = 0; d < s->dims; d++) {
		trial->unit[d] = from[d];
		if (rng_unit(&s->rng) >= share && d != always)
			continue;
		if (g->axes[d].kind == PARZEN_CHOICE) /* differences of names say nothing */
			trial->unit[d] = rng_unit(&s->rng) < 1 / (double)s->dims ? rng_unit(&s->rng) : a[d];
		else
			trial->unit[d] = vary_bound(from[d] + scale * (a[d] - b[d]), from[d]);
	}
}
