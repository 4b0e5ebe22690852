"""Every task has its own copy of what was submitted, with its modes, as on the user's own machine."""
import base64
import os
import pathlib
import subprocess
import sys

SCRIPT = """#!/usr/bin/env python3
import json, os, pathlib, subprocess, sys
root = pathlib.Path(__file__).resolve().parent
config = json.loads((root / "config.json").read_text())
assert config == {"lr": 0}, config
(root / "config.json").write_text(json.dumps({"lr": sys.argv[1]}))
with open(root / "log.csv", "w") as log:
    log.write(f"epoch,loss\\n0,{sys.argv[1][7:]}\\n")
print(subprocess.run(["./prog", "hello"], capture_output=True, text=True).stdout, end="")
print(oct(os.stat("config.json").st_mode & 0o777), oct(os.stat("data/table.csv").st_mode & 0o777))
"""


def test_every_task_has_its_own_files_with_their_modes(daemon, tmp_path):
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "config.json").write_text('{"lr": 0}')
    (tmp_path / "data").mkdir()
    (tmp_path / "data/table.csv").write_text("epoch,loss\n0,99\n")
    (tmp_path / "data/table.csv").chmod(0o444)
    (tmp_path / "prog").write_bytes(open("/bin/echo", "rb").read())
    (tmp_path / "prog").chmod(0o755)
    daemon.cli("run", "train.py", "rate=1,2,3", "--file", "config.json", "--file", "prog", "--file", "data", "--objective",
               "loss", "--copy-limit", "1M", cwd=tmp_path)
    for task in daemon.tasks("e1"):
        assert task["state"] == "finished", task
        log = daemon.get(f"/experiments/e1/tasks/{task['number']}/log")["text"]
        assert log == "hello\n0o600 0o400\n"
        assert task["best"]["value"] == task["parameters"]["rate"]  # from a file beside the script itself
        left = sorted(os.listdir(daemon.state / f"experiments/e1/tasks/{task['number']}/work"))
        assert left == ["config.json", "log.csv"]


def test_modes_come_with_requests_uploads_and_without(daemon):
    script = "#!/bin/sh\nstat -c '%a %n' *\n./elf x\n"
    elf = open("/bin/echo", "rb").read()
    upload = daemon.request("PUT", "/uploads/up", raw=elf, headers={"Content-Type": "application/octet-stream"}).json["id"]
    e = daemon.submit(script, {"copy_limit": "4M"}, name="run", files=[
        {"path": "elf", "base64": base64.b64encode(elf).decode()}, {"path": "plain", "text": "x"},
        {"path": "read", "text": "x", "mode": "444"}, {"path": "tool", "upload": upload, "mode": "100755"}])
    daemon.wait_ended(e)
    log = daemon.get(f"/experiments/{e}/tasks/1/log")["text"]
    assert log == "700 elf\n600 plain\n400 read\n700 run\n700 tool\nx\n", log
    answer = daemon.request("POST", "/experiments", {"experiment": {"script": "a.py"}, "files": [
        {"path": "a.py", "text": "", "mode": "rwx"}]})
    assert answer.status == 400 and "octal" in answer.body.decode()


def git(folder, *words):
    subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=a@b", "-C", folder, *words], check=True, stdout=subprocess.DEVNULL)


