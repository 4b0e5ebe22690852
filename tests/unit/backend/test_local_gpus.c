/* GPUs of the local backend, with a program that stands for nvidia-smi and real runners. */
#include "local_world.h"

#include "backend/local_machine.h"

#include <unistd.h>

/* Opens the backend again with a program in PATH that stands for nvidia-smi. Returns the old PATH, for leave_gpus. */
static char *enter_gpus(const char *fake)
{
	char *program_path = mem_printf("%s/nvidia-smi", root), *old = mem_strdup(getenv("PATH"));
	char *path = mem_printf("%s:%s", root, old);
	assert_int_equal(fs_write(program_path, fake, strlen(fake), 0700, false, NULL), 0);
	close_backend();
	setenv("PATH", path, 1);
	unsetenv("CUDA_VISIBLE_DEVICES");
	open_backend();
	free(program_path);
	free(path);
	return old;
}

static void leave_gpus(char *old)
{
	setenv("PATH", old, 1);
	free(old);
}

static const char two_gpus[] = "#!/bin/sh\necho '0, GPU-a, 1000, Test GPU'\necho '3, GPU-b, 1000, Test GPU'\n";

/* What a task of this size sees in CUDA_VISIBLE_DEVICES. */
static void expect_visible(const struct backend_resources *resources, uint32_t index, const char *expected)
{
	struct buf seen = buf_make(4096);
	char *path = work_file(index, "seen");
	describe_task(index, "echo is ${CUDA_VISIBLE_DEVICES-unset}. >part; mv part seen");
	submit_with(resources, index, 1);
	wait_for_file(path);
	assert_int_equal(fs_read(path, 4096, &seen, NULL), 0);
	assert_string_equal(buf_text(&seen), expected);
	wait_for_state(index, BACKEND_ENDED);
	buf_free(&seen);
	free(path);
}

static void test_who_asks_for_no_gpu_sees_none(void **state)
{
	(void)state;
	struct backend_resources none = {.cpus = 1}, one = {.cpus = 1, .gpus = 1};
	char *old = enter_gpus(two_gpus);
	expect_visible(&none, 0, "is .\n"); /* nvidia-smi may not have answered yet */
	for (int i = 0; i < 4000 && !backend_local.room(backend, &one); i++)
		turn();
	assert_true(backend_local.room(backend, &one) > 0);
	expect_visible(&none, 1, "is .\n");
	assert_true(journal_has(1, "no GPU was asked for"));
	assert_false(journal_has(1, "\"gpus\""));
	expect_visible(&one, 2, "is 0.\n");
	assert_false(journal_has(2, "no GPU was asked for"));
	leave_gpus(old);
}

static void test_a_machine_without_gpus_is_left_as_it_is(void **state)
{
	(void)state;
	struct backend_resources none = {.cpus = 1};
	char *old = enter_gpus("#!/bin/sh\nexit 1\n");
	wait_for_gpus();
	expect_visible(&none, 0, "is unset.\n");
	assert_false(journal_has(0, "no GPU was asked for"));
	leave_gpus(old);
}

static void test_every_gpu_is_given_to_one_attempt_at_a_time(void **state)
{
	(void)state;
	struct backend_resources one = {.cpus = 1, .gpus = 1};
	char *old = enter_gpus(two_gpus);
	for (int i = 0; i < 4000 && backend_local.room(backend, &one) != 2; i++)
		turn();
	assert_int_equal(backend_local.room(backend, &one), 2);
	for (uint32_t i = 0; i < 3; i++)
		describe_task(i, "touch ready; while [ ! -e go ]; do sleep 0.02; done");
	submit_with(&one, 0, 3);
	for (uint32_t i = 0; i < 2; i++) {
		char *ready = work_file(i, "ready");
		wait_for_file(ready);
		free(ready);
	}
	assert_true(journal_has(0, "\"gpus\":\"0\""));
	assert_true(journal_has(1, "\"gpus\":\"3\""));
	assert_int_equal(look(2), BACKEND_QUEUED);
	char *go = work_file(1, "go"), *third = work_file(2, "ready");
	assert_int_equal(fs_write(go, "", 0, 0600, false, NULL), 0);
	wait_for_file(third);
	assert_true(journal_has(2, "\"gpus\":\"3\""));
	for (uint32_t i = 0; i < 3; i++)
		cancel(i);
	for (uint32_t i = 0; i < 3; i++)
		wait_for_state(i, BACKEND_ENDED);
	leave_gpus(old);
	free(go);
	free(third);
}

static void test_gpus_are_read_and_hidden_ones_left_out(void **state)
{
	(void)state;
	static const char text[] = "0, GPU-aaaa-1, 143771, NVIDIA H200\n1, GPU-bbbb-2, [N/A], NVIDIA GB10\r\n"
				   "nonsense\n, , ,\n2, GPU-cccc-3, 81559, NVIDIA H100\n";
	struct local_machine m = {0};
	local_machine_read_gpus(&m, text, NULL);
	assert_int_equal(m.gpu_count, 3);
	assert_string_equal(m.gpus[0].name, "NVIDIA H200");
	assert_true(m.gpus[0].memory_bytes == (int64_t)143771 << 20);
	assert_int_equal(m.gpus[1].memory_bytes, 0);
	local_machine_read_gpus(&m, text, "2,GPU-aaaa");
	assert_int_equal(m.gpu_count, 2);
	assert_int_equal(m.gpus[1].index, 2);
	local_machine_read_gpus(&m, text, "");
	assert_int_equal(m.gpu_count, 0);
	local_machine_read_gpus(&m, text, "-1,0");
	assert_int_equal(m.gpu_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BACKEND(test_who_asks_for_no_gpu_sees_none),
		WITH_BACKEND(test_a_machine_without_gpus_is_left_as_it_is),
		cmocka_unit_test(test_gpus_are_read_and_hidden_ones_left_out),
		WITH_BACKEND(test_every_gpu_is_given_to_one_attempt_at_a_time),
	};
	struct local_machine machine;
	local_machine_look(&machine);
	size_t count = COUNT_OF(tests);
	if (machine.cpus < 2) /* what cmocka's skip() prints meson takes for a failure */
		print_message("# left out, for it needs two CPUs: %s\n", tests[--count].name);
	return _cmocka_run_group_tests("tests", tests, count, NULL, NULL);
}
