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

/* In the form that nvidia-smi has since driver 470 (written by hand, no card with slices was at hand): the first card has slices,
 * the second has none. */
static const char slices[] = "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5c89852c-d268-c3f3-1b07-005d5ae1dc3f)\n"
			     "  MIG 3g.20gb     Device  0: (UUID: MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f)\n"
			     "  MIG 1g.5gb      Device  1: (UUID: MIG-cba663e8-9bed-5b25-b243-5985ef7c9beb)\n"
			     "GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-2aa36d4d-aaaa-bbbb-cccc-005d5ae1dc3f)\n";
static const char cards[] = "0, GPU-5c89852c-d268-c3f3-1b07-005d5ae1dc3f, 40960, NVIDIA A100-SXM4-40GB\n"
			    "1, GPU-2aa36d4d-aaaa-bbbb-cccc-005d5ae1dc3f, 40960, NVIDIA A100-SXM4-40GB\n";

static void test_mig_slices_are_devices(void **state)
{
	(void)state;
	struct local_machine machine = {0};
	local_machine_read_gpus(&machine, cards, NULL);
	local_machine_read_slices(&machine, slices, NULL);
	assert_int_equal(machine.gpu_count, 3);
	assert_string_equal(machine.gpus[0].id, "MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f");
	assert_string_equal(machine.gpus[0].name, "NVIDIA A100-SXM4-40GB MIG 3g.20gb");
	assert_true(machine.gpus[0].memory_bytes == (int64_t)20 << 30);
	assert_true(machine.gpus[1].memory_bytes == (int64_t)5 << 30);
	assert_string_equal(machine.gpus[2].id, "1");
	/* Only what the daemon itself may see. */
	local_machine_read_gpus(&machine, cards, "0");
	local_machine_read_slices(&machine, slices, "0");
	assert_int_equal(machine.gpu_count, 2);
	local_machine_read_gpus(&machine, cards, NULL);
	local_machine_read_slices(&machine, slices, "MIG-cba663e8-9bed-5b25-b243-5985ef7c9beb");
	assert_int_equal(machine.gpu_count, 1);
	assert_string_equal(machine.gpus[0].id, "MIG-cba663e8-9bed-5b25-b243-5985ef7c9beb");
	/* An answer that says nothing changes nothing. */
	local_machine_read_gpus(&machine, cards, NULL);
	local_machine_read_slices(&machine, "No devices found.\n", NULL);
	assert_int_equal(machine.gpu_count, 2);
	/* Names as drivers before 470 give them, written by hand too. */
	local_machine_read_slices(
		&machine, "GPU 0: A100 (UUID: GPU-5c89)\n  MIG 7g.40gb Device 0: (UUID: MIG-GPU-5c89/1/0)\n", NULL);
	assert_string_equal(machine.gpus[0].id, "MIG-GPU-5c89/1/0");
}

static void test_a_task_sees_its_mig_slice(void **state)
{
	(void)state;
	struct backend_resources one = {.cpus = 1, .gpus = 1};
	char *fake = mem_printf("#!/bin/sh\n[ \"$1\" = -L ] && printf '%s' || printf '%s'\n", slices, cards),
	     *old = enter_gpus(fake);
	for (int i = 0; i < 4000 && !backend_local.room(backend, &one); i++)
		turn();
	expect_visible(&one, 0, "is MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f.\n");
	leave_gpus(old);
	free(fake);
}

/* Parts are given of cards only. */
static void test_mig_slices_are_not_parted(void **state)
{
	(void)state;
	struct backend_resources half = {.cpus = 1, .gpus = 1, .gpu_share = 500}, one = {.cpus = 1, .gpus = 1};
	struct local_machine machine = {.cpus = 8};
	const char *key = NULL, *remedy = NULL;
	local_machine_read_gpus(&machine, cards, NULL);
	local_machine_read_slices(&machine, slices, NULL);
	assert_null(local_machine_impossible(&machine, true, &half, &key, &remedy));
	assert_int_equal(local_machine_gpu_room(&machine, 1, 500), 2);
	assert_int_equal(local_machine_slots(&machine, &half), 2);
	local_machine_read_gpus(&machine, cards, "0");
	local_machine_read_slices(&machine, slices, "0");
	assert_null(local_machine_impossible(&machine, true, &one, &key, &remedy));
	char *why = local_machine_impossible(&machine, true, &half, &key, &remedy);
	assert_string_equal(why,
			    "a task asks for 0.5 of a GPU, but the GPUs of this machine are MIG slices, which are "
			    "not parted");
	assert_string_equal(key, "gpus");
	assert_int_equal(local_machine_slots(&machine, &half), 0);
	free(why);

	char *fake = mem_printf("#!/bin/sh\n[ \"$1\" = -L ] && printf '%s' || printf '%s'\n", slices, cards),
	     *old = enter_gpus(fake);
	for (int i = 0; i < 4000 && !backend_local.room(backend, &half); i++)
		turn();
	expect_visible(&half, 0, "is 1.\n"); /* the card without slices */
	leave_gpus(old);
	free(fake);
}

/* The usual layout of an A100: seven slices, whose names are 286 characters together. */
static void test_a_task_gets_every_slice_it_asks_for(void **state)
{
	(void)state;
	struct backend_resources all = {.cpus = 1, .gpus = 7}, one = {.cpus = 1, .gpus = 1};
	struct buf fake = buf_make(BUF_UNLIMITED), expected = buf_make(BUF_UNLIMITED);
	buf_add_text(&fake,
		     "#!/bin/sh\n[ \"$1\" = -L ] || { echo '0, GPU-5c89, 40960, NVIDIA A100'; exit; }\n"
		     "echo 'GPU 0: NVIDIA A100 (UUID: GPU-5c89)'\n");
	for (int i = 0; i < 7; i++) {
		buf_addf(&fake, "echo '  MIG 1g.5gb  Device  %d: (UUID: MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3%d)'\n",
			 i, i);
		buf_addf(&expected, "%sMIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3%d", i ? "," : "is ", i);
	}
	buf_add_text(&expected, ".\n");
	char *old = enter_gpus(buf_text(&fake));
	for (int i = 0; i < 4000 && !backend_local.room(backend, &one); i++)
		turn();
	expect_visible(&all, 0, buf_text(&expected));
	assert_true(journal_has(0, "45d71c87eb36\""));
	leave_gpus(old);
	buf_free(&fake);
	buf_free(&expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BACKEND(test_who_asks_for_no_gpu_sees_none),
		WITH_BACKEND(test_a_machine_without_gpus_is_left_as_it_is),
		cmocka_unit_test(test_gpus_are_read_and_hidden_ones_left_out),
		cmocka_unit_test(test_mig_slices_are_devices),
		WITH_BACKEND(test_a_task_sees_its_mig_slice),
		WITH_BACKEND(test_mig_slices_are_not_parted),
		WITH_BACKEND(test_a_task_gets_every_slice_it_asks_for),
		WITH_BACKEND(test_every_gpu_is_given_to_one_attempt_at_a_time),
	};
	struct local_machine machine;
	local_machine_look(&machine);
	size_t count = COUNT_OF(tests);
	if (machine.cpus < 2) /* what cmocka's skip() prints meson takes for a failure */
		print_message("# left out, for it needs two CPUs: %s\n", tests[--count].name);
	return _cmocka_run_group_tests("tests", tests, count, NULL, NULL);
}
