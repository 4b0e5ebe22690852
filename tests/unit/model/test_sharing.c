/* How many tasks share a GPU, on cards that are known. */
#include "../unit.h"

#include "model/sharing.h"

#include <math.h>

#define GIB (1024.0 * 1024 * 1024)

/* Runs tasks on a card on which one of n tasks takes `slow` to the power of log2(n) times as long as one alone, until
 * nothing changes any more. */
static struct sharing settle(double slow, double peak, double card, size_t *ret_most)
{
	struct sharing s = {0};
	*ret_most = 1;
	for (size_t i = 0; i < 200; i++) {
		size_t parts = sharing_parts(&s);
		sharing_set_memory(&s, peak, card);
		*ret_most = parts > *ret_most ? parts : *ret_most;
		sharing_take(&s, parts, (double)parts, 10000 * pow(slow, log2((double)parts)));
	}
	return s;
}

static void test_small_tasks_share_as_far_as_it_goes(void **state)
{
	(void)state;
	size_t most;
	struct sharing s = settle(1.05, 2 * GIB, 140 * GIB, &most);
	assert_int_equal(sharing_parts(&s), 16);
}

static void test_large_tasks_stay_alone_after_one_try(void **state)
{
	(void)state;
	size_t most;
	struct buf text = buf_make(BUF_UNLIMITED);
	struct sharing s = settle(2.1, 2 * GIB, 140 * GIB, &most); /* two take longer than one after the other */
	assert_int_equal(most, 2);
	assert_int_equal(sharing_parts(&s), 1);
	sharing_explain(&s, &text);
	assert_non_null(strstr(buf_text(&text), "2 gave 0.95 times as many as 1"));
	buf_free(&text);
}

static void test_memory_is_the_first_limit(void **state)
{
	(void)state;
	size_t most;
	struct sharing s = settle(1.0, 20 * GIB, 140 * GIB, &most);
	assert_int_equal(most, 4);
	assert_int_equal(sharing_parts(&s), 4);
	s = settle(1.0, 0, 140 * GIB, &most);
	assert_int_equal(most, 1);
	s = settle(1.0, 80 * GIB, 140 * GIB, &most);
	assert_int_equal(most, 1);
}

static void test_a_task_that_needs_more_memory_takes_a_step_back(void **state)
{
	(void)state;
	size_t most;
	struct sharing s = settle(1.0, 7 * GIB, 140 * GIB, &most);
	assert_int_equal(sharing_parts(&s), 8);
	sharing_set_memory(&s, 30 * GIB, 140 * GIB);
	assert_true(sharing_take(&s, 8, 8, 10000));
	assert_int_equal(sharing_parts(&s), 4);
	sharing_fail(&s, 4);
	assert_int_equal(sharing_parts(&s), 2);
	assert_false(sharing_take(&s, 2, 2, 1));
}

static void test_a_few_tasks_decide_nothing(void **state)
{
	(void)state;
	struct sharing s = {0};
	sharing_set_memory(&s, GIB, 140 * GIB);
	assert_false(sharing_take(&s, 1, 1, 10000));
	assert_true(sharing_take(&s, 1, 1, 10000));
	assert_int_equal(sharing_parts(&s), 2);
	assert_false(sharing_take(&s, 1, 1, 10000)); /* one that was still on its way */
	assert_int_equal(sharing_parts(&s), 2);
}

static void test_what_was_measured_is_read_as_it_was_written(void **state)
{
	(void)state;
	size_t most;
	struct sharing s = settle(1.05, 2 * GIB, 140 * GIB, &most), again = {0};
	struct buf text = buf_make(BUF_UNLIMITED), words = buf_make(BUF_UNLIMITED), other = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&text);
	struct node *node = NULL;
	sharing_write(&s, &w);
	assert_int_equal(node_parse_json(buf_text(&text), text.len, &node, NULL), 0);
	assert_true(sharing_read(node, &again));
	sharing_explain(&s, &words);
	sharing_explain(&again, &other);
	assert_string_equal(buf_text(&words), buf_text(&other));
	node_free(node);
	/* Of another version, or damaged. */
	const char *const bad[] = {"{}", "[]", "{\"level\":9,\"seen\":[]}", "{\"level\":1,\"seen\":[{}]}", "7"};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		assert_int_equal(node_parse_json(bad[i], strlen(bad[i]), &node, NULL), 0);
		assert_false(sharing_read(node, &again));
		node_free(node);
	}
	assert_int_equal(sharing_parts(&again), 16);
	buf_free(&text);
	buf_free(&words);
	buf_free(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_tasks_share_as_far_as_it_goes),
		cmocka_unit_test(test_large_tasks_stay_alone_after_one_try),
		cmocka_unit_test(test_memory_is_the_first_limit),
		cmocka_unit_test(test_a_task_that_needs_more_memory_takes_a_step_back),
		cmocka_unit_test(test_a_few_tasks_decide_nothing),
		cmocka_unit_test(test_what_was_measured_is_read_as_it_was_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
