/* Runners of which nothing is heard: when that is said, when the job is cancelled, and how the attempt ends, with a
 * scripted cluster and a stepped clock. */
#include "stepped.h"

#include "spool/stop.h"
#include "store/sql.h"

static void let_run(struct fixture *f, int64_t minutes)
{
	for (int64_t i = 0; i < minutes; i++)
		pass(f, 60 * SECOND);
}

static int64_t start_beating(struct fixture *f)
{
	int64_t id = submit_one(f, one);
	runner_start_beating(f);
	pass(f, 2 * SECOND);
	return id;
}

static void assert_no_reason(struct fixture *f, int64_t id)
{
	struct node *e = read_experiment(f, id);
	assert_null(node_get_string(task_at(e, 0), "reason"));
	node_free(e);
}

static int64_t count_history(struct fixture *f, const char *like)
{
	sqlite3_stmt *stmt;
	assert_int_equal(sqlite3_prepare_v2(store_db(engine_store(f->engine)),
					    "SELECT count(*) FROM history WHERE reason LIKE ?1", -1, &stmt, NULL),
			 SQLITE_OK);
	sqlite3_bind_text(stmt, 1, like, -1, SQLITE_STATIC);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	int64_t count = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return count;
}

static void test_a_runner_that_beats_is_left_alone(void **state)
{
	struct fixture *f = *state;
	int64_t id = start_beating(f);
	for (int i = 0; i < 20; i++) {
		let_run(f, 1);
		runner_beat(f);
	}
	pass(f, 2 * SECOND);
	assert_task(f, id, "running", 1, NULL);
	assert_no_reason(f, id);
	assert_int_equal(cancels(), 0);
}

static void test_a_killed_runner_is_known_after_two_minutes(void **state)
{
	struct fixture *f = *state;
	int64_t id = start_beating(f);
	pass(f, 120 * SECOND);
	assert_no_reason(f, id);
	pass(f, 10 * SECOND);
	assert_reason(f, id, "no sign of life from its runner for 2 minutes, but slurm says that its job runs");
	assert_task(f, id, "running", 1, NULL);
	assert_int_equal(cancels(), 0);
	runner_beat(f);
	pass(f, 2 * SECOND);
	assert_no_reason(f, id);
	assert_int_equal(count_history(f, "no sign of life from its runner%"), 1);
	assert_int_equal(count_history(f, "%signs of life again"), 1);
}

static void test_a_killed_runner_is_known_while_the_controller_is_away(void **state)
{
	struct fixture *f = *state;
	int64_t id = start_beating(f);
	scripted_say(&scripted_cluster, (struct scripted_sight){.rc = -EHOSTDOWN});
	pass(f, 130 * SECOND);
	assert_reason(f, id, "no sign of life from its runner for 2 minutes; slurm does not answer");
	let_run(f, 60);
	assert_task(f, id, "running", 1, NULL); /* nothing can be said about it, and nothing could be submitted */
	assert_int_equal(cancels(), 0);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ENDED, .cause = CAUSE_SIGNAL});
	lose(f, CAUSE_SIGNAL);
	assert_attempt(f, id, 0, "error", "lost");
	assert_int_equal(submits(), 2);
}

/* The message about its end was lost: the controller would keep it until the time limit. */
static void test_a_killed_runner_that_the_controller_calls_running_is_lost(void **state)
{
	struct fixture *f = *state;
	int64_t id = start_beating(f);
	char *folder = mem_strdup(only_live(f)->attempt_dir);
	pass(f, 290 * SECOND);
	assert_int_equal(cancels(), 0);
	pass(f, 30 * SECOND);
	assert_true(cancels() >= 1);
	assert_true(spool_stop_exists(folder));
	assert_task(f, id, "running", 1, NULL); /* until the controller has confirmed it */
	assert_reason(f, id, "its job is being cancelled");
	assert_int_equal(submits(), 1);
	size_t before = cancels();
	reopen(f); /* what was decided is known to the next daemon */
	pass(f, 20 * SECOND);
	assert_true(cancels() > before);
	lose(f, CAUSE_CANCELLED);
	assert_attempt(f, id, 0, "error", "lost");
	assert_int_equal(submits(), 2);
	runner_start_beating(f);
	runner_end(f, CAUSE_OK, 0, 0);
	pass(f, 2 * SECOND);
	assert_task(f, id, "finished", 2, NULL);
	free(folder);
}

