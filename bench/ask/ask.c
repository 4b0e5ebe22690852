/* How long one ask and one tell take after so many finished tasks: the daemon's loop may not be held up for
 * more than 10 ms.
 *
 *	ask memory|own STRATEGY PARAMETERS FINISHED [ROUNDS]	median of ask plus tell, and the worst, in ms of CPU
 *	ask store STRATEGY PARAMETERS FINISHED [ROUNDS]		median of ask plus tell, in ms, and in ms of CPU
 *	ask replay STRATEGY PARAMETERS EVENTS		seconds until a stored search is taken up again, and of CPU
 *	ask list						the names of the strategies
 *
 * `memory` and `store` begin with random results where asking for them would take long; `own` never does. CPU time,
 * so that a busy machine does not show in it; through the store also real time, because there waiting for the
 * disk is part of it. */
#include "history.h"

#include "base/limits.h"
#include "base/log.h"

#include <math.h>
#include <stdio.h>

struct run {
	struct history *history;
	struct search *search;
	struct space_value *values;
	VEC(double) results; /* of what was asked, by id */
	int64_t asked, told;
};

/* False when there is nothing to ask for now. */
static bool ask(struct run *r, double *ret_ms)
{
	double result[2], begin = history_clock_ms(CLOCK_THREAD_CPUTIME_ID);
	struct search_proposal p = {.values = r->values, .repeat = 1, .fidelity = NAN, .continues = -1};
	enum search_answer answer = search_ask(r->search, r->asked + 1, &p);
	*ret_ms = history_clock_ms(CLOCK_THREAD_CPUTIME_ID) - begin;
	if (answer != SEARCH_PROPOSED)
		return false;
	r->asked++;
	history_result(r->history, r->values, result);
	for (size_t i = 0; i < r->history->objectives; i++)
		vec_push(&r->results, result[i]);
	return true;
}

static double tell(struct run *r)
{
	const double *result = r->results.at + (size_t)r->told * r->history->objectives;
	double begin = history_clock_ms(CLOCK_THREAD_CPUTIME_ID);
	search_tell(r->search, ++r->told, SEARCH_FINISHED, result);
	return history_clock_ms(CLOCK_THREAD_CPUTIME_ID) - begin;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static int bench_memory(struct history *history, uint64_t tasks, size_t rounds)
{
	uint64_t more = rounds + HISTORY_PARALLEL, budget = history->heavy ? more : tasks + more;
	if (budget > LIMIT_TASKS) { /* as near as an experiment can come */
		budget = LIMIT_TASKS;
		tasks = budget - more;
	}
	struct search_spec *spec = history_spec(history, budget);
	struct run r = {.history = history, .values = mem_array(history->space->count, sizeof(*r.values))};
	double *took = mem_array(rounds, sizeof(*took)), worst = 0, ask_ms;
	if (search_open(spec, history->space, &r.search, NULL) < 0)
		return 1;
	if (history->heavy)
		for (uint64_t i = 1; i <= tasks; i++)
			history_tell_known(history, r.search, -(int64_t)tasks - 1 + (int64_t)i);
	while ((uint64_t)r.told < (history->heavy ? 0 : tasks) || r.asked - r.told < HISTORY_PARALLEL)
		if ((r.asked - r.told >= HISTORY_PARALLEL || !ask(&r, &ask_ms)) && r.told < r.asked)
			tell(&r);
	for (size_t i = 0; i < rounds; i++) {
		took[i] = tell(&r);
		while (!ask(&r, &ask_ms) && r.told < r.asked) {
			took[i] += ask_ms;
			took[i] += tell(&r);
		}
		took[i] += ask_ms;
		worst = fmax(worst, took[i]);
	}
	qsort(took, rounds, sizeof(*took), compare);
	printf("%.4f %.4f\n", took[rounds / 2], worst);
	search_free(r.search);
	search_spec_free(spec);
	free(r.values);
	free(r.results.at);
	free(took);
	return 0;
}

int main(int argc, char **argv)
{
	log_set_level(LOG_WARNING);
	if (argc == 2 && strcmp(argv[1], "list") == 0) {
		for (const struct strategy *s = search_strategies; s->name; s++)
			puts(s->name);
		return 0;
	}
	if (argc < 5)
		return 2;
	struct history history = history_new(argv[2], strtoul(argv[3], NULL, 10));
	uint64_t count = strtoull(argv[4], NULL, 10);
	size_t rounds = argc > 5 ? strtoul(argv[5], NULL, 10) : 50;
	if (strcmp(argv[1], "own") == 0)
		history.heavy = false;
	int rc = strcmp(argv[1], "memory") == 0 || strcmp(argv[1], "own") == 0 ? bench_memory(&history, count, rounds)
		: strcmp(argv[1], "store") == 0                                ? bench_store(&history, count, rounds)
		: strcmp(argv[1], "replay") == 0                               ? bench_replay(&history, count)
									       : 2;
	history_free(&history);
	return rc;
}
