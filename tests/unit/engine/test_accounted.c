/* Energy that accounting gives after the end of a task: it is ranked when it comes, and never in the place of what the
 * runner has measured. */
#include "stepped.h"

#include "engine/accounted.h"
#include "engine/ended.h"
#include "engine/question.h"
#include "engine/transact.h"

#include <math.h>

#define BY_ENERGY                                                                                                      \
	"script: run.sh\nparameters: {x: {min: 0, max: 1}}\nobjective: {metric: energy, goal: min}\n"                  \
	"search: {strategy: tpe, parallel: 1, tasks: "

static void account(double joules)
{
	struct cost cost = {.source = "Slurm accounting"};
	cost_set(&cost, FIGURE_WALL, 5000);
	cost_set(&cost, FIGURE_ENERGY, joules);
	scripted_say(&scripted_cluster,
		     (struct scripted_sight){.earlier = true, .state = BACKEND_ENDED, .cause = CAUSE_OK, .cost = cost});
}

static int tell_cb(void *ctx, const struct store_event *event)
{
	char *told = ctx;
	if (event->kind == STORE_EVENT_TELL)
		snprintf(told, 64, "%s", event->value ? event->value : "");
	return 0;
}

static double cost_of(struct fixture *f, int64_t id, const char *key)
{
	struct node *e = read_experiment(f, id);
	double value = node_get_real(node_get(task_at(e, 0), "cost"), key, NAN);
	node_free(e);
	return value;
}

static double best_of(struct fixture *f, int64_t id)
{
	struct node *e = read_experiment(f, id);
	double value = node_get_real(node_get(task_at(e, 0), "best"), "value", NAN);
	node_free(e);
	return value;
}

static void end_first(struct fixture *f, struct cost cost)
{
	runner_start(f);
	pass(f, 5 * SECOND);
	runner_write(f, (struct journal_record){.kind = JOURNAL_END, .cause = CAUSE_OK, .exit_code = 0, .cost = cost});
	pass(f, 2 * SECOND);
}

static void test_late_energy_is_ranked_and_told_to_the_search(void **state)
{
	struct fixture *f = *state;
	char told[64] = "";
	scripted_cluster.has_energy = true;
	int64_t id = submit_one(f, BY_ENERGY "3}\n");
	end_first(f, (struct cost){0});
	assert_true(isnan(best_of(f, id)));
	account(500);
	pass(f, 30 * SECOND);
	assert_true(best_of(f, id) == 500 && cost_of(f, id, "energy_j") == 500);
	assert_int_equal(store_each_event(engine_store(f->engine), id, tell_cb, told), 0);
	assert_string_equal(told, "[500]");
	reopen(f); /* the replay finds the same search again */
	assert_true(best_of(f, id) == 500);
}

/* The limit is a value that the search is told, too: it waits for the energy, and is told once. */
static void test_late_energy_of_a_limit_is_told_with_the_objective(void **state)
{
	struct fixture *f = *state;
	char told[64] = "";
	scripted_cluster.has_energy = true;
	int64_t id = submit_one(
		f,
		"script: run.sh\nparameters: {x: {min: 0, max: 1}}\nobjective: [{metric: loss, goal: "
		"min}, {metric: energy, at_most: 2MJ}]\nsearch: {strategy: tpe, parallel: 1, tasks: 3}\n");
	runner_start(f);
	runner_row(f, 1, 0.5);
	pass(f, 5 * SECOND);
	runner_end(f, CAUSE_OK, 0, 0);
	pass(f, 2 * SECOND);
	assert_int_equal(store_each_event(engine_store(f->engine), id, tell_cb, told), 0);
	assert_string_equal(told, "");
	account(500);
	pass(f, 30 * SECOND);
	assert_int_equal(store_each_event(engine_store(f->engine), id, tell_cb, told), 0);
	assert_string_equal(told, "[0.5,500]");
}

static int count_tells_cb(void *ctx, const struct store_event *event)
{
	*(int *)ctx += event->kind == STORE_EVENT_TELL;
	return 0;
}

static int tells(struct fixture *f, int64_t id, char told[static 64])
{
	int count = 0;
	assert_int_equal(store_each_event(engine_store(f->engine), id, count_tells_cb, &count), 0);
	assert_int_equal(store_each_event(engine_store(f->engine), id, tell_cb, told), 0);
	return count;
}

static void test_a_search_is_told_once_when_the_energy_has_come(void **state)
{
	struct fixture *f = *state;
	char told[64] = "";
	scripted_cluster.has_energy = true;
	int64_t id = submit_one(f, BY_ENERGY "3}\n");
	end_first(f, (struct cost){0});
	assert_int_equal(tells(f, id, told), 0);
	account(500);
	pass(f, 30 * SECOND);
	assert_int_equal(tells(f, id, told), 1);
	assert_string_equal(told, "[500]");
}

static void test_energy_that_does_not_come_holds_the_search_for_a_minute_only(void **state)
{
	struct fixture *f = *state;
	char told[64] = "";
	scripted_cluster.has_energy = true;
	int64_t id = submit_one(f, BY_ENERGY "3}\n");
	end_first(f, (struct cost){0});
	pass(f, ENDED_WAIT_MS - 10 * SECOND);
	assert_int_equal(tells(f, id, told), 0);
	pass(f, 20 * SECOND);
	assert_int_equal(tells(f, id, told), 1);
	assert_string_equal(told, "[\"NaN\"]");
}

