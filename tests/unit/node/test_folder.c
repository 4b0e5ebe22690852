/* Names of runs from the folders of their files. */
#include "../unit.h"

#include "node/folder.h"

static void test_folders_are_named_as_tensorboard_names_runs(void **state)
{
	static const char *const keras[] = {"logs/train/e.1", "logs/validation/e.2", "logs/train/e.3"};
	static const char *const torch[] = {"runs/x/e.1", "runs/x/loss_a/e.2", "runs/x/loss_a/deep/e.3", "runs/xy/e.4"};
	static const char *const top[] = {"e.1", "part/e.2", "train/e.3"};
	const struct {
		const char *path, *const *all;
		size_t count;
		const char *wanted;
	} cases[] = {
		{keras[0], keras, 3, "train/"},
		{keras[1], keras, 3, "validation/"},
		{"logs/version_0/e.1", keras, 0, ""},
		{"e.1", keras, 0, ""},
		{"Test/e.1", keras, 0, "Test/"},
		{torch[0], torch, 4, ""},
		{torch[1], torch, 4, "loss_a/"},
		{torch[2], torch, 4, "deep/"}, /* below the nearest run above */
		{torch[3], torch, 4, ""},
		{top[0], top, 3, ""},
		{top[1], top, 3, "part/"},
		{top[2], top, 3, "train/"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char *prefix = folder_prefix(cases[i].path, cases[i].all, cases[i].count);
		assert_string_equal(prefix, cases[i].wanted);
		free(prefix);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_folders_are_named_as_tensorboard_names_runs)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