static void test_the_time_limit_of_a_job_whose_runner_was_killed_is_no_time_limit(void **state)
{
	struct fixture *f = *state;
	int64_t id = start_beating(f);
	let_run(f, 4);
	lose(f, CAUSE_TIME);
	assert_attempt(f, id, 0, "error", "lost");
}

/* A hung mount on its node, or SIGSTOP: it comes back, and finds its stop file. */
static void test_a_runner_that_comes_back_after_it_was_given_up_ends_as_lost(void **state)
{
	struct fixture *f = *state;
	int64_t id = start_beating(f);
	pass(f, 290 * SECOND);
	assert_int_equal(cancels(), 0);
	pass(f, 30 * SECOND);
	assert_true(cancels() >= 1);
	runner_row(f, 7, 0.5);
	runner_end(f, CAUSE_STOPPED, 0, 0);
	pass(f, 10 * SECOND);
	assert_attempt(f, id, 0, "error", "lost");
	assert_rows(f, id, 1);
	assert_int_equal(submits(), 2);
}

/* The controller has lost its node, which goes on: nothing is run again, and no other process writes to its journal, before it
 * has found its stop file. */
static void test_a_runner_on_a_node_that_was_cut_off_ends_before_the_next_attempt(void **state)
{
	struct fixture *f = *state;
	int64_t id = start_beating(f);
	char *folder = mem_strdup(only_live(f)->attempt_dir);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ENDED, .cause = CAUSE_NODE});
	pass(f, 15 * SECOND);
	assert_true(spool_stop_exists(folder));
	pass(f, 60 * SECOND);
	runner_beat(f);
	pass(f, 60 * SECOND);
	assert_task(f, id, "running", 1, NULL);
	assert_int_equal(submits(), 1);
	reopen(f); /* what was decided is known to the next daemon */
	pass(f, 15 * SECOND);
	assert_int_equal(submits(), 1);
	runner_row(f, 7, 0.5);
	runner_end(f, CAUSE_STOPPED, 0, 0);
	pass(f, 10 * SECOND);
	assert_attempt(f, id, 0, "error", "node");
	assert_rows(f, id, 1);
	assert_int_equal(submits(), 2);
	free(folder);
}

static void test_a_dead_node_costs_no_more_than_its_silence(void **state)
{
	struct fixture *f = *state;
	int64_t id = start_beating(f);
	pass(f, 90 * SECOND); /* as long as a controller waits for a node */
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ENDED, .cause = CAUSE_NODE});
	pass(f, 20 * SECOND);
	assert_int_equal(submits(), 1);
	pass(f, 30 * SECOND);
	assert_attempt(f, id, 0, "error", "node");
	assert_true(submits() > 1);
}

static void test_a_job_that_the_controller_forgot_is_ended_before_the_next_attempt(void **state)
{
	struct fixture *f = *state;
	int64_t id = start_beating(f);
	char *folder = mem_strdup(only_live(f)->attempt_dir);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ABSENT});
	pass(f, 60 * SECOND);
	assert_true(spool_stop_exists(folder));
	assert_int_equal(submits(), 1);
	runner_end(f, CAUSE_STOPPED, 0, 0);
	pass(f, 10 * SECOND);
	assert_attempt(f, id, 0, "error", "lost");
	assert_int_equal(submits(), 2);
	free(folder);
}

/* The daemon is killed after it has written the stop file: no daemon calls the runner silent. */
static void test_a_lost_runner_is_not_called_silent_by_the_next_daemon(void **state)
{
	struct fixture *f = *state;
	int64_t id = start_beating(f);
	struct error err;
	assert_int_equal(spool_stop_write(only_live(f)->attempt_dir, SPOOL_STOP_OVER, &err), 0);
	reopen(f);
	size_t before = cancels();
	lose(f, CAUSE_EXIT);
	assert_attempt(f, id, 0, "error", "lost");
	assert_true(count_history(f, "its runner ended, and wrote no end into its journal%") > 0);
	assert_int_equal(count_history(f, "%no sign of life%"), 0);
	assert_int_equal(cancels(), before);
}

static void test_a_runner_of_an_earlier_version_is_never_given_up(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, one);
	runner_start(f);
	let_run(f, 60);
	assert_task(f, id, "running", 1, NULL);
	assert_no_reason(f, id);
	assert_int_equal(cancels(), 0);
}

