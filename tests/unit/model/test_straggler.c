/* Runs that are much slower than others, among experiments of many shapes. A healthy run raises nothing. */
#include "../unit.h"

#include "base/rng.h"
#include "model/straggler.h"

#include <math.h>

enum { BATCH, RATE, UNITS, OPTIMIZER, PARAMS };

struct shape {
	const char *name;
	/* How the time of a step depends on the values: exponents of batch size and units, a factor of one optimiser, and noise
	 * (the spread of its logarithm). */
	double batch, units, optimizer, noise;
	bool grid; /* few values that repeat, instead of a range */
	bool drifts; /* the machine gets slower by and by, up to twice */
};

static const struct shape shapes[] = {
	{"nothing matters", 0, 0, 1, 0.05, false, false},
	{"nothing matters, noisy", 0, 0, 1, 0.4, false, false},
	{"batch size", -0.9, 0, 1, 0.05, false, false},
	{"batch size, noisy", -0.9, 0, 1, 0.3, false, false},
	{"batch size, grid", -0.9, 0, 1, 0.1, true, false},
	{"units", 0, 1.5, 1, 0.1, false, false},
	{"units, grid", 0, 1.5, 1, 0.1, true, false},
	{"batch size and units", -0.7, 1, 1, 0.1, false, false},
	{"batch size and units, noisy", -0.7, 1, 1, 0.35, false, false},
	{"batch size and units, grid", -0.7, 1, 1, 0.2, true, false},
	{"a slow optimiser", 0, 0, 4, 0.1, false, false},
	{"a slow optimiser, grid", 0, 0, 4, 0.1, true, false},
	{"all of it", -0.8, 1.2, 3, 0.2, false, false},
	{"all of it, grid", -0.8, 1.2, 3, 0.2, true, false},
	{"a machine that gets slower", 0, 0, 1, 0.1, false, true},
	{"a machine that gets slower, batch size", -0.9, 0, 1, 0.1, false, true},
	{"steep units", 0, 2.5, 1, 0.1, false, false},
	{"steep units, grid", 0, 2.5, 1, 0.1, true, false},
	{"very noisy", 0, 0, 1, 0.7, false, false},
	{"very noisy, grid", -0.5, 0.5, 1, 0.6, true, false},
};

static double draw(struct rng *rng, bool grid, double low, double high)
{
	double at = rng_unit(rng);
	if (grid)
		at = floor(at * 4) / 3;
	return low * pow(high / low, at);
}

static double make_run(const struct shape *shape, struct rng *rng, double part, struct forecast_value *values)
{
	double batch = draw(rng, shape->grid, 16, 1024), units = draw(rng, shape->grid, 16, 256);
	bool slow = rng_unit(rng) < 0.3;
	values[BATCH] = (struct forecast_value){.kind = FORECAST_NUMBER, .number = batch};
	values[RATE] = (struct forecast_value){.kind = FORECAST_NUMBER, .number = draw(rng, false, 1e-4, 1e-1)};
	values[UNITS] = (struct forecast_value){.kind = FORECAST_NUMBER, .number = units};
	values[OPTIMIZER] = (struct forecast_value){.kind = FORECAST_LABEL, .label = slow ? "lbfgs" : "adam"};
	double noise = sqrt(-2 * log(1 - rng_unit(rng))) * cos(2 * M_PI * rng_unit(rng));
	return 1000 * pow(batch / 64, shape->batch) * pow(units / 64, shape->units) * (slow ? shape->optimizer : 1) *
		exp(shape->noise * noise) * (shape->drifts ? 1 + part : 1);
}

/* Judges run `count` + 1 after `count` others; `times` slower than it should be. */
static struct straggler_verdict judge_next(const struct shape *shape, uint64_t seed, size_t count, double times)
{
	struct forecast_value values[PARAMS];
	struct straggler *s = straggler_new(PARAMS);
	struct rng rng;
	rng_seed(&rng, seed);
	for (size_t i = 0; i < count; i++) {
		double took = make_run(shape, &rng, (double)i / 60, values);
		straggler_add(s, values, took);
	}
	straggler_learn(s);
	double took = make_run(shape, &rng, (double)count / 60, values) * times;
	struct straggler_verdict verdict = straggler_judge(s, values, took);
	straggler_free(s);
	return verdict;
}