def test_tracked_files_go_along_as_they_are(daemon, tmp_path):
    files = {"tools/train.py": "import json, os, sys\nsys.path.insert(0, '.')\nimport lib.core\n"
                               "print(lib.core.A, sorted(os.listdir('.')), open('data/x').read())\n",
             "lib/core.py": "A = 1\n", "data/x": "x", "gone": "", "extra": "e", "stray": "", "deep/e.yaml": "script: ../tools/train.py\nfiles: git\n",
             "e.yaml": "script: tools/train.py\nfiles: [git, extra]\n"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    said = daemon.cli("check", "e.yaml", cwd=tmp_path, status=2).stderr
    assert "e.yaml:2:1: " in said and "is in no git work tree" in said, said
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "tools", "lib", "data", "gone", "deep", "e.yaml")
    git(tmp_path, "commit", "-qm", "one")
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.strip()
    listing = "['data', 'deep', 'e.yaml', 'gone', 'lib', 'tools'] x\n"

    said = daemon.cli("run", "tools/train.py", "--git", cwd=tmp_path).stderr
    assert f"sluice: 6 tracked files (" in said and f") go along, of commit {commit[:10]}\n" in said, said
    assert daemon.get("/experiments/e1/tasks/1/log")["text"] == "1 " + listing
    ran = daemon.get("/experiments/e1/tasks/1/ran")["ran"]
    assert ran["git"] == {"commit": commit, "dirty": False} and ran["script"]["path"] == "tools/train.py"

    # Changed, deleted, with a further file; from a folder below; and by the Python client, to an address.
    (tmp_path / "lib/core.py").write_text("A = 2\n")
    (tmp_path / "gone").unlink()
    said = daemon.cli("run", "e.yaml", cwd=tmp_path).stderr
    assert "5 tracked files" in said and "with changes that are not committed: gone, lib/core.py\n" in said, said
    assert "1 tracked file is not in the work tree, so it is left out" in said
    changed = "2 " + listing.replace("'gone', ", "")
    assert daemon.get("/experiments/e2/tasks/1/log")["text"] == changed.replace("'lib'", "'extra', 'lib'")
    assert daemon.get("/experiments/e2/tasks/1/ran")["ran"]["git"] == {"commit": commit, "dirty": True}
    daemon.cli("run", "deep/e.yaml", cwd=tmp_path)
    assert daemon.get("/experiments/e3/tasks/1/log")["text"] == changed
    address, token = (daemon.state / "address").read_text().strip(), daemon.post("/tokens", {"name": "e"})["token"]
    client = f"import sluice; print(sluice.Client('{address}', '{token}').run('e.yaml')['id'])"
    done = subprocess.run([sys.executable, "-c", client], cwd=tmp_path, capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(pathlib.Path(__file__).parents[2] / "python")})
    assert done.stdout == "e4\n", done.stderr
    daemon.wait_ended("e4")
    assert daemon.get("/experiments/e4/tasks/1/log")["text"] == changed.replace("'lib'", "'extra', 'lib'")

    # A request that brings no commit has not seen the work tree.
    answer = daemon.post("/check", {"experiment": {"script": "a.py", "files": "git"}})
    assert "the tracked files are taken along by `sluice run`" in answer["warnings"][-1] and answer["needs"] == ["a.py", "git"]


