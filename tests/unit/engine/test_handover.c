/* What the engine asks of a backend and when: submissions, stops, limits, the choice between two backends, and all of it
 * across restarts. The backends are scripted and the clock is stepped. */
#include "stepped.h"

#include "spool/stop.h"

static const char one_local[] = "script: run.sh\nparameters: {x: 1}\nresources: {backend: local}\n";

static void test_a_stop_before_the_submission_submits_nothing(void **state)
{
	struct fixture *f = *state;
	int64_t count = 0;
	scripted_cluster.room = 0;
	int64_t id = create(f, one, script);
	pass(f, 4 * SECOND);
	assert_task(f, id, "waiting", 0, NULL);
	assert_int_equal(engine_stop(f->engine, id, NULL, 0, &count, NULL), 0);
	assert_int_equal(count, 1);
	scripted_cluster.room = 1000;
	pass(f, 10 * SECOND);
	assert_task(f, id, "stopped", 0, NULL);
	assert_int_equal(submits(), 0);
	assert_int_equal(cancels(), 0);
}

static void test_a_stop_in_the_queue_is_repeated_until_it_is_heard(void **state)
{
	struct fixture *f = *state;
	int64_t count = 0;
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_QUEUED});
	int64_t id = submit_one(f, one);
	assert_int_equal(engine_stop(f->engine, id, NULL, 0, &count, NULL), 0);
	settle(f);
	assert_int_equal(cancels(), 1);
	pass(f, 14 * SECOND);
	assert_int_equal(cancels(), 1);
	pass(f, 2 * SECOND);
	assert_int_equal(cancels(), 2);
	assert_task(f, id, "submitted", 1, NULL);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ENDED, .cause = CAUSE_CANCELLED});
	pass(f, 14 * SECOND);
	assert_task(f, id, "stopped", 1, NULL);
	pass(f, 60 * SECOND);
	assert_int_equal(cancels(), 2);
}

static void test_a_stop_is_open_until_the_cluster_confirms_it(void **state)
{
	struct fixture *f = *state;
	int64_t count = 0;
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_QUEUED, .reason = "Priority"});
	int64_t id = submit_one(f, one);
	assert_int_equal(engine_open_stops(f->engine), 0);
	scripted_cluster.cancel_rc = -ETIMEDOUT;
	assert_int_equal(engine_stop(f->engine, id, NULL, 0, &count, NULL), 0);
	assert_int_equal(engine_open_stops(f->engine), 1);
	pass(f, 4 * SECOND); /* what squeue says of it meanwhile does not hide the stop */
	assert_int_equal(engine_open_stops(f->engine), 1);
	assert_reason(f, id, "being stopped; slurm has not confirmed it yet: ");
	struct node *e = read_experiment(f, id);
	const char *note = node_get_string(e, "note");
	assert_true(note && strstr(note, "1 task is being stopped; slurm has not confirmed it yet"));
	node_free(e);
	scripted_cluster.cancel_rc = 0;
	pass(f, 12 * SECOND);
	assert_int_equal(cancels(), 2);
	assert_int_equal(engine_open_stops(f->engine), 0);
	e = read_experiment(f, id);
	assert_string_equal(node_get_string(task_at(e, 0), "reason"), "being stopped");
	assert_null(node_get_string(e, "note"));
	node_free(e);
}

static void test_a_stop_before_the_submission_is_answered_is_made_again(void **state)
{
	struct fixture *f = *state;
	int64_t count = 0;
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ABSENT});
	scripted_cluster.silent = true;
	int64_t id = create(f, one, script);
	settle(f);
	assert_int_equal(submits(), 1);
	assert_int_equal(engine_stop(f->engine, id, NULL, 0, &count, NULL), 0);
	settle(f);
	assert_int_equal(cancels(), 1); /* and it found nothing */
	assert_int_equal(engine_open_stops(f->engine), 1);
	struct backend_submit_result answer = {.outcome = BACKEND_SUBMITTED, .job = "77"};
	engine_inbox_add_answer(&f->engine->inbox, only_live(f)->token, &answer);
	engine_soon(f->engine);
	settle(f);
	assert_int_equal(cancels(), 2);
	assert_int_equal(engine_open_stops(f->engine), 0);
}

static void test_a_stop_while_running_ends_with_the_journal(void **state)
{
	struct fixture *f = *state;
	int64_t count = 0, number = 1;
	int64_t id = submit_one(f, one);
	char *folder = mem_strdup(only_live(f)->attempt_dir);
	runner_start(f);
	settle(f);
	scripted_cluster.cancel_rc = -ETIMEDOUT;
	assert_int_equal(engine_stop(f->engine, id, &number, 1, &count, NULL), 0);
	settle(f);
	assert_int_equal(cancels(), 1);
	assert_task(f, id, "running", 1, NULL);
	assert_reason(f, id, "being stopped");
	assert_true(spool_stop_exists(folder)); /* a controller that does not answer must not keep it running */
	runner_end(f, CAUSE_STOPPED, -1, 15);
	settle(f);
	assert_task(f, id, "stopped", 1, NULL);
	free(folder);
}

