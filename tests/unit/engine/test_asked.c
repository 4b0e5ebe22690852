/* What attempts ask for: more with every retry where the experiment says so, and something else after a change, also for
 * what waits in the queue. The clock is stepped; the backends are scripted. */
#include "stepped.h"

#define GB (1ll << 30)

static const char hungry[] = "script: run.sh\nparameters: {x: 1}\nresources: {memory: 8G, time: 1h}\n"
			     "retry: {memory: {times: 3, factor: 2}, time: {times: 1, factor: 1.5}}\n";

static int64_t last_memory(void)
{
	return scripted_last(&scripted_cluster, SCRIPTED_SUBMIT)->memory_bytes;
}

static int64_t last_time_ms(void)
{
	return scripted_last(&scripted_cluster, SCRIPTED_SUBMIT)->time_ms;
}

static size_t withdrawals(void)
{
	return scripted_count(&scripted_cluster, SCRIPTED_WITHDRAW);
}

/* The script of the attempt that is alive ends, and its next attempt is handed over where there is one. */
static void run_out_of(struct fixture *f, enum cause cause)
{
	runner_start(f);
	settle(f);
	runner_end(f, cause, -1, 9);
	pass(f, 20 * SECOND);
	pass(f, 120 * SECOND);
}

static void change(struct fixture *f, int64_t id, const char *json, int expected)
{
	struct problems problems = {0};
	struct error err = {0};
	struct node *body = NULL;
	assert_int_equal(node_parse_json(json, strlen(json), &body, &err), 0);
	int rc = engine_change(f->engine, id, body, &problems, &err);
	if (rc != expected)
		fail_msg("%d, %s", rc, problems.list.len ? problems.list.at[0].message : err.text);
	node_free(body);
	problems_free(&problems);
	settle(f);
}

/* The memory that the attempt asked for, as a user sees it. */
static int64_t shown_memory(struct fixture *f, int64_t id, size_t attempt)
{
	struct node *e = read_experiment(f, id);
	const struct node *attempts = node_get(task_at(e, 0), "attempts");
	int64_t bytes = node_get_int(node_get(attempts->items[attempt], "asked"), "memory_bytes", -1);
	node_free(e);
	return bytes;
}

static void test_each_retry_for_memory_asks_for_more(void **state)
{
	struct fixture *f = *state;
	scripted_cluster.most_memory_bytes = 24 * GB;
	int64_t id = submit_one(f, hungry);
	assert_int_equal(last_memory(), 8 * GB);
	run_out_of(f, CAUSE_MEMORY);
	assert_int_equal(submits(), 2);
	assert_int_equal(last_memory(), 16 * GB);
	assert_int_equal(last_time_ms(), 3600 * SECOND); /* it had enough of that */
	assert_int_equal(shown_memory(f, id, 0), 8 * GB);
	assert_int_equal(shown_memory(f, id, 1), 16 * GB);
	run_out_of(f, CAUSE_MEMORY);
	assert_int_equal(last_memory(), 24 * GB); /* and not 32: no node has that much */
	run_out_of(f, CAUSE_MEMORY);
	/* One retry is left, but it could not get any more. */
	assert_task(f, id, "error", 3, "memory");
	assert_reason(f, id, "it had 24 GB of memory, the most that one node offers");
	assert_int_equal(submits(), 3);
}

static void test_the_reason_says_what_the_retry_asks_for(void **state)
{
	struct fixture *f = *state;
	scripted_cluster.most_memory_bytes = 12 * GB;
	int64_t id = submit_one(f, hungry);
	runner_start(f);
	settle(f);
	runner_end(f, CAUSE_TIME, -1, 0);
	settle(f);
	assert_reason(f, id, "retry 1 of 1 with 1 h 30 m");
	pass(f, 20 * SECOND);
	assert_int_equal(last_time_ms(), 5400 * SECOND);
	runner_start(f);
	settle(f);
	runner_end(f, CAUSE_MEMORY, -1, 9);
	settle(f);
	assert_reason(f, id, "retry 1 of 3 with 12 GB of memory, the most that one node offers");
	pass(f, 20 * SECOND);
	assert_int_equal(last_memory(), 12 * GB);
	assert_int_equal(last_time_ms(), 5400 * SECOND);
}

static void test_what_a_retry_asks_for_outlives_the_daemon(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, hungry);
	runner_start(f);
	settle(f);
	runner_end(f, CAUSE_MEMORY, -1, 9);
	settle(f);
	reopen(f);
	scripted_cluster.silent = true; /* the daemon ends before the answer comes */
	pass(f, 20 * SECOND);
	assert_int_equal(last_memory(), 16 * GB);
	scripted_cluster.silent = false;
	reopen(f);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ABSENT});
	pass(f, 300 * SECOND); /* it is looked up, not found, and handed over again under its token */
	assert_true(scripted_last(&scripted_cluster, SCRIPTED_SUBMIT)->again);
	assert_int_equal(last_memory(), 16 * GB);
	(void)id;
}

