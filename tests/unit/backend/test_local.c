/* The local backend with real runners: the program beside this one, started and killed for real. */
#include "../unit.h"

#include "backend/local.h"
#include "backend/local_machine.h"
#include "base/clock.h"
#include "base/proc.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOKEN "00112233445566778899aabbccddeeff"

static uv_loop_t loop;
static uv_timer_t heart; /* keeps the loop turning, as the daemon's own handles do */
static struct backend *backend;
static char *root, *batch_dir, *program;
static unsigned changes;
static struct backend_sight sight;
static char sight_message[256], sight_cause[32];
static struct backend_submit_result submitted;
static char submitted_why[256];

static void changed_cb(void *ctx)
{
	(void)ctx;
	changes++;
}

static void open_backend(void)
{
	struct backend_config config = {.loop = &loop, .program = program};
	assert_int_equal(backend_local.open(&config, &backend, NULL), 0);
	backend_local.on_change(backend, changed_cb, NULL);
}

static void close_backend(void)
{
	backend_local.close(backend);
	backend = NULL;
}

static void heart_cb(uv_timer_t *timer)
{
	(void)timer;
}

static int set_up(void **state)
{
	(void)state;
	char template[] = "/tmp/test_local_XXXXXX";
	root = mem_strdup(mkdtemp(template));
	batch_dir = mem_printf("%s/batch", root);
	char *files = mem_printf("%s/files", root);
	assert_int_equal(fs_make_dirs(batch_dir, 0700, NULL), 0);
	assert_int_equal(fs_make_dirs(files, 0700, NULL), 0);
	free(files);
	/* …/build/tests/unit/backend/test_backend_local → …/build/sluice */
	program = fs_program();
	for (int i = 0; i < 4; i++)
		*strrchr(program, '/') = 0;
	char *full = mem_printf("%s/sluice", program);
	free(program);
	program = full;
	uv_loop_init(&loop);
	uv_timer_init(&loop, &heart);
	uv_timer_start(&heart, heart_cb, 10, 10);
	changes = 0;
	open_backend();
	return 0;
}

static void turn(void)
{
	uv_run(&loop, UV_RUN_NOWAIT);
	usleep(5000);
}

