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
