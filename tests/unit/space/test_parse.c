/* What the parameters of an experiment file mean, and what is said about those that mean nothing. */
#include "space/space.h"
#include "space/space_hint.h"

#include "base/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>

static struct node *document;

static int parse(const char *yaml, struct problems *problems, struct space **ret)
{
	struct error err;
	assert_int_equal(node_parse_yaml(yaml, strlen(yaml), &document, &err), 0);
	return space_parse(node_get(document, "parameters"), node_get(document, "constraints"), problems, ret);
}

static struct space *good(const char *yaml)
{
	struct problems problems = {0};
	struct space *space = NULL;
	int rc = parse(yaml, &problems, &space);
	for (size_t i = 0; i < problems.list.len; i++)
		print_message("# %s: %s\n", problems.list.at[i].field, problems.list.at[i].message);
	assert_int_equal(rc, 0);
	node_free(document);
	return space;
}

/* The document is refused with this message and remedy (parts of them) at this line. */
static void bad(const char *yaml, int line, const char *message, const char *remedy)
{
	struct problems problems = {0};
	struct space *space = NULL;
	assert_int_equal(parse(yaml, &problems, &space), -EINVAL);
	assert_null(space);
	assert_true(problems.list.len > 0);
	const struct problem *p = &problems.list.at[0];
	if (!strstr(p->message, message) || !p->remedy || !strstr(p->remedy, remedy) || p->line != line)
		print_message("# line %d: %s; %s\n", p->line, p->message, p->remedy ? p->remedy : "-");
	assert_non_null(strstr(p->message, message));
	assert_non_null(p->remedy);
	assert_non_null(strstr(p->remedy, remedy));
	assert_int_equal(p->line, line);
	problems_free(&problems);
	node_free(document);
}

static void lists_of_the_command_line_are_known(void **state)
{
	(void)state;
	const char *const values[] = {"64,32", " 1 , 2.5e-3 ", "1..9", "1e-5..1e-1:log", "0..1:step=0.1"};
	const char *const texts[] = {"", ",", "64", "64,", "a,b", "1,b", "..", "1..", "v1..v2", "../data", "1.5"};
	for (size_t i = 0; i < COUNT_OF(values); i++)
		assert_true(space_looks_like_values(values[i]));
	for (size_t i = 0; i < COUNT_OF(texts); i++)
		assert_false(space_looks_like_values(texts[i]));
}

static void kinds_follow_what_is_written(void **state)
{
	(void)state;
	struct space *s = good("parameters:\n"
			       "  a: 100\n"
			       "  b: [64, 32, 16]\n"
			       "  c: {min: 16, max: 512, step: 16}\n"
			       "  d: {min: 1e-5, max: 1e-1, scale: log}\n"
			       "  e: {min: 0, max: 1, step: 0.25}\n"
			       "  f: {min: 1, max: 100, scale: log}\n"
			       "  g: {min: 1, max: 100, scale: log, type: int}\n"
			       "  h: {min: 0, max: 10, type: real}\n"
			       "  i: {min: 1e-4, max: 1, scale: log, points: 5}\n"
			       "  j: {min: 0, max: 100, points: 11}\n"
			       "  k: [adam]\n"
			       "  l: {min: 3, max: 3}\n"
			       "  m: {values: [a, b], when: {b: 32}}\n");
	static const enum space_kind kinds[] = {SPACE_CONSTANT, SPACE_CHOICE,   SPACE_INT,   SPACE_REAL, SPACE_REAL,
						SPACE_REAL,     SPACE_INT,      SPACE_REAL,  SPACE_REAL, SPACE_INT,
						SPACE_CONSTANT, SPACE_CONSTANT, SPACE_CHOICE};
	static const uint64_t counts[] = {1, 3, 32, 0, 5, 0, 100, 0, 5, 11, 1, 1, 2};
	assert_int_equal(s->count, COUNT_OF(kinds));
	for (size_t i = 0; i < s->count; i++) {
		assert_int_equal(s->params[i].kind, kinds[i]);
		assert_int_equal(space_cardinality(&s->params[i]), counts[i]);
	}
	const struct space_param *points = &s->params[8];
	static const double want[] = {1e-4, 1e-3, 1e-2, 1e-1, 1};
	for (size_t i = 0; i < 5; i++)
		assert_true(points->choices[i].real == want[i]);
	assert_int_equal(s->dim_count, 10);
	assert_int_equal(s->params[12].condition_count, 1);
	space_free(s);
}

