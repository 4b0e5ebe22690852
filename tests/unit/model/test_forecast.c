/* What a run takes, learnt from runs with known laws. */
#include "../unit.h"

#include "base/rng.h"
#include "model/forecast.h"

#include <math.h>
#include <stdio.h>

static struct forecast_value number(double x)
{
	return (struct forecast_value){.kind = FORECAST_NUMBER, .number = x};
}

static struct forecast_value label(const char *text)
{
	return (struct forecast_value){.kind = FORECAST_LABEL, .label = text};
}

static const double batches[] = {16, 32, 64, 128, 256};

/* epochs / batch, with a start of its own that depends on nothing. */
static struct forecast *learn_law(size_t runs, double noise)
{
	struct rng rng;
	rng_seed(&rng, 7);
	struct forecast *f = forecast_new(2);
	for (size_t i = 0; i < runs; i++) {
		double epochs = 5 + (double)(i % 7) * 5, batch = batches[i % 5];
		struct forecast_value values[] = {number(epochs), number(batch)};
		assert_true(forecast_add(f, values, 1000 * epochs / batch * exp(noise * rng_normal(&rng))));
	}
	return f;
}

static void test_a_power_law_is_found(void **state)
{
	(void)state;
	struct forecast *f = learn_law(35, 0);
	struct forecast_range got;
	assert_true(forecast_fit(f));
	struct forecast_value values[] = {number(22), number(100)};
	assert_int_equal(forecast_at(f, values, &got), FORECAST_KNOWN);
	assert_float_equal(got.median, 220, 1);
	assert_true(got.limit >= got.median && got.limit < 230);
	assert_true(forecast_error(f) < 0.01);
	forecast_free(f);
}

static void test_few_runs_say_nothing(void **state)
{
	(void)state;
	struct forecast *f = learn_law(FORECAST_RUNS_LEAST - 1, 0);
	struct forecast_range got;
	struct forecast_value values[] = {number(10), number(64)};
	assert_false(forecast_fit(f));
	assert_int_equal(forecast_at(f, values, &got), FORECAST_FEW);
	forecast_free(f);
}

static void test_a_value_far_outside_is_named(void **state)
{
	(void)state;
	struct forecast *f = learn_law(35, 0.1);
	struct forecast_range got;
	assert_true(forecast_fit(f));
	struct forecast_value far[] = {number(20), number(4096)}, near[] = {number(40), number(256)};
	assert_int_equal(forecast_at(f, far, &got), FORECAST_FAR);
	assert_int_equal(got.far, 1);
	assert_int_equal(forecast_at(f, near, &got), FORECAST_KNOWN);
	struct forecast_value word[] = {label("many"), number(64)}, none[] = {{.kind = FORECAST_NONE}, number(64)};
	assert_int_equal(forecast_at(f, word, &got), FORECAST_FAR);
	assert_int_equal(forecast_at(f, none, &got), FORECAST_FAR);
	forecast_free(f);
}

static void test_a_constant_says_nothing_about_other_values(void **state)
{
	(void)state;
	struct forecast *f = forecast_new(1);
	struct forecast_value ten = number(10), hundred = number(100);
	struct forecast_range got;
	for (size_t i = 0; i < 30; i++)
		assert_true(forecast_add(f, &ten, 5));
	assert_true(forecast_fit(f));
	assert_int_equal(forecast_at(f, &ten, &got), FORECAST_KNOWN);
	assert_float_equal(got.median, 5, 1e-9);
	assert_int_equal(forecast_at(f, &hundred, &got), FORECAST_FAR);
	forecast_free(f);
}

static void test_labels_and_values_that_do_not_apply(void **state)
{
	(void)state;
	static const char *const models[] = {"small", "large"};
	struct forecast *f = forecast_new(2);
	struct forecast_range small, large;
	for (size_t i = 0; i < 40; i++) {
		struct forecast_value momentum = i % 2 ? number(0.1 + (double)i / 100) : (struct forecast_value){0};
		struct forecast_value values[] = {label(models[i % 2]), momentum};
		assert_true(forecast_add(f, values, i % 2 ? 300 : 10));
	}
	assert_true(forecast_fit(f));
	struct forecast_value a[] = {label("small"), {0}}, b[] = {label("large"), number(0.3)};
	struct forecast_value c[] = {label("medium"), {0}};
	assert_int_equal(forecast_at(f, a, &small), FORECAST_KNOWN);
	assert_int_equal(forecast_at(f, b, &large), FORECAST_KNOWN);
	assert_float_equal(small.median, 10, 0.5);
	assert_float_equal(large.median, 300, 15);
	assert_int_equal(forecast_at(f, c, &small), FORECAST_FAR);
	assert_int_equal(small.far, 0);
	forecast_free(f);
}

