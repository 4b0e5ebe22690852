"""Programs in any language run unchanged, in one line of the command line: how each is called, and that its values come back."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

# Every program halves its rate each epoch; the row of a table is what it should show.
LOOP = 'echo epoch,loss > log.csv\nfor e in 0 1 2; do echo "$e,$(awk "BEGIN {print $LR / 2 ^ $e}")" >> log.csv; done\n'
ARGPARSE = """
import argparse, csv
p = argparse.ArgumentParser()
p.add_argument("--lr", type=float, required=True)
p.add_argument("--sizes", type=int, nargs="+", default=[1])
p.add_argument("--augment", action="store_true")
a = p.parse_args()
assert a.augment and a.sizes == [64, 32], a
out = csv.writer(open("log.csv", "w"))
out.writerow(["epoch", "loss"])
for e in range(3):
    out.writerow([e, a.lr / 2 ** e])
"""
C = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
	double lr = argc == 2 && strncmp(argv[1], "--lr=", 5) == 0 ? atof(argv[1] + 5) : -1;
	FILE *log = fopen("log.csv", "w");
	fprintf(log, "epoch,loss\n");
	for (int e = 0; e < 3; e++, lr /= 2)
		fprintf(log, "%d,%.17g\n", e, lr);
	return lr < 0;
}
"""
PERL = r"""
$ARGV[0] =~ /^--lr=(.*)$/ or die "no rate";
open(my $log, ">", "log.csv");
print $log "epoch,loss\n";
print $log "$_,", $1 / 2 ** $_, "\n" for 0 .. 2;
"""
MAKE = "LR = 1\nall: log.csv\nlog.csv:\n\t@LR=$(LR); " + LOOP.replace("$", "$$").replace("\n", "; ").replace("do;", "do").rstrip("; ") + "\n"

SUBCOMMANDS = """
import argparse
p = argparse.ArgumentParser()
s = p.add_subparsers(dest="what", required=True)
t = s.add_parser("train")
t.add_argument("--lr", type=float)
s.add_parser("test")
a = p.parse_args()
assert a.what == "train"
for e in range(3):
    print("epoch", e, "loss", a.lr / 2 ** e)
"""

# What, the files ("+": executable), the words after `sluice run`, the exact call of the first task.
ROWS = [
    ("argparse with a switch and a list", {"train.py": ARGPARSE}, ["train.py", "lr=0.5,0.25", "augment=true", "sizes=64 32"],
     "python3 train.py --lr=0.5 --augment --sizes 64 32"),
    ("bash, --lr X in a case", {"train.sh": 'while [ $# -gt 0 ]; do case $1 in\n--lr) LR=$2; shift 2 ;;\n*) exit 2 ;;\nesac; done\n' + LOOP},
     ["train.sh", "lr=0.5,0.25"], "bash train.sh --lr 0.5"),
    ("bash, --lr=X in a case", {"train.sh": 'for a; do case $a in\n--lr=*) LR=${a#*=} ;;\n*) exit 2 ;;\nesac; done\n' + LOOP},
     ["train.sh", "lr=0.5,0.25"], "bash train.sh --lr=0.5"),
    ("bash, getopts", {"train.sh": 'while getopts "l:" o; do case $o in\nl) LR=$OPTARG ;;\n*) exit 2 ;;\nesac; done\n' + LOOP},
     ["train.sh", "l=0.5,0.25"], "bash train.sh -l 0.5"),
    ("bash, by place", {"train.sh": 'LR="$1" n=${2:-3}\n' + LOOP}, ["train.sh", "LR=0.5,0.25", "n=3"], "bash train.sh 0.5 3"),
    ("Python, by place", {"train.py": "import sys\nlr = float(sys.argv[1]); n = int(sys.argv[2])\n"
     "open('log.csv', 'w').write('epoch,loss\\n' + ''.join(f'{e},{lr / 2 ** e}\\n' for e in range(n)))\n"},
     ["train.py", "lr=0.5,0.25", "n=3"], "python3 train.py 0.5 3"),
    ("Python, by place, without names", {"train.py": "import sys\nlr, n = float(sys.argv[1]), int(sys.argv[2])\n"
     "open('log.csv', 'w').write('epoch,loss\\n' + ''.join(f'{e},{lr / 2 ** e}\\n' for e in range(n)))\n"},
     ["train.py", "lr=0.5,0.25", "n=3"], "python3 train.py 0.5 3"),
    ("bash, a case on one line",
     {"train.sh": 'while [ $# -gt 0 ]; do case "$1" in --lr) LR=$2; shift 2;; *) exit 2;; esac; done\n' + LOOP},
     ["train.sh", "lr=0.5,0.25"], "bash train.sh --lr 0.5"),
    ("argparse with subcommands", {"main.py": SUBCOMMANDS}, ["main.py", "train", "lr=0.5,0.25"], "python3 main.py train --lr=0.5"),
    ("bash, the environment", {"train.sh": 'LR=$SLUICE_PARAM_LR\n' + LOOP}, ["train.sh", "lr=0.5,0.25"], "bash train.sh --lr=0.5"),
    ("sh with a first line", {"+train": "#!/bin/sh\nLR=${1#--lr=}\n" + LOOP}, ["train", "lr=0.5,0.25"], "./train --lr=0.5"),
    ("make", {"Makefile": MAKE}, ["Makefile", "LR=0.5,0.25"], "make -f Makefile LR=0.5"),
    ("Perl", {"train.pl": PERL}, ["train.pl", "lr=0.5,0.25"], "perl train.pl --lr=0.5"),
    ("Perl with a first line", {"train": "#!/usr/bin/perl\n" + PERL}, ["train", "lr=0.5,0.25"], "./train --lr=0.5"),
    ("a compiled program", {"+train": None}, ["train", "lr=0.5,0.25"], "./train --lr=0.5"),
]