static bool has_children(void)
{
	siginfo_t info;
	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* What is alive may still write into the folder, and the loop is not done with it. */
static int tear_down(void **state)
{
	(void)state;
	if (backend)
		close_backend();
	for (int i = 0; i < 4000 && has_children(); i++)
		turn();
	assert_false(has_children());
	uv_close((uv_handle_t *)&heart, NULL);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	assert_int_equal(fs_remove_tree(root, NULL), 0);
	free(root);
	free(batch_dir);
	free(program);
	return 0;
}

static char *attempt_dir(uint32_t index)
{
	return mem_printf("%s/tasks/%" PRIu32 "/attempts/1", root, index + 1);
}

static char *work_file(uint32_t index, const char *name)
{
	return mem_printf("%s/tasks/%" PRIu32 "/work/%s", root, index + 1, name);
}

static void describe_task(uint32_t index, const char *shell)
{
	char *path = mem_printf("%s/%" PRIu32 ".json", batch_dir, index);
	char *text = mem_printf("{\"token\":\"" TOKEN "\",\"experiment\":\"e1\",\"task\":%" PRIu32
				",\"attempt\":1,\"files_dir\":\"%s/files\",\"task_dir\":\"%s/tasks/%" PRIu32
				"\",\"attempt_dir\":\"%s/tasks/%" PRIu32 "/attempts/1\","
				"\"argv\":[\"sh\",\"-c\",\"%s\"],\"grace_ms\":2000,\"fresh\":true}",
				index + 1, root, root, index + 1, root, index + 1, shell);
	assert_int_equal(fs_write(path, text, strlen(text), 0600, false, NULL), 0);
	free(path);
	free(text);
}

static void submitted_cb(void *ctx, const char *token, const struct backend_submit_result *result)
{
	(void)ctx;
	assert_string_equal(token, TOKEN);
	submitted = *result;
	snprintf(submitted_why, sizeof(submitted_why), "%s", result->why ? result->why : "");
}

static void submit_with(const struct backend_resources *resources, uint32_t first, size_t count)
{
	struct backend_item items[8];
	for (size_t i = 0; i < count; i++)
		items[i] = (struct backend_item){first + (uint32_t)i, attempt_dir(first + (uint32_t)i)};
	struct backend_batch batch = {
		.token = TOKEN, .batch_dir = batch_dir, .resources = resources, .items = items, .count = count};
	backend_local.submit(backend, &batch, submitted_cb, NULL);
	for (size_t i = 0; i < count; i++)
		free((char *)items[i].attempt_dir);
}

static void submit(uint32_t first, size_t count)
{
	struct backend_resources one = {.cpus = 1};
	submit_with(&one, first, count);
}

static void sight_cb(void *ctx, const struct backend_sight *seen)
{
	(void)ctx;
	sight = *seen;
	snprintf(sight_message, sizeof(sight_message), "%s", seen->message ? seen->message : "");
	snprintf(sight_cause, sizeof(sight_cause), "%s", seen->cause ? cause_name(seen->cause) : "");
}

static void polled_cb(void *ctx, int rc, const char *why)
{
	(void)why;
	(void)ctx;
	assert_int_equal(rc, 0);
}

static void done_cb(void *ctx, int rc, const char *why)
{
	(void)why;
	(void)ctx;
	assert_int_equal(rc, 0);
}

static enum backend_state look(uint32_t index)
{
	char *dir = attempt_dir(index);
	struct backend_watch watch = {.token = TOKEN, .index = index, .batch_dir = batch_dir, .attempt_dir = dir};
	backend_local.poll(backend, &watch, 1, sight_cb, polled_cb, NULL);
	assert_int_equal(sight.index, index);
	free(dir);
	return sight.state;
}

static void cancel(uint32_t index)
{
	char *dir = attempt_dir(index);
	struct backend_watch watch = {.token = TOKEN, .index = index, .batch_dir = batch_dir, .attempt_dir = dir};
	backend_local.cancel(backend, &watch, 1, done_cb, NULL);
	free(dir);
}

static void wait_for_state(uint32_t index, enum backend_state state)
{
	for (int i = 0; i < 4000 && look(index) != state; i++)
		turn();
	assert_int_equal(look(index), state);
}

static void wait_for_file(const char *path)
{
	for (int i = 0; i < 4000 && access(path, F_OK) < 0; i++)
		turn();
	assert_int_equal(access(path, F_OK), 0);
}

/* nvidia-smi has answered, which is a change of its own: then what is too much is let through, to be refused. */
static void wait_for_gpus(void)
{
	struct backend_resources most = {.cpus = 1, .gpus = 65};
	for (int i = 0; i < 4000 && !backend_local.room(backend, &most); i++)
		turn();
	assert_int_equal(backend_local.room(backend, &most), 1);
}

static char *read_text(char *give_path)
{
	struct buf text = buf_make(1 << 20);
	if (fs_read(give_path, 1 << 20, &text, NULL) < 0)
		buf_clear(&text);
	free(give_path);
	return buf_take(&text);
}

static bool journal_has(uint32_t index, const char *what)
{
	char *dir = attempt_dir(index);
	char *text = read_text(mem_printf("%s/journal", dir));
	bool found = strstr(text, what) != NULL;
	free(text);
	free(dir);
	return found;
}

static pid_t claim_pid(uint32_t index)
{
	char *text = read_text(mem_printf("%s/%" PRIu32 ".claim", batch_dir, index));
	struct node *claim = NULL;
	assert_int_equal(node_parse_json(text, strlen(text), &claim, NULL), 0);
	pid_t pid = (pid_t)node_get_int(claim, "pid", 0);
	node_free(claim);
	free(text);
	return pid;
}

static void test_an_attempt_runs_and_its_slot_comes_back(void **state)
{
	(void)state;
	struct backend_resources one = {.cpus = 1};
	uint32_t before = backend_local.room(backend, &one);
	describe_task(0, "exit 3");
	submit(0, 1);
	assert_int_equal(submitted.outcome, BACKEND_SUBMITTED);
	assert_int_equal(backend_local.room(backend, &one), before - 1);
	assert_int_equal(look(0), BACKEND_RUNNING);
	wait_for_state(0, BACKEND_ENDED);
	assert_true(changes > 0);
	assert_int_equal(backend_local.room(backend, &one), before);
	assert_true(journal_has(0, "\"cause\":\"exit\""));
}

static void test_what_never_fits_is_refused_with_the_reason(void **state)
{
	(void)state;
	struct backend_resources many = {.cpus = 100000}, gpus = {.cpus = 1, .gpus = 65};
	struct problems problems = {0};
	struct node *at = node_new(NODE_MAP);
	backend_local.check(backend, &many, at, &problems);
	assert_int_equal(problems.list.len, 1);
	assert_non_null(strstr(problems.list.at[0].message, "100000 CPUs"));
	problems_free(&problems);
	node_free(at);
	wait_for_gpus();
	submit_with(&gpus, 0, 1);
	assert_int_equal(submitted.outcome, BACKEND_REFUSED);
	assert_non_null(strstr(submitted_why, "a task asks for 65 GPUs"));
	assert_int_equal(look(0), BACKEND_ABSENT);
}

static void test_what_does_not_fit_now_waits_for_a_slot(void **state)
{
	(void)state;
	struct local_machine machine;
	local_machine_look(&machine);
	struct backend_resources all = {.cpus = machine.cpus};
	char *go = work_file(0, "go"), *ready = work_file(0, "ready");
	describe_task(0, "touch ready; while [ ! -e go ]; do sleep 0.02; done");
	describe_task(1, "exit 0");
	submit_with(&all, 0, 2);
	wait_for_file(ready);
	assert_int_equal(look(0), BACKEND_RUNNING);
	assert_int_equal(look(1), BACKEND_QUEUED);
	assert_non_null(sight.reason);
	assert_int_equal(backend_local.room(backend, &all), 0);
	assert_int_equal(fs_write(go, "", 0, 0600, false, NULL), 0);
	wait_for_state(1, BACKEND_ENDED);
	assert_true(journal_has(1, "\"cause\":\"ok\""));
	free(go);
	free(ready);
}

static void test_cancelling_stops_a_running_attempt(void **state)
{
	(void)state;
	char *ready = work_file(0, "ready");
	describe_task(0, "touch ready; sleep 1000");
	submit(0, 1);
	wait_for_file(ready);
	cancel(0);
	wait_for_state(0, BACKEND_ENDED);
	assert_true(journal_has(0, "\"cause\":\"stopped\""));
	free(ready);
}

/* At once after the submission: the runner has not claimed its item yet, or has only just. */
static void test_cancelling_before_the_start_keeps_the_script_from_running(void **state)
{
	(void)state;
	describe_task(0, "sleep 1000");
	submit(0, 1);
	cancel(0);
	wait_for_state(0, BACKEND_ENDED);
	assert_true(journal_has(0, "\"cause\":\"stopped\""));
}

static void test_cancelling_what_was_never_submitted_ends_it(void **state)
{
	(void)state;
	assert_int_equal(look(0), BACKEND_ABSENT);
	cancel(0);
	assert_int_equal(look(0), BACKEND_ENDED);
	assert_string_equal(sight_cause, "cancelled");
	describe_task(0, "touch ran");
	submit(0, 1);
	wait_for_state(0, BACKEND_ENDED);
	char *ran = work_file(0, "ran");
	assert_int_not_equal(access(ran, F_OK), 0);
	free(ran);
}

/* Gone, or dead and only not yet missed: whoever is process 1 takes its time. */
static bool is_over(pid_t pid)
{
	char path[64], what = 'X';
	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return true;
	bool known = fscanf(file, "%*d (%*[^)]) %c", &what) == 1;
	fclose(file);
	return !known || what == 'Z' || what == 'X';
}

static void test_a_killed_runner_is_lost_and_leaves_nothing_behind(void **state)
{
	(void)state;
	char *child = work_file(0, "child");
	describe_task(0, "sleep 1000 & echo $! > child.tmp; mv child.tmp child; wait");
	submit(0, 1);
	wait_for_file(child);
	char *text = read_text(child);
	pid_t pid = atoi(text);
	free(text);
	assert_false(is_over(pid));
	kill(claim_pid(0), SIGKILL);
	wait_for_state(0, BACKEND_ENDED);
	assert_string_equal(sight_cause, "lost");
	for (int i = 0; i < 4000 && !is_over(pid); i++)
		turn();
	assert_true(is_over(pid));
}

/* The next daemon finds what this one started: it goes on, holds its slot, and its end is noticed. */
static void test_a_restarted_daemon_takes_up_what_runs(void **state)
{
	(void)state;
	struct backend_resources one = {.cpus = 1};
	char *ready = work_file(0, "ready"), *go = work_file(0, "go");
	uint32_t before = backend_local.room(backend, &one);
	describe_task(0, "touch ready; while [ ! -e go ]; do sleep 0.02; done");
	submit(0, 1);
	wait_for_file(ready);
	close_backend();
	open_backend();
	wait_for_gpus();
	changes = 0;
	assert_int_equal(backend_local.room(backend, &one), before);
	assert_int_equal(look(0), BACKEND_RUNNING);
	assert_int_equal(backend_local.room(backend, &one), before - 1);
	assert_int_equal(fs_write(go, "", 0, 0600, false, NULL), 0);
	for (int i = 0; i < 4000 && !changes; i++)
		turn();
	assert_true(changes > 0);
	assert_int_equal(look(0), BACKEND_ENDED);
	assert_int_equal(backend_local.room(backend, &one), before);
	assert_true(journal_has(0, "\"cause\":\"ok\""));
	free(ready);
	free(go);
}

static void test_handing_over_again_runs_the_script_once(void **state)
{
	(void)state;
	describe_task(0, "echo ran >> $SLUICE_TASK_DIR/ran");
	submit(0, 1);
	close_backend(); /* as if the daemon had died before it knew */
	open_backend();
	submit(0, 1);
	wait_for_state(0, BACKEND_ENDED);
	for (int i = 0; i < 2000 && !journal_has(0, "\"kind\":\"end\""); i++)
		turn();
	char *ran = read_text(mem_printf("%s/tasks/1/ran", root));
	assert_string_equal(ran, "ran\n");
	free(ran);
}

static void test_a_claim_of_an_earlier_boot_is_lost(void **state)
{
	(void)state;
	char host[256] = "";
	gethostname(host, sizeof(host) - 1);
	char *path = mem_printf("%s/0.claim", batch_dir);
	char *text = mem_printf("{\"host\":\"%s\",\"pid\":%d,\"pid_start\":1,\"boot_id\":\"other\",\"time\":1}", host,
				getpid());
	assert_int_equal(fs_write(path, text, strlen(text), 0600, false, NULL), 0);
	assert_int_equal(look(0), BACKEND_ENDED);
	assert_string_equal(sight_cause, "lost");
	assert_non_null(strstr(sight_message, "restarted"));
	free(path);
	free(text);
}

/* A link to itself cannot be followed, also not by root: it stands for EIO, EMFILE and ESTALE. */
static void test_an_attempt_whose_claim_cannot_be_read_is_not_ended(void **state)
{
	(void)state;
	char *path = mem_printf("%s/0.claim", batch_dir);
	assert_int_equal(symlink(path, path), 0);
	assert_int_equal(look(0), BACKEND_RUNNING);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(look(0), BACKEND_ABSENT);
	free(path);
}

static void test_a_pid_that_was_given_out_again_is_not_ours(void **state)
{
	(void)state;
	char host[256] = "";
	gethostname(host, sizeof(host) - 1);
	char *path = mem_printf("%s/0.claim", batch_dir);
	char *text = mem_printf("{\"host\":\"%s\",\"pid\":%d,\"pid_start\":1,\"boot_id\":\"%s\",\"time\":1}", host,
				getpid(), proc_boot_id());
	assert_int_equal(fs_write(path, text, strlen(text), 0600, false, NULL), 0);
	assert_int_equal(look(0), BACKEND_ENDED);
	cancel(0); /* would end this very process */
	free(path);
	free(text);
}

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
#define WITH_BACKEND(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		WITH_BACKEND(test_an_attempt_runs_and_its_slot_comes_back),
		WITH_BACKEND(test_what_never_fits_is_refused_with_the_reason),
		WITH_BACKEND(test_what_does_not_fit_now_waits_for_a_slot),
		WITH_BACKEND(test_cancelling_stops_a_running_attempt),
		WITH_BACKEND(test_cancelling_before_the_start_keeps_the_script_from_running),
		WITH_BACKEND(test_cancelling_what_was_never_submitted_ends_it),
		WITH_BACKEND(test_a_killed_runner_is_lost_and_leaves_nothing_behind),
		WITH_BACKEND(test_a_restarted_daemon_takes_up_what_runs),
		WITH_BACKEND(test_handing_over_again_runs_the_script_once),
		WITH_BACKEND(test_a_claim_of_an_earlier_boot_is_lost),
		WITH_BACKEND(test_an_attempt_whose_claim_cannot_be_read_is_not_ended),
		WITH_BACKEND(test_a_pid_that_was_given_out_again_is_not_ours),
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
