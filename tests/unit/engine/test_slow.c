/* A running task that is much slower than its siblings, in the whole engine, with a scripted cluster and a stepped clock:
 * it is named with the evidence, also after a restart, until it is as fast as they are. */
#include "stepped.h"

#include "engine/slow.h"

static const char twelve[] = "script: run.sh\nparameters: {x: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}\n";

/* The attempt of a task; NULL once it has been settled. */
static struct engine_live *find(struct fixture *f, int64_t number)
{
	for (size_t i = 0; i < f->engine->live.len; i++)
		if (f->engine->live.at[i]->task.number == number)
			return f->engine->live.at[i];
	return NULL;
}

/* What its runner would write, now. */
static void note(struct fixture *f, int64_t number, struct journal_record record)
{
	struct error err = {0};
	struct journal_writer *writer = NULL;
	const struct engine_live *live = find(f, number);
	assert_int_equal(fs_make_dirs(live->attempt_dir, 0700, &err), 0);
	char *path = spool_path(live->attempt_dir, SPOOL_JOURNAL);
	record.time_ms = scripted_now();
	if (journal_open(path, &writer, &err) < 0 || journal_append(writer, &record, &err) < 0)
		fail_msg("%s", err.text);
	journal_close(writer);
	free(path);
}

static void start(struct fixture *f, int64_t number)
{
	struct error err = {0};
	const struct engine_live *live = find(f, number);
	assert_int_equal(spool_claim_take(live->batch_dir, live->index, &err), 0);
	note(f, number, (struct journal_record){.kind = JOURNAL_START, .host = "node1", .version = SLUICE_VERSION});
	pass(f, SECOND);
}

/* Steps of the tasks `from` to `to`, beginning with `step`, each of this time. */
static void train(struct fixture *f, int64_t from, int64_t to, int64_t step, int64_t steps, int64_t each_ms)
{
	struct metric metric = {.name = "loss", .value = 1};
	for (int64_t i = 0; i < steps; i++) {
		scripted_step(each_ms);
		for (int64_t number = from; number <= to; number++)
			note(f, number,
			     (struct journal_record){.kind = JOURNAL_METRIC,
						     .step = step + i,
						     .step_name = "epoch",
						     .metrics = &metric,
						     .metric_count = 1});
		settle(f);
	}
}

static void end(struct fixture *f, int64_t number)
{
	note(f, number, (struct journal_record){.kind = JOURNAL_END, .cause = CAUSE_OK});
	for (int i = 0; i < 100 && find(f, number); i++)
		pass(f, SECOND);
	assert_null(find(f, number));
}

static struct node *read_slow(struct fixture *f, int64_t id)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&text);
	struct node *node = NULL;
	json_map(&w);
	engine_write_slow(f->engine, id, &w);
	json_end(&w);
	assert_int_equal(node_parse_json(buf_text(&text), text.len, &node, NULL), 0);
	buf_free(&text);
	return node;
}

static size_t count_slow(struct fixture *f, int64_t id)
{
	struct node *answer = read_slow(f, id);
	size_t count = node_get(answer, "slow")->count;
	node_free(answer);
	return count;
}

static int64_t run_siblings(struct fixture *f, int64_t step_ms)
{
	int64_t id = create(f, twelve, script);
	settle(f);
	for (int64_t number = 1; number <= 10; number++)
		if (number != 5) { /* which has a value between those of others */
			start(f, number);
			train(f, number, number, 1, 5, step_ms + step_ms / 20 * number);
			end(f, number);
			assert_int_equal(count_slow(f, id), 0);
		}
	return id;
}

static void test_a_task_that_is_slower_than_its_siblings_is_named(void **state)
{
	struct fixture *f = *state;
	int64_t id = run_siblings(f, SECOND);
	start(f, 5);
	train(f, 5, 5, 1, 2, 12 * SECOND);
	assert_int_equal(count_slow(f, id), 0); /* two steps are no rhythm */
	train(f, 5, 5, 3, 6, 12 * SECOND);
	struct node *answer = read_slow(f, id);
	const struct node *slow = node_get(answer, "slow");
	assert_int_equal(slow->count, 1);
	assert_int_equal(node_get_int(slow->items[0], "number", 0), 5);
	const char *text = node_get_string(slow->items[0], "text");
	if (!strstr(text, "a step takes 12 s, 9.2 times as long as expected: 1.3 s in 9 finished tasks"))
		fail_msg("%s", text);
	node_free(answer);
	struct node *e = read_experiment(f, id);
	assert_non_null(
		strstr(node_get_string(task_at(e, 4), "reason"), "slower than its siblings: a step takes 12 s"));
	node_free(e);
	reopen(f);
	assert_int_equal(count_slow(f, id), 1);
	train(f, 5, 5, 9, 60, SECOND);
	pass(f, 20 * SECOND);
	assert_int_equal(count_slow(f, id), 0);
	e = read_experiment(f, id);
	assert_null(node_get_string(task_at(e, 4), "reason"));
	node_free(e);
}

/* Only the newest steps are remembered: what they took together is less than what was lost. */
static void test_a_task_with_many_short_steps_is_named_too(void **state)
{
	struct fixture *f = *state;
	int64_t id = run_siblings(f, 20);
	start(f, 5);
	train(f, 5, 5, 1, 250, 200);
	pass(f, 11 * SECOND);
	assert_int_equal(count_slow(f, id), 1);
}

static void test_values_outside_those_that_ran_are_not_judged(void **state)
{
	struct fixture *f = *state;
	int64_t id = run_siblings(f, SECOND);
	start(f, 12); /* the others had up to 10 */
	train(f, 12, 12, 1, 8, 12 * SECOND);
	assert_int_equal(count_slow(f, id), 0);
}

/* As when more tasks share a GPU than before. */
static void test_tasks_that_are_all_slow_do_not_stand_out(void **state)
{
	struct fixture *f = *state;
	int64_t id = create(f, twelve, script);
	settle(f);
	for (int64_t number = 1; number <= 12; number++)
		if (number < 5 || number > 7) {
			start(f, number);
			train(f, number, number, 1, 5, 1000);
			end(f, number);
		}
	for (int64_t number = 5; number <= 7; number++)
		start(f, number);
	train(f, 5, 7, 1, 12, 12 * SECOND);
	assert_int_equal(count_slow(f, id), 0);
}

static void test_a_task_without_steps_is_compared_by_its_time(void **state)
{
	struct fixture *f = *state;
	int64_t id = create(f, twelve, script);
	settle(f);
	for (int64_t number = 1; number <= 10; number++)
		if (number != 5) {
			start(f, number);
			pass(f, 10 * SECOND);
			end(f, number);
		}
	start(f, 5);
	pass(f, 24 * SECOND);
	assert_int_equal(count_slow(f, id), 0);
	pass(f, 60 * SECOND);
	assert_int_equal(count_slow(f, id), 1);
	assert_non_null(strstr(find(f, 5)->slow, "it has run for"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_task_that_is_slower_than_its_siblings_is_named, begin, finish),
		cmocka_unit_test_setup_teardown(test_a_task_with_many_short_steps_is_named_too, begin, finish),
		cmocka_unit_test_setup_teardown(test_values_outside_those_that_ran_are_not_judged, begin, finish),
		cmocka_unit_test_setup_teardown(test_tasks_that_are_all_slow_do_not_stand_out, begin, finish),
		cmocka_unit_test_setup_teardown(test_a_task_without_steps_is_compared_by_its_time, begin, finish),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