def test_nothing_over_copy_limit_goes_along_without_being_named(daemon, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data/big").write_bytes(b"x" * 3000)
    (tmp_path / "run.sh").write_text("#!/bin/sh\nreadlink data/big | sed 's/.*files/files/'; wc -c < data/big\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    for words in (["--file", "data"], ["--git"]):
        said = daemon.cli("run", "run.sh", "--copy-limit", "1000", *words, cwd=tmp_path, status=2).stderr
        assert "data/big has 2.9 KB, more than copy_limit (1000 B): pass its path as a parameter, name it in files: " in said, said
    daemon.cli("run", "run.sh", "--copy-limit", "1000", "--git", "--file", "data/big", cwd=tmp_path)
    assert daemon.get("/experiments/e1/tasks/1/log")["text"] == "files/data/big\n3000\n"


def test_the_configuration_of_hydra_goes_along(daemon, tmp_path):
    """hydra.main reads a folder beside the script; here the script reads it itself."""
    (tmp_path / "conf/model").mkdir(parents=True)
    (tmp_path / "train.py").write_text("import os\ndef main(config_path, config_name): print('loss', sum(len(f) for _, _, f in os.walk(config_path)))\n"
                                       "main(config_path='conf', config_name='config')\n")
    for name in ("conf/config.yaml", "conf/model/big.yml", "conf/notes.txt", "config.yaml"):
        (tmp_path / name).write_text("lr: 0.1\n")
    done = daemon.cli("run", "train.py", "--objective", "loss", cwd=tmp_path)
    assert "so they are taken along: conf/config.yaml, conf/model/big.yml, config.yaml\n" in done.stderr, done.stderr
    assert "does not go along" not in done.stderr and "loss 2 " in done.stdout, done.stdout


def test_links_to_folders_above_are_not_followed(daemon, tmp_path):
    (tmp_path / "exp/conf/a").mkdir(parents=True)
    (tmp_path / "shared").mkdir()
    for name in ("shared/big.yaml", "exp/conf/config.yaml", "exp/conf/a/x.yaml", "secret.yaml"):
        (tmp_path / name).write_text("lr: 0.1\n")
    for link, target in {"a/loop": "..", "a/far": "../../..", "model": "../../shared", "b": "a"}.items():
        (tmp_path / "exp/conf" / link).symlink_to(target)
    (tmp_path / "exp/train.py").write_text("def main(config_path): print('loss', 1)\nmain(config_path='conf/')\n")
    done = daemon.cli("run", "train.py", "--objective", "loss", cwd=tmp_path / "exp")
    assert "so they are taken along: conf/a/x.yaml, conf/b/x.yaml, conf/config.yaml, conf/model/big.yaml\n" in done.stderr, done.stderr


def test_a_form_is_told_of_files_that_the_script_reads_and_lacks(daemon):
    text = "import csv\nopen('data/x.csv'); open('out/y.csv', 'w'); open('notes.txt'); open('notes.txt'); open('z.txt', 'w'); open('z.txt')\n"
    files = [{"path": "train.py", "text": text}, {"path": "notes.txt", "text": ""}]
    checked = daemon.post("/check", {"experiment": {"script": "train.py"}, "files": files})
    said = [warning for warning in checked["warnings"] if " reads " in warning]
    assert said == ["train.py reads data/x.csv, which is not among the files: add it, or give its whole path"]


def test_imported_modules_go_along_and_opened_files_are_named(daemon, tmp_path):
    files = {
        "src/train.py": "import os, utils\nfrom lib.deep import layers\nopen('data/x.csv')\n",
        "src/utils.py": "from lib import other\nNAME = 'conf.yaml'\n", "src/lib/__init__.py": "from . import other\n",
        "src/lib/other.py": "", "src/lib/deep/layers.py": "from ..other import *\n", "src/lib/notes.txt": "", "src/unused.py": "",
        "src/data/x.csv": "a\n", "src/conf.yaml": "a: 1\n"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    checked = daemon.cli("check", "src/train.py", cwd=tmp_path)
    said = checked.stderr
    assert "not among the files" not in checked.stdout  # they go along
    (tmp_path / "lacks.py").write_text("import helper\nimport nowhere_to_be_found\n")
    (tmp_path / "helper.py").write_text("")
    warned = daemon.cli("check", "lacks.py", cwd=tmp_path).stdout
    assert "imports nowhere_to_be_found, which is not installed" in warned and "imports helper" not in warned
    assert "the script needs these files, so they are taken along: utils.py, lib/__init__.py, lib/deep/layers.py, lib/other.py\n" in said, said
    assert "train.py names data/x.csv, which does not go along: add --file src/data/x.csv" in said
    assert "utils.py names conf.yaml, which does not go along" in said
    # The advice holds word for word: the script finds data/x.csv.
    for way in ("src/data/x.csv", "src/data", "src/data/"):
        said = daemon.cli("run", "src/train.py", "--file", way, cwd=tmp_path).stderr
        assert "data/x.csv" not in said, said
    (tmp_path / "e.yaml").write_text("script: src/train.py\nfiles: [src/data]\n")
    said = daemon.cli("check", "e.yaml", cwd=tmp_path).stderr
    assert "taken along: src/utils.py, src/lib/__init__.py" in said and "data/x.csv" not in said
    (tmp_path / "src/train.py").write_text("import utils, lib.deep.layers\n")
    daemon.cli("run", "src/train.py", cwd=tmp_path)
    assert daemon.tasks("e4")[0]["state"] == "finished"
