/* Readings of GPUs, out of recorded answers of NVML's helper and nvidia-smi and a folder like sysfs; whose work on a
 * card is ours. */
#include "../unit.h"

#include "base/fs.h"
#include "base/mem.h"
#include "node/gpu.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The helper on an H200 while a ResNet trained. */
static const char recorded[] =
	"{\"gpus\":[{\"id\":\"0\",\"slice\":false,\"energy_mj\":185260200,\"power_mw\":412345,\"util\":97,"
	"\"memory\":5368709120,\"memory_total\":150754820096,\"temperature\":55,\"sm_mhz\":1980,\"memory_mhz\":3201,"
	"\"throttle\":4,\"limit_mw\":700000,\"processes\":[[4711,4294967296,60],[4712,-1,20]]}]}";
static struct gpu_readings readings;

static void an_answer_of_the_helper_is_read(void **state)
{
	(void)state;
	assert_int_equal(gpu_parse_helper(recorded, strlen(recorded), &readings, NULL), 0);
	const struct gpu_reading *r = &readings.at[0];
	assert_int_equal(readings.count, 1);
	assert_string_equal(r->id, "0");
	assert_true(fabs(r->energy_j - 185260.2) < 1e-6 && fabs(r->figure[SAMPLE_GPU_POWER] - 412.345) < 1e-9);
	assert_true(r->figure[SAMPLE_GPU_UTIL] == 97 && r->figure[SAMPLE_GPU_THROTTLE] == 4 && r->limit_w == 700);
	assert_true(r->knows_processes && r->process_count == 2 && r->processes[0].busy_pct == 60);
	assert_true(isnan(r->processes[1].memory_bytes) && isnan(r->limit_before_w) && r->part == 1);
}

static void a_card_without_a_counter_and_a_slice_are_read(void **state)
{
	(void)state;
	static const char text[] = "{\"gpus\":[{\"id\":\"MIG-1\",\"slice\":true,\"power_mw\":100000,\"memory\":1,"
				   "\"memory_total\":20,\"card_memory\":80}]}";
	assert_int_equal(gpu_parse_helper(text, strlen(text), &readings, NULL), 0);
	assert_true(isnan(readings.at[0].energy_j) && readings.at[0].part == 0.25);
	assert_true(isnan(readings.at[0].figure[SAMPLE_GPU_UTIL]) && !readings.at[0].knows_processes);
}

static void what_the_helper_cannot_do_is_an_error_with_its_words(void **state)
{
	(void)state;
	static const char *const bad[] = {"{\"error\":\"libnvidia-ml.so.1 cannot be loaded\"}",
					  "{\"gpus\":[]}",
					  "{}",
					  "no json",
					  "{\"gpus\":7}",
					  ""};
	struct error err;
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		assert_true(gpu_parse_helper(bad[i], strlen(bad[i]), &readings, &err) < 0);
	assert_true(gpu_parse_helper(bad[0], strlen(bad[0]), &readings, &err) < 0);
	assert_string_equal(err.text, "libnvidia-ml.so.1 cannot be loaded");
}

static void lines_of_nvidia_smi_are_read(void **state)
{
	(void)state;
	static const char *const bad[] = {"", "0, 1", "No devices were found", "a, b, c, d, e, f, g, h, i"};
	static const char line[] = "1, 37, 512, 81559, 120.50, 45, 1980, [N/A], 0x0000000000000024";
	struct gpu_reading r;
	assert_true(gpu_parse_smi(line, strlen(line), &r));
	assert_string_equal(r.id, "1");
	assert_true(r.figure[SAMPLE_GPU_UTIL] == 37 && r.figure[SAMPLE_GPU_MEMORY] == 512.0 * 1048576);
	assert_true(r.figure[SAMPLE_GPU_POWER] == 120.5 && isnan(r.figure[SAMPLE_GPU_MEMORY_CLOCK]));
	assert_true(r.figure[SAMPLE_GPU_THROTTLE] == 0x24 && isnan(r.energy_j));
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		assert_false(gpu_parse_smi(bad[i], strlen(bad[i]), &r));
}

static void put(const char *dir, const char *name, const char *text)
{
	char *path = mem_printf("%s/%s", dir, name);
	assert_int_equal(fs_write(path, text, strlen(text), 0600, false, NULL), 0);
	free(path);
}

static void files_of_the_amdgpu_driver_are_read(void **state)
{
	(void)state;
	char root[] = "/tmp/sluice-amd-XXXXXX";
	struct gpu_reading r;
	assert_non_null(mkdtemp(root));
	assert_false(gpu_read_amd(root, "0", &r));
	static const char *const folders[] = {"device", "device/hwmon", "device/hwmon/hwmon3"};
	for (size_t i = 0; i < COUNT_OF(folders); i++) {
		char *path = mem_printf("%s/%s", root, folders[i]);
		assert_int_equal(mkdir(path, 0700), 0);
		free(path);
	}
	put(root, "device/gpu_busy_percent", "42\n");
	put(root, "device/mem_info_vram_used", "1000000\n");
	put(root, "device/hwmon/hwmon3/power1_average", "150000000\n");
	put(root, "device/hwmon/hwmon3/temp1_input", "61000\n");
	assert_true(gpu_read_amd(root, "0", &r));
	assert_true(r.figure[SAMPLE_GPU_UTIL] == 42 && r.figure[SAMPLE_GPU_POWER] == 150);
	assert_true(r.figure[SAMPLE_GPU_TEMPERATURE] == 61 && r.figure[SAMPLE_GPU_MEMORY] == 1e6);
	assert_int_equal(fs_remove_tree(root, NULL), 0);
}

