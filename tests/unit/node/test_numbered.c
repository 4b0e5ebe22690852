/* Files of which a script writes one for each epoch. */
#include "../unit.h"

#include "node/numbered.h"

static void test_only_a_number_behind_a_count_makes_files_one_record(void **state)
{
	const struct {
		const char *path, *wanted;
		int64_t number;
		const char *step_name;
	} cases[] = {
		{"out/metrics_epoch_12.json", "out/metrics_epoch_*.json", 12, "epoch"},
		{"epoch=3/result.json", "epoch=*/result.json", 3, "epoch"},
		{"Step500.json", "Step*.json", 500, "step"},
		{"iter-0007_eval.json", "iter-*_eval.json", 7, "step"},
		{"iteration_2.json", "iteration_*.json", 2, "step"},
		{"fold_1/metrics.json", NULL, 0, NULL},
		{"version_0/metrics.json", NULL, 0, NULL},
		{"nepoch_3.json", NULL, 0, NULL},
		{"epoch_3a.json", NULL, 0, NULL},
		{"epoch_.json", NULL, 0, NULL},
		{"epoch_99999999999999999999.json", NULL, 0, NULL},
		{"metrics.json", NULL, 0, NULL},
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct numbered found = numbered_of(cases[i].path);
		assert_true(!found.path == !cases[i].wanted);
		if (found.path) {
			assert_string_equal(found.path, cases[i].wanted);
			assert_int_equal(found.number, cases[i].number);
			assert_string_equal(found.step_name, cases[i].step_name);
		}
		free(found.path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_only_a_number_behind_a_count_makes_files_one_record)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
