/* Extrapolated learning curves: known power laws, and a backtest that must not be won by luck. */
#include "drive.h"
#include "search/curve.h"

#define STEPS 40
#define TASKS 30

struct world {
	double steps[STEPS], values[TASKS][STEPS];
	struct curve curves[TASKS];
};

static double power(double a, double b, double c, double step)
{
	return a + b * pow(step + 1, -c);
}

static void world_begin(struct world *w)
{
	for (size_t i = 0; i < STEPS; i++)
		w->steps[i] = (double)i;
	for (size_t t = 0; t < TASKS; t++)
		w->curves[t] = (struct curve){w->steps, w->values[t], STEPS, NAN};
}

static void world_finish(struct world *w)
{
	for (size_t t = 0; t < TASKS; t++)
		w->curves[t].final = w->values[t][STEPS - 1];
}

static void exact_power_laws_are_recovered(void **state)
{
	(void)state;
	static const double laws[][3] = {{0.2, 3, 0.5}, {-4, 0.1, 1.5}, {0, 1, 0.1}, {7, 100, 2}};
	struct world w;
	world_begin(&w);
	for (size_t k = 0; k < COUNT_OF(laws); k++) {
		for (size_t i = 0; i < 10; i++) {
			w.values[0][i] = power(laws[k][0], laws[k][1], laws[k][2], w.steps[i]);
			w.values[1][i] = -w.values[0][i];
		}
		double want = power(laws[k][0], laws[k][1], laws[k][2], 99);
		w.curves[0].count = w.curves[1].count = 10;
		assert_float_equal(curve_predict(&w.curves[0], false, 99), want, 1e-9);
		assert_float_equal(curve_predict(&w.curves[1], true, 99), -want, 1e-9);
	}
	for (size_t i = 0; i < 10; i++) /* an exponent between two of the grid */
		w.values[0][i] = power(0.2, 3, 0.55, w.steps[i]);
	assert_float_equal(curve_predict(&w.curves[0], false, 99), power(0.2, 3, 0.55, 99), 0.1);
}

static void a_curve_that_gets_worse_goes_nowhere(void **state)
{
	(void)state;
	double steps[] = {0, 1, 2, 3, 4}, values[] = {1, 2, 3, 4, 5};
	struct curve curve = {steps, values, 5, NAN};
	assert_float_equal(curve_predict(&curve, false, 50), 3, 1e-12); /* b = 0: their mean */
	assert_true(curve_predict(&curve, true, 50) > 5);
}

static void holes_do_not_count(void **state)
{
	(void)state;
	double steps[] = {-1, 0, 1, 2, 3, 4, 5}, values[] = {1e6, 0, NAN, 0, INFINITY, 0, 0};
	struct curve curve = {steps, values, 7, NAN}, empty = {0};
	for (size_t i = 1; i < 7; i++)
		if (isfinite(values[i]))
			values[i] = power(1, 2, 1, steps[i]);
	assert_float_equal(curve_predict(&curve, false, 9), power(1, 2, 1, 9), 1e-9);
	curve.count = 6; /* three that count */
	assert_true(isnan(curve_predict(&curve, false, 9)));
	assert_true(isnan(curve_predict(&empty, false, 9)));
	for (size_t i = 0; i < 7; i++)
		values[i] = i % 2 ? 1e300 : -1e300;
	curve.count = 7;
	assert_true(isnan(curve_predict(&curve, false, 9)));
}

/* What starts low stays high, and the other way round: until after the half the best so far has them in the wrong
 * order. A row every `stride` steps. */
static void world_cross(struct world *w, size_t stride)
{
	world_begin(w);
	for (size_t i = 0; i < STEPS; i++)
		w->steps[i] = (double)(i * stride);
	for (size_t t = 0; t < TASKS; t++)
		for (size_t i = 0; i < STEPS; i++)
			w->values[t][i] = power(1 - 0.03 * (double)t, 2 + 0.08 * (double)t, 0.3, w->steps[i]);
	world_finish(w);
}