static int64_t submitted_with(int64_t memory_bytes)
{
	int64_t count = 0;
	for (size_t i = 0; i < scripted_cluster.calls.len; i++)
		if (scripted_cluster.calls.at[i].verb == SCRIPTED_SUBMIT &&
		    scripted_cluster.calls.at[i].memory_bytes == memory_bytes)
			count += (int64_t)scripted_cluster.calls.at[i].count;
	return count;
}

static void test_tasks_that_ask_for_different_things_go_in_different_batches(void **state)
{
	struct fixture *f = *state;
	struct store_task task;
	scripted_cluster.room = 0;
	int64_t id = create(f,
			    "script: run.sh\nparameters: {x: [1, 2, 3]}\nresources: {memory: 8G}\n"
			    "retry: {memory: {times: 1, factor: 2}}\n",
			    script);
	settle(f);
	assert_int_equal(store_read_task(engine_store(f->engine), id, 2, store_keep_task, &task), 0);
	assert_int_equal(store_set_retry(engine_store(f->engine), task.id, "{\"memory\":1}", 0), 0);
	scripted_cluster.room = 1000;
	settle(f);
	assert_int_equal(submits(), 2);
	assert_int_equal(submitted_with(8 * GB), 2);
	assert_int_equal(submitted_with(16 * GB), 1);
}

static void test_a_change_renews_what_waits_in_the_queue(void **state)
{
	struct fixture *f = *state;
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_QUEUED, .reason = "busy"});
	int64_t id = submit_one(f, hungry);
	pass(f, 4 * SECOND);
	char token[TOKEN_ID_CHARS];
	memcpy(token, only_live(f)->token, sizeof(token));
	change(f, id, "{\"resources\": {\"memory\": \"32G\"}}", 0);
	assert_int_equal(withdrawals(), 1);
	assert_int_equal(cancels(), 0);
	assert_task(f, id, "submitted", 1, NULL); /* until the queue has let it go */
	reopen(f); /* the wish outlives the daemon */
	assert_int_equal(withdrawals(), 2);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ENDED, .cause = CAUSE_CANCELLED});
	pass(f, 2 * SECOND);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_RUNNING});
	pass(f, 20 * SECOND);
	assert_attempt(f, id, 0, "stopped", NULL);
	assert_int_equal(last_memory(), 32 * GB);
	assert_string_not_equal(scripted_last(&scripted_cluster, SCRIPTED_SUBMIT)->token, token);
	assert_int_equal(shown_memory(f, id, 1), 32 * GB);
	runner_start(f);
	runner_end(f, CAUSE_OK, 0, 0);
	settle(f);
	assert_task(f, id, "finished", 2, NULL);
}

/* Something queued is to be submitted again with other resources. The daemon is killed after each step of it: the wish is
 * written; the backend was called; it has let the job go; its end is in the store; the next attempt is handed over. */
static void test_a_kill_at_any_step_of_a_withdrawal_submits_it_once(void **state)
{
	struct fixture *f = *state;
	for (int killed = 0; killed < 5; killed++) {
		struct problems problems = {0};
		struct error err = {0};
		struct node *body = json("{\"resources\": {\"memory\": \"32G\"}}");
		size_t before = submits();
		scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_QUEUED, .reason = "busy"});
		int64_t id = submit_one(f, hungry);
		pass(f, 4 * SECOND);
		assert_int_equal(engine_change(f->engine, id, body, &problems, &err), 0);
		node_free(body);
		if (killed == 0)
			kill_engine(f);
		settle(f);
		assert_true(withdrawals() > 0);
		if (killed == 1)
			kill_engine(f);
		scripted_say(
			&scripted_cluster,
			(struct scripted_sight){.state = BACKEND_ENDED, .cause = CAUSE_CANCELLED, .earlier = true});
		if (killed == 2)
			kill_engine(f);
		for (int i = 0; i < 300 && f->engine->live.len && only_live(f)->number == 1; i++)
			pass(f, SECOND / 10);
		if (killed == 3)
			kill_engine(f);
		pass(f, 20 * SECOND);
		if (killed == 4)
			kill_engine(f);
		pass(f, 60 * SECOND);
		assert_int_equal(submits(), before + 2);
		assert_int_equal(last_memory(), 32 * GB);
		assert_int_equal(cancels(), 0);
		runner_start(f);
		runner_end(f, CAUSE_OK, 0, 0);
		settle(f);
		assert_task(f, id, "finished", 2, NULL);
		assert_attempt(f, id, 0, "stopped", NULL);
	}
}

static void test_a_change_leaves_what_runs_alone(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, hungry);
	runner_start(f);
	pass(f, 4 * SECOND);
	change(f, id, "{\"resources\": {\"memory\": \"32G\"}, \"retry\": {\"error\": 1}}", 0);
	pass(f, 60 * SECOND);
	assert_int_equal(withdrawals(), 0);
	assert_task(f, id, "running", 1, NULL);
	runner_end(f, CAUSE_EXIT, 1, 0);
	pass(f, 30 * SECOND);
	assert_int_equal(last_memory(), 32 * GB);
}

