/* What the parts of the benchmark share: a space of mixed parameters, a history, results. */
#ifndef BENCH_ASK_HISTORY_H
#define BENCH_ASK_HISTORY_H

#include "base/rng.h"
#include "search/search.h"

#include <time.h>

#define HISTORY_PARALLEL 16 /* tasks that run at any time */

struct history {
	const struct strategy *strategy;
	size_t parameters, objectives;
	bool fidelity;
	bool heavy; /* an ask costs so much that the history is given, not asked for */
	bool slow; /* and so much that not even 10,000 of them are made to be replayed */
	struct space *space;
	struct rng rng; /* of the history */
};

struct history history_new(const char *strategy, size_t parameters);
void history_free(struct history *history);
/* The members `parameters`, `search` and, where the strategy needs it, `fidelity` of an experiment file. */
void history_write(const struct history *history, uint64_t tasks, struct buf *out);
struct search_spec *history_spec(const struct history *history, uint64_t tasks);
/* A random configuration. */
void history_draw(struct history *history, struct space_value *values);
/* `objectives` numbers: how far the configuration is from what would be good. */
void history_result(const struct history *history, const struct space_value *values, double *ret);
/* A configuration of the history and its result. */
void history_tell_known(struct history *history, struct search *search, int64_t id);

static inline double history_clock_ms(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* The other parts: each prints one line. */
int bench_store(struct history *history, uint64_t tasks, size_t rounds);
int bench_replay(struct history *history, uint64_t events);

#endif
