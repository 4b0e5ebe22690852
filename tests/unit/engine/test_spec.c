/* The experiment file's validator: what it takes, what it refuses, and where it says so. */
#include "engine/spec.h"
#include "engine/spec_objective.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static int parse(const char *text, struct problems *problems, struct spec **spec)
{
	struct node *document = NULL;
	assert_int_equal(node_parse_yaml(text, strlen(text), &document, NULL), 0);
	int rc = spec_parse(document, problems, spec);
	node_free(document);
	return rc;
}

static void test_the_whole_file_of_the_design_is_read(void **state)
{
	(void)state;
	static const char text[] =
		"name: Conv2D - without dropout\n"
		"description: Three Conv2D layers.\n"
		"script: model.py\n"
		"files: [data/labels.csv]\n"
		"parameters:\n"
		"  batch_size: [64, 32, 16, 8, 4]\n"
		"  learning_rate: {min: 1e-5, max: 1e-1, scale: log}\n"
		"  optimizer: [adam, sgd]\n"
		"  momentum: {min: 0.0, max: 0.99, when: {optimizer: sgd}}\n"
		"  epochs: 100\n"
		"repeats: 2\n"
		"search: {strategy: random, tasks: 60, parallel: 8, seed: 420}\n"
		"objective: {metric: val_loss, goal: min}\n"
		"stop: {when: \"val_loss < 0.05\", gpu_hours: 40, energy: 20MJ, wall: 12h}\n"
		"pass: positional\n"
		"metrics: {csv: \"results/*/*.csv\"}\n"
		"environment: {setup: [\"module load cuda\"], vars: {TF_CPP_MIN_LOG_LEVEL: \"2\"}}\n"
		"resources: {backend: slurm, partition: gpu_volta, gpus: 1, cpus: 4, memory: 16G, time: 2h, "
		"options: [\"--account=ml\"]}\n"
		"retry: {lost: 3, node_failure: 3, preempted: 10, error: 0}\n"
		"checkpoint: {signal: USR1, before_limit: 120s}\n";
	struct problems problems = {0};
	struct spec *spec = NULL;
	int rc = parse(text, &problems, &spec);
	struct error err;
	problems_summary(&problems, &err);
	if (rc < 0)
		print_error("%d:%d %s\n", err.line, err.column, err.text);
	assert_int_equal(rc, 0);
	assert_string_equal(spec->name, "Conv2D - without dropout");
	assert_int_equal(spec->pass, SPEC_PASS_POSITIONAL);
	assert_int_equal(spec->repeats, 2);
	assert_string_equal(spec->stop.metric, "val_loss");
	assert_string_equal(spec->stop.op, "<");
	assert_true(spec->stop.energy_j == 20e6);
	assert_int_equal(spec->stop.wall_ms, 12 * 3600 * 1000);
	assert_string_equal(spec->resources.partition, "gpu_volta");
	assert_int_equal(spec->resources.memory_bytes, 16ll << 30);
	assert_int_equal(spec->resources.time_ms, 2 * 3600 * 1000);
	assert_string_equal(spec->resources.options[0], "--account=ml");
	assert_int_equal(spec->retry[RETRY_PREEMPTED], 10);
	assert_int_equal(spec->resources.signal_before_ms, 120000);
	assert_string_equal(spec->space->params[spec->steps_param].name, "epochs");
	spec_free(spec);
	problems_free(&problems);
}

