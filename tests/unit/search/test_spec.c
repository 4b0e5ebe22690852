/* What `search` and `fidelity` mean, what is said about mistakes, and what `auto` chooses. */
#include "drive.h"

#define NUMERIC "a: {min: 0.0, max: 1.0}\nb: {min: 0.0, max: 1.0}\nepochs: 81\n"

static void bad(const char *parameters, const char *search, const char *fidelity, const char *message,
		const char *remedy)
{
	struct space *space = drive_space(parameters);
	struct problems problems = {0};
	struct search_spec *spec = drive_try_spec(search, fidelity, space, 1, &problems);
	assert_null(spec);
	const struct problem *p = &problems.list.at[0];
	if (!strstr(p->message, message) || !p->remedy || !strstr(p->remedy, remedy))
		print_message("# %s; %s\n", p->message, p->remedy ? p->remedy : "-");
	assert_non_null(strstr(p->message, message));
	assert_non_null(strstr(p->remedy, remedy));
	problems_free(&problems);
	space_free(space);
}

static void mistakes_are_named_with_a_remedy(void **state)
{
	(void)state;
	bad(NUMERIC, "{strategy: rondom}", NULL, "no strategy 'rondom'",
	    "did you mean 'random'? there are: auto, grid");
	bad(NUMERIC, "{strategy: quantum-annealing}", NULL, "no strategy 'quantum-annealing'", "one of: auto, grid");
	bad(NUMERIC, "{strategy: 3}", NULL, "'strategy' is a name", "one of");
	bad(NUMERIC, "{strategy: random, task: 3}", NULL, "'random' has no option 'task'", "did you mean 'tasks'?");
	bad(NUMERIC, "{strategy: random, shuffle: true}", NULL, "'random' has no option 'shuffle'",
	    "one of: strategy, tasks");
	bad(NUMERIC, "{strategy: random, tasks: 0}", NULL, "'tasks' cannot be 0", "from 1 to 100000");
	bad(NUMERIC, "{strategy: random, tasks: 1.5}", NULL, "'tasks' is a whole number, not 1.5", "whole");
	bad(NUMERIC, "{strategy: random, tasks: many}", NULL, "not a text", "whole");
	bad(NUMERIC, "{parallel: 0}", NULL, "'parallel' cannot be 0", "from 1");
	bad(NUMERIC, "{seed: -1}", NULL, "'seed' cannot be -1", "from 0");
	bad(NUMERIC, "{duplicates: 1}", NULL, "'duplicates' is true or false", "true or false");
	bad(NUMERIC, "{learn_from: some}", NULL, "'learn_from' cannot be some", "[e3, e5]");
	bad(NUMERIC, "{learn_from: []}", NULL, "'learn_from' has 0 experiments", "[e3, e5]");
	bad(NUMERIC, "{learn_from: [e3, 4]}", NULL, "'learn_from' cannot be 4", "auto, none");
	bad(NUMERIC, "{learn_from: [e0]}", NULL, "'learn_from' cannot be e0", "auto, none");
	bad(NUMERIC, "{learn_from: {a: 1}}", NULL, "'learn_from' cannot be a map", "auto, none");
	bad(NUMERIC, "[random]", NULL, "'search' is a map, not a list", "strategy: auto");
	bad(NUMERIC, "{strategy: grid}", NULL, "'a' is continuous", "points");
	bad("a: {min: 1, max: 1000}\nb: {min: 1, max: 1000}\n", "{strategy: grid}", NULL, "more than 100000", "tasks");
	bad("a: [1, 2]\n", "{strategy: grid, shuffle: 3}", NULL, "'shuffle' is true or false", "true");
	bad(NUMERIC, "{}", "{parameter: epoch, min: 1, max: 9}", "no parameter 'epoch'", "parameters");
	bad(NUMERIC, "{}", "{min: 1, max: 9}", "'parameter' is missing", "epochs");
	bad(NUMERIC, "{}", "{parameter: epochs, max: 9}", "'min' is missing", "");
	bad(NUMERIC, "{}", "{parameter: epochs, min: 9, max: 1}", "from 9 to 1", "below max");
	bad(NUMERIC, "{}", "{parameter: epochs, min: 0, max: 1}", "'min' cannot be 0", "above 0");
	bad(NUMERIC, "{}", "{parameter: epochs, min: 1, maxx: 1}", "no key 'maxx'", "did you mean 'max'?");
	bad("e: [1, 2]\na: [1, 2]\n", "{}", "{parameter: e, min: 1, max: 2}", "not a number that can be raised",
	    "constant");
}

static void names_both(const char *search, const char *first, const char *second)
{
	struct space *space = drive_space("a: [1, 2]\n");
	struct problems problems = {0};
	assert_null(drive_try_spec(search, NULL, space, 1, &problems));
	assert_int_equal(problems.list.len, 2);
	assert_non_null(strstr(problems.list.at[0].message, first));
	assert_non_null(strstr(problems.list.at[1].message, second));
	assert_non_null(strstr(problems.list.at[1].remedy, "did you mean 'parallel'?"));
	problems_free(&problems);
	space_free(space);
}

