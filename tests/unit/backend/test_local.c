/* The local backend with real runners: the program beside this one, started and killed for real. */
#include "local_world.h"

#include "backend/local_machine.h"
#include "base/clock.h"
#include "base/proc.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* A slot that becomes free gets the next of them at once; the engine does nothing for it. */
static void test_tasks_handed_over_ahead_wait_for_slots(void **state)
{
	(void)state;
	struct local_machine machine;
	local_machine_look(&machine);
	struct backend_resources all = {.cpus = machine.cpus, .ahead = 3};
	char *go = work_file(0, "go"), *ready = work_file(0, "ready");
	assert_int_equal(backend_local.room(backend, &all), 1 + 3);
	describe_task(0, "touch ready; while [ ! -e go ]; do sleep 0.02; done");
	describe_task(1, "exit 0");
	describe_task(2, "exit 0");
	submit_with(&all, 0, 3);
	wait_for_file(ready);
	assert_int_equal(backend_local.room(backend, &all), 1); /* two of three wait */
	all.ahead = 0;
	assert_int_equal(backend_local.room(backend, &all), 0);
	assert_int_equal(look(1), BACKEND_QUEUED);
	assert_int_equal(fs_write(go, "", 0, 0600, false, NULL), 0);
	wait_for_state(2, BACKEND_ENDED);
	assert_true(journal_has(1, "\"cause\":\"ok\"") && journal_has(2, "\"cause\":\"ok\""));
	assert_int_equal(backend_local.room(backend, &all), 1);
	free(go);
	free(ready);
}

static void set_parallel_cb(void *ctx, int rc, const char *why)
{
	(void)ctx, (void)why;
	assert_int_equal(rc, 0);
}

/* A limit that comes later holds back what was handed over ahead, and nothing of other experiments. */
static void test_a_later_limit_holds_back_what_was_handed_over_ahead(void **state)
{
	(void)state;
	struct local_machine machine;
	local_machine_look(&machine);
	struct backend_resources all = {.cpus = machine.cpus, .ahead = 3}, one = {.cpus = 1};
	char *go = work_file(0, "go"), *ready = work_file(0, "ready"), *next = work_file(1, "go");
	char *second = work_file(1, "ready");
	describe_task(0, "touch ready; while [ ! -e go ]; do sleep 0.02; done");
	describe_task(1, "touch ready; while [ ! -e go ]; do sleep 0.02; done");
	describe_task(2, "exit 0");
	submit_with(&one, 0, 1);
	wait_for_file(ready);
	submit_with(&all, 1, 2);
	assert_int_equal(backend_local.room(backend, &one), 0); /* they are first */
	backend_local.set_parallel(backend, TOKEN, NULL, 1, set_parallel_cb, NULL);
	assert_int_equal(backend_local.room(backend, &one), machine.cpus - 1); /* they wait for their own */
	assert_int_equal(look(1), BACKEND_QUEUED);
	assert_non_null(sight.reason);
	assert_int_equal(fs_write(go, "", 0, 0600, false, NULL), 0);
	wait_for_file(second);
	assert_int_equal(look(2), BACKEND_QUEUED);
	assert_int_equal(fs_write(next, "", 0, 0600, false, NULL), 0);
	wait_for_state(2, BACKEND_ENDED);
	assert_true(journal_has(1, "\"cause\":\"ok\"") && journal_has(2, "\"cause\":\"ok\""));
	free(go);
	free(ready);
	free(next);
	free(second);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BACKEND(test_an_attempt_runs_and_its_slot_comes_back),
		WITH_BACKEND(test_what_never_fits_is_refused_with_the_reason),
		WITH_BACKEND(test_what_does_not_fit_now_waits_for_a_slot),
		WITH_BACKEND(test_tasks_handed_over_ahead_wait_for_slots),
		WITH_BACKEND(test_a_later_limit_holds_back_what_was_handed_over_ahead),
		WITH_BACKEND(test_cancelling_stops_a_running_attempt),
		WITH_BACKEND(test_cancelling_before_the_start_keeps_the_script_from_running),
		WITH_BACKEND(test_cancelling_what_was_never_submitted_ends_it),
		WITH_BACKEND(test_a_killed_runner_is_lost_and_leaves_nothing_behind),
		WITH_BACKEND(test_a_restarted_daemon_takes_up_what_runs),
		WITH_BACKEND(test_handing_over_again_runs_the_script_once),
		WITH_BACKEND(test_a_claim_of_an_earlier_boot_is_lost),
		WITH_BACKEND(test_an_attempt_whose_claim_cannot_be_read_is_not_ended),
		WITH_BACKEND(test_a_pid_that_was_given_out_again_is_not_ours),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