static void crossing_curves_earn_it(void **state)
{
	(void)state;
	struct world w;
	struct curve_backtest test;
	world_cross(&w, 1);
	curve_test(w.curves, TASKS, false, &test);
	assert_true(test.earned);
	assert_int_equal(test.tasks, TASKS);
	assert_float_equal(test.from, 0.25, 0);
	for (size_t i = 0; i < CURVE_CUTS; i++) {
		assert_int_equal(test.cuts[i].tasks, TASKS);
		assert_float_equal(test.cuts[i].correlation, 1, 1e-9);
		assert_true(test.cuts[i].plain < 0);
	}
	for (size_t t = 0; t < TASKS; t++) {
		for (size_t i = 0; i < STEPS; i++)
			w.values[t][i] = -w.values[t][i];
		w.curves[t].final = -w.curves[t].final;
	}
	curve_test(w.curves, TASKS, true, &test);
	assert_true(test.earned);
	curve_test(w.curves, TASKS, false, &test); /* the wrong goal */
	assert_false(test.earned);
}

static void few_or_short_curves_do_not(void **state)
{
	(void)state;
	struct world w;
	struct curve_backtest test;
	world_cross(&w, 1);
	curve_test(w.curves, 7, false, &test);
	assert_false(test.earned);
	assert_int_equal(test.tasks, 7);
	assert_true(isnan(test.cuts[0].correlation) && isnan(test.from));
	for (size_t t = 0; t < TASKS; t++)
		w.curves[t].count = 6; /* three points at the half */
	curve_test(w.curves, TASKS, false, &test);
	assert_false(test.earned);
	assert_int_equal(test.cuts[1].tasks, 0);
	world_cross(&w, 4);
	for (size_t t = 0; t < TASKS; t++) {
		w.curves[t].count = 10; /* three at the quarter, five at the half */
		w.curves[t].final = w.values[t][9];
	}
	curve_test(w.curves, TASKS, false, &test);
	assert_int_equal(test.cuts[0].tasks, 0);
	assert_int_equal(test.cuts[1].tasks, TASKS);
	assert_true(test.earned);
	assert_float_equal(test.from, 0.5, 0);
	for (size_t t = 0; t < TASKS; t++)
		w.curves[t].final = NAN;
	curve_test(w.curves, TASKS, false, &test);
	assert_int_equal(test.tasks, 0);
	curve_test(NULL, 0, false, &test);
	assert_false(test.earned);
}

/* Curves that are noise and nothing else, ranked by their last value and by their best: of 200 such experiments
 * next to none may say that it is earned. */
static void noise_does_not(void **state)
{
	(void)state;
	struct world w;
	struct rng rng;
	int earned = 0;
	rng_seed(&rng, 7);
	for (int run = 0; run < 200; run++) {
		struct curve_backtest test;
		world_begin(&w);
		for (size_t t = 0; t < TASKS; t++)
			for (size_t i = 0; i < STEPS; i++)
				w.values[t][i] = rng_unit(&rng);
		world_finish(&w);
		for (size_t t = 0; run % 2 && t < TASKS; t++)
			for (size_t i = 0; i < STEPS; i++)
				w.curves[t].final = fmin(w.curves[t].final, w.values[t][i]);
		curve_test(w.curves, run % 4 < 2 ? TASKS : 8, false, &test);
		earned += test.earned;
	}
	print_message("# earned by noise: %d of 200\n", earned);
	assert_true(earned <= 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_power_laws_are_recovered),
		cmocka_unit_test(a_curve_that_gets_worse_goes_nowhere),
		cmocka_unit_test(holes_do_not_count),
		cmocka_unit_test(crossing_curves_earn_it),
		cmocka_unit_test(few_or_short_curves_do_not),
		cmocka_unit_test(noise_does_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
