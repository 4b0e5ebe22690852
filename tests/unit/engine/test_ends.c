/* How attempts end, from what a scripted backend and the journal say to the rows in the store: the rules of decide.h in
 * the whole engine. The clock is stepped; nothing is waited for. */
#include "stepped.h"

#include "engine/ended.h"
#include "spool/stop.h"

static void test_submitted_claimed_rows_and_an_end(void **state)
{
	struct fixture *f = *state;
	scripted_say(&scripted_cluster,
		     (struct scripted_sight){.state = BACKEND_QUEUED, .reason = "all nodes are busy"});
	int64_t id = submit_one(f, one);
	pass(f, 5 * SECOND);
	assert_task(f, id, "submitted", 1, NULL);
	assert_reason(f, id, "all nodes are busy");
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_RUNNING});
	runner_start(f);
	runner_row(f, 0, 0.5);
	pass(f, 2 * SECOND);
	assert_task(f, id, "running", 1, NULL);
	assert_rows(f, id, 1);
	runner_row(f, 1, 0.25);
	runner_end(f, CAUSE_OK, 0, 0);
	settle(f);
	assert_task(f, id, "finished", 1, NULL);
	assert_rows(f, id, 2);
	assert_int_equal(f->engine->live.len, 0);
	assert_null(engine_find(f->engine, id)); /* over, and forgotten */
	assert_int_equal(submits(), 1);
	assert_int_equal(cancels(), 0);
}

static void test_a_good_end_stands_whatever_the_backend_says_later(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, one);
	runner_start(f);
	runner_end(f, CAUSE_OK, 0, 0);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ENDED, .cause = CAUSE_NODE});
	pass(f, 60 * SECOND);
	assert_task(f, id, "finished", 1, NULL);
	assert_int_equal(submits(), 1);
}

static void test_gone_without_an_end_is_lost_and_retried(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, one);
	char token[TOKEN_ID_CHARS];
	memcpy(token, only_live(f)->token, sizeof(token));
	char *folder = mem_strdup(only_live(f)->attempt_dir);
	runner_start(f);
	settle(f);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ENDED, .cause = CAUSE_EXIT});
	pass(f, 9 * SECOND);
	assert_task(f, id, "running", 1, NULL); /* a shared file system may show the end a little later */
	lose(f, CAUSE_EXIT);
	assert_attempt(f, id, 0, "error", "lost");
	assert_true(spool_stop_exists(folder)); /* whatever is left of it must not go on */
	free(folder);
	assert_int_equal(submits(), 2);
	assert_false(scripted_last(&scripted_cluster, SCRIPTED_SUBMIT)->again);
	assert_string_not_equal(scripted_last(&scripted_cluster, SCRIPTED_SUBMIT)->token, token);
	runner_start(f);
	runner_end(f, CAUSE_OK, 0, 0);
	settle(f);
	assert_task(f, id, "finished", 2, NULL);
}

static void leave_a_checkpoint(struct fixture *f, int64_t id)
{
	char *task = engine_folder(f->engine, id, 1, 0), *folder = spool_checkpoint_dir(task);
	char *file = mem_printf("%s/epoch", folder);
	assert_int_equal(fs_make_dirs(folder, 0700, NULL), 0);
	assert_int_equal(fs_write(file, "5", 1, 0600, false, NULL), 0);
	free(file);
	free(folder);
	free(task);
}

/* A time limit, and whether the task is run again. */
static void end_by_time(struct fixture *f, const char *yaml, bool saved, bool again)
{
	int64_t id = submit_one(f, yaml);
	runner_start(f);
	runner_row(f, 0, 0.5);
	if (saved)
		leave_a_checkpoint(f, id);
	runner_end(f, CAUSE_TIME, 0, 0);
	pass(f, 5 * SECOND);
	assert_attempt(f, id, 0, "error", "time");
	if (!again) {
		assert_task(f, id, "error", 1, "time");
		return;
	}
	/* What was cut off is no result: the search is told at the end, and once. */
	assert_task(f, id, "submitted", 2, NULL);
	int64_t *finished = NULL;
	size_t count = 0;
	assert_int_equal(store_read_finished(engine_store(f->engine), id, &finished, &count), 0);
	assert_int_equal(count, 0);
	free(finished);
	runner_start(f);
	runner_end(f, CAUSE_OK, 0, 0);
	settle(f);
	assert_task(f, id, "finished", 2, NULL);
}

static void test_a_task_with_a_checkpoint_is_continued_after_its_time_limit(void **state)
{
	end_by_time(*state, one, true, true);
}

