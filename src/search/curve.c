/* Power laws fitted to learning curves: see curve.h. For a given exponent the other two numbers are linear least
 * squares; the exponents are multiples of one, so that a curve costs one pow() a point. */
#include "search/curve.h"

#include "base/mem.h"
#include "base/num.h"
#include "search/correlation.h"

#include <math.h>

#define CURVE_POINTS 4 /* to fit three numbers */
#define CURVE_TASKS 8 /* to believe a correlation */
#define CURVE_MARGIN 0.02 /* of the correlation */
#define CURVE_EXPONENTS 20
#define CURVE_EXPONENT 0.1 /* c is 0.1, 0.2 … 2 */

static const double curve_shares[CURVE_CUTS] = {0.25, 0.5};

struct fit {
	double a, b, c, error;
};

/* Least squares of y = a + b x, with b >= 0. */
static struct fit fit_line(const double *x, const double *y, size_t count)
{
	double mx = 0, my = 0, xx = 0, xy = 0;
	struct fit fit = {0};
	for (size_t i = 0; i < count; i++) {
		mx += x[i] / (double)count;
		my += y[i] / (double)count;
	}
	for (size_t i = 0; i < count; i++) {
		xx += (x[i] - mx) * (x[i] - mx);
		xy += (x[i] - mx) * (y[i] - my);
	}
	fit.b = xx > 0 && xy > 0 ? xy / xx : 0;
	fit.a = my - fit.b * mx;
	for (size_t i = 0; i < count; i++) {
		double off = y[i] - fit.a - fit.b * x[i];
		fit.error += off * off;
	}
	return fit;
}

double curve_predict(const struct curve *curve, bool maximise, double at)
{
	double sign = maximise ? -1 : 1;
	double *y = mem_resize(NULL, 3 * curve->count + 1, sizeof(*y)), *unit = y + curve->count,
	       *x = unit + curve->count;
	struct fit best = {.error = INFINITY};
	size_t count = 0;
	for (size_t i = 0; i < curve->count; i++) {
		if (!isfinite(curve->values[i]) || curve->steps[i] < 0)
			continue;
		y[count] = sign * curve->values[i];
		unit[count] = pow(curve->steps[i] + 1, -CURVE_EXPONENT);
		x[count++] = 1;
	}
	for (int k = 1; count >= CURVE_POINTS && k <= CURVE_EXPONENTS; k++) {
		for (size_t i = 0; i < count; i++)
			x[i] *= unit[i];
		struct fit fit = fit_line(x, y, count);
		fit.c = k * CURVE_EXPONENT;
		if (fit.error < best.error)
			best = fit;
	}
	free(y);
	/* No fit at all: too few points, or values so large that their squares are not numbers. */
	return isfinite(best.error) ? sign * (best.a + best.b * pow(at + 1, -best.c)) : NAN;
}

/* How many of the points lie within this share of the steps. */
static size_t curve_cut_at(const struct curve *curve, double share)
{
	size_t count = 0;
	if (!curve->count)
		return 0;
	double first = curve->steps[0], last = curve->steps[curve->count - 1];
	while (count < curve->count && curve->steps[count] <= first + share * (last - first))
		count++;
	return count;
}

static double curve_best(const struct curve *curve, bool maximise)
{
	double best = NAN;
	for (size_t i = 0; i < curve->count; i++)
		if (isfinite(curve->values[i]) &&
		    (isnan(best) || (maximise ? curve->values[i] > best : curve->values[i] < best)))
			best = curve->values[i];
	return best;
}

/* `room` holds three numbers a task. */
static struct curve_cut curve_test_cut(const struct curve *finished, size_t count, bool maximise, double share,
				       double *room)
{
	struct curve_cut cut = {.share = share, .correlation = NAN, .plain = NAN, .error = NAN};
	double *predicted = room, *plain = room + count, *final = plain + count;
	for (size_t i = 0; i < count; i++) {
		struct curve part = finished[i];
		size_t points = curve_cut_at(&finished[i], share);
		if (points < CURVE_POINTS || !isfinite(part.final))
			continue;
		part.count = points;
		predicted[cut.tasks] = curve_predict(&part, maximise, finished[i].steps[finished[i].count - 1]);
		if (!isfinite(predicted[cut.tasks]))
			continue;
		plain[cut.tasks] = curve_best(&part, maximise);
		final[cut.tasks++] = part.final;
	}
	if (cut.tasks >= CURVE_TASKS) {
		cut.correlation = correlation_of_ranks(predicted, final, cut.tasks);
		cut.plain = correlation_of_ranks(plain, final, cut.tasks);
		for (size_t i = 0; i < cut.tasks; i++)
			predicted[i] = fabs(predicted[i] - final[i]);
		qsort(predicted, cut.tasks, sizeof(*predicted), num_compare_reals);
		cut.error = predicted[cut.tasks / 2];
	}
	return cut;
}

/* Orders that have nothing to do with each other correlate with a deviation of 1/sqrt(n - 1). */
static bool curve_cut_is_won(const struct curve_cut *cut)
{
	double plain = isnan(cut->plain) ? 0 : cut->plain; /* all the same: it orders nothing */
	return cut->correlation >= plain + CURVE_MARGIN && cut->correlation > 2 / sqrt((double)cut->tasks - 1);
}

void curve_test(const struct curve *finished, size_t count, bool maximise, struct curve_backtest *ret)
{
	double *room = mem_resize(NULL, 3 * count + 1, sizeof(*room));
	bool lost = false;
	*ret = (struct curve_backtest){.from = NAN};
	for (size_t i = 0; i < count; i++) {
		size_t points = 0;
		for (size_t k = 0; k < finished[i].count; k++)
			points += isfinite(finished[i].values[k]) && finished[i].steps[k] >= 0;
		ret->tasks += points >= CURVE_POINTS && isfinite(finished[i].final);
	}
	for (size_t i = 0; i < CURVE_CUTS; i++) {
		struct curve_cut *cut = &ret->cuts[i];
		*cut = curve_test_cut(finished, count, maximise, curve_shares[i], room);
		if (cut->tasks < CURVE_TASKS)
			continue;
		if (!curve_cut_is_won(cut))
			lost = true;
		else if (isnan(ret->from))
			ret->from = cut->share;
	}
	ret->earned = !lost && !isnan(ret->from);
	if (!ret->earned)
		ret->from = NAN;
	free(room);
}