static void unknown_keys_are_named_beside_a_wrong_budget(void **state)
{
	(void)state;
	names_both("{strategy: grid, paralel: 4, tasks: 0}", "'tasks' cannot be 0", "'grid' has no option 'paralel'");
	names_both("{paralel: 4, tasks: 0}", "'tasks' cannot be 0", "no strategy has the option 'paralel'");
	/* An option of a strategy that may be the one is not called wrong. */
	names_both("{shuffle: true, paralel: 4, tasks: 0}", "'tasks' cannot be 0", "has the option 'paralel'");
}

static void chosen(const char *parameters, const char *search, const char *fidelity, size_t objectives,
		   const char *name, const char *reason)
{
	struct space *space = drive_space(parameters);
	struct search_spec *spec = drive_spec(search, fidelity, space, objectives);
	if (strcmp(spec->strategy->name, name) != 0 || !strstr(spec->reason, reason))
		print_message("# %s: %s\n", spec->strategy->name, spec->reason);
	assert_string_equal(spec->strategy->name, name);
	assert_non_null(strstr(spec->reason, reason));
	search_spec_free(spec);
	space_free(space);
}

#define REAL(name) name ": {min: 0.0, max: 1.0}\n"
#define FIVE_MORE REAL("c") REAL("d") REAL("e") REAL("f") REAL("g")
#define TEXTS(a, b, c, d) a ": [x, y]\n" b ": [x, y, z]\n" c ": [x, y]\n" d ": [x, z]\n"
#define TWELVE_TEXTS TEXTS("a", "b", "c", "d") TEXTS("e", "f", "g", "h") TEXTS("i", "j", "k", "l")

static void auto_follows_its_rules(void **state)
{
	(void)state;
	chosen("a: [1, 2]\nb: [1, 2]\n", "~", NULL, 1, "grid", "4 configurations: every one is tried, in order");
	chosen("a: 1\n", "~", NULL, 1, "grid", "1 configuration:");
	chosen("a: [1, 2]\nb: [1, 2]\n", "{strategy: auto, tasks: 4}", NULL, 1, "grid", "in random order");
	chosen(NUMERIC, "{tasks: 5}", NULL, 1, "sobol", "too few to learn");
	chosen(NUMERIC, "{tasks: 6}", NULL, 1, "gp", "6 tasks, numeric parameters");
	chosen(NUMERIC, "{tasks: 5}", NULL, 2, "sobol", "too few to learn");
	chosen(TWELVE_TEXTS, "{tasks: 20, parallel: 4}", NULL, 1, "gp", "with categories");
	chosen(TWELVE_TEXTS, "{tasks: 200, parallel: 4}", NULL, 1, "gp", "with categories");
	chosen(NUMERIC, "{tasks: 60, parallel: 60}", NULL, 1, "sobol", "no result comes in time");
	chosen(NUMERIC, "{tasks: 60, parallel: 59}", NULL, 1, "gp", "numeric parameters");
	chosen(NUMERIC, "{tasks: 60, parallel: 8}", NULL, 1, "gp", "numeric parameters");
	chosen(NUMERIC, "{tasks: 3000, parallel: 8}", NULL, 1, "gp", "3000 tasks, numeric parameters");
	chosen(NUMERIC "k: [x, y, z]\n", "{tasks: 3000, parallel: 8}", NULL, 1, "gp", "with categories");
	chosen(NUMERIC "k: [x, y, z]\n", "{tasks: 3001, parallel: 8}", NULL, 1, "gp", "with categories");
	chosen(NUMERIC FIVE_MORE, "{tasks: 3001, parallel: 8}", NULL, 1, "gp", "3001 tasks");
	chosen(NUMERIC, "{tasks: 100000, parallel: 8}", NULL, 1, "gp", "100000 tasks");
	chosen(NUMERIC, "{tasks: 60, parallel: 8}", NULL, 2, "gp", "2 objectives");
	chosen(NUMERIC, "{tasks: 301, parallel: 8}", NULL, 2, "gp", "2 objectives");
	chosen(NUMERIC, "{tasks: 100000, parallel: 8}", NULL, 2, "gp", "2 objectives");
	chosen(NUMERIC, "{tasks: 60, parallel: 8}", "{parameter: epochs, min: 3}", 1, "asha", "short runs");
	chosen(NUMERIC, "{tasks: 60, parallel: 1}", "{parameter: epochs, min: 3}", 1, "asha", "short runs");
	chosen(TWELVE_TEXTS "epochs: 81\n", "{tasks: 60, parallel: 4}", "{parameter: epochs, min: 3}", 1, "asha",
	       "short runs");
}

static void the_grid_that_auto_chose_under_a_budget_is_shuffled(void **state)
{
	(void)state;
	struct space *space = drive_space("a: [1, 2]\nb: [1, 2]\n");
	struct search_spec *spec = drive_spec("{tasks: 9}", NULL, space, 1);
	assert_true(search_option(spec, "shuffle") == 1);
	assert_int_equal(search_planned(spec, space), 4);
	search_spec_free(spec);
	spec = drive_spec("{strategy: grid, tasks: 3}", NULL, space, 1);
	assert_true(search_option(spec, "shuffle") == 0);
	assert_int_equal(search_planned(spec, space), 3);
	assert_null(spec->reason);
	search_spec_free(spec);
	space_free(space);
}

