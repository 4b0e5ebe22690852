"""Scripts that are wrong in ordinary ways, and what their user reads then: in `sluice run`, `ls`, `show` and the JSON of the
page. Every message names the cause in the script's own words, and what to do."""

import fnmatch
import json
import os
import pathlib
import shutil
import sys

from conftest import wait_for

PY, SH = "train.py", "train.sh"
PARSER = "import argparse\np = argparse.ArgumentParser()\np.add_argument({})\np.add_argument('--n', type=int)\np.parse_args()\n"
CORRECT = "correct the script, then `sluice restart ID --failed --with SCRIPT`"
MEMORY = "`sluice change ID --memory "  # and how much: no more than this machine has
NO_GPU = "the task has no GPU: ask for one (resources: {gpus: 1})"
TAKE_ALONG = "take the file along (--file PATH, files: [PATH]), or give its absolute path"
ACTIVATE = "activate the environment that has the module and `sluice run` again (or name it: --python ~/venv)"
NOTHING = ("no value for the objective: in ID/1 nothing was found. sluice reads CSV, TSV, JSON and TensorBoard files in the work "
           "folder (none in SLUICE_CHECKPOINT_DIR), printed lines such as `epoch 3: val_loss 0.25`, and `sluice report NAME=VALUE`; see METRICS in "
           "sluice-experiment(5)")
DIVERGED = ("no value for the objective: in ID/1 no value of loss is a finite number (NaN or infinite): the training diverged. Try a "
            "smaller learning rate, or look for bad values in the data")


def says(text, code=1):
    """A shell script that stands for a program which is not here: it prints what that prints."""
    return f"cat >&2 <<'END'\n{text}\nEND\nexit {code}\n"


def raises(text, kind="RuntimeError"):
    """A Python script that stands for a framework which is not here."""
    module, _, name = kind.rpartition(".")
    return f"class {name}({'Exception' if module else name}): pass\n{name}.__module__ = {module or 'builtins'!r}\nraise {name}({text!r})\n"


# Said before anything runs: what is wrong, the script's name, its text, the words of the call, what `sluice run` answers.
REFUSED = [
    ("an environment", PY, "print(1)\n", ["--python", "/opt/nothere/bin/python"],
     "environment.python: /opt/nothere/bin/python: there is no such program on this machine; environment.python names a Python or "
     "the folder of an environment; check the path"),
    ("a flag that it does not know", PY, PARSER.format("'--lr'"), ["lrr=0.1"],
     "parameters.lrr: the script has no argument 'lrr'; did you mean 'lr'?"),
    ("a required argument", PY, PARSER.format("'--lr', required=True"), ["n=1"],
     "parameters: the script requires '--lr' (line 3); add the parameter lr"),
    ("a value of the wrong type", PY, PARSER.format("'--batch', type=int"), ["batch=0.5"],
     "parameters.batch: the script refuses '0.5' for batch; it takes whole numbers there (line 3)"),
    ("a value that is no choice", PY, PARSER.format("'--opt', choices=['sgd', 'adam']"), ["opt=adm"],
     "parameters.opt: the script refuses 'adm' for opt; the script takes sgd, adam (line 3)"),
    ("a bracket that is not closed", PY, "def f(:\n    pass\n", [],
     "script: line 1 of train.py: syntax error: '(' is never closed; correct the script"),
    ("no indentation", PY, "if True:\nx = 1\n", [],
     "script: line 2 of train.py: syntax error: the block that line 1 begins is not indented; correct the script"),
    ("Python 2", PY, "print 'epoch', 1\n", [],
     "script: line 1 of train.py: syntax error: print without brackets: that is Python 2; correct the script"),
    ("a binary file", PY, bytes(range(256)), [],
     "script: train.py: this is a binary file, not the text of a script; choose the script itself"),
    ("a notebook", "train.ipynb", '{"cells": []}', [],
     "script: train.ipynb: this is a notebook, not a script; `jupyter nbconvert --to script train.ipynb` makes one; choose the script "
     "itself"),
    ("line ends of Windows", SH, "#!/bin/bash\r\nset -e\r\ncd data\r\n", [],
     r"script: line 1 of train.sh: the lines end as on Windows (\r\n), which the shell does not read; `sed -i 's/\r$//' train.sh` makes "
     "them right; correct the script"),
]

