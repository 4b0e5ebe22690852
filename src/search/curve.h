/* Predicts the end of a learning curve with a power law that is fitted to the values so far. Pure. A prediction is only
 * worth showing if it would have ranked the finished tasks better than their best values so far. The backtest checks
 * this. */
#ifndef SEARCH_CURVE_H
#define SEARCH_CURVE_H

#include <stdbool.h>
#include <stddef.h>

#define CURVE_CUTS 2

struct curve {
	const double *steps, *values; /* steps ascend; a value may be NaN or infinite: such points do not count */
	size_t count;
	double final; /* what a finished task is ranked by; NAN: it has none */
};

/* One cut of the backtest: the finished tasks as they stood after this share of their steps. */
struct curve_cut {
	double share;
	size_t tasks; /* with enough points there */
	double correlation; /* Spearman's, of the extrapolated and the final value; NAN: too few tasks */
	double plain; /* of the best so far and the final value */
	double error; /* the median distance between the extrapolated and the final value; NAN */
};

struct curve_backtest {
	bool earned;
	size_t tasks; /* finished ones with enough points to fit */
	double from; /* share of the steps from which a prediction was tried; NAN unless earned */
	struct curve_cut cuts[CURVE_CUTS];
};

/* The value at step `at` of the a + b (s+1)^-c that is nearest to the points, b >= 0 when minimising. NAN with fewer
 * than four finite points at a step of 0 or more. */
double curve_predict(const struct curve *curve, bool maximise, double at);
/* Earned: at every cut that enough tasks reach, and at one at least, the extrapolation orders the tasks better than
 * the best so far by a margin, and better than chance would. */
void curve_test(const struct curve *finished, size_t count, bool maximise, struct curve_backtest *ret);

#endif