static void test_limits_are_read_with_their_units(void **state)
{
	(void)state;
	struct problems problems = {0};
	struct spec *spec = NULL;
	assert_int_equal(
		parse("script: train.py\n"
		      "objective: [{metric: energy, goal: min, at_most: 2MJ}, {metric: val_acc, goal: max},\n"
		      "  {metric: time, at_most: 2h}, {metric: recall, at_least: 0.8, at_most: 0.99, take: best}]\n",
		      &problems, &spec),
		0);
	assert_int_equal(spec->objective_count, 2);
	assert_int_equal(spec->limit_count, 4);
	static const struct {
		const char *metric;
		bool at_least;
		double bound;
		enum spec_take take;
	} want[] = {{"energy", false, 2e6, SPEC_TAKE_BEST},
		    {"time", false, 7200, SPEC_TAKE_LAST},
		    {"recall", false, 0.99, SPEC_TAKE_BEST},
		    {"recall", true, 0.8, SPEC_TAKE_BEST}};
	for (size_t i = 0; i < COUNT_OF(want); i++) {
		const struct spec_limit *limit = &spec->limits[i];
		assert_string_equal(limit->of.metric, want[i].metric);
		assert_true(limit->at_least == want[i].at_least && limit->bound == want[i].bound &&
			    limit->of.take == want[i].take);
		assert_true(spec->search->limits[i].bound == want[i].bound &&
			    spec->search->limits[i].at_least == want[i].at_least);
	}
	spec_free(spec);
	static const char *const bad[] = {
		"{metric: energy, at_most: 2MJ}", /* nothing to improve */
		"[{metric: a, goal: min}, {metric: b, at_most: 2MJ}]", /* no energy */
		"[{metric: a, goal: min}, {metric: energy, at_most: 2h}]",
		"[{metric: a, goal: min}, {metric: a, at_most: 3}]", /* twice */
		"{metric: a, goal: min, at_most: .nan}",
	};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		char *text = mem_printf("script: train.py\nobjective: %s\n", bad[i]);
		struct problems found = {0};
		spec = NULL;
		if (parse(text, &found, &spec) == 0)
			print_error("%s\n", text);
		assert_true(found.list.len > 0);
		spec_free(spec);
		problems_free(&found);
		free(text);
	}
	problems_free(&problems);
}

static void test_a_script_alone_is_an_experiment(void **state)
{
	(void)state;
	struct problems problems = {0};
	struct spec *spec = NULL;
	assert_int_equal(parse("script: dir/train.py\n", &problems, &spec), 0);
	assert_string_equal(spec->name, "train");
	assert_int_equal(spec->objective_count, 0);
	assert_int_equal(search_planned(spec->search, spec->space), 1);
	spec_free(spec);
}

static void test_a_range_of_reals_stays_one_in_the_store(void **state)
{
	(void)state;
	struct problems problems = {0};
	struct spec *spec = NULL, *again = NULL;
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&text);
	struct node *document = NULL;
	assert_int_equal(parse("script: a.py\nparameters: {x: {min: 0.0, max: 1.0}, y: {min: 0, max: 1}, z: [1.0, 2]}\n"
			       "search: {strategy: random, tasks: 3}\n",
			       &problems, &spec),
			 0);
	node_write_json(spec->normal, &w);
	assert_int_equal(node_parse_json(buf_text(&text), text.len, &document, NULL), 0);
	assert_int_equal(spec_parse(document, &problems, &again), 0);
	assert_int_equal(again->space->params[0].kind, SPACE_REAL);
	assert_int_equal(again->space->params[1].kind, SPACE_INT);
	assert_int_equal(again->space->params[2].choices[0].kind, SPACE_VALUE_REAL);
	assert_int_equal(again->space->params[2].choices[1].kind, SPACE_VALUE_INT);
	node_free(document);
	buf_free(&text);
	spec_free(spec);
	spec_free(again);
}

static void test_goals_are_guessed_from_the_name(void **state)
{
	(void)state;
	assert_true(spec_objective_guess("val_accuracy"));
	assert_true(spec_objective_guess("AUC"));
	assert_false(spec_objective_guess("val_loss"));
	assert_false(spec_objective_guess("mse"));
	static const char *const more[] = {"val_auroc",
					   "AUPRC",
					   "Prec@1",
					   "prec1",
					   "top-5",
					   "pearson",
					   "val/Spearman",
					   "correlation",
					   "specificity",
					   "logprob",
					   "neg_mean_squared_error",
					   "neg_brier_score",
					   "neg_log_loss",
					   "Précision",
					   "mAP50",
					   "test gini",
					   "fps"};
	static const char *const less[] = {"neg_log_likelihood",
					   "negative_log_likelihood",
					   "neg_elbo",
					   "brier_score",
					   "davies_bouldin_score",
					   "nll",
					   "perte",
					   "precision_loss",
					   "lpips",
					   "chi2"};
	for (size_t i = 0; i < COUNT_OF(more); i++)
		if (!spec_objective_guess(more[i]))
			fail_msg("more of %s is better", more[i]);
	for (size_t i = 0; i < COUNT_OF(less); i++)
		if (spec_objective_guess(less[i]))
			fail_msg("less of %s is better", less[i]);
}

