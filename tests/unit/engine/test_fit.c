/* Experiments fitted to their scripts: the command that runs, and what is named before it runs. */
#include "engine/call.h"
#include "engine/descriptor.h"
#include "engine/fit.h"
#include "engine/spec.h"
#include "script/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static const char argparse[] = "import argparse\n"
			       "p = argparse.ArgumentParser()\n"
			       "p.add_argument('--learning_rate', type=float, default=0.1)\n"
			       "p.add_argument('--epochs', type=int, default=3)\n"
			       "p.add_argument('--opt', choices=['adam', 'sgd'])\n"
			       "p.add_argument('--aug', action='store_true')\n"
			       "p.add_argument('--no-bias', dest='bias', action='store_false')\n"
			       "p.add_argument('--amp', action=argparse.BooleanOptionalAction)\n"
			       "p.add_argument('--flag', type=bool)\n"
			       "p.add_argument('--sizes', type=int, nargs='+')\n"
			       "p.parse_args()\n";
static const char loose[] = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--lr', type=float)\n"
			    "p.parse_known_args()\n";
static const char click[] =
	"import click\n@click.option('--size', multiple=True)\n@click.option('--a/--b', 'ab', default=True)\n"
	"def main(size, ab): pass\n";
static const char hydra[] = "import hydra\n@hydra.main()\ndef main(cfg): pass\n";
static const char places[] = "import sys\nlr = float(sys.argv[1])\nepochs = int(sys.argv[2])\n";
static const char shell[] = "case $1 in\n --lr) L=$2 ;;\nesac\n";

/* What an experiment becomes: its first command and everything that is said, a line each. */
static char *fitted(const char *script_text, const char *document_text, const char *values)
{
	struct node *document = NULL, *params = NULL;
	struct script script = {0};
	struct fit fit = {0};
	struct problems problems = {0};
	struct spec *spec = NULL;
	struct buf out = buf_make(10000);
	assert_int_equal(node_parse_yaml(document_text, strlen(document_text), &document, NULL), 0);
	assert_int_equal(node_parse_yaml(values, strlen(values), &params, NULL), 0);
	if (script_text)
		script_read(script_text == shell ? "t.sh" : "t.py", script_text, strlen(script_text), &script);
	fit_document(document, &script, &fit, &problems);
	if (spec_parse(document, &problems, &spec) == 0) {
		fit_check(spec, document, &script, &fit, &problems);
		struct node *argv = engine_make_argv(spec, 1, 2, 7, params);
		call_write(argv, &out);
		for (size_t i = 0; i < spec->cautions.len; i++)
			buf_addf(&out, "\nwarning: %s", spec->cautions.at[i]);
		node_free(argv);
	}
	for (size_t i = 0; i < problems.list.len; i++)
		buf_addf(&out, "\n%s: %s; %s", problems.list.at[i].field, problems.list.at[i].message,
			 problems.list.at[i].remedy);
	spec_free(spec);
	problems_free(&problems);
	fit_free(&fit);
	script_free(&script);
	node_free(params);
	node_free(document);
	return buf_take(&out);
}

static void check(const char *script, const char *document, const char *values, const char *expected)
{
	char *got = fitted(script, document, values);
	assert_string_equal(got, expected);
	free(got);
}

static void test_values_are_passed_as_the_script_takes_them(void **state)
{
	(void)state;
	static const char all[] =
		"script: t.py\nparameters: {learning_rate: 0.1, aug: true, bias: false, amp: false, flag: "
		"false, sizes: [[64, 64], 8], data: x}\narguments: {data: env}\n";
	check(argparse, all, "{learning_rate: 0.1, aug: true, bias: false, amp: false, flag: false, sizes: 64 64}",
	      "python3 t.py --learning_rate=0.1 --aug --no-bias --no-amp --flag= --sizes 64 64");
	check(argparse, all, "{learning_rate: 0.1, aug: false, bias: true, amp: true, flag: true, sizes: 8}",
	      "python3 t.py --learning_rate=0.1 --amp --flag=true --sizes 8");
	check(argparse, "script: t.py\nparameters: {no_bias: true, learn: 0.5}\n", "{no_bias: true, learn: 0.5}",
	      "python3 t.py --no-bias --learning_rate=0.5");
	check(click, "script: t.py\nparameters: {size: a b, ab: false}\n", "{size: a b, ab: false}",
	      "python3 t.py --size=a --size=b --b");
	check(hydra, "script: t.py\nparameters: {optimizer.lr: 0.1, layers: [[64, 64], [8]]}\n",
	      "{optimizer.lr: 0.1, layers: \"[64,64]\"}", "python3 t.py optimizer.lr=0.1 'layers=[64,64]'");
	check(places, "script: t.py\nparameters: {lr: 0.1, epochs: 3}\n", "{lr: 0.1, epochs: 3}", "python3 t.py 0.1 3");
	check(shell, "script: t.sh\nparameters: {lr: 0.1, other_one: 3}\n", "{lr: 0.1, other_one: 3}",
	      "bash t.sh --lr 0.1 --other_one=3\nwarning: the script has no argument 'other_one'; one of: lr");
	check(NULL, "script: t.py\nparameters: {batch_size: 3}\n", "{batch_size: 3}", "python3 t.py --batch-size=3");
	check(argparse, "script: t.py\nstyle: dash\nseparator: space\nparameters: {learning_rate: 3}\n",
	      "{learning_rate: 3}", "python3 t.py --learning-rate 3");
}