# Ends in error: what is wrong, the script's name, its text, the words of the call, the cause, what to do.
FAILED = [
    # Python's own words.
    ("a package that is not installed", PY, "import pandass\n", [], "ModuleNotFoundError: No module named 'pandass'", ACTIVATE),
    ("a module of one's own", PY, "from mylib.model import build\n", [], "ModuleNotFoundError: No module named 'mylib'",
     "a module of your own is taken along with --file NAME.py"),
    ("a name that a module does not have", PY, "from json import loadz\n", [],
     "ImportError: cannot import name 'loadz' from 'json' *", "check its version, and whether a file of yours has the name of a package"),
    ("arguments by position", PY, "import sys\nlr = float(sys.argv[3])\n", ["lr=0.1", "--pass", "flags"],
     "IndexError: list index out of range", CORRECT),
    ("tabs and spaces", PY, "if True:\n        x = 1\n\ty = 2\n", [],
     "TabError: inconsistent use of tabs and spaces in indentation", CORRECT),
    ("another encoding in the script", PY, b"# coding: utf-8\nx = '\xe4'\n", [], "SyntaxError: (unicode error) 'utf-8' codec *", CORRECT),
    ("another encoding in the data", PY, r"open('d', 'wb').write(b'\xe4,1\n'); open('d', encoding='utf-8').read()", [],
     "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xe4 in position 0: invalid continuation byte", "name the encoding of the file"),
    ("a data file", PY, "open('data/train.csv')\n", [], "FileNotFoundError: [[]Errno 2] No such file or directory: 'data/train.csv'",
     TAKE_ALONG),
    ("a path outside", PY, "open('../data/train.csv')\n", [], "FileNotFoundError: [[]Errno 2] No such file or directory: '../data/train.csv'",
     "a task runs in a folder of its own, so ../ leads elsewhere: give the absolute path"),
    ("a configuration that is not there", PY, "open('config.yaml')\n", [],
     "FileNotFoundError: [[]Errno 2] No such file or directory: 'config.yaml'", TAKE_ALONG),
    ("permissions", PY, "import subprocess\nopen('tool', 'w').write('x')\nsubprocess.run(['./tool'])\n", [],
     "PermissionError: [[]Errno 13] Permission denied: './tool'", "check the permissions of the file that the line names"),
    ("a key of the configuration", PY, "{'lr': 1}['learning_rate']\n", [], "KeyError: 'learning_rate'", CORRECT),
    ("broken JSON", PY, "import json\njson.loads('{\"lr\": 0.1,}')\n", [],
     "json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 12 (char 11)",
     "correct the JSON file at the line and column"),
    ("an argument too many", PY, "def f(lr): pass\nf(lr=1, momentum=2)\n", [],
     "TypeError: f() got an unexpected keyword argument 'momentum'", CORRECT),
    ("an assertion without words", PY, "assert 1 == 2\n", [], "AssertionError", CORRECT),
    ("several exceptions", PY, "raise ExceptionGroup('two went wrong', [ValueError('a'), KeyError('b')])\n" if sys.version_info >= (3, 11)
     else "raise ValueError('two went wrong')\n", [], "*: two went wrong*", CORRECT),
    ("endless recursion", PY, "def f(n):\n    return f(n + 1)\nf(0)\n", [], "RecursionError: maximum recursion depth exceeded*", CORRECT),
    ("a port in use", PY, "import socket\na = socket.socket(); a.bind(('127.0.0.1', 0)); a.listen()\nsocket.socket().bind(a.getsockname())\n",
     [], "OSError: [[]Errno 98] Address already in use", "let the system choose one (port 0)"),
    ("a question to the user", PY, "input('go on? ')\n", [], "EOFError: EOF when reading a line", "give it the answer as an argument"),
    ("too many open files", PY, "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))\nf = [open('/dev/null') for i in range(30)]\n",
     [], "OSError: [[]Errno 24] Too many open files: '/dev/null'", "ulimit -n 65536"),
    ("no network", PY, raises("<urlopen error [Errno -3] Temporary failure in name resolution>", "urllib.error.URLError"), [],
     "urllib.error.URLError: <urlopen error [[]Errno -3] Temporary failure in name resolution>", "this machine cannot reach that address"),
    ("a server that does not answer", PY, "raise ConnectionRefusedError(111, 'Connection refused')\n", [],
     "ConnectionRefusedError: [[]Errno 111] Connection refused", "check it, or download the data before"),
    # How a script ends.
    ("sys.exit with words", PY, "import sys\nsys.exit('the data set is empty')\n", [], "the data set is empty", CORRECT),
    ("sys.exit without words", PY, "import sys\nsys.exit(1)\n", [], "exit code 1, and it printed nothing", "let it print one"),
    ("sys.exit after a line", PY, "print('data set has 0 samples')\nraise SystemExit(1)\n", [],
     "exit code 1; the last line that it printed: data set has 0 samples", CORRECT),
    ("os._exit", PY, "import os\nos._exit(3)\n", [], "exit code 3, and it printed nothing", "let it print one"),
    ("warnings behind the exception", PY, "import sys, traceback\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    traceback.print_exc()\n"
     "    for i in range(12): print('WARNING: cleaning up', i, file=sys.stderr)\n    sys.exit(3)\n", [],
     "ZeroDivisionError: division by zero", CORRECT),
    ("a flood of output", PY, "import sys\nfor i in range(5000):\n    print('x' * 1000)\n    print('y' * 1000, file=sys.stderr)\n"
     "raise ValueError('after the flood')\n", [], "ValueError: after the flood", CORRECT),
    ("a command that fails", PY, "import subprocess\nsubprocess.run(['sh', '-c', 'echo no such table >&2; exit 4'], check=True)\n", [],
     "subprocess.CalledProcessError: Command * returned non-zero exit status 4.", "what it printed stands above in the error output"),
    ("a worker that died", PY, "import concurrent.futures as c, os\nwith c.ProcessPoolExecutor(1) as p:\n    p.submit(os._exit, 1).result()\n",
     [], "concurrent.futures.process.BrokenProcessPool: *", "a worker process was ended, mostly for lack of memory"),
    ("a process of torchrun", SH, says("[rank0]: Traceback (most recent call last):\n[rank0]:   File \"train.py\", line 3\n[rank0]: "
     "ValueError: batch is empty\nTraceback (most recent call last):\n  File \"torchrun\"\ntorch.distributed.elastic.multiprocessing."
     "errors.ChildFailedError: \n======\ntrain.py FAILED\n------\n  exitcode  : 1 (pid: 13)\n======"), [], "ValueError: batch is empty", CORRECT),
    # Signals and limits.
    ("killed", PY, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", [],
     "signal 9 (Killed), and the kernel did not say why: *, or a person, an administrator's rule or the script itself ended it", MEMORY),
    ("terminated", PY, "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n", [], "signal 15 (Terminated)",
     "sluice did not send it: the script itself, a person or an administrator's rule did"),
    ("a crash", PY, "import ctypes\nctypes.string_at(0)\n", [], "signal 11 (Segmentation fault)", "--env PYTHONFAULTHANDLER=1 shows where"),
    ("a crash that shows where", PY, "import ctypes\nctypes.string_at(0)\n", ["--env", "PYTHONFAULTHANDLER=1"],
     "Fatal Python error: Segmentation fault (signal 11, Segmentation fault)", "try another version"),
    ("abort", PY, "import os\nos.abort()\n", [], "signal 6 (Aborted)", "the lines above in the error output say why"),
    ("a processor that is too old", PY, "import os, signal\nos.kill(os.getpid(), signal.SIGILL)\n", [], "signal 4 (Illegal instruction)",
     "a package was built for a newer processor"),
    ("memory that cannot be had", PY, "import resource\nresource.setrlimit(resource.RLIMIT_AS, (200 << 20, 200 << 20))\nx = bytearray(1 << 30)\n",
     [], "MemoryError", MEMORY),
    ("more memory than asked for", PY, "import time\nx = bytearray(b'x') * (300 << 20)\ntime.sleep(100)\n", ["--memory", "100M"],
     "* more * the 100 MB of resources: {memory: …}; ended by *", MEMORY),
    ("a full disk", PY, "with open('/dev/full', 'w') as f:\n    f.write('x' * 100000)\n", [], "OSError: [[]Errno 28] No space left on device",
     "free some space where the script writes, then `sluice restart ID --failed`"),
    ("a limit on files", PY, "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\nopen('m', 'wb').write(b'x' * 100000)\n",
     [], "OSError: [[]Errno 27] File too large", "a limit on the size of files was reached"),
    ("a limit on files in bash", SH, "ulimit -f 1\nhead -c 100000 /dev/zero > model.bin\n", [], "train.sh: line 2: * File size limit exceeded*",
     "a limit on the size of files was reached"),
    ("a quota", PY, "import errno, os\nraise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT), '/home/u/model.pt')\n", [],
     "OSError: [[]Errno 122] Disk quota exceeded: '/home/u/model.pt'", "free some of your quota"),
    ("a deadlock", PY, "import threading\na = threading.Lock()\na.acquire()\na.acquire()\n", ["--time", "1s"],
     "its time limit of 1.0 s was reached", "`sluice change ID --time 4h`, then restart"),
    ("SIGTERM is ignored", PY, "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(100)\n", ["--time", "1s"],
     "its time limit of 1.0 s was reached", "save to SLUICE_CHECKPOINT_DIR"),
    # Frameworks and GPUs.
    ("it diverged, and says so", PY, "print('epoch 0 loss 1')\nraise FloatingPointError('Loss is nan, stopping training')\n", [],
     "FloatingPointError: Loss is nan, stopping training", CORRECT),
    ("no GPU", PY, raises("Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU"), [],
     "RuntimeError: Found no NVIDIA driver on your system. *", NO_GPU),
    ("weights of a GPU", PY, raises("Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False."), [],
     "RuntimeError: Attempting to deserialize object on a CUDA device *", NO_GPU),
    ("PyTorch without CUDA", PY, raises("Torch not compiled with CUDA enabled", "AssertionError"), [],
     "AssertionError: Torch not compiled with CUDA enabled", "this PyTorch has no CUDA: install one that has"),
    ("memory of the GPU", PY, raises("CUDA out of memory. Tried to allocate 20.00 GiB.", "torch.OutOfMemoryError"), [],
     "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB.", "use a smaller batch or model"),
    ("a label that is too large", PY, raises("CUDA error: device-side assert triggered\nCUDA kernel errors might be asynchronously reported"),
     [], "RuntimeError: CUDA error: device-side assert triggered", "run the script once on the CPU"),
    ("shapes", PY, raises("mat1 and mat2 shapes cannot be multiplied (32x784 and 512x10)"), [],
     "RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x784 and 512x10)", "compare the shapes in the line with the parameters"),
    ("weights of another model", PY, raises("Error(s) in loading state_dict for Net:\n\tsize mismatch for fc.weight"), [],
     "RuntimeError: Error(s) in loading state_dict for Net: size mismatch for fc.weight", "compare the shapes"),
    ("a data loader", PY, raises("DataLoader worker (pid(s) 7) exited unexpectedly"), [],
     "RuntimeError: DataLoader worker (pid(s) 7) exited unexpectedly", "with num_workers=0 the script shows the error"),
    # Shells and other languages.
    ("set -e", SH, "set -e\nfalse\necho never\n", [], "exit code 1, and it printed nothing", "in bash, `set -x` shows the commands"),
    ("a command that is not there", SH, "trian --lr 0.1\n", [], "train.sh: line 1: trian: command not found",
     "check the spelling, install the program, or load it"),
    ("conda", SH, "set -e\nconda activate torch\n", [], "train.sh: line 2: conda: command not found", "profile.d/conda.sh"),
    ("an unbound variable", SH, "set -u\necho \"$DATA_ROOT\"\n", [], "train.sh: line 2: DATA_ROOT: unbound variable", "--env NAME=VALUE"),
    ("a folder that is not there", SH, "set -e\ncd data\n", [], "train.sh: line 2: cd: data: No such file or directory", TAKE_ALONG),
    ("bash that does not end", SH, "if true; then\necho 1\n", [], "train.sh: line 3: syntax error: unexpected end of file", CORRECT),
    ("a library", SH, says("./train: error while loading shared libraries: libcudart.so.12: cannot open shared object file: No such file or "
     "directory", 127), [], "./train: error while loading shared libraries: libcudart.so.12: *", "load what has the library"),
    ("a newer system", SH, says("./train: /lib/libc.so.6: version `GLIBC_2.38' not found (required by ./train)"), [],
     "./train: /lib/libc.so.6: version `GLIBC_2.38' not found (required by ./train)", "build it on this machine, or statically"),
    ("make", SH, "printf 'all:\\n\\t@echo cc: fatal error: no input files >&2; false\\n' > Makefile\nmake\n", [],
     "cc: fatal error: no input files", CORRECT),
    ("no rule", SH, "make model\n", [], "make*: ?** No rule to make target 'model'.  Stop.", "take along what make needs: --file Makefile"),
    ("Perl", "train.pl", "#!/usr/bin/perl\ndie \"no data in data.txt\";\n", [], "no data in data.txt at train.pl line 2.", CORRECT),
    ("a module of Perl", "train.pl", "#!/usr/bin/perl\nuse AI::Nothere;\n", [], "Can't locate AI/Nothere.pm in @INC *", "install the Perl module"),
    ("R", SH, says("Error in eval(expr) : object 'lr' not found\nCalls: train -> eval\nExecution halted"), [],
     "Error in eval(expr) : object 'lr' not found", CORRECT),
    ("Julia", SH, says("ERROR: LoadError: UndefVarError: `lr` not defined\nStacktrace:\n [1] top-level scope\nin expression starting at a.jl:3"),
     [], "ERROR: LoadError: UndefVarError: `lr` not defined", CORRECT),
    ("C++", SH, says("terminate called after throwing an instance of 'std::runtime_error'\n  what():  cannot open data.bin", "$(kill -ABRT $$)"),
     [], "std::runtime_error: cannot open data.bin (signal 6, Aborted)", "the lines above in the error output say why"),
    # What cannot be started.
    ("an interpreter", "train", "#!/opt/nothere/bin/python3\nprint(1)\n", [], "/opt/nothere/bin/python3: no such program on this machine; *",
     "then `sluice restart ID --failed --with SCRIPT`"),
    ("an interpreter of env", "train", "#!/usr/bin/env pythn3\nprint(1)\n", [], "pythn3: no such program on this machine; *",
     "check the script, its interpreter"),
    ("no interpreter, not executable", "train", "echo hello\n", [],
     "./train: not allowed to be executed; make it executable (chmod +x), or name the interpreter: command: [[]python3, ./train]",
     "check the script, its interpreter"),
    ("Python without a first line", "+train", "import math\n", [], "./train: 1: import: not found",
     "a script in another language than the shell's needs a first line such as #!/usr/bin/env python3"),
    ("a program of another machine", "+train", b"\x7fELF\x02\x01\x01" + bytes(200), [],
     "./train: this program was built for another kind of machine; build it on this one, or use a node of its kind",
     "check the script, its interpreter"),
    ("a setup line", PY, "print(1)\n", ["--setup", "source /opt/nothere/activate"],
     "setup line 1 ended with status 1, so the script was not started: source /opt/nothere/activate (*)", "environment: setup"),
]

