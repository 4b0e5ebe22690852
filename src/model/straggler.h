/* Judges whether a run is much slower than others of its experiment. Parameters change how long a step takes, so a run
 * is compared with what is expected for its own values, and where that is not known nothing is said. Pure: no store, no
 * clock. */
#ifndef MODEL_STRAGGLER_H
#define MODEL_STRAGGLER_H

#include "base/buf.h"
#include "model/forecast.h"

/* The newest runs that count. The caller gives no more. */
#define STRAGGLER_RUNS_MOST 200
/* A run is not slow below so many times what is expected. */
#define STRAGGLER_TIMES 3.0

struct straggler;

/* What a run was compared with. */
struct straggler_verdict {
	/* MODEL: the forecast for its values, from all runs. SIMILAR: runs with nearly the same values. ALIKE: all runs,
	 * which took about the same, whatever their values. */
	enum straggler_basis { STRAGGLER_UNKNOWN, STRAGGLER_MODEL, STRAGGLER_SIMILAR, STRAGGLER_ALIKE } basis;
	bool slow;
	double expected; /* the median */
	double most; /* MODEL: 95 % take less; else the slowest of them */
	size_t runs; /* that it was compared with */
};

struct straggler *straggler_new(size_t params);
void straggler_free(struct straggler *straggler);
/* A run that ended well: a value for each parameter, and the time of a step (or of the whole run), above 0. */
void straggler_add(struct straggler *straggler, const struct forecast_value *values, double took);
/* Learns from what was added; nothing may be added afterwards. */
void straggler_learn(struct straggler *straggler);
/* Compares a run with these values that takes `took`. */
struct straggler_verdict straggler_judge(const struct straggler *straggler, const struct forecast_value *values,
					 double took);
/* Adds the evidence to `out`: one sentence. `what` is "a step takes" or "it has run for"; times are milliseconds. */
void straggler_explain(const struct straggler_verdict *verdict, const char *what, double took_ms, struct buf *out);

#endif
