/* When a node is left out, and when an experiment is held back. */
#include "engine/unstarted.h"
#include "../unit.h"

#define MINUTE 60000

static void fail_on(struct unstarted *u, const char *node, int count, int64_t at_ms)
{
	for (int i = 0; i < count; i++)
		unstarted_add_failure(u, node, true, "not started", at_ms);
}

static void assert_excluded(const struct unstarted *u, int64_t now_ms, const char *expected)
{
	char *found = unstarted_excluded(u, now_ms);
	assert_string_equal(found ? found : "", expected);
	free(found);
}

static void test_a_node_that_starts_nothing_is_left_out(void **state)
{
	struct unstarted u = {0};
	(void)state;
	assert_false(unstarted_add_start(&u, "cpu1", 5));
	fail_on(&u, "cpu2", 2, 10);
	assert_excluded(&u, 10, "");
	fail_on(&u, "cpu2", 1, 10);
	assert_excluded(&u, 10, "cpu2");
	fail_on(&u, "cpu3", 3, 20);
	assert_excluded(&u, 20, "cpu2,cpu3");
	unstarted_add_start(&u, "cpu2", 30); /* it had one from before, and does it now */
	assert_excluded(&u, 30, "cpu3");
	assert_excluded(&u, 20 + 59 * MINUTE, "cpu3");
	assert_excluded(&u, 20 + 60 * MINUTE, ""); /* another chance, */
	fail_on(&u, "cpu3", 1, 61 * MINUTE);
	assert_excluded(&u, 61 * MINUTE, "cpu3"); /* and one failure is enough */
	unstarted_forget(&u);
	assert_excluded(&u, 61 * MINUTE, "");
}

static void test_no_node_is_left_out_when_none_starts_anything(void **state)
{
	struct unstarted u = {0};
	(void)state;
	unstarted_add_start(&u, "cpu1", 1);
	unstarted_add_start(&u, "cpu2", 1);
	fail_on(&u, "cpu1", 5, 10);
	fail_on(&u, "cpu2", 5, 11);
	assert_excluded(&u, 12, "");
	unstarted_add_start(&u, "cpu1", 13);
	assert_excluded(&u, 13, "cpu2");
	unstarted_forget(&u);
}

static void test_a_full_disk_says_nothing_about_a_node(void **state)
{
	struct unstarted u = {0};
	(void)state;
	unstarted_add_start(&u, "cpu1", 1);
	for (int i = 0; i < 4; i++)
		unstarted_add_failure(&u, "cpu2", false, "the disk is full", 10);
	assert_excluded(&u, 10, "");
	assert_false(unstarted_is_held(&u));
	unstarted_add_failure(&u, NULL, true, "the disk is full", 10);
	assert_true(unstarted_is_held(&u));
	unstarted_forget(&u);
}

static void test_pauses_grow_until_a_task_starts(void **state)
{
	static const int64_t minutes[] = {1, 2, 4, 8, 10, 10};
	struct unstarted u = {0};
	(void)state;
	fail_on(&u, "cpu1", 4, 0);
	assert_false(unstarted_is_held(&u));
	assert_null(unstarted_words(&u));
	assert_int_equal(unstarted_held_until_ms(&u), 0);
	int64_t now = 1000;
	for (size_t i = 0; i < COUNT_OF(minutes); i++) {
		fail_on(&u, "cpu1", 1, now);
		assert_true(unstarted_is_held(&u));
		assert_int_equal(unstarted_held_until_ms(&u), now + minutes[i] * MINUTE);
		fail_on(&u, "cpu1", 3, now + 10); /* were on their way */
		assert_int_equal(unstarted_held_until_ms(&u), now + minutes[i] * MINUTE);
		now = unstarted_held_until_ms(&u);
	}
	char *words = unstarted_words(&u);
	assert_non_null(strstr(words, "28 attempts in a row"));
	assert_non_null(strstr(words, "10 minutes"));
	assert_non_null(strstr(words, "not started"));
	free(words);
	assert_true(unstarted_add_start(&u, "cpu1", 2000));
	assert_false(unstarted_is_held(&u));
	assert_false(unstarted_add_start(&u, "cpu1", 2000));
	unstarted_forget(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_node_that_starts_nothing_is_left_out),
		cmocka_unit_test(test_no_node_is_left_out_when_none_starts_anything),
		cmocka_unit_test(test_a_full_disk_says_nothing_about_a_node),
		cmocka_unit_test(test_pauses_grow_until_a_task_starts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