static void test_every_problem_is_reported_with_its_place(void **state)
{
	(void)state;
	static const struct {
		const char *text, *field, *says;
		int line;
	} cases[] = {
		{"name: x\n", "/script", "missing", 1},
		{"script: a.py\nnmae: x\n", "/nmae", "not known", 2},
		{"script: a.py\nrepeats: 0\n", "/repeats", "out of range", 2},
		{"script: a.py\nrepeats: many\n", "/repeats", "whole number", 2},
		{"script: /etc/passwd\n", "/script", "not a path below", 1},
		{"script: ../a.py\n", "/script", "not a path below", 1},
		{"script: 5\n", "/script", "must be a text", 1},
		{"script: a.py\ncommand: [a]\n", "/command", "both a script and a command", 2},
		{"script: a.py\npass: shout\n", "/pass", "not known here", 2},
		{"script: a.py\nresources: {memory: lots}\n", "/resources/memory", "not a size", 2},
		{"script: a.py\nresources: {time: -5}\n", "/resources/time", "not a duration", 2},
		{"script: a.py\nresources: {time: 2}\n", "/resources/time", "no unit", 2},
		{"script: a.py\nstop: {wall: 1.5}\n", "/stop/wall", "no unit", 2},
		{"script: a.py\nresources: {memory: 16}\n", "/resources/memory", "less than a megabyte", 2},
		{"script: a.py\nresources: {memory: 4000}\n", "/resources/memory", "less than a megabyte", 2},
		{"script: a.py\nresources: {gpus: -1}\n", "/resources/gpus", "out of range", 2},
		{"script: a.py\nresources: {partition: \"a b\"}\n", "/resources/partition", "blanks", 2},
		{"script: a.py\nobjective: {goal: min}\n", "/objective/metric", "missing", 2},
		{"script: a.py\nstop: {when: soon}\n", "/stop/when", "not a condition", 2},
		{"script: a.py\nenvironment: {vars: {SLUICE_X: 1}}\n", "/environment/vars/SLUICE_X",
		 "cannot be a variable", 2},
		{"script: a.py\nretry: {lots: 1}\n", "/retry/lots", "not known", 2},
		{"script: a.py\nname:\n", "/name", "no value", 2},
		{"script: a.py\nmetrics: {printed: x}\n", "/metrics/printed", "not known", 2},
		{"script: a.py\nmetrics: {from: output}\n", "/metrics/from", "not known here", 2},
		{"script: a.py\nmetrics: {from: []}\n", "/metrics/from", "empty", 2},
		{"script: a.py\nmetrics: {from: [csv, x]}\n", "/metrics/from/1", "not known here", 2},
		{"script: a.py\nmetrics: {pattern: loss}\n", "/metrics/pattern", "names no metric", 2},
		{"script: a.py\nmetrics: {pattern: loss, from: stdout}\n", "/metrics/pattern", "names no metric", 2},
		{"script: a.py\nmetrics: {pattern: x.csv, from: report}\n", "/metrics/pattern", "does not fit", 2},
		{"script: a.py\nmetrics: {csv: ../x.csv}\n", "/metrics/csv", "not a path below", 2},
		{"script: a.py\nmetrics: {csv: x.csv, from: csv}\n", "/metrics/from", "named already", 2},
		{"[1, 2]\n", "", "a map of keys", 1},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct problems problems = {0};
		struct spec *spec = NULL;
		assert_int_not_equal(parse(cases[i].text, &problems, &spec), 0);
		assert_null(spec);
		const struct problem *first = &problems.list.at[0];
		if (strcmp(first->field, cases[i].field) != 0 || !strstr(first->message, cases[i].says) ||
		    first->line != cases[i].line)
			fail_msg("case %zu: %s:%d %s", i, first->field, first->line, first->message);
		problems_free(&problems);
	}
}