static void test_a_submission_of_unknown_outcome_is_looked_up_and_made_again(void **state)
{
	struct fixture *f = *state;
	scripted_answer(&scripted_cluster, (struct backend_submit_result){.outcome = BACKEND_UNKNOWN});
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ABSENT});
	int64_t id = submit_one(f, one);
	char token[TOKEN_ID_CHARS];
	memcpy(token, only_live(f)->token, sizeof(token));
	pass(f, 24 * SECOND);
	assert_int_equal(submits(), 1);
	pass(f, 6 * SECOND);
	assert_int_equal(submits(), 2);
	assert_true(scripted_last(&scripted_cluster, SCRIPTED_SUBMIT)->again);
	assert_string_equal(scripted_last(&scripted_cluster, SCRIPTED_SUBMIT)->token, token);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_RUNNING});
	runner_start(f);
	runner_end(f, CAUSE_OK, 0, 0);
	settle(f);
	assert_task(f, id, "finished", 1, NULL);
}

static void test_a_submission_of_unknown_outcome_that_worked_is_not_made_again(void **state)
{
	struct fixture *f = *state;
	scripted_answer(&scripted_cluster, (struct backend_submit_result){.outcome = BACKEND_UNKNOWN});
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ABSENT});
	int64_t id = submit_one(f, one);
	pass(f, 20 * SECOND);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_QUEUED});
	pass(f, 600 * SECOND);
	assert_int_equal(submits(), 1);
	assert_task(f, id, "submitted", 1, NULL);
}

static void test_a_claimed_attempt_that_is_absent_is_lost_and_not_made_again(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, one);
	runner_claim(f); /* and nothing in its journal */
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ABSENT});
	pass(f, 32 * SECOND);
	assert_attempt(f, id, 0, "error", "lost");
	pass(f, 4 * SECOND);
	assert_int_equal(submits(), 2);
	assert_false(scripted_last(&scripted_cluster, SCRIPTED_SUBMIT)->again);
}

static void test_a_backend_without_room_is_given_it_again_under_the_same_token(void **state)
{
	struct fixture *f = *state;
	scripted_answer(&scripted_cluster,
			(struct backend_submit_result){.outcome = BACKEND_LATER, .why = "the disk is full"});
	int64_t id = submit_one(f, one);
	assert_reason(f, id, "the disk is full");
	pass(f, 4 * SECOND);
	assert_int_equal(submits(), 1);
	pass(f, 2 * SECOND);
	assert_int_equal(submits(), 2);
	assert_true(scripted_last(&scripted_cluster, SCRIPTED_SUBMIT)->again);
	assert_int_equal(only_live(f)->number, 1);
	assert_string_equal(only_live(f)->job, "job-1");
	assert_task(f, id, "submitted", 1, NULL);
}

static void test_a_refusal_is_final_and_says_why(void **state)
{
	struct fixture *f = *state;
	scripted_answer(&scripted_cluster,
			(struct backend_submit_result){.outcome = BACKEND_REFUSED, .why = "no such reservation"});
	int64_t id = create(f, one, script);
	pass(f, 600 * SECOND);
	assert_task(f, id, "error", 1, "refused");
	assert_reason(f, id, "no such reservation");
	assert_int_equal(submits(), 1);
}

static void test_a_restart_goes_on_with_a_running_attempt(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, one);
	runner_start(f);
	runner_row(f, 0, 0.5);
	settle(f);
	close_engine(f);
	open_engine(f);
	runner_row(f, 1, 0.25); /* it went on meanwhile */
	settle(f);
	assert_task(f, id, "running", 1, NULL);
	assert_rows(f, id, 2);
	assert_int_equal(only_live(f)->number, 1);
	assert_string_equal(only_live(f)->job, "job-1");
	runner_end(f, CAUSE_OK, 0, 0);
	settle(f);
	assert_task(f, id, "finished", 1, NULL);
	assert_rows(f, id, 2);
	assert_int_equal(submits(), 1);
}

static void test_a_restart_keeps_an_end_that_waits_for_the_accounting(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, one);
	runner_start(f);
	runner_end(f, CAUSE_SIGNAL, -1, 9);
	settle(f);
	reopen(f);
	assert_task(f, id, "running", 1, NULL);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ENDED, .cause = CAUSE_MEMORY});
	pass(f, 2 * SECOND);
	assert_task(f, id, "error", 1, "memory");
}

static void test_a_restart_keeps_a_wish_to_stop(void **state)
{
	struct fixture *f = *state;
	int64_t count = 0;
	int64_t id = submit_one(f, one);
	runner_start(f);
	settle(f);
	assert_int_equal(engine_stop(f->engine, id, NULL, 0, &count, NULL), 0);
	close_engine(f); /* before a turn could tell the backend */
	assert_int_equal(cancels(), 0);
	open_engine(f);
	settle(f);
	assert_int_equal(cancels(), 1);
	runner_end(f, CAUSE_STOPPED, -1, 15);
	settle(f);
	assert_task(f, id, "stopped", 1, NULL);
}

