/* An experiment that pauses itself: after equal failures in a row, or where its search has nothing to go by. The same after
 * a restart of the daemon. */
#include "stepped.h"

#include "engine/streak.h"

static const char ten[] = "script: run.sh\nparameters: {x: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}\nobjective: loss\n";

static void write_record(const struct engine_live *live, struct journal_record record)
{
	struct error err = {0};
	struct journal_writer *writer = NULL;
	assert_int_equal(fs_make_dirs(live->attempt_dir, 0700, &err), 0);
	char *path = spool_path(live->attempt_dir, SPOOL_JOURNAL);
	record.time_ms = scripted_now();
	if (journal_open(path, &writer, &err) < 0 || journal_append(writer, &record, &err) < 0)
		fail_msg("%s", err.text);
	journal_close(writer);
	free(path);
}

static void start_one(const struct engine_live *live)
{
	struct error err = {0};
	assert_int_equal(spool_claim_take(live->batch_dir, live->index, &err), 0);
	write_record(live, (struct journal_record){.kind = JOURNAL_START, .host = "node1", .version = SLUICE_VERSION});
}

static void end_one(const struct engine_live *live, enum cause cause, const char *message)
{
	write_record(live,
		     (struct journal_record){
			     .kind = JOURNAL_END, .cause = cause, .exit_code = cause != CAUSE_OK, .message = message});
}

static void measure_one(const struct engine_live *live, const char *name, double value)
{
	struct metric metric = {.name = name, .value = value};
	write_record(live,
		     (struct journal_record){
			     .kind = JOURNAL_METRIC, .step_name = "epoch", .metrics = &metric, .metric_count = 1});
}

static struct engine_experiment *experiment(struct fixture *f, int64_t id)
{
	struct engine_experiment *e = engine_find(f->engine, id);
	assert_non_null(e);
	return e;
}

/* The first `count` that are alive fail in this way. */
static void fail_some(struct fixture *f, size_t count, const char *message)
{
	for (size_t i = 0; i < count; i++) {
		start_one(f->engine->live.at[i]);
		end_one(f->engine->live.at[i], CAUSE_EXIT, message);
	}
	settle(f);
}

static void test_three_equal_failures_take_the_rest_out_of_the_queue(void **state)
{
	struct fixture *f = *state;
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_QUEUED});
	int64_t id = create(f, ten, script);
	settle(f);
	assert_int_equal(f->engine->live.len, 10);
	for (int i = 0; i < 3; i++) {
		char message[40];
		snprintf(message, sizeof(message), "ValueError: lr 0.%d is too large", i);
		fail_some(f, 1, message);
		assert_int_equal(experiment(f, id)->paused != NULL, i == 2);
	}
	assert_non_null(
		strstr(experiment(f, id)->paused, "3 tasks in a row failed in the same way: ValueError: lr 0.2"));
	assert_int_equal(f->engine->live.len, 7);
	assert_int_equal(scripted_last(&scripted_cluster, SCRIPTED_WITHDRAW)->count, 7);
	/* One began before it could be taken back, and fails in its own way. */
	fail_some(f, 1, "KeyError: 1");
	assert_int_equal(experiment(f, id)->counts[STORE_ERROR], 4);
	reopen(f);
	assert_int_equal(f->engine->live.len, 6);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ENDED, .cause = CAUSE_CANCELLED});
	pass(f, 30 * SECOND);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_RUNNING});
	assert_int_equal(f->engine->live.len, 0);
	assert_int_equal(experiment(f, id)->counts[STORE_WAITING], 6);
	assert_int_equal(experiment(f, id)->state, STORE_WAITING);
	pass(f, 300 * SECOND);
	assert_int_equal(submits(), 1);
	reopen(f);
	assert_non_null(experiment(f, id)->paused);
	assert_int_equal(engine_resume(f->engine, id, NULL), 0);
	settle(f);
	assert_int_equal(submits(), 2);
	assert_int_equal(f->engine->live.len, 6);
	assert_null(experiment(f, id)->paused);
	struct error err = {0};
	assert_int_equal(engine_resume(f->engine, id, &err), -EBUSY);
	assert_non_null(strstr(err.text, "is neither paused nor stopped"));
}

static void test_a_success_in_between_and_another_kind_begin_anew(void **state)
{
	struct fixture *f = *state;
	int64_t id = create(f, ten, script);
	settle(f);
	fail_some(f, 2, "ValueError: a");
	fail_some(f, 2, "KeyError: b");
	struct engine_live *live = f->engine->live.at[0];
	start_one(live);
	measure_one(live, "loss", 1);
	end_one(live, CAUSE_OK, NULL);
	settle(f);
	fail_some(f, 4, "KeyError: b");
	assert_null(experiment(f, id)->paused); /* something has succeeded: then it takes more */
	assert_int_equal(experiment(f, id)->counts[STORE_ERROR], 8);
}

