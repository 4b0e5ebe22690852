/* What reading a script finds: the parsers people use, their names, types, defaults and choices, and what is sure. */
#include "script/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define MOST 8

/* One argument as expected, written short: "name flag off shape type default choices". */
struct expected {
	const char *script, *parser, *pass;
	bool sure;
	const char *arguments[MOST];
};

static const char *const shapes[] = {"value", "spaced", "switch", "truth", "several", "repeated", "place"};

static void describe(const struct script_argument *a, struct buf *out)
{
	struct json w = json_to(out);
	buf_addf(out, "%s %s %s %s %s%s ", a->name, a->flag ? a->flag : "-", a->off ? a->off : "-", shapes[a->shape],
		 script_type_name(a->type) ? script_type_name(a->type) : "any", a->required ? "!" : "");
	if (a->fallback)
		node_write_json(a->fallback, &w);
	else
		json_put_null(&w);
	if (a->choices) {
		struct json c = json_to(out);
		buf_add_char(out, ' ');
		node_write_json(a->choices, &c);
	}
}

static void check(const struct expected *e)
{
	struct script script;
	const char *name = strstr(e->script, "case") || strstr(e->script, "getopts") ? "t.sh" : "t.py";
	script_read(name, e->script, strlen(e->script), &script);
	if (script.wrong)
		print_error("line %u: %s\n", script.wrong_line, script.wrong);
	assert_null(script.wrong);
	if (e->parser)
		assert_string_equal(script.parser, e->parser);
	assert_string_equal(script_pass(&script) ? script_pass(&script) : "none", e->pass);
	assert_int_equal(script.sure, e->sure);
	size_t count = 0;
	while (count < MOST && e->arguments[count])
		count++;
	for (size_t i = 0; i < script.arguments.len; i++) {
		struct buf text = buf_make(1000);
		describe(&script.arguments.at[i], &text);
		assert_string_equal(buf_text(&text), i < count ? e->arguments[i] : "no more");
		buf_free(&text);
	}
	assert_int_equal(script.arguments.len, count);
	script_free(&script);
}

static void check_all(const struct expected *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check(&list[i]);
}

static void test_argparse_is_read_with_types_defaults_and_switches(void **state)
{
	(void)state;
	static const struct expected list[] = {
		{"import argparse\n"
		 "p = argparse.ArgumentParser()\n"
		 "p.add_argument('-l', '--lr', type=float, default=1e-3, help='the rate')\n"
		 "p.add_argument(\"--batch_size\", type=int,\n"
		 "               default=32)  # add_argument('--no')\n"
		 "p.add_argument('--opt', choices=['adam', 'sgd'], default='adam')\n"
		 "p.add_argument('--augment', action='store_true')\n"
		 "p.add_argument('--no-bias', dest='bias', action='store_false')\n"
		 "p.add_argument('--amp', action=argparse.BooleanOptionalAction, default=True)\n"
		 "p.add_argument('--sizes', type=int, nargs='+', default=[64, 64])\n"
		 "p.add_argument('data')\n"
		 "args = p.parse_args()\n",
		 "argparse",
		 "flags",
		 true,
		 {"lr --lr - value real 0.001", "batch_size --batch_size - value int 32",
		  "opt --opt - value text \"adam\" [\"adam\",\"sgd\"]", "augment --augment - switch bool false",
		  "bias - --no-bias switch bool true", "amp --amp --no-amp switch bool true",
		  "sizes --sizes - several int [64,64]", "data - - place any! null"}},
		/* A text in a string or comment is no argument; a constant is looked up; type=bool is a trap. */
		{"from argparse import ArgumentParser\n"
		 "RATE = 0.5\n"
		 "'''\np.add_argument('--doc')\n'''\n"
		 "p = ArgumentParser('x')\n"
		 "p.add_argument('--lr', default=RATE, type=float, required=True)\n"
		 "p.add_argument('--flag', type=bool, default=False)\n"
		 "a = p.parse_args()\n",
		 "argparse",
		 "flags",
		 true,
		 {"lr --lr - value real! 0.5", "flag --flag - truth bool false"}},
		/* Handed to something else, or only the known ones parsed: not sure. */
		{"import argparse\np = argparse.ArgumentParser()\np.add_argument('--lr')\nadd_more(p)\nargs = p.parse_args()\n",
		 "argparse",
		 "flags",
		 false,
		 {"lr --lr - value any null"}},
		{"import argparse\np = argparse.ArgumentParser()\np.add_argument('--lr')\nargs, _ = p.parse_known_args()\n",
		 "argparse",
		 "flags",
		 false,
		 {"lr --lr - value any null"}},
		{"import argparse\np = argparse.ArgumentParser()\nfor n in names: p.add_argument('--' + n)\np.parse_args()\n",
		 "argparse",
		 "flags",
		 false,
		 {NULL}},
	};
	check_all(list, COUNT_OF(list));
}