static void test_a_task_without_a_checkpoint_ends_at_its_time_limit(void **state)
{
	end_by_time(*state, one, false, false);
}

static void test_retry_of_the_file_counts_more_than_a_checkpoint(void **state)
{
	end_by_time(*state, "script: run.sh\nparameters: {x: 1}\nretry: {time: 0}\n", true, false);
	end_by_time(*state, "script: run.sh\nparameters: {x: 1}\nretry: {time: 1}\n", false, true);
}

/* The folder of the experiment is away for a while: a journal that is not found then is no silence. */
static void test_a_journal_below_a_folder_that_is_away_is_not_missing(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, one);
	char *folder = spool_experiment_dir(f->dir, id), *aside = mem_printf("%s.away", folder);
	runner_start(f);
	runner_row(f, 0, 0.5);
	runner_end(f, CAUSE_OK, 0, 0);
	assert_int_equal(rename(folder, aside), 0);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ENDED, .cause = CAUSE_OK});
	pass(f, 200 * SECOND);
	assert_task(f, id, "submitted", 1, NULL);
	assert_int_equal(rename(aside, folder), 0);
	pass(f, 2 * SECOND);
	assert_task(f, id, "finished", 1, NULL);
	assert_rows(f, id, 1);
	free(folder);
	free(aside);
}

static void test_an_end_that_comes_late_is_still_believed(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, one);
	runner_start(f);
	scripted_say(&scripted_cluster,
		     (struct scripted_sight){.state = BACKEND_ENDED, .cause = CAUSE_EXIT, .exit_code = 1});
	pass(f, 6 * SECOND);
	runner_row(f, 0, 0.5);
	runner_end(f, CAUSE_EXIT, 3, 0);
	pass(f, 2 * SECOND);
	assert_task(f, id, "error", 1, "exit");
	assert_rows(f, id, 1);
}

static void test_lost_again_and_again_ends_in_an_error(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, one);
	for (int attempt = 1; attempt <= 4; attempt++) {
		runner_start(f);
		lose(f, CAUSE_LOST);
	}
	assert_task(f, id, "error", 4, "lost");
	assert_int_equal(submits(), 4);
	pass(f, 60 * SECOND);
	assert_int_equal(submits(), 4);
}

/* Seconds until the job that is there now is settled and the next attempt is handed over. */
static int64_t unstarted_pause(struct fixture *f, int code)
{
	size_t before = submits();
	int64_t since = scripted_now();
	scripted_say(&scripted_cluster,
		     (struct scripted_sight){.state = BACKEND_ENDED, .cause = CAUSE_EXIT, .exit_code = code});
	while (f->engine->live.len)
		pass(f, 2 * SECOND);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_RUNNING});
	while (submits() == before && scripted_now() - since < 3600 * SECOND) {
		scripted_step(5 * SECOND);
		settle(f);
	}
	return (scripted_now() - since) / SECOND;
}

static void test_an_attempt_that_no_runner_claimed_is_not_the_tasks_fault(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, one);
	int64_t first = unstarted_pause(f, 170), second = unstarted_pause(f, 127), third = unstarted_pause(f, 1);
	assert_attempt(f, id, 0, "error", "unstarted");
	assert_attempt(f, id, 1, "error", "unstarted");
	assert_true(first >= 15 && first < 30); /* 10 s for the journal, and 5 */
	assert_true(second >= first && third > second && third >= 30);
	assert_task(f, id, "submitted", 4, NULL);
	/* Nothing ran, so nothing is resumed. */
	char *path = spool_item_path(only_live(f)->batch_dir, 0, SPOOL_DESCRIPTOR);
	struct buf text = buf_make(100000);
	assert_int_equal(fs_read(path, 100000, &text, NULL), 0);
	assert_non_null(strstr(buf_text(&text), "\"fresh\":true"));
	buf_free(&text);
	free(path);
	runner_start(f);
	runner_end(f, CAUSE_OK, 0, 0);
	settle(f);
	assert_task(f, id, "finished", 4, NULL);
}

static void test_the_status_of_a_runner_that_gave_up_is_told_in_words(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, "script: run.sh\nparameters: {x: 1}\nretry: {unstarted: 0}\n");
	scripted_say(&scripted_cluster,
		     (struct scripted_sight){.state = BACKEND_ENDED, .cause = CAUSE_EXIT, .exit_code = 171});
	pass(f, 14 * SECOND);
	assert_task(f, id, "error", 1, "unstarted");
	assert_reason(f, id, "not started: the quota");
}

