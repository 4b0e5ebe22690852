"""A task runs in the environment of the shell that submitted it, and in no other."""
import hashlib
import json
import os
import pathlib
import select
import subprocess
import sys
import venv

import pytest

from conftest import PROGRAM, Daemon, UnixConnection, wait_for

SAY = "import os, sys\nprint(sys.prefix, os.environ.get('VIRTUAL_ENV'), os.environ.get('WANDB_MODE'), os.environ.get('X_TOKEN'))\n"


@pytest.fixture(scope="module")
def environments(tmp_path_factory):
    """Two virtual environments: `one` is active where the daemon is started, `two` where a user submits."""
    folder = tmp_path_factory.mktemp("environments")
    for name in ("one", "two"):
        venv.create(folder / name, with_pip=False, symlinks=True)
    return folder


def active(folder):
    return {"VIRTUAL_ENV": str(folder), "PATH": f"{folder}/bin:{os.environ['PATH']}"}


@pytest.fixture(scope="module")
def stale(environments, tmp_path_factory):
    """A daemon that was started in another environment, with a PYTHONPATH of its own."""
    d = Daemon(tmp_path_factory.mktemp("stale") / "state",
               env={**active(environments / "one"), "PYTHONPATH": "/stale", "WANDB_MODE": "stale"})
    d.start()
    yield d
    d.stop()


def run(daemon, folder, *args, env=None, name="say.py", text=SAY, mode=0o644):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    (folder / name).chmod(mode)
    clean = {k: "" for k in ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "LOADEDMODULES")}
    out = daemon.cli("run", "--json", "--detach", name, *args, cwd=folder, env={**clean, "PATH": os.environ["PATH"], **(env or {})}).stdout
    e = json.loads(out)["id"]
    daemon.wait_ended(e)
    return e


def log(daemon, e, stream="stdout"):
    return daemon.get(f"/experiments/{e}/tasks/1/log?stream={stream}")["text"]


def test_the_active_environment_is_used_and_the_daemons_is_not(stale, environments, tmp_path):
    two = environments / "two"
    e = run(stale, tmp_path, env=active(two))
    assert log(stale, e).split()[:2] == [str(two), str(two)]
    # Nothing is active: neither is the environment in which the daemon was started.
    e = run(stale, tmp_path)
    assert log(stale, e).split()[:2] == [sys.base_prefix, "None"] or str(environments) not in log(stale, e)
    e = run(stale, tmp_path, "--python", "none", env=active(two))
    assert str(environments) not in log(stale, e)
    e = run(stale, tmp_path, "--python", environments / "one/bin/python", env=active(two))
    assert log(stale, e).split()[0] == str(environments / "one")
    said = stale.cli("check", "say.py", cwd=tmp_path, env={**active(two), "CONDA_PREFIX": ""}).stdout
    assert f"{two}/bin/python3 ({sys.version.split()[0]}, the active virtual environment)" in said


def test_variables_are_kept_by_name(stale, tmp_path):
    e = run(stale, tmp_path, "--keep", "WANDB_*", "--keep", "X_TOKEN", env={"WANDB_MODE": "offline", "X_TOKEN": "hidden", "PYTHONPATH": "/mine"})
    assert log(stale, e).split()[2:] == ["offline", "hidden"]
    e = run(stale, tmp_path, env={"PYTHONPATH": "/mine"}, text="import sys; print('/mine' in sys.path, '/stale' in sys.path)")
    assert log(stale, e) == "True False\n"
    said = stale.cli("check", "say.py", "--keep", "NOT_SET", cwd=tmp_path).stderr
    assert "NOT_SET is not set in this shell" in said


def test_first_lines_are_honoured(stale, environments, tmp_path):
    two = environments / "two"
    for line, mode in ((f"#!{two}/bin/python3", 0o644), ("#!/usr/bin/env python3", 0o755), ("#!/usr/bin/env -S python3 -X dev", 0o644)):
        e = run(stale, tmp_path, text=line + "\n" + SAY, mode=mode, env=active(two) if "env" in line else None)
        assert log(stale, e).split()[0] == str(two), line
    e = run(stale, tmp_path, name="s.sh", text="#!/bin/sh\nps -p $$ -o comm=\n", mode=0o644)
    assert log(stale, e) == "sh\n"
    e = run(stale, tmp_path, name="noext", text="#!/bin/sh\necho $0\n", mode=0o644)
    assert log(stale, e) == "./noext\n"
    e = run(stale, tmp_path, text="#!/no/such/python\n" + SAY)
    assert stale.task(e, 1)["state"] == "finished"


