/* GDE3: differential evolution for several objectives. S. Kukkonen and J. Lampinen, CEC 2005. A trial that
 * dominates its target replaces it, one that is dominated goes, otherwise both stay until the population
 * is cut by rank and crowding after every N results. */
#include "search/front.h"

#include <math.h>

#define GDE3_PER_DIM 10
#define GDE3_LEAST 8
#define GDE3_MOST 100

const struct search_option gde3_options[] = {
	{"population", SEARCH_OPTION_INT, 0, 0, 10000, NULL,
	 "individuals; 0: ten per parameter, fewer for small budgets"},
	{"F", SEARCH_OPTION_REAL, 0.5, 0, 2, NULL, "weight of the difference"},
	{"CR", SEARCH_OPTION_REAL, 0.9, 0, 1, NULL, "part of the genes taken from the mutant"},
	{0},
};

struct gde3 {
	VEC(struct search_trial *) at;
	size_t n, cursor, told;
	uint64_t generation;
};

static int gde3_open(struct search *s, struct error *err)
{
	(void)err;
	struct gde3 *g = s->state = mem_alloc(sizeof(*g));
	size_t fits = (size_t)(s->spec->tasks / 10), want = GDE3_PER_DIM * s->dims;
	want = want > GDE3_MOST ? GDE3_MOST : want;
	g->n = (size_t)search_option(s->spec, "population");
	if (!g->n)
		g->n = fits < want ? fits : want;
	g->n = g->n < GDE3_LEAST ? GDE3_LEAST : g->n;
	return 0;
}

static void gde3_free(struct search *s)
{
	struct gde3 *g = s->state;
	if (!g)
		return;
	free(g->at.at);
	free(g);
}

static enum search_answer gde3_ask(struct search *s, struct search_trial *trial)
{
	struct gde3 *g = s->state;
	trial->tag = -1;
	if (s->trials.len < g->n || g->at.len < 4) {
		search_random_point(s, trial->unit);
		return SEARCH_PROPOSED;
	}
	double F = search_option(s->spec, "F"), CR = search_option(s->spec, "CR");
	size_t r[4] = {g->cursor % g->at.len};
	for (size_t i = 1; i < 4; i++) {
		bool taken;
		do {
			r[i] = rng_below(&s->rng, g->at.len);
			taken = false;
			for (size_t k = 0; k < i; k++)
				taken = taken || r[k] == r[i];
		} while (taken);
	}
	const double *x = g->at.at[r[0]]->unit, *a = g->at.at[r[1]]->unit;
	const double *b = g->at.at[r[2]]->unit, *c = g->at.at[r[3]]->unit;
	size_t always = rng_below(&s->rng, s->dims);
	for (size_t j = 0; j < s->dims; j++) {
		bool mutant = rng_unit(&s->rng) < CR || j == always;
		double v = a[j] + F * (b[j] - c[j]);
		trial->unit[j] = !mutant ? x[j] : v < 0 ? x[j] / 2 : v > 1 ? (1 + x[j]) / 2 : v;
	}
	trial->tag = (int64_t)g->at.at[r[0]]->index;
	return SEARCH_PROPOSED;
}

static void gde3_accepted(struct search *s, struct search_trial *trial)
{
	struct gde3 *g = s->state;
	if (trial->tag >= 0)
		g->cursor = (g->cursor + 1) % g->at.len;
}

static void gde3_tell(struct search *s, struct search_trial *trial)
{
	struct gde3 *g = s->state;
	size_t target = 0;
	while (target < g->at.len && (int64_t)g->at.at[target]->index != trial->tag)
		target++;
	if (search_has_score(trial)) {
		const double *old = target < g->at.len ? g->at.at[target]->score : NULL;
		if (!old)
			vec_push(&g->at, trial);
		else if (front_dominates(trial->score, old, s->objectives) ||
			 memcmp(trial->score, old, s->objectives * sizeof(double)) == 0)
			g->at.at[target] = trial;
		else if (!front_dominates(old, trial->score, s->objectives))
			vec_push(&g->at, trial);
	}
	if (++g->told < g->n)
		return;
	g->told = 0;
	g->generation++;
	g->at.len = front_cut(g->at.at, g->at.len, s->objectives, g->n);
	g->cursor = g->at.len ? g->cursor % g->at.len : 0;
}

static void gde3_write_state(const struct search *s, struct json *out)
{
	const struct gde3 *g = s->state;
	json_key_string(out, "mode", "steady");
	json_key_int(out, "population", (int64_t)g->at.len);
	json_key_int(out, "generation", (int64_t)g->generation);
}

const struct strategy_ops gde3_ops = {.open = gde3_open,
				      .free = gde3_free,
				      .ask = gde3_ask,
				      .accepted = gde3_accepted,
				      .tell = gde3_tell,
				      .write_state = gde3_write_state};
