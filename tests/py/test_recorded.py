"""What real frameworks wrote and printed (tests/data/frameworks), replayed through the daemon: every scalar that the
framework's own reader or record has, sluice has, value for value and step for step, and no other."""

import json

from frameworks import RECORDED, differences

REPLAY = 'd="$RECORDED/$SLUICE_PARAM_CASE"; cp -r "$d/work/." . 2>/dev/null; cat "$d/stdout"; cat "$d/stderr" >&2'


def test_curves_are_those_of_the_frameworks(daemon, tmp_path):
    cases = sorted(folder.name for folder in RECORDED.iterdir())
    sheet = {"name": "recorded", "command": ["sh", "-c", REPLAY], "parameters": {"case": cases},
             "environment": {"vars": {"RECORDED": str(RECORDED)}}}
    (tmp_path / "recorded.json").write_text(json.dumps(sheet))
    created = daemon.cli("run", "--detach", "--json", tmp_path / "recorded.json")
    experiment = json.loads(created.stdout)["id"]
    daemon.wait_ended(experiment)
    wrong = []
    for task in daemon.tasks(experiment):
        case = task["parameters"]["case"]
        truth = json.loads((RECORDED / case / "truth.json").read_text())
        wrong += differences(case, truth, daemon.metrics(experiment, task["number"]))
    assert not wrong, "\n".join(wrong)


PRINTS = """
print("Using 4 workers on port 8080")
for epoch in range(1, 4):
    print(f"epoch {epoch} loss {1 / epoch:.3f}")
    print(f"after {epoch} rounds the val error came to {2 / epoch:.2f}.", flush=True)
"""


def submit(daemon, folder, *options):
    created = daemon.cli("run", "--detach", "--json", "train.py", *options, cwd=folder)
    experiment = json.loads(created.stdout)["id"]
    daemon.wait_ended(experiment)
    curves = {name: list(zip(c["step"], c["value"])) for name, c in daemon.metrics(experiment, 1).items()}
    return curves, json.dumps(daemon.task(experiment, 1)["timeline"])


def test_own_patterns_and_what_files_have_too(daemon, tmp_path):
    (tmp_path / "train.py").write_text(PRINTS)
    curves, _ = submit(daemon, tmp_path)
    assert curves == {"loss": [(1, 1), (2, 0.5), (3, 0.333)]}
    pattern = r"after (?P<epoch>\d+) rounds .* to (?P<val_error>[\d.]+)\."
    curves, timeline = submit(daemon, tmp_path, "--metrics", pattern)
    assert curves == {"val_error": [(1, 2), (2, 1), (3, 0.67)]} and "no printed line" not in timeline
    curves, timeline = submit(daemon, tmp_path, "--metrics", "accuracy is (?P<accuracy>.*)")
    assert not curves and "no printed line matched accuracy is (?P<accuracy>.*)" in timeline
    refused = daemon.cli("check", "train.py", "--metrics", "accuracy is .*", cwd=tmp_path, status=None)
    assert refused.returncode and "names no metric" in refused.stdout + refused.stderr
    # A table has the same values, with more digits: they are not doubled.
    table = "import csv\nout = csv.writer(open('log.csv', 'w'))\nout.writerow(['epoch', 'loss'])\n"
    (tmp_path / "train.py").write_text(PRINTS + table + "for e in range(1, 4):\n    out.writerow([e, 1 / e])\n")
    curves, _ = submit(daemon, tmp_path)
    assert curves == {"loss": [(1, 1), (2, 0.5), (3, 1 / 3)]}


WRITES = """
import json, os, subprocess
print("epoch 1 loss 0.5")
open("log.csv", "w").write("epoch,loss\\n1,0.25\\n")
open("other.csv", "w").write("epoch,error\\n1,7\\n")
open("run.out", "w").write('{"step": 3, "acc": 0.75}\\n')
"""


def test_places_of_metrics_on_the_command_line(daemon, tmp_path):
    (tmp_path / "train.py").write_text(WRITES)
    cases = [
        ([], {"loss": [(1, 0.25)], "error": [(1, 7)]}, None),
        (["--metrics-from", "stdout"], {"loss": [(1, 0.5)]}, None),
        (["--metrics-from", "csv"], {"loss": [(1, 0.25)], "error": [(1, 7)]}, None),
        (["--metrics", "log.csv"], {"loss": [(1, 0.25)]}, None),
        (["--metrics", "run.out", "--metrics-from", "jsonl"], {"acc": [(3, 0.75)]}, None),
        (["--metrics", r"loss (?P<printed>[\d.]+)", "--metrics-from", "stdout"], {"printed": [(1, 0.5)]}, None),
        (["--metrics-from", "stderr", "--metrics-from", "tfevents"], {}, "no metrics were found in stderr or tfevents"),
        (["--metrics", "logs/*.csv"], {}, "no file with metrics matched logs/*.csv"),
    ]
    sent = []
    for options, wanted, note in cases:
        created = daemon.cli("run", "--detach", "--json", "train.py", *options, cwd=tmp_path)
        sent.append((json.loads(created.stdout)["id"], options, wanted, note))
    for experiment, options, wanted, note in sent:
        daemon.wait_ended(experiment)
        curves = {name: list(zip(c["step"], c["value"])) for name, c in daemon.metrics(experiment, 1).items()}
        assert curves == wanted, options
        timeline = json.dumps(daemon.task(experiment, 1)["timeline"])
        assert note in timeline if note else "'metrics' of the experiment" not in timeline, options
        if note:  # and on the experiment itself
            assert f"in {experiment}/1 {note}" in daemon.cli("show", experiment).stdout.replace("\n", " "), options
    for options, words in [(["--metrics-from", "x"], "use one of: csv, jsonl, json, tfevents, log, stdout, stderr, report"),
                           (["--metrics", "accuracy"], "from: csv")]:
        refused = daemon.cli("check", "train.py", *options, cwd=tmp_path, status=None)
        assert refused.returncode == 2 and words in refused.stderr, options
