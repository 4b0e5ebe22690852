/* Ageing evolution: E. Real, A. Aggarwal, Y. Huang and Q. V. Le, Regularized evolution for image
 * classifier architecture search, AAAI 2019. The best of a random sample has a child with one changed
 * gene; the oldest goes, however good it is. */
#include "search/search_internal.h"

#include <math.h>

#define EVOLUTION_POPULATION 100
#define EVOLUTION_LEAST 10
#define EVOLUTION_SAMPLE 0.25 /* 25 of 100 */
#define EVOLUTION_STEP 0.1 /* of the range, for parameters with many values in an order */
#define EVOLUTION_MANY 10

const struct search_option evolution_options[] = {
	{"population", SEARCH_OPTION_INT, 0, 0, 10000, NULL, "individuals; 0: 100, fewer for small budgets"},
	{"sample", SEARCH_OPTION_INT, 0, 0, 10000, NULL,
	 "individuals drawn for a parent, of which the best is taken; 0: a quarter"},
	{0},
};

struct evolution {
	struct search_trial **queue; /* a ring: the last n that came back with a value */
	size_t n, sample, count, oldest;
	struct space_value *before, *after;
};

static int evolution_open(struct search *s, struct error *err)
{
	(void)err;
	struct evolution *v = s->state = mem_alloc(sizeof(*v));
	size_t fits = (size_t)(s->spec->tasks / 5);
	v->n = (size_t)search_option(s->spec, "population");
	if (!v->n)
		v->n = fits < EVOLUTION_LEAST         ? EVOLUTION_LEAST
			: fits < EVOLUTION_POPULATION ? fits
						      : EVOLUTION_POPULATION;
	v->sample = (size_t)search_option(s->spec, "sample");
	if (!v->sample)
		v->sample = (size_t)ceil(EVOLUTION_SAMPLE * (double)v->n);
	v->queue = mem_array(v->n, sizeof(struct search_trial *));
	v->before = mem_array(s->space->count, sizeof(*v->before));
	v->after = mem_array(s->space->count, sizeof(*v->after));
	return 0;
}

static void evolution_free(struct search *s)
{
	struct evolution *v = s->state;
	if (!v)
		return;
	free(v->queue);
	free(v->before);
	free(v->after);
	free(v);
}

/* Another value of a gene: any other where there are few or no order, else a step nearby. */
static double evolution_changed(struct search *s, const struct space_param *p, double unit)
{
	uint64_t cells = p->cardinality;
	if (p->ordered && (!cells || cells > EVOLUTION_MANY)) {
		double moved = unit + EVOLUTION_STEP * rng_normal(&s->rng);
		moved = moved < 0 ? -moved : moved > 1 ? 2 - moved : moved;
		return moved < 0 ? 0 : moved > 1 ? 1 : moved;
	}
	uint64_t now = (uint64_t)(unit * (double)cells);
	now = now < cells ? now : cells - 1;
	uint64_t other = (now + 1 + rng_below(&s->rng, cells - 1)) % cells;
	return ((double)other + 0.5) / (double)cells;
}

/* One gene that applies is changed; those that begin to apply because of it are drawn. */
static void evolution_mutate(struct search *s, const double *parent, double *unit)
{
	struct evolution *v = s->state;
	size_t active = 0;
	memcpy(unit, parent, s->dims * sizeof(double));
	space_decode(s->space, unit, v->before);
	for (size_t d = 0; d < s->dims; d++)
		active += v->before[s->space->dims[d]].kind != SPACE_VALUE_NONE;
	size_t chosen = rng_below(&s->rng, active);
	for (size_t d = 0; d < s->dims; d++) {
		size_t at = s->space->dims[d];
		if (v->before[at].kind != SPACE_VALUE_NONE && chosen-- == 0)
			unit[d] = evolution_changed(s, &s->space->params[at], unit[d]);
	}
	space_decode(s->space, unit, v->after);
	for (size_t d = 0; d < s->dims; d++) {
		size_t at = s->space->dims[d];
		if (v->before[at].kind == SPACE_VALUE_NONE && v->after[at].kind != SPACE_VALUE_NONE)
			unit[d] = rng_unit(&s->rng);
	}
}

static enum search_answer evolution_ask(struct search *s, struct search_trial *trial)
{
	struct evolution *v = s->state;
	if (s->trials.len < v->n || !v->count || !s->dims) {
		search_random_point(s, trial->unit);
		return SEARCH_PROPOSED;
	}
	const struct search_trial *best = NULL;
	for (size_t i = 0; i < v->sample; i++) {
		const struct search_trial *one = v->queue[rng_below(&s->rng, v->count)];
		if (!best || one->score[0] < best->score[0])
			best = one;
	}
	evolution_mutate(s, best->unit, trial->unit);
	return SEARCH_PROPOSED;
}

static void evolution_tell(struct search *s, struct search_trial *trial)
{
	struct evolution *v = s->state;
	if (!search_has_score(trial))
		return;
	if (v->count < v->n) {
		v->queue[v->count++] = trial;
	} else {
		v->queue[v->oldest] = trial;
		v->oldest = (v->oldest + 1) % v->n;
	}
}

static void evolution_write_state(const struct search *s, struct json *out)
{
	const struct evolution *v = s->state;
	json_key_string(out, "mode", "steady");
	json_key_int(out, "population", (int64_t)v->n);
	json_key_int(out, "alive", (int64_t)v->count);
	json_key_int(out, "sample", (int64_t)v->sample);
}

const struct strategy_ops evolution_ops = {.open = evolution_open,
					   .free = evolution_free,
					   .ask = evolution_ask,
					   .tell = evolution_tell,
					   .write_state = evolution_write_state};