def compiled(folder):
    """The C program as an executable file, or a skip."""
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    (folder / "train.c").write_text(C)
    subprocess.run(["cc", "-O1", "-o", folder / "train", folder / "train.c"], check=True)
    return (folder / "train").read_bytes()


def test_a_program_runs_unchanged_in_one_line(make_daemon, tmp_path):
    daemon = make_daemon(env={"PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}).start()
    program = compiled(tmp_path)
    ids = {}
    for what, files, words, _ in ROWS:
        folder = tmp_path / what.replace(" ", "-")
        folder.mkdir()
        for name, text in files.items():
            path = folder / name.lstrip("+")
            path.write_bytes(program if text is None else text.encode())
            path.chmod(0o755 if name.startswith("+") else 0o644)
        done = daemon.cli("run", "--detach", "--json", *words, "--objective", "loss", cwd=folder, status=None)
        assert done.returncode == 0, (what, done.stderr)
        ids[what] = json.loads(done.stdout)["id"]
    wrong = []
    for what, _, _, call in ROWS:
        experiment = ids[what]
        daemon.wait_ended(experiment)
        if " ".join(daemon.task(experiment, 1)["argv"]) != call:
            wrong.append(f"{what}: called as {daemon.task(experiment, 1)['argv']}")
        for number, rate in ((1, 0.5), (2, 0.25)):
            task = daemon.task(experiment, number)
            curve = daemon.metrics(experiment, number).get("loss")
            if curve != {"step_name": "epoch", "step": [0, 1, 2], "value": [rate, rate / 2, rate / 4]}:
                wrong.append(f"{what}: {task['state']} {task['cause']} {curve}")
    assert not wrong, "\n".join(wrong)


def test_check_names_the_subcommands_of_a_script(daemon, tmp_path):
    (tmp_path / "main.py").write_text(SUBCOMMANDS)
    shown = daemon.cli("check", "main.py", "lr=0.5", cwd=tmp_path).stdout
    assert "the script has subcommands (train, test); name one, as in `sluice run main.py train name=values`" in shown
    assert "the script has no subcommand 'trian'; it has train, test" in daemon.cli("check", "main.py", "trian", cwd=tmp_path).stdout
    (tmp_path / "plain.py").write_text(ARGPARSE)
    assert "give values as name=values: lr=0.1,0.01" in daemon.cli("check", "plain.py", "lr", cwd=tmp_path, status=2).stderr
    assert "the script has no subcommand 'tr'; it has" in daemon.cli("check", "main.py", "tr", cwd=tmp_path).stdout
    assert "subcommands" not in daemon.cli("check", "main.py", "test", "lr=0.5", cwd=tmp_path).stdout