static void test_other_parsers_are_read(void **state)
{
	(void)state;
	static const struct expected list[] = {
		{"import click\n"
		 "@click.command()\n"
		 "@click.option('--lr', '-l', default=0.1, help='rate')\n"
		 "@click.option('--opt', type=click.Choice(['a', 'b']), default='a')\n"
		 "@click.option('--shout/--no-shout', default=False)\n"
		 "@click.option('--aug', is_flag=True)\n"
		 "@click.option('--size', multiple=True, type=int)\n"
		 "@click.argument('path')\n"
		 "def main(**kw): pass\n",
		 "click",
		 "flags",
		 true,
		 {"lr --lr - value real 0.1", "opt --opt - value text \"a\" [\"a\",\"b\"]",
		  "shout --shout --no-shout switch bool false", "aug --aug - switch bool false",
		  "size --size - repeated int null", "path - - place any! null"}},
		{"import typer\n"
		 "from typing_extensions import Annotated\n"
		 "def main(path: str, batch_size: int = 32, aug: bool = False,\n"
		 "         lr: float = typer.Option(0.1, help='rate'),\n"
		 "         opt: Annotated[str, typer.Option(help='x')] = 'adam'):\n"
		 "    pass\n"
		 "typer.run(main)\n",
		 "typer",
		 "flags",
		 true,
		 {"path - - place text! null", "batch_size --batch-size - value int 32",
		  "aug --aug --no-aug switch bool false", "lr --lr - value real 0.1",
		  "opt --opt - value text \"adam\""}},
		/* nested classes, and an enumeration that is none */
		{"import dataclasses, enum, tyro\n"
		 "class Kind(enum.Enum):\n    A = 1\n"
		 "class Opt:\n    lr: float = 0.1\n    weight_decay: float = 0\n"
		 "class Args:\n    opt: Opt = dataclasses.field(default_factory=Opt)\n    steps: int = 3\n"
		 "args = tyro.cli(Args)\n",
		 "tyro",
		 "flags",
		 true,
		 {"opt.lr --opt.lr - value real 0.1", "opt.weight_decay --opt.weight-decay - value real 0",
		  "steps --steps - value int 3"}},
		{"from jsonargparse import ArgumentParser\n"
		 "p = ArgumentParser()\np.add_argument('--on', type=bool, default=False)\np.parse_args()\n",
		 "jsonargparse",
		 "flags",
		 true,
		 {"on --on - value bool false"}},
		/* a case on one line */
		{"while [ $# -gt 0 ]; do case \"$1\" in --lr) lr=$2; shift 2;; --fast) f=1; shift;; *) exit 2;; esac; done\n",
		 "case",
		 "flags",
		 false,
		 {"lr --lr - spaced any null", "fast --fast - switch bool null"}},
		/* the same after a loop with an "in" of its own, and two patterns on one of several lines */
		{"for a in \"$@\"; do case $a in --lr=*) lr=${a#*=};; --wd=*) wd=${a#*=};; esac; done\n",
		 "case",
		 "flags",
		 false,
		 {"lr --lr - value any null", "wd --wd - value any null"}},
		{"while [ $# -gt 0 ]; do\n  case \"$1\" in\n    --lr) lr=$2; shift 2;; --wd) wd=$2; shift 2;;\n  esac\ndone\n",
		 "case",
		 "flags",
		 false,
		 {"lr --lr - spaced any null", "wd --wd - spaced any null"}},
		{"import fire\ndef train(lr=0.1, epochs=3, aug=False):\n    pass\nfire.Fire(train)\n",
		 "fire",
		 "flags",
		 true,
		 {"lr --lr - value real 0.1", "epochs --epochs - value int 3", "aug --aug --noaug switch bool false"}},
		{"from absl import app, flags\n"
		 "flags.DEFINE_float('lr', 0.1, 'rate')\n"
		 "flags.DEFINE_enum('opt', 'a', ['a', 'b'], 'which')\n"
		 "flags.DEFINE_bool('aug', False, 'augment')\n",
		 "absl",
		 "flags",
		 false,
		 {"lr --lr - value real 0.1", "opt --opt - value text \"a\" [\"a\",\"b\"]",
		  "aug --aug --noaug switch bool false"}},
		{"from dataclasses import dataclass, field\n"
		 "from transformers import HfArgumentParser, TrainingArguments\n"
		 "@dataclass\n"
		 "class ModelArgs:\n"
		 "    model_name: str = field(default='bert', metadata={'help': 'which'})\n"
		 "    dropout: float = 0.1\n"
		 "    def go(self):\n"
		 "        x: int = 3\n"
		 "parser = HfArgumentParser((ModelArgs, TrainingArguments))\n",
		 "transformers",
		 "flags",
		 false,
		 {"model_name --model_name - value text \"bert\"", "dropout --dropout - value real 0.1"}},
		{"from tap import Tap\nclass Args(Tap):\n    lr: float = 0.1\n    aug: bool = False\nArgs().parse_args()\n",
		 "tap",
		 "flags",
		 true,
		 {"lr --lr - value real 0.1", "aug --aug - switch bool false"}},
		{"import hydra\n@hydra.main(config_path='conf')\ndef main(cfg):\n    print(cfg.lr)\n",
		 "hydra",
		 "overrides",
		 false,
		 {NULL}},
		{"from omegaconf import OmegaConf\n"
		 "cfg = OmegaConf.merge(OmegaConf.create({'lr': 0.1, 'epochs': 3}), OmegaConf.from_cli())\n",
		 "omegaconf",
		 "overrides",
		 false,
		 {"lr - - value real 0.1", "epochs - - value int 3"}},
		{"import sys\nbatch_size = int(sys.argv[3])\nlr = float(sys.argv[4])\n",
		 NULL,
		 "positional",
		 false,
		 {"batch_size - - place int! null", "lr - - place real! null"}},
		{"import sys\nlr, epochs = sys.argv[1:]\n",
		 NULL,
		 "positional",
		 false,
		 {"lr - - place any! null", "epochs - - place any! null"}},
		{"import sys\nprint('sys.argv[1]')  # sys.argv[2]\n", NULL, "none", false, {NULL}},
		{"import os\nlr = os.environ['SLUICE_PARAM_LR']\n", NULL, "env", false, {NULL}},
		{"while [ $# -gt 0 ]; do\n  case $1 in\n    -l|--lr) LR=$2; shift 2 ;;\n"
		 "    --epochs=*) E=${1#*=}; shift ;;\n    --aug) A=1; shift ;;\n  esac\ndone\n",
		 "case",
		 "flags",
		 false,
		 {"lr --lr - spaced any null", "epochs --epochs - value any null", "aug --aug - switch bool null"}},
		{"while getopts \"l:v\" o; do :; done\n",
		 "case",
		 "flags",
		 false,
		 {"l -l - spaced any null", "v -v - switch any null"}},
	};
	check_all(list, COUNT_OF(list));
}

