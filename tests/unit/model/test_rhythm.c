/* How much longer a run takes, from steps with known times. */
#include "../unit.h"

#include "model/rhythm.h"

static void test_the_first_step_does_not_count(void **state)
{
	(void)state;
	/* 60 s to start and train the first epoch, then 10 s an epoch. */
	int64_t ended[] = {60000, 70000, 80000, 90000, 100000};
	struct rhythm_left left;
	assert_true(rhythm_left(ended, 5, 15, 100000, &left));
	assert_float_equal(left.median_ms, 150000, 1);
	assert_float_equal(left.low_ms, 150000, 1);
	assert_float_equal(left.high_ms, 150000, 1);
	assert_float_equal(left.step_ms, 10000, 1e-6);
}

static void test_time_since_the_last_step_is_taken_off(void **state)
{
	(void)state;
	int64_t ended[] = {0, 10000, 20000, 30000};
	struct rhythm_left left;
	assert_true(rhythm_left(ended, 4, 2, 36000, &left));
	assert_float_equal(left.median_ms, 14000, 1);
	assert_true(rhythm_left(ended, 4, 1, 50000, &left));
	assert_float_equal(left.median_ms, 0, 1e-9);
}

static void test_few_steps_say_nothing(void **state)
{
	(void)state;
	int64_t ended[] = {60000, 70000, 80000};
	struct rhythm_left left;
	assert_false(rhythm_left(ended, 3, 10, 80000, &left));
	assert_false(rhythm_left(ended, 0, 10, 80000, &left));
	int64_t at_once[] = {5, 5, 5, 5, 5};
	assert_false(rhythm_left(at_once, 5, 10, 5, &left));
}

static void test_uneven_steps_widen_the_interval(void **state)
{
	(void)state;
	int64_t even[] = {0, 10, 20, 30, 40, 50}, uneven[] = {0, 2, 20, 24, 45, 50};
	struct rhythm_left a, b;
	assert_true(rhythm_left(even, 6, 100, 50, &a));
	assert_true(rhythm_left(uneven, 6, 100, 50, &b));
	assert_float_equal(a.median_ms, b.median_ms, 1e-6);
	assert_true(b.high_ms > a.high_ms + 100);
	assert_true(b.low_ms < a.low_ms - 100);
}

static void test_only_the_newest_steps_count(void **state)
{
	(void)state;
	int64_t ended[200];
	struct rhythm_left left;
	for (size_t i = 0; i < 200; i++)
		ended[i] = i < 100 ? (int64_t)i * 1000 : 100000 + (int64_t)(i - 100) * 5000;
	assert_true(rhythm_left(ended, 200, 10, ended[199], &left));
	assert_float_equal(left.step_ms, 5000, 1e-6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_step_does_not_count),
		cmocka_unit_test(test_time_since_the_last_step_is_taken_off),
		cmocka_unit_test(test_few_steps_say_nothing),
		cmocka_unit_test(test_uneven_steps_widen_the_interval),
		cmocka_unit_test(test_only_the_newest_steps_count),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
