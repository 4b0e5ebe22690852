/* GDE3: S. Kukkonen and J. Lampinen, GDE3: the third evolution step of generalized differential
 * evolution, CEC 2005. DE/rand/1/bin whose child replaces a target it dominates and joins the
 * population where neither dominates; steady state, so that slots do not wait. */
#include "search/crowd.h"

#include "search/pareto.h"

const struct search_option gde3_options[] = {
	{"population", SEARCH_OPTION_INT, 50, 4, 1000, NULL, "how many are kept; the first as many are random"},
	{"f", SEARCH_OPTION_REAL, 0.5, 0, 2, NULL, "how far a difference of two carries"},
	{"cr", SEARCH_OPTION_REAL, 0.9, 0, 1, NULL, "how much of the mutant a child takes"},
	{0},
};

struct gde3 {
	struct crowd *crowd;
	double f, cr;
	size_t next; /* whose turn it is to be the target */
};

static int gde3_open(struct search *s, struct error *err)
{
	(void)err;
	struct gde3 *g = s->state = mem_alloc(sizeof(*g));
	g->crowd = crowd_new((size_t)search_option(s->spec, "population"));
	g->f = search_option(s->spec, "f");
	g->cr = search_option(s->spec, "cr");
	return 0;
}

static void gde3_free(struct search *s)
{
	struct gde3 *g = s->state;
	if (g)
		crowd_free(g->crowd);
	free(g);
}

/* Three members that differ from the target and from each other. */
static void draw_three(struct search *s, size_t count, size_t target, size_t chosen[static 3])
{
	for (size_t i = 0; i < 3; i++) {
		bool taken;
		do {
			chosen[i] = rng_below(&s->rng, count);
			taken = chosen[i] == target;
			for (size_t k = 0; k < i; k++)
				taken = taken || chosen[k] == chosen[i];
		} while (taken);
	}
}

static enum search_answer gde3_ask(struct search *s, struct search_trial *trial)
{
	struct gde3 *g = s->state;
	size_t count = g->crowd->members.len, three[3];
	trial->tag = -1;
	if (trial->index < g->crowd->most || count < 4 || !s->dims) {
		search_random_point(s, trial->unit);
		return SEARCH_PROPOSED;
	}
	size_t target = (g->next + trial->redraw) % count, sure = rng_below(&s->rng, s->dims);
	draw_three(s, count, target, three);
	const struct search_trial *const *m = g->crowd->members.at;
	for (size_t d = 0; d < s->dims; d++) {
		double own = m[target]->unit[d];
		double mutant = m[three[0]]->unit[d] + g->f * (m[three[1]]->unit[d] - m[three[2]]->unit[d]);
		if (mutant < 0 || mutant > 1)
			mutant = ((mutant > 1) + own) / 2;
		trial->unit[d] = rng_unit(&s->rng) < g->cr || d == sure ? mutant : own;
	}
	trial->tag = (int64_t)m[target]->index;
	return SEARCH_PROPOSED;
}

static void gde3_accepted(struct search *s, struct search_trial *trial)
{
	struct gde3 *g = s->state;
	if (trial->tag >= 0)
		g->next++;
}

static void gde3_tell(struct search *s, struct search_trial *trial)
{
	struct gde3 *g = s->state;
	size_t target = trial->tag >= 0 ? crowd_find(g->crowd, trial->tag) : SIZE_MAX;
	if (target != SIZE_MAX) {
		const double *own = g->crowd->members.at[target]->score;
		if (pareto_dominates(own, trial->score, s->objectives))
			return;
		if (pareto_dominates(trial->score, own, s->objectives)) {
			crowd_replace(g->crowd, s, target, trial);
			return;
		}
	}
	crowd_add(g->crowd, s, trial);
}

static void gde3_write_state(const struct search *s, struct json *out)
{
	const struct gde3 *g = s->state;
	crowd_write(g->crowd, out);
}

const struct strategy_ops gde3_ops = {
	.open = gde3_open,
	.free = gde3_free,
	.ask = gde3_ask,
	.accepted = gde3_accepted,
	.tell = gde3_tell,
	.write_state = gde3_write_state,
};