/* "lr@train" for each argument that belongs to a subcommand, "seed@*" for one that stands before it. */
static void check_commands(const char *text, const char *commands, const char *owned)
{
	struct script script;
	struct buf names = buf_make(500), of = buf_make(500);
	script_read("t.py", text, strlen(text), &script);
	for (size_t i = 0; i < script.commands.len; i++)
		buf_addf(&names, "%s ", script.commands.at[i]);
	for (size_t i = 0; i < script.arguments.len; i++)
		buf_addf(&of, "%s@%s ", script.arguments.at[i].name,
			 script.arguments.at[i].command          ? script.arguments.at[i].command
				 : script.arguments.at[i].before ? "*"
								 : "");
	assert_string_equal(buf_text(&names), commands);
	assert_string_equal(buf_text(&of), owned);
	for (size_t i = 0; i < script.arguments.len; i++) /* never both */
		assert_true(!script.arguments.at[i].command || !script.arguments.at[i].before);
	script_narrow(&script, "train --now");
	for (size_t i = 0; i < script.arguments.len; i++)
		assert_true(!script.arguments.at[i].command || strcmp(script.arguments.at[i].command, "train") == 0);
	buf_free(&names);
	buf_free(&of);
	script_free(&script);
}

static void test_an_argument_belongs_to_its_subcommand(void **state)
{
	(void)state;
	check_commands("import argparse\n"
		       "p = argparse.ArgumentParser()\np.add_argument('--seed')\n"
		       "sub = p.add_subparsers(dest='command', required=True)\n"
		       "t = sub.add_parser('train', help='x')\n"
		       "g = t.add_argument_group('more')\n"
		       "g.add_argument('--lr')\nt.add_argument('--epochs')\n"
		       "t = sub.add_parser('eval')\nt.add_argument('--ckpt', required=True)\n"
		       "a = p.parse_args()\n",
		       "train eval ", "seed@* lr@train epochs@train ckpt@eval ");
	check_commands("import argparse\n"
		       "common = argparse.ArgumentParser(add_help=False)\ncommon.add_argument('--lr')\n"
		       "def add_common(q, x=1):\n    q.add_argument('--epochs')\n"
		       "p = argparse.ArgumentParser(description='x')\n"
		       "g = p.add_argument_group('more')\ng.add_argument('--debug')\n"
		       "sub = p.add_subparsers()\n"
		       "train = sub.add_parser('train', parents=[common])\nev = sub.add_parser('eval')\n"
		       "for q in (train, ev):\n    q.add_argument('--seed')\nadd_common(train)\n"
		       "train.add_argument('--wd')\nmade = make(p)\nmade.add_argument('--x')\np.parse_args()\n",
		       "train eval ", "lr@ epochs@ debug@* seed@ wd@train x@ ");
	check_commands("import click\nshared = [click.option('--seed')]\n@click.group()\ndef cli():\n    pass\n"
		       "@cli.command()\n@click.option('--lr', default=0.1)\ndef train(lr):\n    pass\n",
		       "train ", "seed@ lr@train ");
	check_commands("import click\n@click.group()\n@click.option('--debug')\ndef cli(debug):\n    pass\n"
		       "@cli.command()\n@click.option('--lr', default=0.1)\ndef train(lr):\n    pass\n"
		       "@cli.command('test')\n@click.option('--ckpt')\ndef check(ckpt):\n    pass\n",
		       "train test ", "debug@* lr@train ckpt@test ");
	check_commands("import typer\napp = typer.Typer()\n"
		       "@app.command()\ndef train(lr: float = 0.1):\n    pass\n"
		       "@app.command()\ndef test(ckpt: str):\n    pass\n",
		       "train test ", "lr@train ckpt@test ");
	check_commands("import typer\napp = typer.Typer()\n@app.command()\ndef train(lr: float = 0.1):\n    pass\n", "",
		       "lr@ ");
	check_commands(
		"from lightning.pytorch.cli import LightningCLI\n"
		"class Net(L.LightningModule):\n"
		"    def __init__(self, lr: float = 1e-3, hidden: int = 64):\n        pass\n"
		"    def other(self, x=1):\n        pass\n"
		"class Data(L.LightningDataModule):\n    def __init__(self, batch_size: int = 32):\n        pass\n"
		"LightningCLI(Net, datamodule_class=Data)\n",
		"fit validate test predict ", "model.lr@ model.hidden@ data.batch_size@ ");
}