static void test_only_an_option_before_the_subcommand_is_named(void **state)
{
	(void)state;
	static const char parts[] = "import argparse\ncommon = argparse.ArgumentParser(add_help=False)\n"
				    "common.add_argument('--wd')\np = argparse.ArgumentParser()\n"
				    "p.add_argument('--debug')\nsub = p.add_subparsers()\n"
				    "train = sub.add_parser('train', parents=[common])\n"
				    "train.add_argument('--lr')\nev = sub.add_parser('eval', parents=[common])\n"
				    "for q in (train, ev):\n    q.add_argument('--seed')\np.parse_args()\n";
	check(parts, "script: t.py\nsubcommand: train\nparameters: {lr: 0.1, wd: 1, seed: 2}\n",
	      "{lr: 0.1, wd: 1, seed: 2}", "python3 t.py train --lr=0.1 --wd=1 --seed=2");
	check(parts, "script: t.py\nsubcommand: train\nparameters: {debug: 1, seed: 2}\n", "{debug: 1, seed: 2}",
	      "python3 t.py train --debug=1 --seed=2\nwarning: the script takes debug before its subcommand, and would "
	      "get it behind; remove it, or write the whole call: command: [python3, t.py, \"--debug={debug}\", train]");
}

static void test_placeholders_stand_in_the_command(void **state)
{
	(void)state;
	check(NULL,
	      "command: [./train, --lr, \"{lr}\", \"x={lr}/{{lr}}/${lr}/{ a }\"]\nparameters: {lr: 0.1, b_c: 2}\n",
	      "{lr: 0.1, b_c: 2}", "./train --lr 0.1 'x=0.1/{lr}/${lr}/{ a }' --b-c=2");
	check(NULL, "command: [./train, \"{lrr}\"]\nparameters: {lr: 0.1}\n", "{lr: 0.1}",
	      "./train '{lrr}' --lr=0.1\n/command/1: there is no parameter for {lrr}; did you mean 'lr'? {{lrr}} passes the text itself");
	check(NULL, "command: [./train, \"{lr}\"]\n", "{}",
	      "./train '{lr}'\n/command/1: there is no parameter for {lr}; add it to the parameters; {{lr}} passes the text itself");
}

static void test_what_the_script_refuses_is_named(void **state)
{
	(void)state;
	char *got = fitted(argparse,
			   "script: t.py\nparameters: {epoch_s: 1, epochs: 1.5, opt: [adam, rms], aug: maybe}\n", "{}");
	assert_non_null(
		strstr(got, "/parameters/epoch_s: the script has no argument 'epoch_s'; did you mean 'epochs'?"));
	assert_non_null(strstr(
		got, "/parameters/epochs: the script refuses '1.5' for epochs; it takes whole numbers there (line 4)"));
	assert_non_null(
		strstr(got, "/parameters/opt: the script refuses 'rms' for opt; the script takes adam, sgd (line 5)"));
	assert_non_null(strstr(got, "/parameters/aug: aug is a switch of the script"));
	free(got);
	/* Not sure, or a style of the user's own: warnings. */
	check(loose, "script: t.py\nparameters: {lrr: 1}\n", "{lrr: 1}",
	      "python3 t.py --lrr=1\nwarning: the script has no argument 'lrr'; did you mean 'lr'?");
	check(loose, "script: t.py\nparameters: {lrr: 1, unknown: 1, another: 2}\n", "{lrr: 1}",
	      "python3 t.py --lrr=1\nwarning: the script has no argument 'lrr'; did you mean 'lr'?\n"
	      "warning: the script has no arguments 'unknown', 'another'; one of: lr");
	check(argparse, "script: t.py\nstyle: dash\nparameters: {opts: 1}\n", "{opts: 1}",
	      "python3 t.py --opts=1\nwarning: the script has no argument 'opts'; did you mean 'opt'?");
}