def test_an_environment_that_is_not_there_is_named(stale, environments, tmp_path):
    e = run(stale, tmp_path, env={"VIRTUAL_ENV": str(tmp_path / "gone")})
    task = stale.task(e, 1)
    assert task["state"] == "error" and "gone has no bin/python on this machine" in task["reason"], task
    answer = stale.request("POST", "/experiments", {"experiment": {"script": "a.py"}, "files": [{"path": "a.py", "text": ""}],
                                                    "caller": {"python": "relative", "modules": ["x; rm"], "variables": {"SLUICE_X": "1"}}})
    assert answer.status == 400 and len(answer.json["errors"]) == 3


def test_threads_follow_the_cpus_that_were_asked_for(stale, tmp_path):
    text = "import os; print(*(os.environ.get(n + '_NUM_THREADS') for n in ('OMP', 'MKL', 'OPENBLAS')))"
    clean = {"OMP_NUM_THREADS": ""}
    assert log(stale, run(stale, tmp_path, "--cpus", 2, text=text, env=clean)) == "2 2 2\n"
    assert log(stale, run(stale, tmp_path, "--cpus", 1, "--env", "OMP_NUM_THREADS=7", text=text, env=clean)) == "7 1 1\n"


def test_loaded_modules_are_loaded_for_the_task(stale, tmp_path):
    """A stand-in for environment modules, found as the real ones are: by MODULESHOME."""
    init = tmp_path / "modules/init"
    init.mkdir(parents=True)
    (init / "bash").write_text('module() { echo "module $*"; [ "$2" != bad ]; }\n')
    more = ["--env", f"MODULESHOME={tmp_path}/modules"]
    e = run(stale, tmp_path, *more, "--setup", "module use x", env={"LOADEDMODULES": "gcc/12:cuda/12.2"}, text="print('ran')")
    assert log(stale, e) == "module load gcc/12 cuda/12.2\nmodule use x\nran\n"
    e = run(stale, tmp_path, *more, env={"LOADEDMODULES": "bad"}, text="print('ran')")
    assert "loading of the modules ended with status 1" in stale.task(e, 1)["reason"]
    assert "module load bad" in stale.task(e, 1)["reason"]
    # Lines keep the numbers that they have in the file.
    e = run(stale, tmp_path, *more, "--setup", "true", "--setup", "false", env={"LOADEDMODULES": "gcc/12"}, text="print('ran')")
    assert "setup line 2 ended with status 1" in stale.task(e, 1)["reason"]
    e = run(stale, tmp_path, "--setup", "conda activate x", text="print('ran')")
    assert "conda.sh" in stale.task(e, 1)["reason"]


def test_what_ran_is_recorded_once_for_all_that_ran_the_same(stale, environments, tmp_path):
    two = environments / "two"
    site = next((two / "lib").glob("python3*/site-packages"))
    for name in ("Fancy_Pack-1.2.3.dist-info", "old-0.9-py3.egg-info", "not a package"):
        (site / name).mkdir(exist_ok=True)
    subprocess.run("git init -q . && touch say.py && git add . && git -c user.name=a -c user.email=a@b commit -q -m x", shell=True, cwd=tmp_path, check=True)
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout.strip()
    text = "print('loss: 1')\n"
    shell = {**active(two), "X_TOKEN": "hidden-word", "X_MODE": "plain", "X_URL": "http://me:hidden-word@host"}
    e = run(stale, tmp_path, "a=1,2,3", "--keep", "X_*", env=shell, text=text)
    answer = stale.get(f"/experiments/{e}/tasks/3/ran")
    ran = answer["ran"]
    assert ran["script"] == {"path": "say.py", "sha256": hashlib.sha256(text.encode()).hexdigest()}
    assert ran["git"]["commit"] == commit and ran["git"]["dirty"] is True
    assert ran["python"]["prefix"] == str(two) and ran["python"]["version"] == ".".join(map(str, sys.version_info[:3]))
    assert ran["packages"]["fancy-pack"] == "1.2.3" and ran["packages"]["old"] == "0.9" and len(ran["packages"]) == 2
    assert ran["environment"]["X_MODE"] == "plain" and ran["environment"]["X_TOKEN"] == ran["environment"]["X_URL"] == "(hidden)"
    assert ran["system"]["kernel"] == os.uname().release and ran["modules"] == []
    assert answer["seed"] == stale.task(e, 3)["seed"] and answer["attempt"] == 1 and answer["node"]
    assert not any(name.startswith(("SLUICE_", "SLURM")) for name in ran["environment"])
    folder = stale.state / "experiments" / e / "ran"
    assert [f.name for f in folder.glob("*.json")] == [answer["digest"] + ".json"]
    assert "hidden-word" not in (folder / (answer["digest"] + ".json")).read_text()
    export = json.loads(stale.cli("export", e, "--format", "json").stdout)
    assert export["ran"] == {answer["digest"]: ran}
    assert {t["attempts"][0]["ran"] for t in export["tasks"]} == {answer["digest"]}
    said = stale.cli("show", f"{e}/2", "--what-ran").stdout
    assert commit in said and "fancy-pack 1.2.3" in said and "X_MODE=plain" in said and "hidden-word" not in said
    assert "one task" in stale.cli("show", e, "--what-ran", status=2).stderr
    assert stale.request("GET", f"/experiments/{e}/tasks/3/ran?attempt=2").status == 404
    # A changed script is another content; setup lines count as the script sees them.
    lines = ["--setup", "export LOADEDMODULES=cuda/12:gcc/13 X_MODE=other", "--setup", f"source {environments}/one/bin/activate"]
    e = run(stale, tmp_path, *lines, text=text + "#\n", env={"LOADEDMODULES": ""})
    ran = stale.get(f"/experiments/{e}/tasks/1/ran")["ran"]
    assert ran["modules"] == ["cuda/12", "gcc/13"] and ran["environment"]["X_MODE"] == "other"
    assert ran["python"]["prefix"] == str(environments / "one") and ran["packages"] == {}
    assert ran["script"]["sha256"] == hashlib.sha256((text + "#\n").encode()).hexdigest()
    left = {f.name for f in (stale.state / "experiments" / e / "tasks/1").iterdir()}
    assert "environ" not in left, left


