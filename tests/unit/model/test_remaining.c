/* How much longer an experiment takes. */
#include "../unit.h"

#include "model/remaining.h"

static void test_running_and_waiting_tasks_add_up(void **state)
{
	(void)state;
	const struct remaining_range running[] = {{10, 10, 10}, {30, 30, 30}};
	const double ended[] = {60, 60, 60, 60};
	struct remaining_range work, time;
	assert_true(remaining_work(running, 2, ended, 4, 6, &work));
	assert_float_equal(work.median, 400, 1e-9);
	assert_float_equal(work.low, 400, 1e-9);
	assert_float_equal(work.high, 400, 1e-9);
	remaining_time(&work, running, 2, 2, &time);
	assert_float_equal(time.median, 200, 1e-9);
}

static void test_the_longest_task_is_waited_for(void **state)
{
	(void)state;
	const struct remaining_range running[] = {{10, 5, 15}, {100, 80, 120}};
	struct remaining_range work, time;
	assert_true(remaining_work(running, 2, NULL, 0, 0, &work));
	remaining_time(&work, running, 2, 2, &time);
	assert_float_equal(time.median, 100, 1e-9);
	assert_float_equal(time.low, 80, 1e-9);
	assert_float_equal(time.high, 120, 1e-9);
}

static void test_tasks_that_differ_widen_the_interval(void **state)
{
	(void)state;
	const double even[] = {50, 50, 50, 50, 50}, uneven[] = {10, 90, 30, 70, 50};
	struct remaining_range a, b;
	assert_true(remaining_work(NULL, 0, even, 5, 20, &a));
	assert_true(remaining_work(NULL, 0, uneven, 5, 20, &b));
	assert_float_equal(a.median, b.median, 1e-9);
	assert_float_equal(a.high, a.median, 1e-9);
	assert_true(b.high > b.median + 200 && b.low < b.median - 200 && b.low >= 0);
}

static void test_few_ended_tasks_say_nothing_about_those_to_come(void **state)
{
	(void)state;
	const struct remaining_range running[] = {{10, 5, 15}};
	const double ended[] = {60, 60};
	struct remaining_range work;
	assert_false(remaining_work(running, 1, ended, 2, 1, &work));
	assert_true(remaining_work(running, 1, ended, 2, 0, &work));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_running_and_waiting_tasks_add_up),
		cmocka_unit_test(test_the_longest_task_is_waited_for),
		cmocka_unit_test(test_tasks_that_differ_widen_the_interval),
		cmocka_unit_test(test_few_ended_tasks_say_nothing_about_those_to_come),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
