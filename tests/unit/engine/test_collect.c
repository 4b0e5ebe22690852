/* What a killed runner did not read is read by a child of the engine before the attempt is settled. The child is a shell
 * script here that appends prepared records to the journal; tests/py/test_collect.py has the real one. */
#include "stepped.h"

#include <sys/stat.h>

/* One row of epoch 1 in the journal's format. It counts how often it was called; with a file `fail` it fails, with a file
 * `hang` it waits. */
static void write_program(const struct fixture *f)
{
	struct error err = {0};
	struct journal_writer *writer = NULL;
	struct metric metric = {.name = "loss", .value = 0.25};
	struct journal_record row = {.kind = JOURNAL_METRIC,
				     .time_ms = scripted_now(),
				     .step = 1,
				     .step_name = "epoch",
				     .metrics = &metric,
				     .metric_count = 1};
	char *rows = mem_printf("%s/rows", f->dir), *program = mem_printf("%s/program", f->dir);
	char *text = mem_printf("#!/bin/sh\ncd %s\necho \"$1 $2 $4\" >> calls\n[ -e fail ] && exit 1\n"
				"journal=$(cat journal)\n[ -e \"${journal%%/*}/stop\" ] && echo \"$1\" >> fenced\n"
				"cat rows >> \"$journal\"\n[ -e hang ] && exec sleep 1000\nexit 0\n",
				f->dir);
	if (journal_open(rows, &writer, &err) < 0 || journal_append(writer, &row, &err) < 0 ||
	    fs_write(program, text, strlen(text), 0700, false, &err) < 0)
		fail_msg("%s", err.text);
	journal_close(writer);
	setenv("SLUICE_BIN", program, 1);
	free(rows);
	free(program);
	free(text);
}

static void touch(const struct fixture *f, const char *name, const char *text)
{
	struct error err = {0};
	char *path = mem_printf("%s/%s", f->dir, name);
	assert_int_equal(fs_write(path, text, strlen(text), 0600, false, &err), 0);
	free(path);
}

static size_t calls(const struct fixture *f)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	char *path = mem_printf("%s/calls", f->dir);
	size_t count = 0;
	if (fs_read(path, 65536, &text, NULL) == 0)
		for (const char *line = buf_text(&text); *line; line += strcspn(line, "\n") + 1, count++)
			assert_memory_equal(line, "exec --collect 0\n", strlen("exec --collect 0\n"));
	buf_free(&text);
	free(path);
	return count;
}

/* Was the stop file there before the child wrote anything. */
static bool was_fenced(const struct fixture *f)
{
	char *path = mem_printf("%s/fenced", f->dir);
	bool is = access(path, F_OK) == 0;
	free(path);
	return is;
}

/* A task with one row, whose runner is killed. */
static int64_t begin_and_lose(struct fixture *f, struct scripted *backend, const char *yaml)
{
	write_program(f);
	reopen(f);
	int64_t id = submit_one(f, yaml);
	runner_start(f);
	runner_row(f, 0, 0.5);
	char *journal = spool_path(only_live(f)->attempt_dir, SPOOL_JOURNAL);
	touch(f, "journal", journal);
	free(journal);
	settle(f);
	scripted_say(backend, (struct scripted_sight){.state = BACKEND_ENDED, .cause = CAUSE_LOST});
	return id;
}

static const char no_retry[] = "script: run.sh\nparameters: {x: 1}\nretry: {lost: 0}\n";
static const char no_retry_here[] =
	"script: run.sh\nparameters: {x: 1}\nretry: {lost: 0}\nresources: {backend: local}\n";

static void test_rows_that_a_killed_runner_did_not_read_are_there(void **state)
{
	struct fixture *f = *state;
	int64_t id = begin_and_lose(f, &scripted_cluster, no_retry);
	pass(f, 30 * SECOND);
	assert_task(f, id, "error", 1, "lost");
	assert_rows(f, id, 2);
	assert_int_equal(calls(f), 1);
	assert_true(was_fenced(f));
}

/* One on another machine that shares the folder, and that was silent: it may come back. */
static void test_a_runner_that_comes_back_finds_its_stop_file_before_others_write(void **state)
{
	struct fixture *f = *state;
	int64_t id = begin_and_lose(f, &scripted_here, no_retry_here);
	pass(f, 30 * SECOND);
	assert_task(f, id, "error", 1, "lost");
	assert_rows(f, id, 2);
	assert_int_equal(calls(f), 1);
	assert_true(was_fenced(f));
}

static void test_an_attempt_with_an_end_needs_no_child(void **state)
{
	struct fixture *f = *state;
	write_program(f);
	reopen(f);
	int64_t id = submit_one(f, one);
	runner_start(f);
	runner_end(f, CAUSE_EXIT, 1, 0);
	pass(f, 30 * SECOND);
	assert_task(f, id, "error", 1, "exit");
	assert_int_equal(calls(f), 0);
}

static void test_a_child_that_fails_is_started_again_and_then_the_attempt_ends(void **state)
{
	struct fixture *f = *state;
	touch(f, "fail", "");
	int64_t id = begin_and_lose(f, &scripted_cluster, no_retry);
	pass(f, 13 * SECOND);
	assert_task(f, id, "running", 1, NULL);
	pass(f, 30 * SECOND);
	assert_task(f, id, "error", 1, "lost");
	assert_rows(f, id, 1);
	assert_int_equal(calls(f), 5);
}

static void test_a_daemon_that_ends_meanwhile_has_it_done_again(void **state)
{
	struct fixture *f = *state;
	int64_t id = begin_and_lose(f, &scripted_cluster, no_retry);
	touch(f, "hang", "");
	int64_t end = scripted_now() + 30 * SECOND;
	while (!calls(f) && scripted_now() < end) { /* as `pass`, but without waiting for the child */
		engine_soon(f->engine);
		for (int i = 0; i < 100; i++) {
			uv_run(&f->loop, UV_RUN_NOWAIT);
			usleep(1000);
		}
		scripted_step(SECOND);
	}
	assert_int_equal(calls(f), 1);
	char *hang = mem_printf("%s/hang", f->dir);
	assert_int_equal(unlink(hang), 0);
	free(hang);
	reopen(f);
	pass(f, 30 * SECOND);
	assert_task(f, id, "error", 1, "lost");
	assert_rows(f, id, 2);
	assert_int_equal(calls(f), 2);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, begin, finish)
	const struct CMUnitTest tests[] = {
		T(test_rows_that_a_killed_runner_did_not_read_are_there),
		T(test_a_runner_that_comes_back_finds_its_stop_file_before_others_write),
		T(test_an_attempt_with_an_end_needs_no_child),
		T(test_a_child_that_fails_is_started_again_and_then_the_attempt_ends),
		T(test_a_daemon_that_ends_meanwhile_has_it_done_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