/* Also prints the table of how often a run is judged and found slow. */
static void test_healthy_runs_raise_nothing_and_slow_ones_are_found(void **state)
{
	static const size_t counts[] = {3, 6, 10, 15, 19, 20, 30, 60};
	size_t judged = 0, alarms = 0, slow_judged = 0, found = 0, seeds = 40;
	(void)state;
	for (size_t s = 0; s < COUNT_OF(shapes); s++) {
		size_t shape_alarms = 0, shape_found = 0, shape_judged = 0;
		for (size_t c = 0; c < COUNT_OF(counts); c++)
			for (uint64_t seed = 1; seed <= seeds; seed++) {
				struct straggler_verdict healthy = judge_next(&shapes[s], seed, counts[c], 1);
				struct straggler_verdict slow = judge_next(&shapes[s], seed, counts[c], 10);
				shape_judged += healthy.basis != STRAGGLER_UNKNOWN;
				slow_judged += slow.basis != STRAGGLER_UNKNOWN;
				shape_alarms += healthy.slow;
				shape_found += slow.slow;
			}
		print_message("# %-40s %zu of %zu runs judged, %zu false alarms, %zu of those 10 times slower found\n",
			      shapes[s].name, shape_judged, COUNT_OF(counts) * seeds, shape_alarms, shape_found);
		judged += shape_judged;
		alarms += shape_alarms;
		found += shape_found;
	}
	print_message("# in all: %zu judged, %zu false alarms; %zu of %zu slow ones found\n", judged, alarms, found,
		      slow_judged);
	assert_true(judged > 2000);
	assert_true((double)alarms <= 0.002 * (double)judged);
	assert_true((double)found >= 0.8 * (double)slow_judged);
}

static void test_runs_with_the_same_values_are_compared_with_each_other(void **state)
{
	(void)state;
	struct straggler *s = straggler_new(1);
	struct forecast_value small = {.kind = FORECAST_NUMBER, .number = 16},
			      large = {.kind = FORECAST_NUMBER, .number = 1024};
	for (size_t i = 0; i < 4; i++) {
		straggler_add(s, &small, 8000 + 100 * (double)i);
		straggler_add(s, &large, 1000 + 10 * (double)i);
	}
	straggler_learn(s);
	assert_false(straggler_judge(s, &small, 9000).slow);
	struct straggler_verdict verdict = straggler_judge(s, &large, 6000);
	assert_true(verdict.slow);
	assert_int_equal(verdict.basis, STRAGGLER_SIMILAR);
	assert_int_equal(verdict.runs, 4);
	struct buf text = buf_make(BUF_UNLIMITED);
	straggler_explain(&verdict, "a step takes", 6000, &text);
	assert_string_equal(buf_text(&text),
			    "a step takes 6.0 s, 5.9 times as long as expected: 1.0 s in 4 finished tasks with "
			    "nearly the same parameters (median; at most 1.0 s)");
	buf_free(&text);
	straggler_free(s);
}

static void test_values_that_were_never_seen_are_not_judged(void **state)
{
	(void)state;
	struct straggler *s = straggler_new(1);
	for (size_t i = 0; i < 12; i++)
		straggler_add(s, &(struct forecast_value){.kind = FORECAST_NUMBER, .number = 16 + (double)i}, 1000);
	straggler_learn(s);
	struct forecast_value far = {.kind = FORECAST_NUMBER, .number = 512},
			      near = {.kind = FORECAST_NUMBER, .number = 20};
	struct forecast_value label = {.kind = FORECAST_LABEL, .label = "deep"};
	assert_int_equal(straggler_judge(s, &far, 9000).basis, STRAGGLER_UNKNOWN);
	assert_int_equal(straggler_judge(s, &label, 9000).basis, STRAGGLER_UNKNOWN);
	assert_true(straggler_judge(s, &near, 9000).slow);
	straggler_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_healthy_runs_raise_nothing_and_slow_ones_are_found),
		cmocka_unit_test(test_runs_with_the_same_values_are_compared_with_each_other),
		cmocka_unit_test(test_values_that_were_never_seen_are_not_judged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