static void test_the_metric_that_the_script_watches_is_found(void **state)
{
	(void)state;
	static const struct {
		const char *script, *metric, *goal, *from;
	} list[] = {
		{"cb = [EarlyStopping(monitor='val_mae', mode='min'), CSVLogger('x.csv')]\n", "val_mae", "min",
		 "EarlyStopping"},
		{"from transformers import TrainingArguments\n"
		 "a = TrainingArguments(metric_for_best_model='accuracy', greater_is_better=True)\n",
		 "eval_accuracy", "max", "TrainingArguments"},
		{"sluice.report(epoch=1, val_f1=0.3)\n", "val_f1", NULL, NULL},
		{"writer.add_scalar('Loss/val', x, step)\n", "Loss/val", NULL, NULL},
		{"print(f'epoch {e} val_loss {v}')\n", "val_loss", NULL, NULL},
		{"x = 1\n", NULL, NULL, NULL},
		/* The keys that are written count, not keywords of other calls nor names of variables. */
		{"loss = 1\nlog(f1=2)\nf.write(json.dumps({'train/loss': loss, 'eval/f1': 2}))\n", "eval/f1", NULL,
		 NULL},
		{"put(loss=1, f1=2)\n", NULL, NULL, NULL},
		/* The name that is read from the line is "Val loss". */
		{"print('Epoch %d | Train loss %.5f | Val loss %.5f' % x)\n", NULL, NULL, NULL},
		{"print('epoch %d loss %.5f' % x)\n", "loss", NULL, NULL},
		{"print(f'bar loss={x}')\nprint(f'[epoch {e}] val/loss: {v}')\n", "val/loss", NULL, NULL},
		{"print('%5.1f loss')\n", "loss", NULL, NULL},
		{"print('loss')\n", "loss", NULL, NULL},
		{"print('a loss')\n", NULL, NULL, NULL},
	};
	for (size_t i = 0; i < COUNT_OF(list); i++) {
		struct script script;
		script_read("t.py", list[i].script, strlen(list[i].script), &script);
		const char *const pairs[][2] = {{script.metric, list[i].metric},
						{script.goal, list[i].goal},
						{script.metric_from, list[i].from}};
		for (size_t k = 0; k < COUNT_OF(pairs); k++)
			assert_string_equal(pairs[k][0] ? pairs[k][0] : "none", pairs[k][1] ? pairs[k][1] : "none");
		script_free(&script);
	}
}