/* Of new runs at most about 5 % may take longer than the limit: with 2,000 of them, 7.5 % is five standard errors
 * away. */
static void test_the_limit_holds_for_new_runs(void **state)
{
	(void)state;
	struct rng rng;
	rng_seed(&rng, 11);
	size_t over = 0, all = 0;
	for (size_t round = 0; round < 100; round++) {
		struct forecast *f = forecast_new(2);
		for (size_t i = 0; i < 60; i++) {
			double epochs = 1 + rng_unit(&rng) * 50, batch = 8 * exp2(rng_unit(&rng) * 6);
			struct forecast_value values[] = {number(epochs), number(batch)};
			double took = (20 + epochs * 400 / batch) * exp(0.3 * rng_normal(&rng));
			struct forecast_range got;
			if (i < 40) {
				assert_true(forecast_add(f, values, took));
				continue;
			}
			assert_true(forecast_fit(f));
			if (forecast_at(f, values, &got) == FORECAST_KNOWN) {
				all++;
				over += took > got.limit;
			}
		}
		forecast_free(f);
	}
	assert_true(all > 1800);
	assert_true((double)over < 0.075 * (double)all);
	assert_true((double)over > 0.02 * (double)all); /* a limit that is never reached is no limit */
}

static void test_impossible_times_are_not_taken(void **state)
{
	(void)state;
	struct forecast *f = forecast_new(1);
	struct forecast_value one = number(1);
	assert_false(forecast_add(f, &one, 0));
	assert_false(forecast_add(f, &one, -1));
	assert_false(forecast_add(f, &one, NAN));
	assert_false(forecast_add(f, &one, INFINITY));
	assert_int_equal(forecast_runs(f), 0);
	for (size_t i = 0; i < FORECAST_RUNS_MOST; i++)
		assert_true(forecast_add(f, &one, 1));
	assert_false(forecast_add(f, &one, 1));
	forecast_free(f);
}

/* Random spaces with labels, zeros, absent values and more columns than fit: the answer is finite and in order. */
static void test_any_runs_give_a_finite_answer(void **state)
{
	(void)state;
	struct rng rng;
	rng_seed(&rng, 3);
	for (size_t round = 0; round < 60; round++) {
		size_t params = 1 + rng_below(&rng, 20);
		struct forecast *f = forecast_new(params);
		struct forecast_value values[20];
		char text[20][8];
		for (size_t i = 0; i < 20 + rng_below(&rng, 60); i++) {
			for (size_t j = 0; j < params; j++) {
				snprintf(text[j], sizeof(text[j]), "%u", (unsigned)rng_below(&rng, 20));
				uint64_t kind = rng_below(&rng, 4);
				values[j] = kind == 0 ? (struct forecast_value){0}
					: kind == 1   ? label(text[j])
						      : number((double)rng_below(&rng, 5) - (round % 2 ? 1 : 0));
			}
			forecast_add(f, values, exp(10 * rng_normal(&rng)));
		}
		struct forecast_range got;
		if (forecast_fit(f) && forecast_at(f, values, &got) == FORECAST_KNOWN) {
			assert_true(isfinite(got.median) && got.median > 0);
			assert_true(got.limit >= got.median);
		}
		forecast_free(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_power_law_is_found),
		cmocka_unit_test(test_few_runs_say_nothing),
		cmocka_unit_test(test_a_value_far_outside_is_named),
		cmocka_unit_test(test_a_constant_says_nothing_about_other_values),
		cmocka_unit_test(test_labels_and_values_that_do_not_apply),
		cmocka_unit_test(test_the_limit_holds_for_new_runs),
		cmocka_unit_test(test_impossible_times_are_not_taken),
		cmocka_unit_test(test_any_runs_give_a_finite_answer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