static void test_failures_off_never_pauses_and_a_number_is_taken_as_it_is(void **state)
{
	struct fixture *f = *state;
	int64_t id = create(f, "script: run.sh\nparameters: {x: [1, 2, 3, 4, 5, 6]}\nstop: {failures: off}\n", script);
	settle(f);
	fail_some(f, 5, "ValueError: a");
	assert_null(experiment(f, id)->paused);
	int64_t other = create(f, "script: run.sh\nparameters: {x: [1, 2, 3, 4, 5, 6]}\nstop: {failures: 1}\n", script);
	settle(f);
	size_t last = f->engine->live.len - 1;
	start_one(f->engine->live.at[last]);
	end_one(f->engine->live.at[last], CAUSE_EXIT, "ValueError: a");
	settle(f);
	assert_non_null(experiment(f, other)->paused);
}

static void test_a_stop_and_a_restart_lift_it(void **state)
{
	struct fixture *f = *state;
	int64_t count, id = create(f, ten, script);
	settle(f);
	fail_some(f, 3, "ValueError: a");
	assert_non_null(experiment(f, id)->paused);
	assert_int_equal(engine_stop(f->engine, id, NULL, 0, &count, NULL), 0);
	settle(f);
	assert_null(experiment(f, id)->paused);
}

static const char blind[] = "script: run.sh\nparameters: {x: {min: 0.0, max: 1.0}}\nobjective: val_los\n"
			    "search: {strategy: tpe, tasks: 8, parallel: 2}\n";

static void test_a_search_without_its_objective_pauses_and_goes_on_by_another(void **state)
{
	struct fixture *f = *state;
	struct problems problems = {0};
	int64_t id = create(f, blind, script);
	settle(f);
	assert_int_equal(f->engine->live.len, 2);
	start_one(f->engine->live.at[0]);
	measure_one(f->engine->live.at[0], "loss", 2);
	measure_one(f->engine->live.at[0], "val_loss", 0.5);
	end_one(f->engine->live.at[0], CAUSE_OK, NULL);
	settle(f);
	const char *why = experiment(f, id)->paused;
	assert_non_null(why);
	assert_non_null(strstr(why, "found loss, val_loss; no val_los; did you mean val_loss?"));
	pass(f, 60 * SECOND);
	assert_int_equal(experiment(f, id)->last_number, 2);
	struct node *wrong = json("{\"objective\":\"val_looss\"}"), *right = json("{\"objective\":\"val_loss\"}");
	assert_int_equal(engine_change(f->engine, id, wrong, &problems, NULL), -EINVAL);
	assert_non_null(experiment(f, id)->paused);
	problems_free(&problems);
	assert_int_equal(engine_change(f->engine, id, right, &problems, NULL), 0);
	node_free(wrong);
	node_free(right);
	settle(f);
	assert_null(experiment(f, id)->paused);
	assert_int_equal(experiment(f, id)->last_number, 3);
	struct node *e = read_experiment(f, id);
	assert_true(node_get_real(node_get(task_at(e, 0), "best"), "value", -1) == 0.5);
	assert_string_equal(node_get_string(node_get(e, "objective")->items[0], "metric"), "val_loss");
	struct node *before = node_clone(node_get(task_at(e, 2), "parameters"));
	node_free(e);
	reopen(f); /* the replay must agree with what was proposed */
	e = read_experiment(f, id);
	assert_string_equal(node_get(before, "x")->string,
			    node_get(node_get(task_at(e, 2), "parameters"), "x")->string);
	node_free(before);
	node_free(e);
}

static void test_a_kind_is_its_words_without_the_numbers(void **state)
{
	struct streak streak = {0};
	(void)state;
	assert_int_equal(streak_add_failure(&streak, "lr 0.1 is too large"), 1);
	assert_int_equal(streak_add_failure(&streak, "lr 1e-05 is too large"), 2);
	assert_int_equal(streak_add_failure(&streak, "lr is too large"), 1);
	assert_false(streak_is_enough(&streak, -1, false));
	assert_true(streak_is_enough(&streak, 1, true));
	assert_false(streak_is_enough(&streak, 0, false));
	streak.count = STREAK_FIRST;
	assert_true(streak_is_enough(&streak, -1, false));
	assert_false(streak_is_enough(&streak, -1, true));
	streak_forget(&streak);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, begin, finish)
	const struct CMUnitTest tests[] = {
		T(test_three_equal_failures_take_the_rest_out_of_the_queue),
		T(test_a_success_in_between_and_another_kind_begin_anew),
		T(test_failures_off_never_pauses_and_a_number_is_taken_as_it_is),
		T(test_a_stop_and_a_restart_lift_it),
		T(test_a_search_without_its_objective_pauses_and_goes_on_by_another),
		cmocka_unit_test(test_a_kind_is_its_words_without_the_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