# Ends well, and something is said: what is wrong, the script's name, its text, the words of the call, where it is said, what.
FINISHED = [
    ("another name for the metric", PY, "for e in range(3): print(f'epoch {e} val_loss {1 / (e + 1)}')\n", ["--objective", "val_los"], "ls",
     "no value for the objective: in ID/1 found val_loss in printed output; no val_los; did you mean val_loss? `sluice change ID "
     "--objective val_loss` ranks what is there"),
    ("no metrics", PY, "print('done')\n", ["--objective", "val_loss"], "ls", NOTHING),
    ("an empty script", PY, "", ["--objective", "loss"], "ls", NOTHING),
    ("metrics elsewhere", PY, "import os\nopen(os.environ['ELSEWHERE'], 'w').write('epoch,loss\\n0,1\\n')\n",
     ["--objective", "loss", "--env", "ELSEWHERE=/dev/null"], "ls", NOTHING),
    ("NaN from the start", PY, "for e in range(3): print(f'epoch {e} loss nan')\n", ["--objective", "loss"], "ls", DIVERGED),
    ("infinite", PY, "for e in range(3): print(f'epoch {e} loss inf')\n", ["--objective", "loss", "--goal", "max"], "ls", DIVERGED),
    ("an exception in a thread", PY, "import threading\ndef f():\n    raise ValueError('the worker broke')\nprint('epoch 0 loss 1')\n"
     "threading.Thread(target=f).start()\n", ["--objective", "loss"], "timeline",
     "it ended with exit code 0, but its error output ends with ValueError: the worker broke"),
    ("the interpreter of another machine", PY, "#!/opt/nothere/bin/python3\nprint('epoch 0 loss 1')\n", ["--objective", "loss"], "timeline",
     "train.py: /opt/nothere/bin/python3 of its first line is not on this machine; python3 runs it"),
]


