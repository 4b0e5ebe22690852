/* The pruning rules, against cases small enough to do by hand. */
#include "search/prune.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static struct prune_spec parse(const char *text)
{
	struct problems problems = {0};
	struct node *node = NULL;
	struct prune_spec spec = {0};
	assert_int_equal(node_parse_yaml(text, strlen(text), &node, NULL), 0);
	assert_int_equal(prune_parse(node, &problems, &spec), 0);
	node_free(node);
	return spec;
}

static void test_median_ends_what_is_worse_than_half_of_the_others(void **state)
{
	(void)state;
	struct prune_spec spec = parse("{rule: median, warmup: 2, min_tasks: 3}");
	const double others[] = {1, 2, 3};
	double step;
	assert_false(prune_is_due(&spec, -1, 1, &step));
	assert_true(prune_is_due(&spec, 1, 2, &step));
	assert_float_equal(step, 2, 0);
	assert_false(prune_decide(&spec, false, 2.0, others, 3)); /* the median itself goes on */
	assert_true(prune_decide(&spec, false, 2.1, others, 3));
	assert_false(prune_decide(&spec, false, 9.0, others, 2)); /* too few to tell */
	assert_true(prune_decide(&spec, true, 1.9, others, 3));
	assert_false(prune_decide(&spec, true, 2.5, others, 3));
	assert_true(prune_decide(&spec, false, NAN, others, 3));
	const double with_nan[] = {1, NAN, 2, 3};
	assert_false(prune_decide(&spec, false, 2.0, with_nan, 4));
}

static void test_asha_looks_at_rungs_and_keeps_the_best_third(void **state)
{
	(void)state;
	struct prune_spec spec = parse("{rule: asha, warmup: 1, min_tasks: 2, reduction: 3}");
	double step;
	assert_true(prune_is_due(&spec, 0, 1, &step));
	assert_float_equal(step, 1, 0);
	assert_false(prune_is_due(&spec, 1, 2, &step));
	assert_true(prune_is_due(&spec, 2, 3, &step));
	assert_float_equal(step, 3, 0);
	assert_true(prune_is_due(&spec, 3, 30, &step)); /* several rungs at once: the highest */
	assert_float_equal(step, 27, 0);
	const double others[] = {1, 2, 3, 4, 5};
	assert_false(prune_decide(&spec, false, 0.5, others, 5)); /* first of six: 6/3 = 2 go on */
	assert_false(prune_decide(&spec, false, 1.5, others, 5));
	assert_true(prune_decide(&spec, false, 2.5, others, 5));
}

static void test_threshold_ends_what_is_beyond_it(void **state)
{
	(void)state;
	struct prune_spec spec = parse("{rule: threshold, threshold: 2.5, warmup: 10}");
	double step;
	assert_false(prune_is_due(&spec, 8, 9, &step));
	assert_true(prune_is_due(&spec, 9, 10, &step));
	assert_true(prune_decide(&spec, false, 2.6, NULL, 0));
	assert_false(prune_decide(&spec, false, 2.4, NULL, 0));
	assert_true(prune_decide(&spec, true, 2.4, NULL, 0));
}

static void test_the_warmup_may_be_a_part_of_an_epoch(void **state)
{
	(void)state;
	struct prune_spec spec = parse("{rule: asha, warmup: 0.25, reduction: 2}");
	double at;
	assert_false(prune_is_due(&spec, -1, 0.2, &at));
	assert_true(prune_is_due(&spec, 0.2, 0.3, &at));
	assert_float_equal(at, 0.25, 0);
	assert_true(prune_is_due(&spec, 0.3, 1.2, &at));
	assert_float_equal(at, 1, 0);
	assert_false(prune_is_due(&spec, 1.2, 1.9, &at));
}

static void test_wrong_rules_are_refused(void **state)
{
	(void)state;
	static const char *const wrong[] = {"mediam",
					    "threshold",
					    "{rule: threshold}",
					    "{rule: median, warmup: -1}",
					    "{rule: asha, reduction: 1}",
					    "{colour: red}",
					    "[median]",
					    "{rule: threshold, threshold: many}"};
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		struct problems problems = {0};
		struct node *node = NULL;
		struct prune_spec spec;
		assert_int_equal(node_parse_yaml(wrong[i], strlen(wrong[i]), &node, NULL), 0);
		assert_int_not_equal(prune_parse(node, &problems, &spec), 0);
		assert_int_equal(problems.list.len, 1);
		problems_free(&problems);
		node_free(node);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_median_ends_what_is_worse_than_half_of_the_others),
		cmocka_unit_test(test_asha_looks_at_rungs_and_keeps_the_best_third),
		cmocka_unit_test(test_threshold_ends_what_is_beyond_it),
		cmocka_unit_test(test_the_warmup_may_be_a_part_of_an_epoch),
		cmocka_unit_test(test_wrong_rules_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
