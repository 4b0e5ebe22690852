/* What metrics are called when several files have them: the rule of series.c, pure and in the whole engine. */
#include "stepped.h"

#include "engine/series.h"
#include "engine/spec.h"

static void expect_words(const char *const *paths, size_t count, const char *const *wanted)
{
	char *words[8];
	series_qualify(paths, count, words);
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(words[i], wanted[i]);
		free(words[i]);
	}
}
#define WORDS(...)                                                                                                     \
	(const char *const[])                                                                                          \
	{                                                                                                              \
		__VA_ARGS__                                                                                            \
	}

static void test_a_path_is_cut_to_what_sets_it_apart(void **state)
{
	(void)state;
	expect_words(WORDS("logs/train.csv", "logs/val.csv"), 2, WORDS("train", "val"));
	expect_words(WORDS("fold0/metrics.csv", "fold1/metrics.csv"), 2, WORDS("fold0", "fold1"));
	expect_words(WORDS("a/x/metrics.csv", "a/y/metrics.csv", "a/y/z/metrics.csv"), 3, WORDS("x", "y", "y/z"));
	expect_words(WORDS("metrics.csv", "val/metrics.csv"), 2, WORDS("", "val"));
	expect_words(WORDS("a.csv", "a.tsv"), 2, WORDS("a.csv", "a.tsv"));
	expect_words(WORDS("train.csv", "retrain.csv"), 2, WORDS("train", "retrain"));
	expect_words(WORDS("only.csv"), 1, WORDS(""));
}

static void row_of(struct fixture *f, const char *source, const char *step_name, int64_t step, double loss)
{
	struct metric metric = {.name = "loss", .value = loss};
	runner_write(f,
		     (struct journal_record){.kind = JOURNAL_METRIC,
					     .step = step,
					     .step_name = step_name,
					     .source = source,
					     .metrics = &metric,
					     .metric_count = 1});
}

/* The task's series as "name:value,value …", in the order of their names. */
static void expect_series(struct fixture *f, int64_t id, const char *wanted)
{
	struct node *e = read_experiment(f, id);
	const struct node *metrics = node_get(task_at(e, 0), "metrics");
	struct buf text = buf_make(BUF_UNLIMITED);
	const char *last = "";
	for (size_t done = 0; done < metrics->count; done++) {
		const struct node *next = NULL;
		for (size_t i = 0; i < metrics->count; i++)
			if (strcmp(metrics->items[i]->key, last) > 0 &&
			    (!next || strcmp(metrics->items[i]->key, next->key) < 0))
				next = metrics->items[i];
		last = next->key;
		buf_addf(&text, "%s%s:", done ? " " : "", next->key);
		const struct node *values = node_get(next, "value");
		for (size_t i = 0; i < values->count; i++)
			buf_addf(&text, "%s%g", i ? "," : "",
				 values->items[i]->type == NODE_INT ? (double)values->items[i]->integer
								    : values->items[i]->real);
	}
	assert_string_equal(buf_text(&text), wanted);
	buf_free(&text);
	node_free(e);
}

static void test_names_do_not_depend_on_which_file_is_seen_first(void **state)
{
	struct fixture *f = *state;
	static const char *const files[] = {"csv:logs/train.csv", "csv:logs/val.csv"};
	for (int order = 0; order < 2; order++) {
		int64_t id = submit_one(f, one);
		runner_start(f);
		row_of(f, files[order], "epoch", 0, order ? 1 : 100);
		pass(f, 2 * SECOND);
		expect_series(f, id, order ? "loss:1" : "loss:100");
		row_of(f, files[!order], "epoch", 0, order ? 100 : 1);
		row_of(f, files[order], "epoch", 1, order ? 2 : 101);
		row_of(f, files[!order], "epoch", 1, order ? 101 : 2);
		runner_end(f, CAUSE_OK, 0, 0);
		settle(f);
		expect_series(f, id, "train/loss:100,101 val/loss:1,2");
	}
}

static void test_the_names_survive_the_daemon(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, "script: run.sh\nparameters: {x: 1}\nobjective: val/loss\n");
	runner_start(f);
	row_of(f, "csv:train.csv", "epoch", 0, 100);
	row_of(f, "csv:val.csv", "epoch", 0, 1);
	pass(f, 2 * SECOND);
	reopen(f);
	row_of(f, "csv:train.csv", "epoch", 1, 101);
	row_of(f, "csv:val.csv", "epoch", 1, 2);
	pass(f, 2 * SECOND);
	expect_series(f, id, "train/loss:100,101 val/loss:1,2");
	assert_int_equal(only_live(f)->task.best_step, 0);
	assert_true(only_live(f)->task.best == 1);
	runner_end(f, CAUSE_OK, 0, 0);
	settle(f);
}

static void test_the_most_trusted_source_counts_and_nothing_is_doubled(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, "script: run.sh\nparameters: {x: 1}\nobjective: loss\n");
	runner_start(f);
	row_of(f, "jsonl:log.jsonl", "row", 1, 7);
	row_of(f, "jsonl:log.jsonl", "row", 2, 6);
	pass(f, 2 * SECOND);
	expect_series(f, id, "loss:7,6");
	/* A file with steps is believed before one whose rows are counted. */
	row_of(f, "jsonl:steps.jsonl", "step", 10, 5);
	pass(f, 2 * SECOND);
	expect_series(f, id, "loss:5");
	row_of(f, "csv:log.csv", "step", 10, 4);
	row_of(f, "jsonl:steps.jsonl", "step", 20, 3);
	pass(f, 2 * SECOND);
	expect_series(f, id, "loss:4");
	assert_true(only_live(f)->task.best == 4);
	row_of(f, "report:report.jsonl", "row", 1, 2);
	row_of(f, "csv:log.csv", "step", 20, 1);
	pass(f, 2 * SECOND);
	expect_series(f, id, "loss:2");
	assert_true(only_live(f)->task.best == 2);
	runner_end(f, CAUSE_OK, 0, 0);
	settle(f);
}

