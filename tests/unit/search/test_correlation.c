/* Spearman's rank correlation against values computed by hand and by scipy.stats.spearmanr. */
#include "drive.h"
#include "search/correlation.h"

static void orders_alike_reversed_and_unrelated(void **state)
{
	(void)state;
	double a[] = {1, 2, 3, 4, 5}, same[] = {10, 20, 21, 400, 5000}, back[] = {5, 4, 3, 2, 1};
	double some[] = {2, 1, 4, 3, 5};
	assert_float_equal(correlation_of_ranks(a, same, 5), 1, 1e-12);
	assert_float_equal(correlation_of_ranks(a, back, 5), -1, 1e-12);
	assert_float_equal(correlation_of_ranks(a, some, 5), 0.8, 1e-12); /* 1 - 6 * 4 / (5 * 24) */
}

static void equal_values_share_their_rank(void **state)
{
	(void)state;
	double a[] = {1, 2, 2, 3}, b[] = {1, 3, 2, 4};
	assert_float_equal(correlation_of_ranks(a, b, 4), 0.9486832980505138, 1e-12);
}

static void too_little_says_nothing(void **state)
{
	(void)state;
	double a[] = {1, 2, 3}, flat[] = {7, 7, 7};
	assert_true(isnan(correlation_of_ranks(a, a, 2)));
	assert_true(isnan(correlation_of_ranks(a, flat, 3)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders_alike_reversed_and_unrelated),
		cmocka_unit_test(equal_values_share_their_rank),
		cmocka_unit_test(too_little_says_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