static void numbers_may_be_labels(void **state)
{
	(void)state;
	struct space *s = good("parameters:\n"
			       "  a: {values: [42, 3, 17], categorical: true}\n"
			       "  b: {values: [42, 3, 17], categorical: false}\n"
			       "  c: [42, 3, 17]\n"
			       "  d: {values: [x, y], categorical: true}\n");
	static const bool ordered[] = {false, true, true, false};
	for (size_t i = 0; i < s->count; i++)
		assert_int_equal(s->params[i].ordered, ordered[i]);
	/* Labels keep the order of the file; numbers are sorted. */
	double unit[4] = {0.1, 0.1, 0.1, 0.1}, back[4];
	struct space_value values[4];
	space_decode(s, unit, values);
	assert_int_equal(values[0].integer, 42);
	assert_int_equal(values[1].integer, 3);
	space_encode(s, values, back);
	space_decode(s, back, values);
	assert_int_equal(values[0].integer, 42);
	space_free(s);
}

static void mistakes_are_named_with_place_and_remedy(void **state)
{
	(void)state;
	bad("parameters:\n  a: {min: 1, max: 5, stpe: 2}\n", 2, "no key 'stpe'", "did you mean 'step'?");
	bad("parameters:\n  a: []\n", 2, "empty", "at least one");
	bad("parameters:\n  a: {}\n", 2, "is empty", "range");
	bad("parameters:\n  a: ~\n", 2, "empty", "write the value");
	bad("parameters: [1, 2]\n", 1, "is a map, not a list", "name: value");
	bad("parameters:\n  a: {min: 512, max: 16}\n", 2, "min 512 is above max 16", "swap them");
	bad("parameters:\n  a: {min: 0, max: 16, scale: log}\n", 2, "cannot start at 0", "linear");
	bad("parameters:\n  a: {min: -1.5, max: 16, scale: log}\n", 2, "cannot start at -1.5", "above 0");
	bad("parameters:\n  a: {min: 1, max: 5, step: 0}\n", 2, "step 0 is not above 0", "above 0");
	bad("parameters:\n  a: {min: 1, max: 5, step: -1}\n", 2, "step -1 is not above 0", "above 0");
	bad("parameters:\n  a: {min: 1, max: 5, step: 7}\n", 2, "larger than the range", "smaller");
	bad("parameters:\n  a: {min: 1, max: 5, step: 1, points: 3}\n", 2, "not both", "one of");
	bad("parameters:\n  a: {min: 1, max: 5, points: 1}\n", 2, "'points' cannot be 1", "2 to 10000");
	bad("parameters:\n  a: {min: 1, max: 3, points: 9, type: int}\n", 2, "not all different", "fewer");
	bad("parameters:\n  a: {min: 1}\n", 2, "'max' is missing", "range");
	bad("parameters:\n  a: {min: one, max: 2}\n", 2, "'min' is a number, not a text", "number");
	bad("parameters:\n  a: {min: 1, max: 1e999}\n", 2, "'max' is a number, not a text", "number");
	bad("parameters:\n  a: {min: 1, max: 5, scale: cubic}\n", 2, "'scale' cannot be cubic", "one of: linear, log");
	bad("parameters:\n  a: {min: 1, max: 5, scale: logarithmic}\n", 2, "'scale' cannot be logarithmic",
	    "write scale: log");
	bad("parameters:\n  a: {low: 1, high: 5}\n", 2, "no key 'low'", "write min");
	bad("parameters:\n  a: {min: 1, max: 5, distribution: log_uniform_values}\n", 2, "no key 'distribution'",
	    "write scale: log");
	bad("parameters:\n  a: {min: 1, max: 5, distribution: [1]}\n", 2, "no key 'distribution'", "one of: min");
	bad("parameters:\n  a: {min: 1, max: 5, type: loguniform}\n", 2, "'type' cannot be loguniform",
	    "write scale: log");
	bad("parameters:\n  a: {min: 1, max: 2, scale: lag}\n", 2, "cannot be lag", "did you mean 'log'?");
	bad("parameters:\n  a: {min: 0.5, max: 2, type: int}\n", 2, "whole", "type: real");
	bad("parameters:\n  a: {min: -1e308, max: 1e308}\n", 2, "too wide", "smaller");
	bad("parameters:\n  a: {min: 0, max: 1, step: 1e-300}\n", 2, "more than 1e15", "larger");
	bad("parameters:\n  a: [1, 2, 1]\n", 2, "1 is in the list twice", "repeats");
	bad("parameters:\n  a: [x, y, 'x']\n", 2, "x is in the list twice", "repeats");
	bad("parameters:\n  a: [1, 1.0]\n", 2, "1 is in the list twice", "repeats");
	bad("parameters:\n  a: [1, .nan]\n", 2, "not a finite number", "finite");
	bad("parameters:\n  a: [1, [2]]\n", 2, "not a list", "single values");
	bad("parameters:\n  9a: 1\n", 2, "not a name", "letter");
	bad("parameters:\n  \"a b\": 1\n", 2, "not a name", "letter");
	bad("parameters:\n  a-b: 1\n  a_b: 2\n", 3, "same environment variable", "rename");
	bad("parameters:\n  a: {values: [1, 2], min: 1}\n", 2, "belongs to a range", "remove");
	bad("parameters:\n  a: {min: 1, max: 4, categorical: true}\n", 2, "belongs to a list of values", "values: [3");
	bad("parameters:\n  a: {values: [1, 4], categorical: 1}\n", 2, "is true or false, not 1", "categorical: true");
	bad("parameters:\n  a: {min: 1, max: 4, default: 9}\n", 2, "'a' cannot be 9", "one of its values");
}