/* A node that cannot start a job cancels it as root, and the accounting calls that "CANCELLED by 0". */
static void test_a_cancel_by_a_node_that_could_not_start_it_is_nobodys_wish(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, one);
	scripted_say(&scripted_cluster,
		     (struct scripted_sight){
			     .state = BACKEND_ENDED, .cause = CAUSE_CANCELLED, .unlaunched = true, .node = "cpu1"});
	pass(f, 12 * SECOND);
	assert_attempt(f, id, 0, "error", "unstarted");
	assert_reason(f, id,
		      "not started on cpu1: Slurm cancelled its job before it began: its node could not start "
		      "it, or an administrator cancelled it");
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_RUNNING});
	pass(f, 30 * SECOND);
	runner_start(f);
	runner_end(f, CAUSE_OK, 0, 0);
	settle(f);
	assert_task(f, id, "finished", 2, NULL);
	assert_int_equal(cancels(), 0);
}

/* Where its runner had begun, the node had started it: then it was cancelled, whatever is missing in the accounting. */
static void test_a_cancel_of_what_had_begun_is_told_as_one(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, one);
	runner_start(f);
	settle(f);
	scripted_say(&scripted_cluster,
		     (struct scripted_sight){.state = BACKEND_ENDED, .cause = CAUSE_CANCELLED, .unlaunched = true});
	pass(f, 30 * SECOND);
	assert_task(f, id, "error", 1, "cancelled");
	assert_int_equal(submits(), 1);
}

static void test_where_an_attempt_was_is_known_without_a_word_from_its_runner(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, "script: run.sh\nparameters: {x: 1}\nretry: {unstarted: 0}\n");
	scripted_say(&scripted_cluster,
		     (struct scripted_sight){.state = BACKEND_RUNNING, .node = "cpu2", .job = "12_7"});
	pass(f, 5 * SECOND);
	struct node *e = read_experiment(f, id);
	assert_string_equal(node_get_string(task_at(e, 0), "node"), "cpu2");
	assert_string_equal(node_get_string(task_at(e, 0), "job"), "12_7");
	node_free(e);
	reopen(f);
	scripted_say(
		&scripted_cluster,
		(struct scripted_sight){
			.state = BACKEND_ENDED, .cause = CAUSE_EXIT, .exit_code = 174, .node = "cpu2", .job = "12_7"});
	pass(f, 14 * SECOND);
	assert_task(f, id, "error", 1, "unstarted");
	assert_reason(f, id, "not started on cpu2: the state folder is not visible");
	e = read_experiment(f, id);
	const struct node *attempt = node_get(task_at(e, 0), "attempts")->items[0];
	assert_string_equal(node_get_string(attempt, "node"), "cpu2");
	assert_string_equal(node_get_string(attempt, "job"), "12_7");
	node_free(e);
}

static void test_unstarted_again_and_again_ends_in_an_error(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, one), longest = 0;
	for (int attempt = 1; attempt <= 20; attempt++) {
		int64_t pause = unstarted_pause(f, 174);
		longest = pause > longest ? pause : longest;
	}
	assert_true(longest >= 300 && longest < 900);
	assert_task(f, id, "submitted", 21, NULL);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ENDED, .cause = CAUSE_EXIT});
	pass(f, 20 * SECOND);
	assert_task(f, id, "error", 21, "unstarted");
}

static void test_a_journal_that_cannot_be_read_is_waited_for(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, one);
	runner_start(f);
	settle(f);
	char *path = spool_path(only_live(f)->attempt_dir, SPOOL_JOURNAL), *away = mem_printf("%s.away", path);
	assert_int_equal(rename(path, away), 0);
	assert_int_equal(mkdir(path, 0700), 0); /* EISDIR: reading fails, and it is not ENOENT */
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ENDED, .cause = CAUSE_NODE});
	pass(f, 600 * SECOND);
	assert_task(f, id, "running", 1, NULL);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rename(away, path), 0);
	runner_end(f, CAUSE_OK, 0, 0);
	settle(f);
	assert_task(f, id, "finished", 1, NULL);
	free(path);
	free(away);
}

static void test_a_backend_that_cannot_be_asked_concludes_nothing(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, one);
	runner_start(f);
	settle(f);
	scripted_say(&scripted_cluster, (struct scripted_sight){.rc = -ETIMEDOUT});
	pass(f, 3600 * SECOND);
	assert_task(f, id, "running", 1, NULL);
	/* Who asked the runner to stop only the cluster knows: nothing is decided before it answers. */
	runner_end(f, CAUSE_STOPPED, -1, 15);
	pass(f, 600 * SECOND);
	assert_task(f, id, "running", 1, NULL);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ENDED, .cause = CAUSE_TIME});
	pass(f, 4 * SECOND);
	assert_task(f, id, "error", 1, "time");
}

