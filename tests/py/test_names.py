"""What an objective names: columns and printed words that are called like it but for case and what stands between the words."""

import json

NAMED = "is taken for val_loss, which the experiment names"
# What, the script, the curves that must come out, whether the note is there (None: only if stdout was seen first).
CASES = [
    ("printed with a space", "for e in range(1, 4): print(f'epoch {e} val loss {1 / e:.3f} train loss {2 / e:.3f}')",
     {"val_loss": [(1, 1), (2, 0.5), (3, 0.333)], "train loss": [(1, 2), (2, 1), (3, 0.667)]}, True),
    ("printed in capitals", "for e in range(1, 3): print(f'Epoch {e}: Val-Loss = {1 / e}')", {"val_loss": [(1, 1), (2, 0.5)]}, True),
    ("a column", "open('log.csv', 'w').write('epoch,Val Loss,lr\\n1,0.5,3\\n2,0.25,3\\n')",
     {"val_loss": [(1, 0.5), (2, 0.25)], "lr": [(1, 3), (2, 3)]}, True),
    ("two columns, one of them exactly", "open('log.csv', 'w').write('epoch,Val Loss,val_loss\\n1,7,0.5\\n2,8,0.25\\n')",
     {"val_loss": [(1, 0.5), (2, 0.25)], "Val Loss": [(1, 7), (2, 8)]}, False),
    ("two columns, none exactly", "open('log.csv', 'w').write('epoch,Val Loss,val-loss\\n1,7,0.5\\n2,8,0.25\\n')",
     {"val_loss": [(1, 7), (2, 8)], "val-loss": [(1, 0.5), (2, 0.25)]}, True),
    ("the exact one comes later", "print('epoch 1 val loss 7')\nprint('epoch 2 val loss 8')\nprint('epoch 2 val_loss 0.5', flush=True)",
     {"val_loss": [(2, 0.5)], "val loss": [(1, 7), (2, 8)]}, True),
    ("a table and a printed line", "open('log.csv', 'w').write('epoch,val_loss\\n1,0.3333\\n')\nprint('epoch 1 val loss 0.33')",
     {"val_loss": [(1, 0.3333)]}, None),
]


def test_a_name_that_differs_in_separators_is_the_objective_and_nothing_is_mixed(daemon):
    ids = [daemon.submit(script, {"objective": {"metric": "val_loss", "goal": "min"}}) for _, script, _, _ in CASES]
    for experiment, (what, _, wanted, noted) in zip(ids, CASES):
        best = daemon.wait_ended(experiment)["best"]
        curves = {name: list(zip(c["step"], c["value"])) for name, c in daemon.metrics(experiment, 1).items()}
        assert curves == wanted, what
        assert best["value"] == min(value for _, value in wanted["val_loss"]), what
        assert noted is None or (NAMED in json.dumps(daemon.task(experiment, 1)["timeline"])) == noted, what


def test_a_stopping_condition_finds_the_printed_name_too(daemon):
    script = "import time\nfor e in range(1, 4): print(f'epoch {e} val loss {1 / e}', flush=True)\ntime.sleep(1)"
    experiment = daemon.submit(script, {"objective": "train_loss", "stop": {"when": "val_loss < 0.6"}})
    e = daemon.wait_ended(experiment)
    assert e["state"] == "finished" and e["note"] == "stopping condition met by e1/1: val_loss < 0.6"


def test_the_argument_that_an_abbreviation_stands_for_is_named(daemon, folder):
    (folder / "flags.py").write_text("import argparse\np = argparse.ArgumentParser()\n"
                                     "p.add_argument('--learning-rate', type=float)\np.parse_args()\n")
    chosen = lambda name: json.loads(daemon.cli("check", "--json", "flags.py", f"{name}=0.1", cwd=folder).stdout)["chosen"]
    assert "learn: the beginning of --learning-rate of the script, which argparse takes for it" in chosen("learn")
    assert "beginning" not in str(chosen("learning_rate"))


FLAGS = """
import argparse
p = argparse.ArgumentParser()
p.add_argument('--learning-rate', '--rate', '-r', type=float, dest='lr')
p.add_argument('--no-bias', '--unbiased', dest='bias', action='store_false')
a = p.parse_args()
print('epoch 1 loss', a.lr + a.bias)
"""
CLICK = """
import click
@click.command()
@click.option('--learning-rate', '--rate', '-r', 'lr', type=float)
@click.option('--bias/--no-bias', '-b/-B', default=True)
def main(lr, bias): print('epoch 1 loss', lr + bias)
main()
"""
TYPER = """
import typer
def main(lr: float = typer.Option(0.1, '--learning-rate', '--rate', '-r', help='--no-flag')): print('epoch 1 loss', lr)
typer.run(main)
"""


def test_each_name_of_an_argument_is_taken(daemon, folder):
    (folder / "flags.py").write_text(FLAGS)
    (folder / "clicks.py").write_text(CLICK)
    (folder / "typed.py").write_text(TYPER)
    check = lambda *words: daemon.cli("check", *words, cwd=folder, status=None)
    for name in ("learning_rate", "learning-rate", "rate", "r", "lr", "rat"):
        assert check("flags.py", f"{name}=0.5").returncode == 0, name
        assert [check(script, f"{name}=0.5").returncode for script in ("clicks.py", "typed.py")] == [2 * (name == "rat")] * 2, name
    assert check("flags.py", "ratio=0.5").returncode == 2
    for values, loss in ((["rate=0.5"], 1.5), (["r=0.25", "unbiased=true"], 0.25), (["rate=0.5", "unbiased=false"], 1.5),
                         (["lr=0.5", "bias=false"], 0.5), (["lr=0.5", "no-bias=true"], 0.5)):
        shown = daemon.cli("run", "flags.py", *values, "--objective", "loss", cwd=folder)
        assert f"finished: best {loss}\n" in shown.stdout, values


def test_a_number_that_cannot_be_kept_reaches_the_script_as_it_was_typed(daemon, folder):
    (folder / "words.py").write_text("import argparse\np = argparse.ArgumentParser()\np.add_argument('--n', type=int)\n"
                                     "p.add_argument('--s')\nprint(p.parse_args())\n")
    (folder / "e.yaml").write_text("script: words.py\nparameters: {n: [007, 12345678901234567890], s: 1e400}\n")
    wanted = {f"Namespace(n={n}, s='1e400')\n" for n in (7, 12345678901234567890)}
    for words in (["words.py", "n=007,12345678901234567890", "s=1e400"], ["e.yaml"]):
        experiment = daemon.cli("run", *words, cwd=folder).stdout.split(":")[0]
        assert {t["parameters"]["n"] for t in daemon.tasks(experiment)} == {"007", "12345678901234567890"}
        assert {daemon.get(f"/experiments/{experiment}/tasks/{n}/log")["text"] for n in (1, 2)} == wanted


def test_a_script_that_names_no_program_is_warned_of(daemon, folder):
    for name, text, warned in (("plain", "print('epoch 1 loss 0.5')\n", True), ("named", "#!/bin/sh\ntrue\n", False), ("x.py", "print(1)\n", False)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
        warnings = json.loads(daemon.cli("check", "--json", name, "--pass", "env", cwd=folder).stdout)["warnings"]
        assert any(f"{name} does not name its program, so /bin/sh runs it" in w for w in warnings) == warned, (name, warnings)