static void mistakes_in_conditions_are_named(void **state)
{
	(void)state;
	bad("parameters:\n  opt: [adam, sgd]\n  m: {min: 0.0, max: 1.0, when: {optt: sgd}}\n", 3, "no parameter 'optt'",
	    "did you mean 'opt'?");
	bad("parameters:\n  opt: [adam, sgd]\n  m: {min: 0.0, max: 1.0, when: {opt: sdg}}\n", 3, "'opt' is never sdg",
	    "");
	bad("parameters:\n  opt: [1, 2]\n  m: {min: 0.0, max: 1.0, when: {opt: [1, 3]}}\n", 3, "'opt' is never 3",
	    "can take");
	bad("parameters:\n  m: {min: 0.0, max: 1.0, when: {m: 1}}\n", 2, "depends on itself", "another");
	bad("parameters:\n  a: {values: [1, 2], when: {b: 1}}\n  b: {values: [1, 2], when: {a: 1}}\n", 2, "in a circle",
	    "remove");
	bad("parameters:\n  x: {min: 0.0, max: 1.0}\n  m: {values: [1, 2], when: {x: 0.5}}\n", 3, "continuous", "step");
	bad("parameters:\n  x: [1, 2]\n  m: {values: [1, 2], when: sgd}\n", 3, "is a map", "when:");
	bad("parameters:\n  x: [1, 2]\n  m: {values: [1, 2], when: {x: []}}\n", 3, "empty", "at least");
}

static void sizes_are_bounded(void **state)
{
	(void)state;
	struct buf b = buf_make(BUF_UNLIMITED);
	buf_add_text(&b, "parameters:\n  a: [0");
	for (int i = 1; i <= LIMIT_CHOICES; i++)
		buf_addf(&b, ",%d", i);
	buf_add_text(&b, "]\n");
	bad(buf_text(&b), 2, "10001 choices", "range");
	buf_clear(&b);
	buf_add_text(&b, "parameters:\n");
	for (int i = 0; i <= LIMIT_PARAMETERS; i++)
		buf_addf(&b, "  p%d: 1\n", i);
	bad(buf_text(&b), 1, "201 parameters", "file");
	buf_free(&b);
}

static void every_mistake_is_reported_at_once(void **state)
{
	(void)state;
	struct problems problems = {0};
	struct space *space = NULL;
	assert_int_equal(parse("parameters:\n  a: []\n  b: {min: 2, max: 1}\n  c: {when: {a: 1}, values: [1, 2]}\n"
			       "  d: {values: [1, 2], when: {zz: 1}}\n",
			       &problems, &space),
			 -EINVAL);
	assert_int_equal(problems.list.len, 3);
	assert_string_equal(problems.list.at[1].field, "/parameters/b");
	assert_string_equal(problems.list.at[2].field, "/parameters/d/when/zz");
	problems_free(&problems);
	node_free(document);
}

