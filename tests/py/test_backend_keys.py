"""Keys of `resources:` that only Slurm understands, where the daemon has no Slurm: an experiment that asks for a
partition must not run on the login node. It is refused at the key, over REST and on the command line."""

import contextlib
import sqlite3
import time

import pytest

SAMPLES = {"word": "gpu", "text": "#!/bin/bash\n{run}\n", "words": ["--nice=100"], "count": 1, "flag": True}
SCRIPT = {"path": "s.py", "text": "print(1)\n"}
WHY = "needs the backend 'slurm', which is not available here: SLURM_CONF names /nonexistent/slurm.conf"


@pytest.fixture
def alone(make_daemon):
    """A daemon that finds no Slurm, also where this machine has one."""
    return make_daemon(env={"SLURM_CONF": "/nonexistent/slurm.conf"}).start()


@pytest.fixture
def keys(alone):
    """Name and a value of every key that only Slurm understands, as the daemon lists them for forms."""
    slurm = next(b for b in alone.get("/cluster")["backends"] if b["name"] == "slurm")
    assert not slurm["available"]
    found = {key["name"]: SAMPLES[key["kind"]] for key in slurm["keys"]}
    assert {"partition", "account", "qos", "constraint", "nodes", "exclusive", "options", "template"} <= set(found)
    return found


def body(resources):
    return {"experiment": {"script": "s.py", "resources": resources}, "files": [SCRIPT]}


def test_a_key_that_needs_slurm_is_refused_at_its_place(alone, keys):
    for name, value in keys.items():
        for path in ("/check", "/experiments"):
            answer = alone.request("POST", path, body({"cpus": 1, name: value}))
            assert answer.status == 400, (name, path, answer.body)
            [error] = answer.json["errors"]
            assert error["field"] == f"/resources/{name}"
            assert error["message"].startswith(f"'{name}' {WHY}") and "doctor" in error["remedy"]
    answer = alone.request("POST", "/check", body({"backend": "slurm", "partition": "gpu"}))
    assert answer.status == 400 and answer.json["errors"][0]["field"] == "/resources/backend"
    assert alone.get("/experiments")["total"] == 0


def test_a_key_of_another_backend_is_not_dropped_in_silence(alone, keys):
    for name, value in keys.items():
        checked = alone.post("/check", body({"backend": "local", name: value}))
        assert f"{name} has no effect: only the backend slurm understands it" in checked["warnings"]
    assert not any("no effect" in w for w in alone.post("/check", body({"backend": "local"}))["warnings"])


def test_the_command_line_names_the_key_and_its_line(alone, folder):
    (folder / "s.py").write_text(SCRIPT["text"])
    (folder / "e.yaml").write_text("script: s.py\nresources:\n  cpus: 1\n  qos: high\n")
    for verb in ("check", "run"):
        said = alone.cli(verb, "e.yaml", status=2, cwd=folder).stderr
        assert said.startswith("e.yaml:4:3: resources.qos: ") and f"'qos' {WHY}" in said, said
    for flag, name in (("--partition=gpu", "partition"), ("--account=ml", "account"), ("--qos=high", "qos"),
                       ("--option=--nice=100", "options")):
        said = alone.cli("run", "s.py", flag, status=2, cwd=folder).stderr
        assert f"'{name}' {WHY}" in said and "sluice doctor" in said, said
    assert alone.get("/experiments")["total"] == 0
    assert "partition has no effect" in alone.cli("check", "s.py", "--backend=local", "--partition=gpu", cwd=folder).stdout


def test_a_limit_for_jobs_of_a_backend_that_is_away_is_kept_for_later(alone):
    """The daemon was started again without Slurm in its PATH, and jobs of it are alive."""
    experiment = alone.submit("import time; time.sleep(3600)")
    alone.wait_state(experiment, ("running",), 1)
    runner = alone.task(experiment, 1)["attempts"][0]
    alone.kill()
    with contextlib.closing(sqlite3.connect(alone.state / "sluice.db")) as db, db:
        db.execute("UPDATE experiment SET backend = 'slurm'")
        db.execute("UPDATE batch SET backend = 'slurm', job = '7'")
    alone.start()
    alone.cli("parallel", experiment, "3")
    assert alone.get(f"/experiments/{experiment}")["parallel"] == 3 and runner
    time.sleep(1)
    assert alone.get("/health")["status"] == "ok" and alone.process.poll() is None
