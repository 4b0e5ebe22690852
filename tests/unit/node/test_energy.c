/* Energy out of readings: the counter, integrated power, shares, idle power; RAPL; how often samples are taken. */
#include "../unit.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/pace.h"
#include "node/energy.h"
#include "node/rapl.h"
#include "node/sampler.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct gpu_reading reading(double energy_j, double power_w, double util)
{
	struct gpu_reading r = {.energy_j = energy_j, .part = 1};
	for (size_t i = 0; i < SAMPLE_GPU_COUNT; i++)
		r.figure[i] = NAN;
	r.figure[SAMPLE_GPU_POWER] = power_w;
	r.figure[SAMPLE_GPU_UTIL] = util;
	return r;
}

static void take(struct energy *energy, int64_t now_ms, double energy_j, double power_w, double util, double share)
{
	struct gpu_reading r = reading(energy_j, power_w, util);
	energy_take_gpu(energy, 0, now_ms, &r, share);
}

static void the_counter_of_a_card_alone_is_measured(void **state)
{
	(void)state;
	struct energy energy;
	struct cost cost = {0};
	energy_init(&energy, "NVML");
	energy_write(&energy, &cost);
	assert_false(cost_has(&cost, FIGURE_ENERGY)); /* nothing was read: not measured, and not 0 */
	take(&energy, 1000, 5000, 70, 0, 1);
	take(&energy, 3000, 5600, 300, 90, 1);
	take(&energy, 5000, 6200, 300, 100, 1);
	energy_write(&energy, &cost);
	assert_true(cost_get(&cost, FIGURE_ENERGY) == 1200 && cost_get(&cost, FIGURE_ENERGY_GPU) == 1200);
	assert_true(cost_get(&cost, FIGURE_ENERGY_ESTIMATED) == 0);
	assert_true(cost_get(&cost, FIGURE_ENERGY_IDLE) == 70.0 * 4);
	assert_true(cost_get(&cost, FIGURE_GPU_UTIL) == 95);
	assert_string_equal(cost.source, "NVML energy counter");
}

static void power_is_integrated_where_there_is_no_counter_or_it_was_reset(void **state)
{
	(void)state;
	struct energy energy;
	struct cost cost = {0};
	energy_init(&energy, "nvidia-smi");
	take(&energy, 1000, NAN, 100, 10, 1);
	take(&energy, 11000, NAN, 300, 10, 1);
	energy_write(&energy, &cost);
	assert_true(cost_get(&cost, FIGURE_ENERGY) == 2000);
	assert_false(cost_has(&cost, FIGURE_ENERGY_IDLE)); /* it was never seen idle */
	assert_string_equal(cost.source, "nvidia-smi power, integrated");
	energy_init(&energy, "NVML");
	take(&energy, 1000, 9000, 100, 10, 1);
	take(&energy, 2000, 5, 100, 10, 1);
	energy_write(&energy, &cost);
	assert_true(cost_get(&cost, FIGURE_ENERGY) == 100);
}

static void a_shared_card_is_an_estimate(void **state)
{
	(void)state;
	struct energy energy;
	struct cost cost = {0};
	energy_init(&energy, "NVML");
	take(&energy, 1000, 0, 100, 50, 1);
	take(&energy, 2000, 100, 100, 50, 1);
	take(&energy, 3000, 200, 100, 50, 0.25);
	energy_write(&energy, &cost);
	assert_true(cost_get(&cost, FIGURE_ENERGY) == 125 && cost_get(&cost, FIGURE_ENERGY_ESTIMATED) == 25);
	assert_string_equal(cost.source, "NVML energy counter (estimate: shared)");
}

static void the_node_is_ours_or_split_by_cpu_time(void **state)
{
	(void)state;
	struct energy energy;
	struct cost cost = {0};
	energy_init(&energy, NULL);
	energy_take_node(&energy, 100, 10, 0.95);
	energy_write(&energy, &cost);
	assert_true(cost_get(&cost, FIGURE_ENERGY) == 110 && cost_get(&cost, FIGURE_ENERGY_ESTIMATED) == 0);
	assert_string_equal(cost.source, "RAPL package and DRAM");
	energy_take_node(&energy, 100, NAN, 0.5);
	energy_write(&energy, &cost);
	assert_true(cost_get(&cost, FIGURE_ENERGY_PACKAGE) == 150 && cost_get(&cost, FIGURE_ENERGY_DRAM) == 10);
	assert_true(cost_get(&cost, FIGURE_ENERGY_ESTIMATED) == 50);
	assert_string_equal(cost.source, "RAPL package and DRAM (estimate: shared)");
}

static void put(const char *root, const char *name, const char *text)
{
	char *path = mem_printf("%s/%s", root, name);
	assert_int_equal(fs_write(path, text, strlen(text), 0600, false, NULL), 0);
	free(path);
}