static void test_a_daemon_that_was_killed_before_the_energy_came_tells_it_later(void **state)
{
	struct fixture *f = *state;
	char told[64] = "";
	scripted_cluster.has_energy = true;
	int64_t id = submit_one(f, BY_ENERGY "3}\n");
	end_first(f, (struct cost){0});
	kill_engine(f);
	pass(f, 2 * SECOND);
	assert_int_equal(tells(f, id, told), 1);
	account(500);
	pass(f, 30 * SECOND);
	tells(f, id, told);
	assert_string_equal(told, "[500]");
	assert_true(best_of(f, id) == 500);
}

static int take_late(struct engine *engine, void *ctx, struct error *err)
{
	const struct engine_ended *ended = &engine->ended.at[0];
	struct cost cost = {.source = "Slurm accounting"};
	(void)ctx;
	(void)err;
	cost_set(&cost, FIGURE_ENERGY, 500);
	return engine_take_accounted(engine, ended->experiment, ended->number, ended->task, ended->attempt, &cost);
}

/* The search is with the pool, so it is told after its answer. */
static void test_energy_that_comes_while_a_search_thinks_waits_for_its_answer(void **state)
{
	struct fixture *f = *state;
	char told[64] = "";
	struct error err = {0};
	scripted_cluster.has_energy = true;
	int64_t id = submit_one(f, BY_ENERGY "8, startup: 1}\n");
	end_first(f, (struct cost){0});
	struct engine_experiment *e = engine_find(f->engine, id);
	assert_non_null(e);
	if (!e->question)
		engine_pose_question(f->engine, e);
	assert_int_equal(engine_transact(f->engine, take_late, NULL, &err), 0);
	assert_non_null(e->question);
	tells(f, id, told);
	assert_string_equal(told, "[500]");
	for (int i = 0; i < 5000 && e->question && !e->question->answered; i++) {
		uv_run(&f->loop, UV_RUN_NOWAIT);
		usleep(1000);
	}
	pass(f, 2 * SECOND);
	assert_true(best_of(f, id) == 500);
	reopen(f); /* the replay is the same search */
	assert_true(best_of(f, id) == 500);
}

static void test_late_energy_ranks_a_task_of_an_experiment_that_is_over(void **state)
{
	struct fixture *f = *state;
	scripted_cluster.has_energy = true;
	int64_t id = submit_one(f, BY_ENERGY "1}\n");
	end_first(f, (struct cost){0});
	assert_int_equal(f->engine->live.len, 0);
	account(700);
	pass(f, 30 * SECOND);
	assert_true(best_of(f, id) == 700);
	struct node *e = read_experiment(f, id);
	assert_true(node_get_real(node_get(e, "best"), "value", NAN) == 700);
	node_free(e);
}

static void test_measured_energy_stays_and_the_nodes_stands_beside_it(void **state)
{
	struct fixture *f = *state;
	struct cost cost = {.source = "NVML energy counter"};
	scripted_cluster.has_energy = true;
	cost_set(&cost, FIGURE_ENERGY, 100);
	cost_set(&cost, FIGURE_ENERGY_GPU, 100);
	int64_t id = submit_one(f, BY_ENERGY "1}\n");
	end_first(f, cost);
	assert_true(best_of(f, id) == 100);
	account(900);
	pass(f, 30 * SECOND);
	assert_true(best_of(f, id) == 100 && cost_of(f, id, "energy_j") == 100);
	assert_true(cost_of(f, id, "energy_node_j") == 900);
}

static int remove_first(struct engine *engine, void *ctx, struct error *err)
{
	struct store_task task;
	(void)err;
	int rc = store_read_task(engine->store, *(int64_t *)ctx, 1, store_keep_task, &task);
	return rc < 0 ? rc : store_remove_task(engine->store, &task);
}

/* The daemon was killed before the rows of the task were deleted, so that the next one still finds its attempt. */
static void test_late_energy_of_a_removed_task_holds_nothing_up(void **state)
{
	struct fixture *f = *state;
	struct error err = {0};
	scripted_cluster.has_energy = true;
	int64_t id = submit_one(f, one);
	end_first(f, (struct cost){0});
	assert_int_equal(engine_transact(f->engine, remove_first, &id, &err), 0);
	kill_engine(f);
	account(500);
	pass(f, 30 * SECOND);
	assert_null(f->engine->trouble);
	assert_int_equal(f->engine->trouble_ms, 0);
	assert_false(f->engine->has_removed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_late_energy_is_ranked_and_told_to_the_search, begin, finish),
		cmocka_unit_test_setup_teardown(test_late_energy_of_a_limit_is_told_with_the_objective, begin, finish),
		cmocka_unit_test_setup_teardown(test_a_search_is_told_once_when_the_energy_has_come, begin, finish),
		cmocka_unit_test_setup_teardown(test_energy_that_does_not_come_holds_the_search_for_a_minute_only,
						begin, finish),
		cmocka_unit_test_setup_teardown(test_a_daemon_that_was_killed_before_the_energy_came_tells_it_later,
						begin, finish),
		cmocka_unit_test_setup_teardown(test_energy_that_comes_while_a_search_thinks_waits_for_its_answer,
						begin, finish),
		cmocka_unit_test_setup_teardown(test_late_energy_ranks_a_task_of_an_experiment_that_is_over, begin,
						finish),
		cmocka_unit_test_setup_teardown(test_measured_energy_stays_and_the_nodes_stands_beside_it, begin,
						finish),
		cmocka_unit_test_setup_teardown(test_late_energy_of_a_removed_task_holds_nothing_up, begin, finish),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