/* More parameters than the model is for. */
static void the_rules_for_very_many_parameters(void **state)
{
	(void)state;
	struct buf numbers = buf_make(BUF_UNLIMITED), texts = buf_make(BUF_UNLIMITED);
	for (int i = 0; i < 101; i++) {
		buf_addf(&numbers, "p%d: {min: 0.0, max: 1.0}\n", i);
		buf_addf(&texts, "p%d: [x, y]\n", i);
	}
	chosen(buf_text(&numbers), "{tasks: 200}", NULL, 1, "tpe", "200 tasks");
	chosen(buf_text(&numbers), "{tasks: 3200}", NULL, 1, "cmaes", "3200 tasks");
	chosen(buf_text(&numbers), "{tasks: 60000}", NULL, 1, "lshade", "enough for evolution");
	chosen(buf_text(&numbers), "{tasks: 60}", NULL, 2, "motpe", "2 objectives");
	chosen(buf_text(&numbers), "{tasks: 301}", NULL, 2, "nsga2", "2 objectives");
	chosen(buf_text(&texts), "{tasks: 60}", NULL, 1, "tpe", "an architecture search");
	chosen(buf_text(&texts), "{tasks: 200}", NULL, 1, "evolution", "an architecture search");
	struct space *space = drive_space(buf_text(&numbers));
	struct search_spec *spec = drive_spec("{tasks: 3200}", NULL, space, 1);
	assert_true(search_option(spec, "warm") == 1);
	search_spec_free(spec);
	space_free(space);
	buf_free(&numbers);
	buf_free(&texts);
}

static void a_search_without_a_budget_gets_one(void **state)
{
	(void)state;
	struct space *space = drive_space(NUMERIC);
	struct search_spec *spec = drive_spec("{strategy: random}", NULL, space, 1);
	assert_int_equal(spec->tasks, 20);
	assert_false(spec->tasks_given);
	search_spec_free(spec);
	space_free(space);
	space = drive_space("a: [1, 2]\nb: [1, 2]\n");
	spec = drive_spec("{strategy: random}", NULL, space, 1);
	assert_int_equal(spec->tasks, 4);
	search_spec_free(spec);
	space_free(space);
}

/* Workers say how many tasks there are; parameters may come later. */
static void an_open_search_has_no_end(void **state)
{
	(void)state;
	static const struct {
		const char *space, *search, *strategy;
	} table[] = {
		{"{}", "{open: true, duplicates: true}", "random"},
		{"{}", "{strategy: cmaes, open: true, duplicates: true}", "random"},
		{"a: [1, 2]\n", "{open: true, duplicates: true}", "gp"},
		{"a: [1, 2]\n", "{open: true}", "grid"},
	};
	for (size_t i = 0; i < COUNT_OF(table); i++) {
		struct space *space = drive_space(table[i].space);
		struct search_spec *spec = drive_spec(table[i].search, NULL, space, 1);
		struct search *search = drive_open(spec, space);
		struct space_value values[1];
		assert_string_equal(spec->strategy->name, table[i].strategy);
		int64_t asked = 0;
		struct search_proposal p = {.values = values, .repeat = 1, .fidelity = NAN, .continues = -1};
		int64_t seen = 0; /* of two configurations, both come first */
		while (asked < 30 && search_ask(search, asked + 1, &p) == SEARCH_PROPOSED) {
			double score = (double)asked;
			seen += asked < 2 && space->dim_count ? values[0].integer : 0;
			search_tell(search, ++asked, SEARCH_FINISHED, &score);
		}
		assert_int_equal(asked, spec->duplicates ? 30 : 2);
		assert_int_equal(seen, space->dim_count ? 1 + 2 : 0);
		search_free(search);
		search_spec_free(spec);
		space_free(space);
	}
	bad(NUMERIC, "{open: 1}", NULL, "'open' is true or false", "true or false");
}

static void the_table_of_strategies_is_described_as_json(void **state)
{
	(void)state;
	struct buf b = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&b);
	search_write_strategies(&w);
	struct node *list;
	assert_int_equal(node_parse_json(b.data, b.len, &list, NULL), 0);
	assert_string_equal(node_get_string(list->items[0], "name"), "grid");
	assert_string_equal(node_get_string(node_get(list->items[0], "options")->items[0], "type"), "bool");
	node_free(list);
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mistakes_are_named_with_a_remedy),
		cmocka_unit_test(unknown_keys_are_named_beside_a_wrong_budget),
		cmocka_unit_test(auto_follows_its_rules),
		cmocka_unit_test(the_grid_that_auto_chose_under_a_budget_is_shuffled),
		cmocka_unit_test(the_rules_for_very_many_parameters),
		cmocka_unit_test(a_search_without_a_budget_gets_one),
		cmocka_unit_test(an_open_search_has_no_end),
		cmocka_unit_test(the_table_of_strategies_is_described_as_json),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
