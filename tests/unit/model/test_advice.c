/* What follows from what tasks asked for and what they used. */
#include "../unit.h"

#include "model/advice.h"

#include <math.h>

#define GIB (1024.0 * 1024 * 1024)

static struct advice_facts nothing_known(void)
{
	return (struct advice_facts){
		.tasks = 10,
		.cpus = 1,
		.longest_ms = NAN,
		.peak_bytes = NAN,
		.cpu_cores = NAN,
		.busiest_cores = NAN,
		.most_cores = NAN,
		.gpu_util_pct = NAN,
		.gpu_peak_bytes = NAN,
		.gpu_slowed = NAN,
		.card_bytes = NAN,
	};
}

/* Exactly one advice, with this key, value and words; key NULL: none at all. */
static void expect(const struct advice_facts *facts, const char *key, const char *value, const char *words)
{
	advice_list list = {0};
	advice_find(facts, &list);
	assert_int_equal(list.len, key ? 1 : 0);
	if (key) {
		assert_string_equal(list.at[0].key, key);
		assert_string_equal(list.at[0].value, value);
		if (!strstr(list.at[0].text, words))
			fail_msg("'%s' does not say '%s'", list.at[0].text, words);
	}
	advice_free(&list);
}

static void test_what_is_not_known_gives_no_advice(void **state)
{
	(void)state;
	struct advice_facts f = nothing_known();
	f.memory_bytes = (int64_t)(16 * GIB);
	f.time_ms = 7200000;
	f.gpus = 1;
	f.cpus = 8;
	expect(&f, NULL, NULL, NULL);
}

static void test_tasks_that_got_too_little_are_evidence_against_less(void **state)
{
	(void)state;
	struct advice_facts f = nothing_known();
	f.memory_bytes = (int64_t)GIB;
	f.peak_bytes = 0.04 * GIB;
	f.out_of_memory = 1;
	expect(&f, "memory", "2G", "1 ended for lack of memory with 1.0 GB asked: ask for 2G");
	f = nothing_known();
	f.time_ms = 7200000;
	f.longest_ms = 60000;
	f.out_of_time = 3;
	expect(&f, NULL, NULL, NULL);
}

static void test_memory(void **state)
{
	(void)state;
	struct advice_facts f = nothing_known();
	f.memory_bytes = (int64_t)(16 * GIB);
	f.peak_bytes = 3.1 * GIB;
	expect(&f, "memory", "4G", "peak memory 3.1 GB of 16");
	f.peak_bytes = 0.3 * GIB;
	expect(&f, "memory", "512M", "ask for 512M");
	f.peak_bytes = 9 * GIB;
	expect(&f, NULL, NULL, NULL);
	f.peak_bytes = 15.5 * GIB;
	expect(&f, "memory", "20G", "will be ended");
	f.tasks = 2;
	expect(&f, NULL, NULL, NULL);
}

static void test_time(void **state)
{
	(void)state;
	struct advice_facts f = nothing_known();
	f.time_ms = 7200000;
	f.longest_ms = 660000;
	expect(&f, "time", "20m", "time limit 2 h 00 m, longest of 10 tasks 11 m 00 s: ask for 20m");
	f.longest_ms = 3000;
	expect(&f, "time", "5m", "ask for 5m");
	f.longest_ms = 3600000;
	expect(&f, NULL, NULL, NULL);
}

static void test_gpu(void **state)
{
	(void)state;
	struct advice_facts f = nothing_known();
	f.gpus = 1;
	f.gpu_util_pct = 0;
	f.gpu_peak_bytes = 0;
	expect(&f, "gpus", "0", "does not use it");
	f.gpu_util_pct = 23;
	f.busiest_cores = 0.99;
	expect(&f, "cpus", "4", "GPU 23 % busy, one process at 99 % of a core");
	f.busiest_cores = 0.5;
	f.gpu_util_pct = 11;
	f.gpu_peak_bytes = 2 * GIB;
	f.card_bytes = 140 * GIB;
	expect(&f, "gpus", "0.125", "8 of these fit on one GPU");
	f.card_bytes = 8 * GIB;
	expect(&f, "gpus", "0.5", "2 of these");
	f.gpu_util_pct = 95;
	expect(&f, NULL, NULL, NULL);
}

static void test_cpus(void **state)
{
	(void)state;
	struct advice_facts f = nothing_known();
	f.cpus = 8;
	f.cpu_cores = 1.1;
	f.most_cores = 1.6;
	expect(&f, "cpus", "2", "1.1 of 8 CPUs in use");
	f.most_cores = 5;
	expect(&f, NULL, NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_not_known_gives_no_advice),
		cmocka_unit_test(test_tasks_that_got_too_little_are_evidence_against_less),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_gpu),
		cmocka_unit_test(test_cpus),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
