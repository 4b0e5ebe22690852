/* See straggler.h. */
#include "model/straggler.h"

#include "base/num.h"
#include "base/text.h"

#include <math.h>

/* By the forecast: above its limit as well, which one healthy run in twenty exceeds. */
#define STRAGGLER_BEYOND_LIMIT 2.0
/* Runs with nearly the same values: numbers within this factor, and the same labels. */
#define STRAGGLER_NEAR 1.25
#define STRAGGLER_SIMILAR_LEAST 4
#define STRAGGLER_BEYOND_SIMILAR 1.5
/* All runs, where the values evidently do not matter: the slowest took at most so many times as long as the fastest. */
#define STRAGGLER_ALIKE_LEAST 8
#define STRAGGLER_ALIKE_SPREAD 2.0
#define STRAGGLER_BEYOND_ALIKE 2.0

struct straggler_run {
	struct forecast_value *values;
	double took;
};

struct straggler {
	size_t params;
	VEC(struct straggler_run) runs;
	struct forecast *forecast;
};

struct straggler *straggler_new(size_t params)
{
	struct straggler *s = mem_alloc(sizeof(*s));
	s->params = params;
	s->forecast = forecast_new(params);
	return s;
}

void straggler_free(struct straggler *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->runs.len; i++) {
		for (size_t j = 0; j < s->params; j++)
			free((char *)s->runs.at[i].values[j].label);
		free(s->runs.at[i].values);
	}
	free(s->runs.at);
	forecast_free(s->forecast);
	free(s);
}

void straggler_add(struct straggler *s, const struct forecast_value *values, double took)
{
	if (s->runs.len == STRAGGLER_RUNS_MOST || !forecast_add(s->forecast, values, took))
		return;
	struct straggler_run run = {.values = mem_array(s->params, sizeof(*values)), .took = took};
	for (size_t j = 0; j < s->params; j++) {
		run.values[j] = values[j];
		run.values[j].label = values[j].kind == FORECAST_LABEL ? mem_strdup(values[j].label) : NULL;
	}
	vec_push(&s->runs, run);
}

void straggler_learn(struct straggler *s)
{
	forecast_fit(s->forecast);
}

static bool straggler_is_near(const struct forecast_value *a, const struct forecast_value *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == FORECAST_LABEL)
		return strcmp(a->label, b->label) == 0;
	if (a->kind == FORECAST_NONE || a->number == b->number)
		return true;
	return a->number * b->number > 0 && a->number / b->number <= STRAGGLER_NEAR &&
		b->number / a->number <= STRAGGLER_NEAR;
}

static bool straggler_is_similar(const struct straggler *s, const struct straggler_run *run,
				 const struct forecast_value *values)
{
	for (size_t j = 0; j < s->params; j++)
		if (!straggler_is_near(&run->values[j], &values[j]))
			return false;
	return true;
}

/* Is each value one that was seen, or between two that were? */
static bool straggler_is_inside(const struct straggler *s, const struct forecast_value *values)
{
	for (size_t j = 0; j < s->params; j++) {
		bool below = false, above = false;
		for (size_t i = 0; i < s->runs.len && !(below && above); i++) {
			const struct forecast_value *seen = &s->runs.at[i].values[j];
			bool number = seen->kind == FORECAST_NUMBER && values[j].kind == FORECAST_NUMBER;
			bool same = !number && straggler_is_near(seen, &values[j]);
			below = below || same || (number && seen->number <= values[j].number);
			above = above || same || (number && seen->number >= values[j].number);
		}
		if (!below || !above)
			return false;
	}
	return true;
}

static void straggler_compare(double *times, size_t count, enum straggler_basis basis, double beyond, double took,
			      struct straggler_verdict *ret)
{
	qsort(times, count, sizeof(*times), num_compare_reals);
	double median = count % 2 ? times[count / 2] : (times[count / 2 - 1] + times[count / 2]) / 2;
	*ret = (struct straggler_verdict){.basis = basis, .expected = median, .most = times[count - 1], .runs = count};
	ret->slow = took > STRAGGLER_TIMES * median && took > beyond * ret->most;
}

/* With too few runs for a forecast: those with nearly the same values, else all of them if they took about the same. */
static void straggler_judge_few(const struct straggler *s, const struct forecast_value *values, double took,
				struct straggler_verdict *ret)
{
	double times[STRAGGLER_RUNS_MOST];
	size_t near = 0, all = s->runs.len;
	for (size_t i = 0; i < all; i++)
		if (straggler_is_similar(s, &s->runs.at[i], values))
			times[near++] = s->runs.at[i].took;
	if (near >= STRAGGLER_SIMILAR_LEAST) {
		straggler_compare(times, near, STRAGGLER_SIMILAR, STRAGGLER_BEYOND_SIMILAR, took, ret);
		return;
	}
	if (all < STRAGGLER_ALIKE_LEAST || !straggler_is_inside(s, values))
		return;
	double least = INFINITY, most = 0;
	for (size_t i = 0; i < all; i++) {
		times[i] = s->runs.at[i].took;
		least = times[i] < least ? times[i] : least;
		most = times[i] > most ? times[i] : most;
	}
	if (most <= STRAGGLER_ALIKE_SPREAD * least)
		straggler_compare(times, all, STRAGGLER_ALIKE, STRAGGLER_BEYOND_ALIKE, took, ret);
}

struct straggler_verdict straggler_judge(const struct straggler *s, const struct forecast_value *values, double took)
{
	struct straggler_verdict verdict = {0};
	struct forecast_range range;
	enum forecast_answer answer = forecast_at(s->forecast, values, &range);
	if (answer == FORECAST_KNOWN)
		verdict = (struct straggler_verdict){.basis = STRAGGLER_MODEL,
						     .slow = took > STRAGGLER_TIMES * range.median &&
							     took > STRAGGLER_BEYOND_LIMIT * range.limit,
						     .expected = range.median,
						     .most = range.limit,
						     .runs = s->runs.len};
	else if (s->runs.len < FORECAST_RUNS_LEAST)
		straggler_judge_few(s, values, took, &verdict);
	return verdict;
}

void straggler_explain(const struct straggler_verdict *v, const char *what, double took_ms, struct buf *out)
{
	char took[32], expected[32], most[32];
	text_format_duration((int64_t)took_ms, took, sizeof(took));
	text_format_duration((int64_t)v->expected, expected, sizeof(expected));
	text_format_duration((int64_t)v->most, most, sizeof(most));
	buf_addf(out, "%s %s, %.1f times as long as expected: ", what, took, took_ms / v->expected);
	if (v->basis == STRAGGLER_MODEL)
		buf_addf(out, "by %zu finished tasks, %s with these parameters, below %s in 95 %% of cases", v->runs,
			 expected, most);
	else
		buf_addf(out, "%s in %zu finished tasks%s (median; at most %s)", expected, v->runs,
			 v->basis == STRAGGLER_SIMILAR ? " with nearly the same parameters" : "", most);
}