static void test_values_that_nothing_reads_are_said(void **state)
{
	static const char constants[] = "LR = 0.2\nprint('loss', LR)\n";
	static const char environ[] = "import os\nprint('loss', os.environ['LR'])\n";
	(void)state;
	check(constants, "script: t.py\nparameters: {LR: [0.2, 0.3]}\n", "{LR: 0.2}",
	      "python3 t.py --LR=0.2\nwarning: t.py reads no arguments, nor SLUICE_PARAM_...: every task would compute the "
	      "same; let it take --LR with argparse, or read os.environ[\"SLUICE_PARAM_LR\"]");
	check(environ, "script: t.py\npass: env\nparameters: {LR: [0.2, 0.3]}\n", "{LR: 0.2}",
	      "python3 t.py\nwarning: t.py reads LR from the environment (line 2), but no arguments, nor SLUICE_PARAM_...: "
	      "every task would compute the same; parameters come as os.environ[\"SLUICE_PARAM_LR\"]");
	/* One value, or lines of setup that may set LR: nothing to say. */
	check(constants, "script: t.py\nparameters: {LR: 0.2}\n", "{LR: 0.2}", "python3 t.py --LR=0.2");
	check(environ,
	      "script: t.py\npass: env\nparameters: {LR: [0.2, 0.3]}\nenvironment: {setup: [export LR=$SLUICE_PARAM_LR]}\n",
	      "{LR: 0.2}", "python3 t.py");
}

/* The kind of a range, as the experiment is stored. */
static int kind_of(const char *script_text, const char *range, bool fit_it)
{
	char *text = mem_printf("script: t.py\nparameters: {learning_rate: %s, epochs: %s, other: %s}\n", range, range,
				range);
	struct node *document = NULL;
	struct script script = {0};
	struct fit fit = {0};
	struct problems problems = {0};
	struct spec *spec = NULL;
	assert_int_equal(node_parse_yaml(text, strlen(text), &document, NULL), 0);
	script_read("t.py", script_text, strlen(script_text), &script);
	if (fit_it)
		fit_document(document, &script, &fit, &problems);
	assert_int_equal(spec_parse(document, &problems, &spec), 0);
	struct space_param *params = spec->space->params;
	int kind = (int)params[0].kind * 100 + (int)params[1].kind * 10 + (int)params[2].kind;
	spec_free(spec);
	problems_free(&problems);
	fit_free(&fit);
	script_free(&script);
	node_free(document);
	free(text);
	return kind;
}

#define KINDS(a, b, c) ((int)(a)*100 + (int)(b)*10 + (int)(c))

static void test_a_range_is_real_where_the_script_takes_real_numbers(void **state)
{
	(void)state;
	assert_int_equal(kind_of(argparse, "{min: 0, max: 1}", true), KINDS(SPACE_REAL, SPACE_INT, SPACE_REAL));
	assert_int_equal(kind_of(argparse, "{min: 1, max: 9}", true), KINDS(SPACE_REAL, SPACE_INT, SPACE_INT));
	assert_int_equal(kind_of(argparse, "{min: 0, max: 1, type: int}", true),
			 KINDS(SPACE_INT, SPACE_INT, SPACE_INT));
	assert_int_equal(kind_of(argparse, "{min: 0, max: 4, type: float}", true),
			 KINDS(SPACE_REAL, SPACE_REAL, SPACE_REAL));
	/* A stored experiment means what it meant. */
	assert_int_equal(kind_of(argparse, "{min: 0, max: 1}", false), KINDS(SPACE_INT, SPACE_INT, SPACE_INT));
}

static void two_names_of_one_argument_are_refused(void **state)
{
	static const char names[] = "import argparse\np = argparse.ArgumentParser()\n"
				    "p.add_argument('-l', '--learning-rate', '--lr', type=float)\n"
				    "p.add_argument('--opt')\np.parse_args()\n";
	(void)state;
	char *got = fitted(names, "script: t.py\nparameters: {l: 0.1, lr: 0.2}\n", "{l: 0.1, lr: 0.2}");
	assert_non_null(strstr(
		got, "/parameters/lr: 'l' and 'lr' are one argument of the script (line 3); remove one of them"));
	free(got);
	check(names,
	      "script: t.py\nparameters: {opt: [a, b], l: {value: 0.1, when: {opt: a}}, lr: {value: 0.2, when: {opt: b}}}\n",
	      "{opt: a, l: 0.1}", "python3 t.py --opt=a --learning-rate=0.1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_are_passed_as_the_script_takes_them),
		cmocka_unit_test(test_only_an_option_before_the_subcommand_is_named),
		cmocka_unit_test(test_placeholders_stand_in_the_command),
		cmocka_unit_test(test_what_the_script_refuses_is_named),
		cmocka_unit_test(test_values_that_nothing_reads_are_said),
		cmocka_unit_test(two_names_of_one_argument_are_refused),
		cmocka_unit_test(test_a_range_is_real_where_the_script_takes_real_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