static void rapl_counters_are_added_and_may_begin_again(void **state)
{
	(void)state;
	static const char *const zones[] = {"intel-rapl:0", "intel-rapl:0:0", "intel-rapl:0:1", "intel-rapl:1", "dtpm"};
	static const char *const names[] = {"package-0\n", "core\n", "dram\n", "package-1\n", "package-9\n"};
	char root[] = "/tmp/sluice-rapl-XXXXXX";
	struct rapl rapl;
	double package_j, dram_j;
	assert_non_null(mkdtemp(root));
	assert_int_equal(rapl_open(&rapl, "/no/such/folder"), 0);
	rapl_read(&rapl, &package_j, &dram_j);
	assert_true(isnan(package_j) && isnan(dram_j));
	for (size_t i = 0; i < COUNT_OF(zones); i++) {
		char *dir = mem_printf("%s/%s", root, zones[i]);
		assert_int_equal(mkdir(dir, 0700), 0);
		put(dir, "name", names[i]);
		put(dir, "energy_uj", "9000000\n");
		put(dir, "max_energy_range_uj", "10000000\n");
		free(dir);
	}
	assert_int_equal(rapl_open(&rapl, root), 3);
	put(root, "intel-rapl:0/energy_uj", "9500000\n");
	put(root, "intel-rapl:1/energy_uj", "1000000\n"); /* begun again: 2 J */
	put(root, "intel-rapl:0:1/energy_uj", "9250000\n");
	rapl_read(&rapl, &package_j, &dram_j);
	assert_true(fabs(package_j - 2.5) < 1e-9 && fabs(dram_j - 0.25) < 1e-9);
	rapl_close(&rapl);
	assert_int_equal(fs_remove_tree(root, NULL), 0);
	assert_int_equal(rapl_parse_busy("cpu  10 20 30 1000 500 1 2 3 0 0\ncpu0 1\n"), 66);
}

/* A share that is not known yet is no 0: what was used meanwhile is split by the next one. */
static void energy_of_the_node_is_unknown_without_a_share(void **state)
{
	(void)state;
	struct energy energy;
	struct cost cost = {0};
	energy_init(&energy, NULL);
	energy_take_node(&energy, 100, NAN, NAN);
	energy_write(&energy, &cost);
	assert_false(cost_has(&cost, FIGURE_ENERGY) || cost_has(&cost, FIGURE_ENERGY_PACKAGE));
	energy_take_node(&energy, 100, NAN, 0.5);
	energy_write(&energy, &cost);
	assert_true(cost_get(&cost, FIGURE_ENERGY) == 100 && cost_get(&cost, FIGURE_ENERGY_ESTIMATED) == 100);
	assert_false(cost_has(&cost, FIGURE_ENERGY_DRAM));
}

/* A script that ends before its first sample: its CPU time is known only when it was waited for. */
static void a_task_shorter_than_a_sample_uses_energy_of_the_node(void **state)
{
	(void)state;
	char root[] = "/tmp/sluice-rapl-XXXXXX";
	struct sampler sampler;
	struct cost cost = {0};
	assert_non_null(mkdtemp(root));
	char *dir = mem_printf("%s/intel-rapl:0", root);
	assert_int_equal(mkdir(dir, 0700), 0);
	put(dir, "name", "package-0\n");
	put(dir, "energy_uj", "1000000\n");
	put(dir, "max_energy_range_uj", "100000000\n");
	sampler_open(&sampler, &(struct sampler_config){.part = 1});
	rapl_close(&sampler.rapl);
	assert_int_equal(rapl_open(&sampler.rapl, root), 1);
	sampler_begin(&sampler, clock_mono_ms());
	pid_t pid = fork();
	if (pid == 0) {
		while (clock() < CLOCKS_PER_SEC / 5) /* of CPU time */
			;
		_exit(0);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	put(dir, "energy_uj", "51000000\n");
	sampler_end(&sampler, &cost);
	assert_true(cost_get(&cost, FIGURE_ENERGY) > 0 && cost_get(&cost, FIGURE_ENERGY) <= 50);
	sampler_close(&sampler);
	free(dir);
	assert_int_equal(fs_remove_tree(root, NULL), 0);
}

/* The kernel counts the reader of the GPUs among the ended children. */
static void the_memory_of_a_helper_is_not_the_scripts(void **state)
{
	(void)state;
	struct usage usage = {0};
	struct cost cost = {0};
	struct rusage large = {.ru_maxrss = INT32_MAX}, small = {.ru_maxrss = 8};
	usage_ended(&usage, true, &large);
	usage_ended(&usage, false, &small);
	usage_final(&usage, &cost);
	assert_true(cost_get(&cost, FIGURE_MEMORY) == 8 * 1024);
}

static void samples_come_often_at_first_and_never_cost_more_than_their_share(void **state)
{
	(void)state;
	assert_int_equal(sampler_interval_ms(0, 1), EXEC_SAMPLE_FIRST_MS);
	assert_int_equal(sampler_interval_ms(60000, 1), EXEC_SAMPLE_SOON_MS);
	assert_int_equal(sampler_interval_ms(3600000, 1), EXEC_SAMPLE_MS);
	for (double spent = 1; spent < 150; spent *= 2)
		assert_true(spent / (double)sampler_interval_ms(0, spent) < 0.005);
	assert_int_equal(sampler_interval_ms(0, 100000), EXEC_BEAT_MS); /* the beat is promised */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_counter_of_a_card_alone_is_measured),
		cmocka_unit_test(power_is_integrated_where_there_is_no_counter_or_it_was_reset),
		cmocka_unit_test(a_shared_card_is_an_estimate),
		cmocka_unit_test(the_node_is_ours_or_split_by_cpu_time),
		cmocka_unit_test(rapl_counters_are_added_and_may_begin_again),
		cmocka_unit_test(energy_of_the_node_is_unknown_without_a_share),
		cmocka_unit_test(a_task_shorter_than_a_sample_uses_energy_of_the_node),
		cmocka_unit_test(the_memory_of_a_helper_is_not_the_scripts),
		cmocka_unit_test(samples_come_often_at_first_and_never_cost_more_than_their_share),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