static bool allows(const char *constraint, const char *values)
{
	char *yaml = mem_printf("parameters:\n  a: {min: -10, max: 10}\n  b: {min: -10, max: 10}\n"
				"  x: {min: 0.0, max: 9.0, step: 1.0}\n  opt: [adam, sgd]\n  on: [true, false]\n"
				"  m: {min: 0, max: 9, when: {opt: sgd}}\n  batch-size: [8, 16]\n"
				"constraints: [\"%s\"]\n",
				constraint);
	struct space *s = good(yaml);
	struct node *map;
	struct error err;
	struct problems problems = {0};
	struct space_value v[7];
	assert_int_equal(node_parse_yaml(values, strlen(values), &map, &err), 0);
	assert_int_equal(space_read_values(s, map, v, &problems), 0);
	bool ok = space_allows(s, v);
	node_free(map);
	space_free(s);
	free(yaml);
	return ok;
}

#define AT "{a: 3, b: -2, x: 4.0, opt: adam, on: true, batch-size: 16}"

static void constraints_mean_what_they_say(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool holds;
	} table[] = {
		{"a == 3", true},
		{"a + b * 2 == -1", true},
		{"(a + b) * 2 == 2", true},
		{"-a ** 2 == -9", true},
		{"2 ** 3 ** 2 == 512", true},
		{"2 ** -1 == 0.5", true},
		{"a % 2 == 1", true},
		{"b % 3 == 1", true},
		{"7 / 2 == 3.5", true},
		{"10 - 3 - 2 == 5", true},
		{"-3 < b < a <= 3", true},
		{"-3 < b < a < 3", false},
		{"not a < b and x != 3", true},
		{"a < b or a < 0 or x >= 4", true},
		{"not (a < b or on)", false},
		{"on", true},
		{"on == false", false},
		{"opt == 'adam'", true},
		{"opt != 'adam'", false},
		{"max(a, b, x) == x and min(a, b) == b", true},
		{"abs(b) == 2 and sqrt(x) == 2", true},
		{"log(x) < 1.4 and log(x) > 1.3", true},
		{"m > 5", true}, /* m does not apply with adam */
		{"batch-size - 6 == 10 and batch-size-6 == 10", true},
		{"x / 0 > 5", true}, /* infinity */
		{"1e1 == 10 and .5 == 0.5", true},
	};
	for (size_t i = 0; i < COUNT_OF(table); i++) {
		if (allows(table[i].text, AT) != table[i].holds)
			print_message("# %s\n", table[i].text);
		assert_int_equal(allows(table[i].text, AT), table[i].holds);
	}
	assert_false(allows("m > 5", "{a: 3, b: -2, x: 4.0, opt: sgd, on: true, m: 5, batch-size: 16}"));
}

static void bad_constraint(const char *constraint, const char *message, const char *remedy)
{
	const char *quote = strcmp(constraint, "12") == 0 ? "" : "\"";
	char *yaml = mem_printf("parameters:\n  a: {min: 1, max: 9}\n  units: [1, 2]\n  opt: [adam, sgd]\n"
				"constraints:\n  - %s%s%s\n",
				quote, constraint, quote);
	bad(yaml, 6, message, remedy);
	free(yaml);
}