def test_tasks_that_ask_for_cpus_have_cores_of_their_own(make_daemon):
    mask = os.sched_getaffinity(0)
    daemon = make_daemon("cores").start()
    spec = {"parameters": {"n": list(range(len(mask)))}, "resources": {"cpus": 1}, "environment": {"vars": {"MEET": str(daemon.state)}}}
    script = ("import os, time\nopen(os.environ['MEET'] + '/met', 'a').write('x')\n"
              f"while len(open(os.environ['MEET'] + '/met').read()) < {len(mask)}: time.sleep(0.05)\n"
              "print(sorted(os.sched_getaffinity(0)))\n")
    e = daemon.submit(script, spec)
    daemon.wait_ended(e)
    seen = [daemon.get(f"/experiments/{e}/tasks/{n + 1}/log")["text"] for n in range(len(mask))]
    assert sorted(seen) == sorted(f"[{core}]\n" for core in mask)  # all ran at a time, each on another core
    e = daemon.submit(script, {"environment": spec["environment"]})
    daemon.wait_ended(e)
    assert log(daemon, e) == f"{sorted(mask)}\n"  # nothing was asked for
    # A daemon that may use one core gives no other.
    daemon.stop()
    last = max(mask)
    launch = subprocess.Popen(["taskset", "-c", str(last), PROGRAM, "serve", "--state", str(daemon.state), "--listen", "127.0.0.1:0"],
                              env=daemon.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    daemon.process = launch
    wait_for(daemon.answers, "the daemon does not answer")
    e = daemon.submit(script, {"environment": spec["environment"], "resources": {"cpus": 1}})
    daemon.wait_ended(e)
    assert log(daemon, e) == f"[{last}]\n"


@pytest.fixture
def home(tmp_path, environments):
    """A home folder with an environment of every kind; those of conda and pyenv have only the files that tell them."""
    home = tmp_path / "home"
    links = {".virtualenvs/two": environments / "two"}
    for name in ("conda/envs/ml", ".pyenv/versions/3.9.10", ".pyenv/versions/3.9.9"):
        (home / name / "bin").mkdir(parents=True)
        links[name + "/bin/python3"] = pathlib.Path(os.path.realpath(sys.executable))
    (home / "conda/envs/ml/conda-meta").mkdir()
    (home / "conda/envs/ml/conda-meta/python-3.10.4-h12debd9_0.json").write_text("{}")
    (home / ".conda").mkdir()
    (home / ".conda/environments.txt").write_text(f"{home}/conda/envs/ml\n{home}/gone\n")
    (home / ".pyenv/version").write_text("# the usual one\n3.9\n")
    (home / ".pyenv/shims").mkdir()
    (home / ".pyenv/shims/python3").write_text(f'#!/bin/sh\nexec {home}/.pyenv/versions/3.9.10/bin/python3 "$@"\n')
    (home / ".pyenv/shims/python3").chmod(0o755)
    (home / ".virtualenvs").mkdir()
    for name, target in links.items():
        (home / name).symlink_to(target)
    return home


def test_environments_are_listed_and_shims_resolved(home, environments, make_daemon, tmp_path, monkeypatch):
    monkeypatch.delenv("PYENV_VERSION", raising=False)  # set where the tests themselves run behind a shim
    daemon = make_daemon("listing", env={"HOME": str(home), "PATH": f"{home}/.pyenv/shims:{os.environ['PATH']}"}).start()
    project = tmp_path / "project"
    venv.create(project / ".venv", with_pip=False, symlinks=True)
    e = run(daemon, project, env={**active(environments / "one")})
    assert daemon.get("/environments") == {"looking": True, "environments": []}
    wait_for(lambda: not daemon.get("/environments")["looking"], "it looks on")
    found = {one.pop("path"): one for one in daemon.get("/environments")["environments"]}
    full = sys.version.split()[0]
    assert found == {
        f"{environments}/one": {"kind": "venv", "version": full, "found": f"active for {e}"},
        f"{project}/.venv": {"kind": "venv", "version": full, "found": f"in the folder of {e}"},
        f"{home}/.virtualenvs/two": {"kind": "venv", "version": full, "found": "~/.virtualenvs"},
        f"{home}/.pyenv/versions/3.9.9/bin/python3": {"kind": "pyenv", "version": "3.9.9", "found": "~/.pyenv/versions"},
        f"{home}/.pyenv/versions/3.9.10/bin/python3": {"kind": "pyenv", "version": "3.9.10", "found": "~/.pyenv/versions"},
        f"{home}/conda/envs/ml": {"kind": "conda", "version": "3.10.4", "found": "conda"},
    }
    # Each can be chosen; check says which one is used, with its version.
    for path, one in found.items():
        said = daemon.cli("check", "say.py", "--python", path, cwd=project).stdout
        program = path if path.endswith("python3") else path + "/bin/python3"
        assert f"{program} ({one['version']}, environment.python)" in said, said
    # The shim in PATH stands for the newest 3.9.
    shim = f"{home}/.pyenv/versions/3.9.10/bin/python3"
    said = daemon.cli("check", "say.py", cwd=project, env={"VIRTUAL_ENV": "", "CONDA_PREFIX": ""}).stdout
    assert f"{shim} (3.9.10, no environment was active)" in said, said
    e = run(daemon, project)
    ran = daemon.get(f"/experiments/{e}/tasks/1/ran")["ran"]["python"]
    assert (ran["program"], ran["version"]) == (shim, "3.9.10")


@pytest.mark.skipif(not os.path.exists(os.path.expanduser("~/.pyenv/shims/python3")), reason="there is no pyenv here")
def test_what_ran_behind_a_real_shim_is_what_the_script_saw(stale, tmp_path):
    e = run(stale, tmp_path, "--python", os.path.expanduser("~/.pyenv/shims/python3"),
            text="import sys\nprint(sys.executable, sys.version.split()[0])\n")
    ran = stale.get(f"/experiments/{e}/tasks/1/ran")["ran"]["python"]
    executable, version = log(stale, e).split()
    assert os.path.realpath(ran["program"]) == os.path.realpath(executable) and ran["version"] == version


def test_others_are_answered_while_a_check_looks_for_packages(daemon, folder):
    """A folder of packages may take long, or lie on a mount that does not answer."""
    packages = folder / "venv/lib/python3.11/site-packages"
    packages.mkdir(parents=True)
    (folder / "venv/bin").mkdir()
    (folder / "venv/bin/python3").symlink_to(sys.executable)
    (folder / "venv/pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.2\n")
    (packages / "many.pth").write_text("/usr/bin\n" * 500)  # each is looked through for each module
    script = "import first_thing\nimport second_thing\n"
    body = {"experiment": {"script": "train.py", "environment": {"python": str(folder / "venv")}},
            "files": [{"path": "train.py", "text": script}]}
    for _ in range(10):  # a busy machine may give no turn to the rest
        connection = UnixConnection(daemon.socket)
        connection.request("POST", "/api/v1/check", json.dumps(body), {"Content-Type": "application/json"})
        answered = 0
        while not select.select([connection.sock], [], [], 0)[0]:
            assert daemon.get("/health")
            answered += 1
        checked = json.loads(connection.getresponse().read())
        connection.close()
        assert checked["lacks"] == ["first_thing", "second_thing"] and checked["environment"]["version"] == "3.11.2", checked
        if answered >= 3:
            break
    else:
        raise AssertionError("everybody waited for the check")
    # One that nobody waits for any more leaves nothing behind, and the next is answered.
    for _ in range(3):
        gone = UnixConnection(daemon.socket)
        gone.request("POST", "/api/v1/check", json.dumps(body), {"Content-Type": "application/json"})
        gone.close()
    assert daemon.post("/check", body)["valid"]
