/* What a run of a script takes, before it has run: learnt from finished runs of the same script with other values. The
 * logarithm of the time (or energy) is a ridge regression on the logarithms of the parameters. The form and the
 * penalty are those with the least error when each run is left out in turn. Pure: no store, no clock. */
#ifndef MODEL_FORECAST_H
#define MODEL_FORECAST_H

#include "base/mem.h"

#include <stdbool.h>

/* With fewer runs nothing is said. 20 is also the least number for which a limit at 95 % exists. */
#define FORECAST_RUNS_LEAST 20
/* More runs are not used: the fit would hold the loop. The caller gives the newest first. */
#define FORECAST_RUNS_MOST 500

/* The value of a parameter in a run. A number is compared by its logarithm, a label only for equality. NONE: the
 * parameter does not apply there. */
struct forecast_value {
	enum forecast_kind { FORECAST_NONE, FORECAST_NUMBER, FORECAST_LABEL } kind;
	double number;
	const char *label; /* copied by forecast_add */
};

struct forecast;

struct forecast *forecast_new(size_t params);
void forecast_free(struct forecast *forecast);
/* A finished run: a value for each parameter, and what it took, above 0. False where it was not taken: there are
 * enough, or it took nothing that can be compared. */
bool forecast_add(struct forecast *forecast, const struct forecast_value *values, double took);
/* Learns from what was added; nothing may be added afterwards. False when there are fewer than FORECAST_RUNS_LEAST
 * runs: then forecast_at only tells far values from others. */
bool forecast_fit(struct forecast *forecast);

enum forecast_answer {
	FORECAST_KNOWN,
	FORECAST_FAR, /* a value lies far outside those that were seen */
	FORECAST_FEW, /* too few runs: forecast_fit was false */
};
struct forecast_range {
	double median; /* half of such runs take less */
	double limit; /* 95 % of such runs take less, by the errors on runs that were left out */
	size_t far; /* FORECAST_FAR: the parameter */
};
/* What a run with these values takes. *ret is set only as far as the answer says. */
enum forecast_answer forecast_at(const struct forecast *forecast, const struct forecast_value *values,
				 struct forecast_range *ret);
size_t forecast_runs(const struct forecast *forecast);
/* Had any run a value of this parameter? After forecast_fit. */
bool forecast_has(const struct forecast *forecast, size_t param);
/* The median error, as a share, on runs that were left out. */
double forecast_error(const struct forecast *forecast);

#endif
