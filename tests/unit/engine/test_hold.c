/* Attempts that end before their script begins, in the whole engine: the experiment is held back, or a node is left out, also
 * after a restart, until a task starts. */
#include "stepped.h"

static const char ten[] = "script: run.sh\nparameters: {x: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}\n";

/* Until everything that is alive has ended unstarted, on this node. */
static void fail_all(struct fixture *f, const char *node, int code)
{
	scripted_say(
		&scripted_cluster,
		(struct scripted_sight){
			.state = BACKEND_ENDED, .cause = CAUSE_EXIT, .exit_code = code, .node = node, .job = "12_0"});
	for (int i = 0; i < 30 && f->engine->live.len; i++)
		pass(f, 2 * SECOND);
	assert_int_equal(f->engine->live.len, 0);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_RUNNING});
}

/* The one that is alive ends unstarted, and the next is handed over. */
static void fail_one(struct fixture *f, const char *node)
{
	int64_t failed = only_live(f)->id;
	scripted_say(
		&scripted_cluster,
		(struct scripted_sight){.state = BACKEND_ENDED, .cause = CAUSE_EXIT, .exit_code = 127, .node = node});
	for (int i = 0; i < 30 && (!f->engine->live.len || only_live(f)->id == failed); i++)
		pass(f, SECOND);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_RUNNING});
}

static int64_t pass_until_submitted(struct fixture *f)
{
	size_t before = submits();
	int64_t since = scripted_now();
	while (submits() == before && scripted_now() - since < 1200 * SECOND) {
		scripted_step(5 * SECOND);
		settle(f);
	}
	return (scripted_now() - since) / SECOND;
}

static const char *excluded_last(void)
{
	return scripted_last(&scripted_cluster, SCRIPTED_SUBMIT)->exclude;
}

static void assert_shown(struct fixture *f, int64_t id, const char *words)
{
	struct node *e = read_experiment(f, id);
	struct buf out = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&out);
	node_write_json(e, &w);
	if (!strstr(buf_text(&out), words))
		fail_msg("'%s' is not shown", words);
	buf_free(&out);
	node_free(e);
}

static void test_an_experiment_of_which_nothing_starts_is_held_back(void **state)
{
	struct fixture *f = *state;
	int64_t id = create(f, ten, script);
	settle(f);
	assert_int_equal(f->engine->live.len, 10);
	fail_all(f, "cpu1", 170);
	pass(f, 20 * SECOND); /* retries alone would come now */
	assert_int_equal(submits(), 1);
	assert_reason(f, id, "retry 1 of 20");
	struct engine_experiment *e = engine_find(f->engine, id);
	assert_non_null(strstr(e->note, "held back: 10 attempts in a row"));
	assert_non_null(strstr(e->note, "the disk with the state folder is full"));
	reopen(f);
	e = engine_find(f->engine, id);
	assert_true(unstarted_is_held(&e->unstarted));
	assert_int_equal(submits(), 1);
	int64_t pause = pass_until_submitted(f);
	assert_true(pause >= 25 && pause < 65); /* 30 s of the minute are over since they ended */
	assert_int_equal(scripted_last(&scripted_cluster, SCRIPTED_SUBMIT)->count, 1);
	int64_t first = only_live(f)->task.number;
	fail_all(f, "cpu1", 170);
	pause = pass_until_submitted(f);
	assert_true(pause >= 105 && pause < 125);
	assert_int_equal(scripted_last(&scripted_cluster, SCRIPTED_SUBMIT)->count, 1);
	assert_int_not_equal(only_live(f)->task.number, first); /* each has its turn */
	assert_string_equal(excluded_last(), "");
	runner_start(f);
	pass(f, 5 * SECOND);
	assert_int_equal(f->engine->live.len, 10); /* the first that starts lifts it */
	e = engine_find(f->engine, id);
	assert_false(unstarted_is_held(&e->unstarted));
}

static void test_a_user_who_restarts_lifts_it(void **state)
{
	struct fixture *f = *state;
	int64_t count = 0,
		id = create(f, "script: run.sh\nparameters: {x: [1, 2, 3, 4, 5]}\nretry: {unstarted: 0}\n", script);
	settle(f);
	fail_all(f, "cpu1", 174);
	assert_task(f, id, "error", 1, "unstarted");
	assert_int_equal(engine_restart(f->engine, id, NULL, 0, true, ENGINE_MODE_DEFAULT, &count, NULL), 0);
	settle(f);
	assert_int_equal(f->engine->live.len, 5);
}

static void test_a_node_on_which_nothing_starts_is_left_out_and_named(void **state)
{
	struct fixture *f = *state;
	scripted_cluster.room = 1; /* one at a time */
	int64_t id = submit_one(f,
				"script: run.sh\nparameters: {x: [1, 2, 3, 4, 5, 6, 7, 8]}\nsearch: {parallel: 1}\n");
	runner_start(f); /* on node1 */
	runner_end(f, CAUSE_OK, 0, 0);
	pass(f, 2 * SECOND);
	for (int i = 0; i < 3; i++) {
		assert_string_equal(excluded_last(), "");
		fail_one(f, "cpu2");
	}
	assert_shown(f, id, "left out: cpu2");
	assert_string_equal(excluded_last(), "cpu2");
	reopen(f);
	assert_shown(f, id, "left out: cpu2");
	/* A cluster that has no other node refuses: then none is left out, and nothing is lost. */
	struct backend_submit_result no = {.outcome = BACKEND_REFUSED,
					   .cause = CAUSE_REFUSED,
					   .why = "Requested node configuration is not available"};
	vec_push(&scripted_cluster.answers, no);
	fail_one(f, "cpu3");
	assert_string_equal(excluded_last(), "cpu2");
	pass(f, 8 * SECOND);
	assert_string_equal(excluded_last(), "");
	assert_true(scripted_last(&scripted_cluster, SCRIPTED_SUBMIT)->again);
	assert_int_equal(engine_find(f->engine, id)->counts[STORE_ERROR], 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, begin, finish)
	const struct CMUnitTest tests[] = {
		T(test_an_experiment_of_which_nothing_starts_is_held_back),
		T(test_a_user_who_restarts_lifts_it),
		T(test_a_node_on_which_nothing_starts_is_left_out_and_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