static void test_a_signal_waits_for_the_accounting(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, one);
	runner_start(f);
	runner_end(f, CAUSE_SIGNAL, -1, 9);
	pass(f, 40 * SECOND);
	assert_task(f, id, "running", 1, NULL);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ENDED, .cause = CAUSE_PREEMPTED});
	pass(f, 2 * SECOND);
	assert_attempt(f, id, 0, "error", "preempted"); /* and retried, which a signal would not be */
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_RUNNING});
	pass(f, 4 * SECOND);
	runner_start(f);
	runner_end(f, CAUSE_SIGNAL, -1, 9);
	pass(f, 50 * SECOND); /* this time it says nothing */
	assert_task(f, id, "error", 2, "signal");
}

/* A controller that crashed forgot that the job had ended, and someone cancels what it calls running two minutes later. */
static void test_what_happens_to_a_job_later_is_not_the_cause(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, one);
	runner_start(f);
	runner_end(f, CAUSE_SIGNAL, -1, 9);
	settle(f);
	scripted_say(&scripted_cluster,
		     (struct scripted_sight){.state = BACKEND_ENDED,
					     .cause = CAUSE_CANCELLED,
					     .ended_ms = scripted_now() + 120 * SECOND});
	pass(f, 10 * SECOND);
	assert_task(f, id, "error", 1, "signal");
}

/* A runner that was stopped before its script began has no START to tell where it was. */
static void test_where_an_attempt_was_is_known_also_when_it_ended_before_its_script(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, one);
	runner_claim(f);
	runner_end(f, CAUSE_STOPPED, 0, 0);
	settle(f);
	scripted_say(&scripted_cluster,
		     (struct scripted_sight){
			     .state = BACKEND_ENDED, .cause = CAUSE_CANCELLED, .node = "cpu2", .job = "12_7"});
	pass(f, 10 * SECOND);
	assert_task(f, id, "error", 1, "cancelled");
	struct node *e = read_experiment(f, id);
	const struct node *attempt = node_get(task_at(e, 0), "attempts")->items[0];
	assert_string_equal(node_get_string(attempt, "job"), "12_7");
	assert_string_equal(node_get_string(attempt, "node"), "cpu2");
	node_free(e);
}

/* A controller that crashed may give an element out again while it runs. That job finds the claim taken and ends well. */
static void test_a_job_that_found_the_claim_taken_is_not_the_end_of_the_run(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, one);
	runner_start(f);
	settle(f);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ENDED, .cause = CAUSE_OK});
	for (int64_t step = 0; step < 10; step++) {
		pass(f, 30 * SECOND);
		runner_row(f, step, 0.5);
		assert_task(f, id, "running", 1, NULL);
	}
	runner_end(f, CAUSE_OK, 0, 0);
	settle(f);
	assert_task(f, id, "finished", 1, NULL);
	assert_rows(f, id, 10);
	assert_int_equal(submits(), 1);
}

/* Two minutes without the promised signs of life are over already when its job ends: they are not waited for again. */
static void test_a_silent_run_whose_job_is_over_is_lost_at_once(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, one);
	runner_start_beating(f);
	pass(f, 130 * SECOND);
	assert_task(f, id, "running", 1, NULL);
	assert_reason(f, id, "slurm says that its job runs");
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ENDED, .cause = CAUSE_OK});
	pass(f, 4 * SECOND);
	assert_reason(f, id, "slurm says that its job has ended");
	pass(f, 26 * SECOND);
	assert_attempt(f, id, 0, "error", "lost");
}

static void test_a_run_whose_job_is_over_can_be_stopped(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, one), count = 0;
	char *folder = mem_strdup(only_live(f)->attempt_dir);
	runner_start(f);
	settle(f);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ENDED, .cause = CAUSE_OK});
	pass(f, 14 * SECOND);
	assert_task(f, id, "running", 1, NULL);
	assert_int_equal(engine_stop(f->engine, id, NULL, 0, &count, NULL), 0);
	pass(f, 2 * SECOND);
	assert_task(f, id, "stopped", 1, NULL);
	assert_true(spool_stop_exists(folder)); /* the runner that has the claim ends by this */
	free(folder);
}

static size_t polls(void)
{
	return scripted_count(&scripted_cluster, SCRIPTED_POLL);
}

