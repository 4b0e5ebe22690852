/* The words for a task that waits on this machine: what it needs, and who has it. */
#include "backend/local_wait.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static const struct local_machine machine = {.cpus = 4, .memory_free_bytes = 20ll << 30, .gpu_count = 2};

/* Is this why a task of experiment 9 waits? NULL: it does not. */
static void expect_why(struct local_holds *holds, struct backend_resources wanted, const char *expected)
{
	char *why = local_wait_why(&machine, true, holds, &wanted, 9);
	if (expected) {
		assert_non_null(why);
		assert_string_equal(why, expected);
	} else {
		assert_null(why);
	}
	free(why);
}

static void what_is_scarce_and_who_has_it_are_named(void **state)
{
	struct local_holds holds = {0};
	(void)state;
	expect_why(&holds, (struct backend_resources){.cpus = 4, .gpus = 2, .memory_bytes = 30ll << 30}, NULL);
	local_hold_add(&holds, 3, &(struct spool_slot){.cpus = 1, .memory_bytes = 8ll << 30, .gpus = "0"});
	expect_why(&holds, (struct backend_resources){.cpus = 3, .gpus = 1, .memory_bytes = 12ll << 30}, NULL);
	expect_why(&holds, (struct backend_resources){.cpus = 4}, "waits for 4 CPUs: e3 has 1 of 4");
	expect_why(&holds, (struct backend_resources){.gpus = 2}, "waits for 2 GPUs: e3 has 1 of 2");
	expect_why(&holds, (struct backend_resources){.memory_bytes = 16ll << 30},
		   "waits for 16 GB of memory: e3 has 8.0 GB of 20 GB");
	local_hold_add(&holds, 3, &(struct spool_slot){.cpus = 3, .gpus = "1"});
	expect_why(&holds, (struct backend_resources){0}, "waits for 1 CPU: e3 has 4 of 4");
	expect_why(&holds, (struct backend_resources){.gpus = 1}, "waits for 1 GPU: e3 has 2 of 2");
	free(holds.list.at);
}

static void who_has_most_comes_first_and_its_own_experiment_is_not_a_name(void **state)
{
	struct local_holds holds = {0};
	(void)state;
	local_hold_add(&holds, 7, &(struct spool_slot){.cpus = 1});
	local_hold_add(&holds, 9, &(struct spool_slot){.cpus = 1});
	local_hold_add(&holds, 8, &(struct spool_slot){.cpus = 2});
	expect_why(&holds, (struct backend_resources){.cpus = 1},
		   "waits for 1 CPU: e8 has 2 of 4, e7 has 1 of 4, its own experiment has 1 of 4");
	free(holds.list.at);
}

static void a_long_list_of_names_is_cut(void **state)
{
	struct local_holds holds = {0};
	struct local_machine large = {.cpus = 5};
	(void)state;
	for (int64_t i = 1; i <= 5; i++)
		local_hold_add(&holds, i, &(struct spool_slot){.cpus = 1});
	char *why = local_wait_why(&large, true, &holds, &(struct backend_resources){.cpus = 2}, 9);
	assert_string_equal(why,
			    "waits for 2 CPUs: e1 has 1 of 5, e2 has 1 of 5, e3 has 1 of 5, 2 others have the rest");
	free(why);
	free(holds.list.at);
}

static void gpus_are_waited_for_until_they_are_known(void **state)
{
	struct local_holds holds = {0};
	(void)state;
	char *why = local_wait_why(&machine, false, &holds, &(struct backend_resources){.gpus = 1}, 9);
	assert_string_equal(why, "waits for nvidia-smi to list the GPUs");
	free(why);
	assert_null(local_wait_why(&machine, false, &holds, &(struct backend_resources){.cpus = 1}, 9));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_scarce_and_who_has_it_are_named),
		cmocka_unit_test(who_has_most_comes_first_and_its_own_experiment_is_not_a_name),
		cmocka_unit_test(a_long_list_of_names_is_cut),
		cmocka_unit_test(gpus_are_waited_for_until_they_are_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
