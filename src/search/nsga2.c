/* NSGA-II: K. Deb, A. Pratap, S. Agarwal and T. Meyarivan, IEEE Trans. Evol. Comp. 6 (2002), with uniform
 * crossover and redrawn genes, which suit categories as well as numbers. Steady by default: every
 * result takes part in the next choice of parents; generational as published on request. */
#include "search/front.h"

#include <math.h>

#define NSGA2_POPULATION 50
#define NSGA2_LEAST 8

const struct search_option nsga2_options[] = {
	{"population", SEARCH_OPTION_INT, 0, 0, 10000, NULL, "individuals; 0: 50, fewer for small budgets"},
	{"mode", SEARCH_OPTION_WORD, 0, 0, 1, "steady|generational", "steady: never wait; generational: as published"},
	{"crossover", SEARCH_OPTION_REAL, 0.9, 0, 1, NULL, "probability that a child has two parents"},
	{"swap", SEARCH_OPTION_REAL, 0.5, 0, 1, NULL, "probability that a gene comes from the second one"},
	{0},
};

struct nsga2 {
	struct search_trial **at; /* parents; room for 2n + 1 */
	size_t count, n;
	struct search_trial **next; /* generational: children told so far */
	size_t next_count;
	size_t *rank;
	double *crowding;
	size_t asked; /* generational: in this generation */
	uint64_t generation;
	bool generational;
};

static int nsga2_open(struct search *s, struct error *err)
{
	(void)err;
	struct nsga2 *g = s->state = mem_alloc(sizeof(*g));
	size_t fits = (size_t)(s->spec->tasks / 10);
	g->n = (size_t)search_option(s->spec, "population");
	if (!g->n)
		g->n = fits < NSGA2_POPULATION ? fits : NSGA2_POPULATION;
	g->n = g->n < NSGA2_LEAST ? NSGA2_LEAST : g->n;
	g->generational = search_option(s->spec, "mode") != 0;
	g->at = mem_array(2 * g->n + 1, sizeof(struct search_trial *));
	g->next = mem_array(g->n + 1, sizeof(struct search_trial *));
	g->rank = mem_array(2 * g->n + 1, sizeof(*g->rank));
	g->crowding = mem_array(2 * g->n + 1, sizeof(*g->crowding));
	return 0;
}

static void nsga2_free(struct search *s)
{
	struct nsga2 *g = s->state;
	if (!g)
		return;
	free(g->at);
	free(g->next);
	free(g->rank);
	free(g->crowding);
	free(g);
}

/* The better of two by rank, then by crowding. */
static const struct search_trial *nsga2_tournament(const struct nsga2 *g, struct rng *rng)
{
	size_t a = rng_below(rng, g->count), b = rng_below(rng, g->count);
	bool first = g->rank[a] < g->rank[b] || (g->rank[a] == g->rank[b] && g->crowding[a] >= g->crowding[b]);
	return g->at[first ? a : b];
}

static enum search_answer nsga2_ask(struct search *s, struct search_trial *trial)
{
	struct nsga2 *g = s->state;
	if (g->generational && g->asked == g->n)
		return SEARCH_WAIT;
	if (s->trials.len < g->n || g->count < 2) {
		search_random_point(s, trial->unit);
		return SEARCH_PROPOSED;
	}
	const struct search_trial *a = nsga2_tournament(g, &s->rng), *b = nsga2_tournament(g, &s->rng);
	bool cross = rng_unit(&s->rng) < search_option(s->spec, "crossover");
	double swap = search_option(s->spec, "swap");
	for (size_t j = 0; j < s->dims; j++) {
		bool second = cross && rng_unit(&s->rng) < swap;
		trial->unit[j] = second ? b->unit[j] : a->unit[j];
		if (rng_unit(&s->rng) < 1 / (double)s->dims)
			trial->unit[j] = rng_unit(&s->rng);
	}
	return SEARCH_PROPOSED;
}

static void nsga2_accepted(struct search *s, struct search_trial *trial)
{
	struct nsga2 *g = s->state;
	(void)trial;
	g->asked++;
}

static void nsga2_choose_parents(struct search *s, struct nsga2 *g)
{
	g->count = front_cut(g->at, g->count, s->objectives, g->n);
	front_rank(g->at, g->count, s->objectives, g->rank);
	front_crowding(g->at, g->count, s->objectives, g->rank, g->crowding);
}

static void nsga2_tell(struct search *s, struct search_trial *trial)
{
	struct nsga2 *g = s->state;
	if (!g->generational || trial->foreign) {
		g->generation = s->trials.len / g->n;
		if (search_has_score(trial)) {
			g->at[g->count++] = trial;
			nsga2_choose_parents(s, g);
		}
		return;
	}
	g->next[g->next_count++] = trial;
	if (g->next_count < g->n)
		return;
	for (size_t i = 0; i < g->n; i++)
		if (search_has_score(g->next[i]))
			g->at[g->count++] = g->next[i];
	g->next_count = g->asked = 0;
	g->generation++;
	nsga2_choose_parents(s, g);
}

static void nsga2_write_state(const struct search *s, struct json *out)
{
	const struct nsga2 *g = s->state;
	size_t front = 0;
	for (size_t i = 0; i < g->count; i++)
		front += g->rank[i] == 0;
	json_key_string(out, "mode", g->generational ? "generational" : "steady");
	json_key_int(out, "population", (int64_t)g->n);
	json_key_int(out, "generation", (int64_t)g->generation);
	json_key_int(out, "front", (int64_t)front);
}

const struct strategy_ops nsga2_ops = {.open = nsga2_open,
				       .free = nsga2_free,
				       .ask = nsga2_ask,
				       .accepted = nsga2_accepted,
				       .tell = nsga2_tell,
				       .write_state = nsga2_write_state};