static void test_a_script_that_cannot_run_is_said_at_once(void **state)
{
	(void)state;
	static const struct {
		const char *script, *wrong;
		unsigned line;
	} list[] = {
		{"x = (1,\ny = 2\n", "syntax error: '(' is never closed", 1},
		{"x = 'abc\n", "syntax error: a string is not closed", 1},
		{"x = 1\nif x\n    y = 2\n", "syntax error: ':' is missing at the end", 2},
		{"for i in x:\nprint(i)\n", "syntax error: the block that line 1 begins is not indented", 2},
		{"x = 1\n  y = 2\n", "syntax error: the line is indented and no block begins before it", 2},
		{"if x:\n    y = 1\n  z = 2\n", "syntax error: the indentation fits no block above", 3},
		{"print 'x'\n", "syntax error: print without brackets: that is Python 2", 1},
		{"x = [1, 2)\n", "syntax error: ')' does not close the '[' of line 1", 1},
		/* Sound ones. */
		{"f = lambda x: x\nif f(lambda y: y)(1): pass\nd = {'a': 1,\n'b': [2]}\nx = '''a\n'b'''\n", NULL, 0},
		{"class A:\n    '''doc'''\n    x: int = 3\n\n    def f(self) -> int:\n        return 1  # )\n\n\ny = \\\n    3\n",
		 NULL, 0},
		{"try:\n\tx = 1\nexcept ValueError:\n\tpass\nelse:\n\tpass\nfinally:\n\tpass\n", NULL, 0},
		{"match x:\n    case 1:\n        pass\n    case _: pass\n", NULL, 0},
		{"#!/usr/bin/python2\nprint 'x'\n", NULL, 0},
		{"if x: y = 1; z = 2\nwhile x > 3 and \\\n      y:\n    break\n", NULL, 0},
		{"", NULL, 0},
	};
	for (size_t i = 0; i < COUNT_OF(list); i++) {
		struct script script;
		script_read("t.py", list[i].script, strlen(list[i].script), &script);
		assert_string_equal(script.wrong ? script.wrong : "sound", list[i].wrong ? list[i].wrong : "sound");
		assert_int_equal(script.wrong_line, list[i].line);
		script_free(&script);
	}
	struct script script;
	script_read("t.py",
		    "\x7f"
		    "ELF\0\0",
		    6, &script);
	assert_string_equal(script.wrong, "this is a binary file, not the text of a script");
	script_free(&script);
	script_read("train.sh", "#!/bin/sh\r\necho\r\n", 17, &script);
	assert_non_null(strstr(script.wrong, "the lines end as on Windows"));
	assert_int_equal(script.wrong_line, 1);
	script_free(&script);
	script_read("train.py", "print(1)\r\n", 10, &script);
	assert_null(script.wrong);
	script_free(&script);
	script_read("a.ipynb", "{}", 2, &script);
	assert_non_null(strstr(script.wrong, "this is a notebook"));
	script_free(&script);
	script_read("program",
		    "\x7f"
		    "ELF\0\0",
		    6, &script);
	assert_null(script.wrong); /* a compiled program runs by itself */
	script_free(&script);
}

static void expect_commands(const char *text, const char *wanted)
{
	struct script script;
	struct buf names = buf_make(1000);
	script_read("t.py", text, strlen(text), &script);
	for (size_t i = 0; i < script.commands.len; i++)
		buf_addf(&names, "%s ", script.commands.at[i]);
	assert_string_equal(buf_text(&names), wanted);
	buf_free(&names);
	script_free(&script);
}