static void mistakes_in_constraints_are_named_with_their_column(void **state)
{
	(void)state;
	bad_constraint("a + unit < 3", "column 5 of the constraint: there is no parameter 'unit'",
		       "did you mean 'units'?");
	bad_constraint("a +", "column 4 of the constraint: the expression ends too early", "finish");
	bad_constraint("a < ) 3", "column 5 of the constraint: ')' does not belong here", "expected");
	bad_constraint("(a < 3", "')' is missing", "close");
	bad_constraint("a = 3", "column 3 of the constraint: '=' is no comparison", "==");
	bad_constraint("a < 3 && a > 1", "column 7", "write 'and'");
	bad_constraint("a * units", "this is a number", "compare");
	bad_constraint("opt * 2 < 3", "column 1 of the constraint: * needs a number, but this is a text", "");
	bad_constraint("opt < 'z'", "only numbers", "==");
	bad_constraint("opt == 3", "a text is compared with a number", "a number with a number");
	bad_constraint("not a", "not needs true or false", "compare");
	bad_constraint("a < 3 and units", "and needs true or false", "compare");
	bad_constraint("'abc == opt", "not closed", "quote");
	bad_constraint("1.2.3 < a", "not a number", "1e-3");
	bad_constraint("sqrt(a, a) < 2", "sqrt takes 1 value, not 2", "");
	bad_constraint("a ^ 2 < 3", "column 3", "**");
	bad_constraint("12", "a constraint is a text, not a whole number", "quotes");
	bad("parameters:\n  a: [1, 2]\nconstraints: [a > 100]\n", 3, "no configuration satisfies", "loosen");

	struct buf b = buf_make(BUF_UNLIMITED);
	for (int i = 0; i < 5000; i++)
		buf_add_char(&b, '(');
	bad_constraint(buf_text(&b), "too deep", "split");
	buf_clear(&b);
	buf_add_text(&b, "0");
	for (int i = 0; i < 5000; i++)
		buf_add_text(&b, "+1");
	bad_constraint(buf_text(&b), "too deep", "split");
	buf_clear(&b);
	for (int i = 0; i < 5000; i++)
		buf_add_text(&b, "not ");
	bad_constraint(buf_text(&b), "too deep", "split");
	buf_clear(&b);
	for (int i = 0; i < 70000; i++)
		buf_add_text(&b, "1");
	buf_add_text(&b, " < a");
	bad_constraint(buf_text(&b), "too long", "split");
	buf_free(&b);
}

/* There is one that satisfies them, but nobody can look at ten million: the text must not say that there is none. */
static void what_was_not_proven_is_not_said(void **state)
{
	(void)state;
	bad("parameters: {a: {min: 0, max: 9}, b: {min: 0, max: 9}, c: {min: 0, max: 9}, d: {min: 0, max: 9},\n"
	    "             e: {min: 0, max: 9}, f: {min: 0, max: 9}, g: {min: 0, max: 9}}\n"
	    "constraints: [a + b + c + d + e + f + g == 63]\n",
	    3, "none of 20000 random configurations", "loosen");
	bad("parameters: {a: {min: 0.0, max: 1.0}}\nconstraints: [a < 1e-9]\n", 2, "none of 20000 random", "loosen");
}

/* 50 constraints of 6,000 comparisons each: the work is limited, not only the number of steps. */
static void long_constraints_are_looked_at_less_often(void **state)
{
	(void)state;
	struct buf text = buf_make(BUF_UNLIMITED);
	buf_add_text(&text, "parameters: {a: {min: 1, max: 9}");
	for (int i = 0; i < 8; i++)
		buf_addf(&text, ", p%d: {min: 1, max: 9}", i);
	buf_add_text(&text, "}\nconstraints:\n");
	for (int i = 0; i < 50; i++) {
		buf_add_text(&text, "  - \"0 < ");
		for (int k = 0; k < 6000; k++)
			buf_add_text(&text, "a < ");
		buf_addf(&text, "p%d\"\n", i % 8);
	}
	bad(buf_text(&text), 2, "none of 53 random", "loosen");
	buf_free(&text);
}

static void values_are_read_back_or_refused(void **state)
{
	(void)state;
	struct space *s = good(
		"parameters:\n  lr: {min: 1e-5, max: 1e-1, scale: log}\n  u: {min: 16, max: 512, step: 16}\n"
		"  opt: [adam, sgd]\n  m: {min: 0.0, max: 1.0, step: 0.1, when: {opt: sgd}}\n  e: 7\n");
	static const struct {
		const char *text;
		bool good;
	} table[] = {
		{"{lr: 0.001, u: 32, opt: adam}", true},
		{"{lr: 0.001, u: 32, opt: adam, e: 7}", true},
		{"{lr: 0.001, u: 32, opt: sgd, m: 0.3}", true},
		{"{lr: 0.001, u: 32, opt: adam, m: 0.3}", false},
		{"{lr: 0.001, u: 32, opt: sgd}", false},
		{"{lr: 0.001, u: 33, opt: adam}", false},
		{"{lr: 1, u: 32, opt: adam}", false},
		{"{lr: x, u: 32, opt: adam}", false},
		{"{lr: 0.001, u: 32, opt: lamb}", false},
		{"{lr: 0.001, u: 32, opt: adam, zz: 1}", false},
		{"{lr: 0.001, u: 32, opt: sgd, m: 0.35}", false},
		{"{lr: 0.001, u: 32, opt: adam, e: 8}", false},
		{"[1]", false},
	};
	for (size_t i = 0; i < COUNT_OF(table); i++) {
		struct node *map;
		struct error err;
		struct problems problems = {0};
		struct space_value v[5] = {0};
		assert_int_equal(node_parse_yaml(table[i].text, strlen(table[i].text), &map, &err), 0);
		int rc = space_read_values(s, map, v, &problems);
		assert_int_equal(rc, table[i].good ? 0 : -EINVAL);
		assert_int_equal(problems.list.len == 0, table[i].good);
		if (rc == 0) {
			assert_int_equal(v[4].integer, 7);
			assert_int_equal(v[1].integer, 32);
		}
		problems_free(&problems);
		node_free(map);
	}
	space_free(s);
}