static void test_a_result_with_a_step_is_no_curve(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, "script: run.sh\nparameters: {x: 1}\nobjective: loss\n");
	runner_start(f);
	row_of(f, "result:out/all_results.json", "epoch", 3, 7);
	pass(f, 2 * SECOND);
	expect_series(f, id, "loss:7");
	row_of(f, "printed:stdout", "epoch", 1, 9);
	row_of(f, "printed:stdout", "epoch", 2, 8);
	pass(f, 2 * SECOND);
	expect_series(f, id, "loss:9,8");
	row_of(f, "json:out/trainer_state.json", "step", 10, 6);
	row_of(f, "result:out/eval_results.json", "epoch", 3, 5);
	pass(f, 2 * SECOND);
	expect_series(f, id, "loss:6");
	runner_end(f, CAUSE_OK, 0, 0);
	settle(f);
}

/* A resumed attempt that writes its state over once has one row of it, which belongs to the curve. */
static void test_the_result_of_a_file_with_a_curve_goes_on_with_it(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, "script: run.sh\nparameters: {x: 1}\nobjective: loss\n");
	runner_start(f);
	row_of(f, "printed:stdout", "epoch", 0, 9);
	row_of(f, "json:state.json", "epoch", 1, 3);
	row_of(f, "json:state.json", "epoch", 2, 2);
	row_of(f, "result:state.json", "epoch", 3, 1);
	pass(f, 2 * SECOND);
	expect_series(f, id, "loss:3,2,1");
	runner_end(f, CAUSE_OK, 0, 0);
	settle(f);
}

static void test_the_files_of_a_later_attempt_go_on_in_the_same_series(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, one);
	runner_start(f);
	row_of(f, "csv:version_0/metrics.csv", "epoch", 0, 3);
	row_of(f, "csv:version_0/metrics.csv", "epoch", 1, 2);
	settle(f);
	lose(f, CAUSE_NODE);
	assert_int_equal(only_live(f)->number, 2);
	runner_claim(f);
	runner_write(f,
		     (struct journal_record){
			     .kind = JOURNAL_START, .host = "node1", .version = SLUICE_VERSION, .resume = true});
	struct metric metric = {.name = "loss", .value = 2};
	runner_write(f,
		     (struct journal_record){.kind = JOURNAL_METRIC,
					     .step = 1,
					     .step_name = "epoch",
					     .source = "csv:version_0/metrics.csv",
					     .earlier = true,
					     .metrics = &metric,
					     .metric_count = 1});
	row_of(f, "csv:version_1/metrics.csv", "epoch", 1, 2.5);
	row_of(f, "csv:version_1/metrics.csv", "epoch", 2, 2.25);
	runner_end(f, CAUSE_OK, 0, 0);
	settle(f);
	expect_series(f, id, "loss:3,2.5,2.25");
}

static void test_the_best_is_on_the_curve_when_a_row_is_replaced(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, "script: run.sh\nparameters: {x: 1}\nobjective: loss\n");
	runner_start(f);
	row_of(f, "csv:a.csv", "epoch", 0, 3);
	row_of(f, "csv:a.csv", "epoch", 1, 1);
	pass(f, 2 * SECOND);
	row_of(f, "csv:a.csv", "epoch", 1, 5);
	row_of(f, "csv:a.csv", "epoch", 2, 4);
	pass(f, 2 * SECOND);
	expect_series(f, id, "loss:3,5,4");
	assert_true(only_live(f)->task.best == 3);
	assert_int_equal(only_live(f)->task.best_step, 0);
	runner_end(f, CAUSE_OK, 0, 0);
	settle(f);
}

static void test_an_objective_that_we_chose_is_chosen_again(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, one);
	runner_start(f);
	row_of(f, "csv:train.csv", "epoch", 0, 100);
	pass(f, 2 * SECOND);
	assert_string_equal(engine_find(f->engine, id)->spec->objectives[0].metric, "loss");
	row_of(f, "csv:val.csv", "epoch", 0, 1);
	pass(f, 2 * SECOND);
	assert_string_equal(engine_find(f->engine, id)->spec->objectives[0].metric, "val/loss");
	assert_true(only_live(f)->task.best == 1);
	runner_end(f, CAUSE_OK, 0, 0);
	settle(f);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_path_is_cut_to_what_sets_it_apart),
		TEST(test_names_do_not_depend_on_which_file_is_seen_first),
		TEST(test_the_names_survive_the_daemon),
		TEST(test_the_most_trusted_source_counts_and_nothing_is_doubled),
		TEST(test_a_result_with_a_step_is_no_curve),
		TEST(test_the_result_of_a_file_with_a_curve_goes_on_with_it),
		TEST(test_the_files_of_a_later_attempt_go_on_in_the_same_series),
		TEST(test_the_best_is_on_the_curve_when_a_row_is_replaced),
		TEST(test_an_objective_that_we_chose_is_chosen_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