static void test_one_that_starts_while_it_is_withdrawn_goes_on(void **state)
{
	struct fixture *f = *state;
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_QUEUED});
	int64_t id = submit_one(f, hungry);
	pass(f, 4 * SECOND);
	change(f, id, "{\"resources\": {\"memory\": \"32G\"}}", 0);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_RUNNING});
	runner_start(f);
	pass(f, 30 * SECOND);
	assert_int_equal(only_live(f)->task.wanted, STORE_WANT_RUN);
	assert_int_equal(withdrawals(), 1);
	runner_end(f, CAUSE_OK, 0, 0);
	settle(f);
	assert_task(f, id, "finished", 1, NULL);
	assert_int_equal(submits(), 1);
}

static void test_one_that_is_ended_as_it_starts_is_run_again(void **state)
{
	struct fixture *f = *state;
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_QUEUED});
	int64_t id = submit_one(f, hungry);
	pass(f, 4 * SECOND);
	change(f, id, "{\"resources\": {\"memory\": \"32G\"}}", 0);
	runner_start(f);
	runner_end(f, CAUSE_STOPPED, -1, 15); /* the call came at that moment */
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ENDED, .cause = CAUSE_CANCELLED});
	settle(f);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_RUNNING});
	pass(f, 30 * SECOND);
	assert_attempt(f, id, 0, "stopped", NULL);
	assert_int_equal(submits(), 2);
	assert_int_equal(last_memory(), 32 * GB);
}

/* It is seen ending before it is seen ended: our own call ended it, and nobody else's. */
static void test_one_that_is_seen_ending_after_the_call_is_run_again(void **state)
{
	struct fixture *f = *state;
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_QUEUED});
	int64_t id = submit_one(f, hungry);
	pass(f, 4 * SECOND);
	change(f, id, "{\"resources\": {\"memory\": \"32G\"}}", 0);
	runner_start(f);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_RUNNING, .reason = "ending"});
	pass(f, 10 * SECOND);
	runner_end(f, CAUSE_STOPPED, -1, 15);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ENDED, .cause = CAUSE_CANCELLED});
	settle(f);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_RUNNING});
	pass(f, 30 * SECOND);
	assert_attempt(f, id, 0, "stopped", NULL);
	assert_int_equal(submits(), 2);
}

static void test_a_stop_after_the_change_wins(void **state)
{
	struct fixture *f = *state;
	int64_t count;
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_QUEUED});
	int64_t id = submit_one(f, hungry);
	pass(f, 4 * SECOND);
	change(f, id, "{\"resources\": {\"memory\": \"32G\"}}", 0);
	assert_int_equal(engine_stop(f->engine, id, NULL, 0, &count, NULL), 0);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ENDED, .cause = CAUSE_CANCELLED});
	pass(f, 60 * SECOND);
	assert_task(f, id, "stopped", 1, NULL);
	assert_int_equal(submits(), 1);
}

static void test_a_change_of_memory_begins_the_retries_anew(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, hungry);
	run_out_of(f, CAUSE_MEMORY);
	assert_int_equal(last_memory(), 16 * GB);
	runner_start(f);
	settle(f);
	change(f, id, "{\"resources\": {\"memory\": \"20G\"}}", 0);
	runner_end(f, CAUSE_MEMORY, -1, 9); /* it had 16 */
	pass(f, 30 * SECOND);
	assert_int_equal(last_memory(), 20 * GB); /* as was said, and not twice that */
	run_out_of(f, CAUSE_MEMORY);
	assert_int_equal(last_memory(), 40 * GB);
}

static void test_a_change_that_makes_no_sense_is_refused(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, hungry);
	change(f, id, "{\"resources\": {\"backend\": \"local\"}}", -EINVAL);
	change(f, id, "{\"resources\": {\"memory\": \"much\"}}", -EINVAL);
	change(f, id, "{\"resources\": {\"memori\": \"1G\"}}", -EINVAL);
	change(f, id, "{\"resources\": \"32G\"}", -EINVAL);
	change(f, id, "{\"retry\": {\"memory\": {\"factor\": 0.5}}}", -EINVAL);
	change(f, id, "{\"retry\": {\"lost\": {\"times\": 1, \"factor\": 2}}}", -EINVAL);
	change(f, id, "{\"retry\": {\"memory\": {\"times\": 1, \"factor\": \"2\"}}}", -EINVAL);
	assert_int_equal(withdrawals(), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, begin, finish)
	const struct CMUnitTest tests[] = {
		T(test_each_retry_for_memory_asks_for_more),
		T(test_the_reason_says_what_the_retry_asks_for),
		T(test_what_a_retry_asks_for_outlives_the_daemon),
		T(test_tasks_that_ask_for_different_things_go_in_different_batches),
		T(test_a_change_renews_what_waits_in_the_queue),
		T(test_a_kill_at_any_step_of_a_withdrawal_submits_it_once),
		T(test_a_change_leaves_what_runs_alone),
		T(test_one_that_starts_while_it_is_withdrawn_goes_on),
		T(test_one_that_is_ended_as_it_starts_is_run_again),
		T(test_one_that_is_seen_ending_after_the_call_is_run_again),
		T(test_a_stop_after_the_change_wins),
		T(test_a_change_of_memory_begins_the_retries_anew),
		T(test_a_change_that_makes_no_sense_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