static void test_a_suspended_job_is_not_given_up(void **state)
{
	struct fixture *f = *state;
	int64_t id = start_beating(f);
	scripted_say(&scripted_cluster,
		     (struct scripted_sight){.state = BACKEND_RUNNING, .reason = "suspended by an administrator"});
	let_run(f, 60);
	assert_reason(f, id, "suspended by an administrator");
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_RUNNING});
	let_run(f, 2);
	runner_beat(f);
	let_run(f, 1);
	assert_no_reason(f, id);
	assert_int_equal(cancels(), 0);
	assert_task(f, id, "running", 1, NULL);
}

/* START was read by an earlier daemon: the journal still says whether silence means anything. */
static void test_a_daemon_that_was_away_counts_only_what_it_saw(void **state)
{
	struct fixture *f = *state;
	int64_t id = start_beating(f);
	scripted_step(3600 * SECOND);
	reopen(f);
	pass(f, 100 * SECOND);
	assert_no_reason(f, id);
	pass(f, 30 * SECOND);
	assert_reason(f, id, "no sign of life from its runner for 2 minutes");
	reopen(f); /* and the next one takes it back when something is heard */
	assert_reason(f, id, "no sign of life from its runner for 2 minutes");
	runner_beat(f);
	pass(f, 2 * SECOND);
	assert_no_reason(f, id);
	scripted_step(3600 * SECOND); /* the daemon itself was stopped */
	pass(f, 60 * SECOND);
	assert_no_reason(f, id);
	assert_int_equal(cancels(), 0);
}

/* A silence hides the words of the stall. The next daemon knows both, and shows the stall when the silence is over. */
static void test_a_stall_is_known_after_a_silence_and_a_restart(void **state)
{
	struct fixture *f = *state;
	int64_t id = start_beating(f);
	runner_write(f,
		     (struct journal_record){.kind = JOURNAL_NOTE, .stall = "deadlock", .text = "no metrics for 3 m"});
	pass(f, 2 * SECOND);
	assert_reason(f, id, "makes no progress: no metrics for 3 m");
	pass(f, 130 * SECOND);
	assert_reason(f, id, "no sign of life from its runner");
	reopen(f);
	runner_beat(f);
	pass(f, 2 * SECOND);
	assert_reason(f, id, "makes no progress: no metrics for 3 m");
	reopen(f);
	runner_write(f, (struct journal_record){.kind = JOURNAL_NOTE, .stall = "over", .text = "metrics come again"});
	pass(f, 2 * SECOND);
	assert_no_reason(f, id);
}

static void test_a_runner_here_is_not_given_up_while_its_process_is_there(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, "script: run.sh\nparameters: {x: 1}\nresources: {backend: local}\n");
	runner_start_beating(f);
	let_run(f, 30);
	assert_reason(f, id, "but its process is there");
	assert_task(f, id, "running", 1, NULL);
	assert_int_equal(scripted_count(&scripted_here, SCRIPTED_CANCEL), 0);
}

#define T(test) cmocka_unit_test_setup_teardown(test, begin, finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_a_runner_that_beats_is_left_alone),
		T(test_a_killed_runner_is_known_after_two_minutes),
		T(test_a_killed_runner_is_known_while_the_controller_is_away),
		T(test_a_killed_runner_that_the_controller_calls_running_is_lost),
		T(test_the_time_limit_of_a_job_whose_runner_was_killed_is_no_time_limit),
		T(test_a_runner_that_comes_back_after_it_was_given_up_ends_as_lost),
		T(test_a_runner_on_a_node_that_was_cut_off_ends_before_the_next_attempt),
		T(test_a_dead_node_costs_no_more_than_its_silence),
		T(test_a_job_that_the_controller_forgot_is_ended_before_the_next_attempt),
		T(test_a_lost_runner_is_not_called_silent_by_the_next_daemon),
		T(test_a_runner_of_an_earlier_version_is_never_given_up),
		T(test_a_suspended_job_is_not_given_up),
		T(test_a_daemon_that_was_away_counts_only_what_it_saw),
		T(test_a_stall_is_known_after_a_silence_and_a_restart),
		T(test_a_runner_here_is_not_given_up_while_its_process_is_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