/* An attempt that has ended by its journal, while the backend still has its job. */
static int64_t end_with_a_job_left(struct fixture *f)
{
	int64_t id = submit_one(f, one);
	runner_start(f);
	runner_end(f, CAUSE_OK, 0, 0);
	settle(f);
	assert_task(f, id, "finished", 1, NULL);
	return id;
}

static void test_a_job_that_stays_long_after_the_end_is_cancelled(void **state)
{
	struct fixture *f = *state;
	int64_t id = end_with_a_job_left(f);
	uint64_t due = uv_timer_get_due_in(&f->engine->timer);
	assert_true(due > 200 * SECOND && due <= 300 * SECOND); /* nothing is alive, and yet a turn will come */
	size_t before = polls();
	pass(f, 290 * SECOND);
	assert_int_equal(polls(), before); /* that costs the controller nothing */
	pass(f, 20 * SECOND);
	assert_int_equal(cancels(), 1);
	assert_int_equal(scripted_last(&scripted_cluster, SCRIPTED_CANCEL)->count, 1);
	pass(f, 280 * SECOND);
	assert_int_equal(cancels(), 1);
	pass(f, 30 * SECOND);
	assert_int_equal(cancels(), 2); /* it had no effect: once more */
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ENDED, .cause = CAUSE_CANCELLED});
	pass(f, 310 * SECOND);
	assert_int_equal(f->engine->ended.len, 0);
	before = polls();
	pass(f, 3600 * SECOND);
	assert_int_equal(polls(), before);
	assert_int_equal(cancels(), 2);
	assert_task(f, id, "finished", 1, NULL); /* what it was stays what it was */
}

static void test_a_job_that_has_gone_is_looked_for_once(void **state)
{
	struct fixture *f = *state;
	end_with_a_job_left(f);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ABSENT});
	size_t before = polls();
	pass(f, 3600 * SECOND);
	assert_int_equal(polls(), before + 1);
	assert_int_equal(cancels(), 0);
	assert_int_equal(f->engine->ended.len, 0);
}

static void test_a_job_that_cannot_be_cancelled_is_given_up(void **state)
{
	struct fixture *f = *state;
	end_with_a_job_left(f);
	pass(f, 3600 * SECOND);
	assert_in_range(cancels(), 2, 4);
	assert_int_equal(f->engine->ended.len, 0);
}

static void test_a_job_that_stays_is_cancelled_after_a_restart_too(void **state)
{
	struct fixture *f = *state;
	end_with_a_job_left(f);
	pass(f, 60 * SECOND);
	reopen(f);
	pass(f, 310 * SECOND);
	assert_int_equal(cancels(), 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, begin, finish)
	const struct CMUnitTest tests[] = {
		T(test_submitted_claimed_rows_and_an_end),
		T(test_a_good_end_stands_whatever_the_backend_says_later),
		T(test_gone_without_an_end_is_lost_and_retried),
		T(test_a_task_with_a_checkpoint_is_continued_after_its_time_limit),
		T(test_a_task_without_a_checkpoint_ends_at_its_time_limit),
		T(test_retry_of_the_file_counts_more_than_a_checkpoint),
		T(test_a_journal_below_a_folder_that_is_away_is_not_missing),
		T(test_an_end_that_comes_late_is_still_believed),
		T(test_lost_again_and_again_ends_in_an_error),
		T(test_an_attempt_that_no_runner_claimed_is_not_the_tasks_fault),
		T(test_the_status_of_a_runner_that_gave_up_is_told_in_words),
		T(test_a_cancel_by_a_node_that_could_not_start_it_is_nobodys_wish),
		T(test_a_cancel_of_what_had_begun_is_told_as_one),
		T(test_where_an_attempt_was_is_known_without_a_word_from_its_runner),
		T(test_unstarted_again_and_again_ends_in_an_error),
		T(test_a_journal_that_cannot_be_read_is_waited_for),
		T(test_a_backend_that_cannot_be_asked_concludes_nothing),
		T(test_a_signal_waits_for_the_accounting),
		T(test_what_happens_to_a_job_later_is_not_the_cause),
		T(test_where_an_attempt_was_is_known_also_when_it_ended_before_its_script),
		T(test_a_job_that_found_the_claim_taken_is_not_the_end_of_the_run),
		T(test_a_silent_run_whose_job_is_over_is_lost_at_once),
		T(test_a_run_whose_job_is_over_can_be_stopped),
		T(test_a_job_that_stays_long_after_the_end_is_cancelled),
		T(test_a_job_that_has_gone_is_looked_for_once),
		T(test_a_job_that_cannot_be_cancelled_is_given_up),
		T(test_a_job_that_stays_is_cancelled_after_a_restart_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