static void what_is_optional_may_be_left_out(void **state)
{
	(void)state;
	struct space *s = good(
		"parameters:\n  a: {min: 0.0, max: 1.0, optional: true}\n  b: {value: 7, optional: true}\n"
		"  c: [1, 2]\n  d: {values: [1, 2], when: {c: 2}}\nconstraints: [a < 0.5]\n");
	struct node *map;
	struct problems problems = {0};
	struct space_value v[4];
	double unit[3];
	struct buf b = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&b);
	assert_int_equal(node_parse_json("{\"c\":1}", 7, &map, NULL), 0);
	assert_int_equal(space_read_values(s, map, v, &problems), 0);
	assert_true(space_allows(s, v));
	space_write_values(s, v, &w);
	assert_string_equal(buf_text(&b), "{\"c\":1}");
	space_encode(s, v, unit);
	assert_true(unit[0] == 0.5);
	space_decode(s, unit, v); /* a proposal has all */
	assert_int_equal(v[0].kind, SPACE_VALUE_REAL);
	assert_int_equal(v[1].integer, 7);
	node_free(map);
	buf_free(&b);
	space_free(s);
	bad("parameters:\n  a: {min: 0.0, max: 1.0, optional: 1}\n", 2, "'optional' is true or false, not 1",
	    "optional: true");
}

static void the_parameters_are_described_as_json(void **state)
{
	(void)state;
	struct space *s = good("parameters:\n  lr: {min: 1e-5, max: 0.1, scale: log}\n  opt: [adam, sgd]\n"
			       "  m: {min: 1, max: 9, step: 2, default: 3, when: {opt: sgd}}\n  e: 7\n");
	struct buf b = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&b);
	space_write_json(s, &w);
	assert_string_equal(
		buf_text(&b),
		"[{\"name\":\"lr\",\"kind\":\"range\",\"values\":null,\"min\":1e-05,\"max\":0.1,\"scale\":\"log\",\"step\":null,"
		"\"points\":null,\"integer\":false,\"default\":null,\"when\":null},"
		"{\"name\":\"opt\",\"kind\":\"choice\",\"values\":[\"adam\",\"sgd\"],\"categorical\":true,"
		"\"default\":null,\"when\":null},"
		"{\"name\":\"m\",\"kind\":\"range\",\"values\":null,\"min\":1,\"max\":9,\"scale\":\"linear\",\"step\":2,"
		"\"points\":null,\"integer\":true,\"default\":3,\"when\":{\"opt\":[\"sgd\"]}},"
		"{\"name\":\"e\",\"kind\":\"constant\",\"values\":[7],\"categorical\":false,\"default\":null,\"when\":null}]");
	buf_free(&b);
	space_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_follow_what_is_written),
		cmocka_unit_test(numbers_may_be_labels),
		cmocka_unit_test(lists_of_the_command_line_are_known),
		cmocka_unit_test(mistakes_are_named_with_place_and_remedy),
		cmocka_unit_test(mistakes_in_conditions_are_named),
		cmocka_unit_test(sizes_are_bounded),
		cmocka_unit_test(every_mistake_is_reported_at_once),
		cmocka_unit_test(constraints_mean_what_they_say),
		cmocka_unit_test(mistakes_in_constraints_are_named_with_their_column),
		cmocka_unit_test(what_was_not_proven_is_not_said),
		cmocka_unit_test(long_constraints_are_looked_at_less_often),
		cmocka_unit_test(values_are_read_back_or_refused),
		cmocka_unit_test(what_is_optional_may_be_left_out),
		cmocka_unit_test(the_parameters_are_described_as_json),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