def run(daemon, folder, name, text, words):
    """Submits a script out of a folder that is gone afterwards: tasks have what they need."""
    folder.mkdir()
    script = folder / name.lstrip("+")
    script.write_bytes(text if isinstance(text, bytes) else text.encode())
    script.chmod(0o755 if name.startswith("+") else 0o644)
    done = daemon.cli("run", "--detach", "--json", script.name, *words, cwd=folder, status=None)
    shutil.rmtree(folder)
    return done


def is_like(said, wanted):
    return said == wanted or fnmatch.fnmatchcase(said or "", wanted)


def fill(text, experiment, name):
    return text.replace("ID", experiment).replace("SCRIPT", name.lstrip("+"))


def test_every_message_names_the_cause_and_what_to_do(make_daemon, tmp_path):
    python = pathlib.Path(sys.executable).parent  # not one that a tool finds anew for every start
    daemon = make_daemon(env={"PATH": f"{python}:{os.environ['PATH']}"}).start()
    assert len(REFUSED + FAILED + FINISHED) >= 50
    wrong = []
    for what, name, text, words, message in REFUSED:
        done = run(daemon, tmp_path / "x", name, text, words)
        if done.returncode == 0 or f"sluice: {message}" not in done.stderr.splitlines():
            wrong.append(f"{what}: {done.returncode} {done.stderr}")
    ids = {}
    for what, name, text, words, *_ in FAILED + FINISHED:
        done = run(daemon, tmp_path / "x", name, text, words)
        assert done.returncode == 0, (what, done.stderr)
        ids[what] = json.loads(done.stdout)["id"]
    for experiment in ids.values():
        daemon.wait_ended(experiment)
    listed = {item["id"]: item for item in daemon.get("/experiments?limit=500")["items"]}
    rows = {line.split()[0]: line for line in daemon.cli("ls", "--limit", 500).stdout.splitlines()}

    for what, name, _, _, message, remedy in FAILED:
        experiment = ids[what]
        task = daemon.task(experiment, 1)
        shown = daemon.cli("show", f"{experiment}/1").stdout
        said = (task["cause"] or {}).get("text")
        if not (task["state"] == "error" and is_like(said, message)):
            wrong.append(f"{what}: {task['state']}, {said!r} instead of {message!r}")
        elif fill(remedy, experiment, name) not in task["cause"]["remedy"]:
            wrong.append(f"{what}: the remedy is {task['cause']['remedy']!r} without {remedy!r}")
        elif not (f"cause          {said}" in shown and f"what to do     {task['cause']['remedy']}" in shown):
            wrong.append(f"{what}: show says {shown}")
        elif listed[experiment]["failure"] != said or f"1 failed: {said}" not in rows[experiment]:
            wrong.append(f"{what}: ls says {rows[experiment]} and {listed[experiment]['failure']}")

    for what, name, _, _, where, message in FINISHED:
        experiment = ids[what]
        task, message = daemon.task(experiment, 1), fill(message, experiment, name)
        said = {"ls": [listed[experiment]["failure"]], "timeline": [step["reason"] for step in task["timeline"]]}[where]
        if task["state"] != "finished" or message not in said:
            wrong.append(f"{what}: {task['state']}, {said} instead of {message!r}")
        elif where == "ls" and not (message in rows[experiment] and message in daemon.cli("show", experiment).stdout):
            wrong.append(f"{what}: ls says {rows[experiment]}")
    assert not wrong, "\n".join(wrong)


def test_a_value_that_overflowed_is_never_the_best(daemon):
    """Infinity would be the best accuracy for ever, and a search that learns would have another best than the table."""
    script = "import os\nfor e, v in enumerate([0.25, 'inf', '-inf', 'nan', 0.5]): print(f'epoch {e} score {v}')\n"
    for goal, best in (("max", 0.5), ("min", 0.25)):
        experiment = daemon.submit(script, {"objective": {"metric": "score", "goal": goal}})
        daemon.wait_ended(experiment)
        assert daemon.get(f"/experiments/{experiment}")["best"]["value"] == best
        daemon.cli("change", experiment, "--objective", "score", "--goal", {"max": "min", "min": "max"}[goal])
        wait_for(lambda: daemon.get(f"/experiments/{experiment}")["best"]["value"] == 0.75 - best, "the other goal's best")
        assert [str(v) for v in daemon.metrics(experiment, 1)["score"]["value"]] == ["0.25", "Infinity", "-Infinity", "NaN", "0.5"]