static bool has_cb(const void *ctx, int64_t pid)
{
	(void)ctx;
	return pid == 4711;
}

static bool lives_cb(const void *ctx, int64_t pid)
{
	(void)ctx;
	return pid < 10000;
}

static void work_on_a_shared_card_is_split_by_utilisation(void **state)
{
	(void)state;
	size_t others;
	struct gpu_reading *r = &readings.at[0];
	assert_int_equal(gpu_parse_helper(recorded, strlen(recorded), &readings, NULL), 0);
	assert_true(gpu_share(r, 1, has_cb, lives_cb, NULL, &others) == 0.75 && others == 1);
	assert_true(gpu_memory(r, has_cb, NULL, others) == 4294967296.0);
	r->processes[0].busy_pct = r->processes[1].busy_pct = NAN; /* MPS: by their number */
	assert_true(gpu_share(r, 1, has_cb, lives_cb, NULL, &others) == 0.5);
	r->process_count = 1;
	assert_true(gpu_share(r, 1, has_cb, lives_cb, NULL, &others) == 1 && others == 0);
	r->processes[0].pid = 4712; /* only another one: nothing of it is ours */
	assert_true(gpu_share(r, 1, has_cb, lives_cb, NULL, &others) == 0 && others == 1);
	assert_true(isnan(gpu_memory(r, has_cb, NULL, others)));
	r->processes[0].pid = 99999; /* a number of another name space, on the card that we were given */
	assert_true(gpu_share(r, 1, has_cb, lives_cb, NULL, &others) == 1 && others == 0);
	assert_true(gpu_memory(r, has_cb, NULL, others) == 5368709120.0);
}

/* With a part of a card there are others, also where none of the processes can be told to be ours: each of four tasks would
 * count the whole card. */
static void a_part_of_a_card_is_never_the_whole_unless_only_ours_are_on_it(void **state)
{
	(void)state;
	size_t others;
	struct gpu_reading *r = &readings.at[0];
	assert_int_equal(gpu_parse_helper(recorded, strlen(recorded), &readings, NULL), 0);
	assert_true(gpu_share(r, 0.25, has_cb, lives_cb, NULL, &others) == 0.75 && others == 1);
	r->process_count = 1; /* ours: the neighbours do not use it now */
	assert_true(gpu_share(r, 0.25, has_cb, lives_cb, NULL, &others) == 1);
	r->process_count = 0; /* no process uses it yet, or the driver lists none */
	assert_true(gpu_share(r, 0.25, has_cb, lives_cb, NULL, &others) == 0.25);
	assert_true(isnan(gpu_memory(r, has_cb, NULL, true)));
	r->process_count = 2; /* numbers of another name space */
	r->processes[0].pid = 99998;
	r->processes[1].pid = 99999;
	assert_true(gpu_share(r, 0.25, has_cb, lives_cb, NULL, &others) == 0.5);
	r->process_count = 1;
	assert_true(gpu_share(r, 0.25, has_cb, lives_cb, NULL, &others) == 0.25);
}

static bool is_eleven(const void *ctx, int64_t pid)
{
	(void)ctx;
	return pid == 11;
}

static bool is_twelve(const void *ctx, int64_t pid)
{
	(void)ctx;
	return pid == 12;
}

static bool lives_always(const void *ctx, int64_t pid)
{
	(void)ctx, (void)pid;
	return true;
}

/* As an H200 seems to list them: the driver counts the work of all clients as the server's, and nothing as theirs. */
static void test_clients_of_mps_have_equal_parts_and_the_server_none(void **state)
{
	(void)state;
	struct gpu_reading reading = {
		.knows_processes = true,
		.process_count = 5,
		.processes = {{11, 3e7, 97}, {12, 1e9, 0}, {13, 1e9, 0}, {14, 1e9, 0}, {15, 1e9, 0}}};
	size_t others;
	assert_float_equal(gpu_share(&reading, 1, is_twelve, lives_always, NULL, &others), 0, 1e-9);
	gpu_forget_server(&reading, is_eleven, NULL);
	assert_float_equal(gpu_share(&reading, 1, is_twelve, lives_always, NULL, &others), 0.25, 1e-9);
	assert_int_equal(others, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clients_of_mps_have_equal_parts_and_the_server_none),
		cmocka_unit_test(an_answer_of_the_helper_is_read),
		cmocka_unit_test(a_card_without_a_counter_and_a_slice_are_read),
		cmocka_unit_test(what_the_helper_cannot_do_is_an_error_with_its_words),
		cmocka_unit_test(lines_of_nvidia_smi_are_read),
		cmocka_unit_test(files_of_the_amdgpu_driver_are_read),
		cmocka_unit_test(work_on_a_shared_card_is_split_by_utilisation),
		cmocka_unit_test(a_part_of_a_card_is_never_the_whole_unless_only_ours_are_on_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