static void test_subcommands_are_found(void **state)
{
	(void)state;
	expect_commands("import click\n@click.group()\ndef cli(): pass\n@cli.command()\n@click.option('--lr')\n"
			"def train_it(lr): pass\n@cli.command('eval')\ndef e(): pass\n",
			"train-it eval ");
	expect_commands("import argparse\np = argparse.ArgumentParser()\ns = p.add_subparsers()\n"
			"t = s.add_parser('train')\nt.add_argument('--lr')\ns.add_parser(\"test\")\np.parse_args()\n",
			"train test ");
	expect_commands("import typer\napp = typer.Typer()\n@app.command()\ndef train(lr: float = 1): pass\n", "");
	expect_commands("import typer\napp = typer.Typer()\n@app.command()\ndef train(lr: float = 1): pass\n"
			"@app.command()\ndef test(): pass\n",
			"train test ");
	expect_commands("import click\n@click.command()\ndef main(): pass\n", "");
}

static void expect_deaf(const char *name, const char *text, bool wanted, const char *variable)
{
	struct script script;
	script_read(name, text, strlen(text), &script);
	if (script.deaf != wanted)
		print_error("%s\n", text);
	assert_int_equal(script.deaf, wanted);
	assert_string_equal(script.variable ? script.variable : "none", variable);
	script_free(&script);
}

static void test_a_script_that_takes_nothing_is_deaf_only_where_that_is_sure(void **state)
{
	static const char *const deaf[] = {
		"LR = 0.2\nfor e in range(3):\n    print('epoch', e, 'loss', LR)\n",
		"import torch, time\nfrom torch import nn\nimport numpy as np\nmodel.eval()\nprint('loss', 1)\n",
		"# import argparse\nprint('loss', 1)\n",
	};
	static const char *const open[] = {
		"import sys\nprint(sys.argv)\n",
		"from sys import argv\nprint(argv)\n",
		"import config\nprint(config.LR)\n",
		"from .config import LR\nprint(LR)\n",
		"from tools import *\n",
		"import numpy, mine\n",
		"import subprocess\nsubprocess.run(['a'])\n",
		"import os\nos.system('a')\n",
		"exec(open('configurator.py').read())\n",
		"import json\nprint(json.load(open('params.json')))\n",
		"import os\nprint(os.environ['SLUICE_PARAM_LR'])\n",
		"import os\nprint(os.environ)\n",
		"import os\nprint(os.environ[name])\n",
		"import os\nprint(os.environ['LR'], os.environ['SLUICE_TASK'])\n",
		"import os\nprint(os.environ['SLURM_ARRAY_TASK_ID'])\n",
		"import os\nprint(os.getenv('SLUICE_' + 'LR'))\n",
		"import sluice\nprint(sluice.params())\n",
		"import sacred\n",
		"import fire\nfire.Fire(main)\n",
		"if True: import mine\n",
	};
	static const char *const deaf_shell[] = {"LR=0.2\necho \"loss: $LR\"\n",
						 "#!/bin/sh\nfor i in 1 2; do echo 0.5; done\n"};
	static const char *const open_shell[] = {
		"echo $1\n",        "echo \"$@\"\n",      "python3 train.py\n",
		"LR=1 ./train\n",   "echo \"${2:-1}\"\n", "echo $SLUICE_PARAM_LR\n",
		"true; source x\n", "x=$(./train)\n",     "if true; then ./train; fi\n",
		"shift\n",
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(deaf); i++)
		expect_deaf("t.py", deaf[i], true, "none");
	for (size_t i = 0; i < COUNT_OF(open); i++)
		expect_deaf("t.py", open[i], false, "none");
	for (size_t i = 0; i < COUNT_OF(deaf_shell); i++)
		expect_deaf("t.sh", deaf_shell[i], true, "none");
	for (size_t i = 0; i < COUNT_OF(open_shell); i++)
		expect_deaf("t.sh", open_shell[i], false, "none");
	expect_deaf("t.py", "import os\nlr = float(os.environ['LR'])\nb = os.environ.get('B', 1)\n", true, "LR");
	expect_deaf("t.py", "from os import getenv\nlr = float(getenv('LR', '1'))\n", true, "LR");
	expect_deaf("train", "LR = 1\n", false, "none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_argparse_is_read_with_types_defaults_and_switches),
		cmocka_unit_test(test_other_parsers_are_read),
		cmocka_unit_test(test_subcommands_are_found),
		cmocka_unit_test(test_an_argument_belongs_to_its_subcommand),
		cmocka_unit_test(test_the_metric_that_the_script_watches_is_found),
		cmocka_unit_test(test_a_script_that_cannot_run_is_said_at_once),
		cmocka_unit_test(test_a_script_that_takes_nothing_is_deaf_only_where_that_is_sure),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