/* Ended before the backend answered: on a cluster it is looked up, here the claim makes a second hand-over harmless. */
static void test_a_restart_in_the_middle_of_a_submission(void **state)
{
	struct fixture *f = *state;
	scripted_cluster.silent = scripted_here.silent = true;
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_QUEUED});
	int64_t id = submit_one(f, one);
	reopen(f);
	pass(f, 600 * SECOND);
	assert_int_equal(submits(), 1);
	assert_task(f, id, "submitted", 1, NULL);
	create(f, one_local, script);
	settle(f);
	assert_int_equal(scripted_count(&scripted_here, SCRIPTED_SUBMIT), 1);
	scripted_here.silent = false;
	reopen(f);
	assert_int_equal(scripted_count(&scripted_here, SCRIPTED_SUBMIT), 2);
	assert_true(scripted_last(&scripted_here, SCRIPTED_SUBMIT)->again);
	assert_int_equal(submits(), 1);
}

static void test_auto_takes_the_preferred_backend_that_is_available(void **state)
{
	struct fixture *f = *state;
	submit_one(f, one);
	assert_int_equal(submits(), 1);
	assert_int_equal(scripted_count(&scripted_here, SCRIPTED_SUBMIT), 0);
	scripted_cluster.why_not = "sinfo was not found";
	reopen(f);
	create(f, one, script);
	settle(f);
	assert_int_equal(scripted_count(&scripted_here, SCRIPTED_SUBMIT), 1);
	/* What only the cluster understands does not run here instead. */
	struct problems problems = {0};
	struct error err = {0};
	struct node *request = json("{\"experiment\":{\"command\":[\"true\"],\"resources\":{\"partition\":\"gpu\"}}}");
	int64_t id = 0;
	assert_int_equal(engine_create(f->engine, request, NULL, NULL, &id, &problems, &err), -EINVAL);
	problems_summary(&problems, &err);
	assert_non_null(strstr(err.text, "sinfo was not found"));
	problems_free(&problems);
	node_free(request);
	/* The first one is waited for: its backend may come back. */
	pass(f, 600 * SECOND);
	assert_int_equal(f->engine->live.len, 2);
	assert_int_equal(submits(), 1);
}

static void test_a_parallel_limit_that_was_not_heard_is_told_again(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, one);
	scripted_cluster.parallel_rc = -ETIMEDOUT;
	assert_int_equal(engine_set_parallel(f->engine, id, 3, NULL), 0);
	settle(f);
	assert_int_equal(scripted_count(&scripted_cluster, SCRIPTED_PARALLEL), 1);
	assert_int_equal(scripted_last(&scripted_cluster, SCRIPTED_PARALLEL)->count, 3);
	scripted_cluster.parallel_rc = 0;
	pass(f, 6 * SECOND);
	assert_int_equal(scripted_count(&scripted_cluster, SCRIPTED_PARALLEL), 2);
	pass(f, 60 * SECOND);
	assert_int_equal(scripted_count(&scripted_cluster, SCRIPTED_PARALLEL), 2);
}

static void test_parallel_is_kept_here_and_left_to_a_queue(void **state)
{
	struct fixture *f = *state;
	create(f,
	       "script: run.sh\nparameters: {x: [1, 2, 3, 4, 5]}\nresources: {backend: local}\n"
	       "search: {parallel: 2}\n",
	       script);
	pass(f, 10 * SECOND);
	assert_int_equal(scripted_count(&scripted_here, SCRIPTED_SUBMIT), 1);
	assert_int_equal(scripted_last(&scripted_here, SCRIPTED_SUBMIT)->count, 2);
	create(f, "script: run.sh\nparameters: {x: [1, 2, 3, 4, 5]}\nsearch: {parallel: 2}\n", script);
	pass(f, 10 * SECOND);
	assert_int_equal(submits(), 1);
	assert_int_equal(scripted_last(&scripted_cluster, SCRIPTED_SUBMIT)->count, 5);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, begin, finish)
	const struct CMUnitTest tests[] = {
		T(test_a_stop_before_the_submission_submits_nothing),
		T(test_a_stop_in_the_queue_is_repeated_until_it_is_heard),
		T(test_a_stop_is_open_until_the_cluster_confirms_it),
		T(test_a_stop_before_the_submission_is_answered_is_made_again),
		T(test_a_stop_while_running_ends_with_the_journal),
		T(test_a_submission_of_unknown_outcome_is_looked_up_and_made_again),
		T(test_a_submission_of_unknown_outcome_that_worked_is_not_made_again),
		T(test_a_claimed_attempt_that_is_absent_is_lost_and_not_made_again),
		T(test_a_backend_without_room_is_given_it_again_under_the_same_token),
		T(test_a_refusal_is_final_and_says_why),
		T(test_a_restart_goes_on_with_a_running_attempt),
		T(test_a_restart_keeps_an_end_that_waits_for_the_accounting),
		T(test_a_restart_keeps_a_wish_to_stop),
		T(test_a_restart_in_the_middle_of_a_submission),
		T(test_auto_takes_the_preferred_backend_that_is_available),
		T(test_a_parallel_limit_that_was_not_heard_is_told_again),
		T(test_parallel_is_kept_here_and_left_to_a_queue),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