/* A capability is declared, not inferred; a key belongs to one backend. */
static void test_what_was_accepted_earlier_is_still_read(void **state)
{
	(void)state;
	struct problems problems = {.stored = true};
	struct spec *spec = NULL;
	assert_int_equal(parse("script: a.py\nresources: {time: 90, memory: 4000}\n", &problems, &spec), 0);
	assert_int_equal(spec->resources.time_ms, 90000);
	assert_int_equal(spec->resources.memory_bytes, 4000);
	spec_free(spec);
}

static void test_where_metrics_are_is_told_to_the_runner(void **state)
{
	(void)state;
	static const struct {
		const char *text, *told;
	} cases[] = {
		{"{csv: 'results/*.csv'}", "{\"csv\":[\"results/*.csv\"]}"},
		{"{csv: [a.csv, b.csv], jsonl: c.jsonl}", "{\"csv\":[\"a.csv\",\"b.csv\"],\"jsonl\":[\"c.jsonl\"]}"},
		{"{pattern: 'logs/*.csv'}", "{\"csv\":[\"logs/*.csv\"]}"},
		{"{pattern: '*.json'}", "{\"json\":[\"*.json\"]}"},
		{"{pattern: run.out, from: jsonl}", "{\"jsonl\":[\"run.out\"]}"},
		{"{pattern: 'l (?P<l>.*)'}", "{\"pattern\":\"l (?P<l>.*)\"}"},
		{"{pattern: 'l (?P<l>.*)', from: stderr}", "{\"pattern\":\"l (?P<l>.*)\",\"from\":[\"stderr\"]}"},
		{"{from: stdout}", "{\"from\":[\"stdout\"]}"},
		{"{from: [report, tfevents]}", "{\"from\":[\"report\",\"tfevents\"]}"},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct problems problems = {0};
		struct spec *spec = NULL;
		struct buf told = buf_make(BUF_UNLIMITED);
		struct json out = json_to(&told);
		char *text = mem_printf("script: a.py\nmetrics: %s\n", cases[i].text);
		assert_int_equal(parse(text, &problems, &spec), 0);
		node_write_json(spec->metrics, &out);
		assert_string_equal(buf_text(&told), cases[i].told);
		buf_free(&told);
		spec_free(spec);
		free(text);
	}
}

static void test_the_table_of_backends_agrees_with_itself(void **state)
{
	(void)state;
	for (size_t i = 0; backend_table[i]; i++) {
		const struct backend_ops *ops = backend_table[i];
		/* What waits in a queue can be limited and taken out; other backends may be able to do so, too. */
		assert_true(!backend_is(ops, BACKEND_HAS_QUEUE) || (ops->set_parallel && ops->withdraw));
		assert_true(backend_is(ops, BACKEND_PULLED) == (ops->preference == 0));
		for (const struct backend_key *key = ops->keys; key && key->name; key++)
			for (size_t k = 0; backend_table[k]; k++)
				for (const struct backend_key *o = backend_table[k]->keys; o && o->name; o++)
					assert_true(o == key || strcmp(o->name, key->name) != 0);
		for (size_t k = 0; k < i; k++)
			assert_true(!ops->preference || backend_table[k]->preference != ops->preference);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_whole_file_of_the_design_is_read),
		cmocka_unit_test(test_limits_are_read_with_their_units),
		cmocka_unit_test(test_a_script_alone_is_an_experiment),
		cmocka_unit_test(test_a_range_of_reals_stays_one_in_the_store),
		cmocka_unit_test(test_goals_are_guessed_from_the_name),
		cmocka_unit_test(test_every_problem_is_reported_with_its_place),
		cmocka_unit_test(test_what_was_accepted_earlier_is_still_read),
		cmocka_unit_test(test_where_metrics_are_is_told_to_the_runner),
		cmocka_unit_test(test_the_table_of_backends_agrees_with_itself),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
