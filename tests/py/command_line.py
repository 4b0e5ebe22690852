"""What the tests of the command line share: a training script, the program with a state folder of its own, a terminal."""

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import termios

import pytest

from conftest import DEADLINE_S, PROGRAM, wait_for

TRAIN = """\
import argparse, os, sys, time
p = argparse.ArgumentParser()
p.add_argument("--lr", type=float, default=1.0)
p.add_argument("--epochs", type=int, default=2)
p.add_argument("--pause", type=float, default=0.0)
p.add_argument("--fail", default="no")
a = p.parse_args()
print("out", a.lr, flush=True)
print("err", a.lr, file=sys.stderr, flush=True)
with open("log.csv", "w") as f:
    f.write("epoch,val_loss\\n")
    for e in range(a.epochs):
        f.write(f"{e},{a.lr / (e + 1)}\\n")
        f.flush()
        time.sleep(a.pause)
        while e == a.epochs // 4 and not os.path.exists(os.environ.get("HOLD", "/")):
            time.sleep(0.02)
if a.fail == "yes":
    raise ValueError("broken on purpose")
"""


class Cli:
    """The command line with a state folder of its own; daemons are its own affair."""

    def __init__(self, folder):
        self.folder = folder
        self.state = folder / "state"
        self.env = {**os.environ, "SLUICE_STATE": str(self.state), "SLUICE_LISTEN": "127.0.0.1:0", "LANG": "C.UTF-8"}
        self.env.pop("NO_COLOR", None)
        (folder / "train.py").write_text(TRAIN)

    def __call__(self, *args, status=0, text=None, env=None):
        done = subprocess.run([PROGRAM, *map(str, args)], env={**self.env, **(env or {})}, cwd=self.folder, input=text,
                              capture_output=True, text=True, errors="replace", timeout=DEADLINE_S)
        if status is not None and done.returncode != status:
            raise AssertionError(f"{args}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    def json(self, *args):
        return json.loads(self(*args).stdout)

    def create(self, *args):
        return self.json("run", "--detach", "--json", *args)["id"]

    def ended(self, id):
        return wait_for(lambda: (e := self.json("show", id, "--json"))["state"] in ("finished", "error", "stopped") and e,
                        lambda: self("show", id).stdout)

    def daemon_pid(self):
        return int(re.search(r"process (\d+)", self("daemon", "status").stdout).group(1))


@pytest.fixture
def cli(folder):
    made = Cli(folder)
    yield made
    made("daemon", "stop", status=None)


class Terminal:
    """A program on a pseudo terminal; `text` is everything that it wrote."""

    def __init__(self, cli, *args, size=(24, 100), env=None):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
            os.chdir(cli.folder)
            os.execve(PROGRAM, [str(PROGRAM), *map(str, args)], {**cli.env, "TERM": "xterm", **(env or {})})
        self.text = ""

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, pause=0.05):
        ready, _, _ = select.select([self.fd], [], [], pause)
        if not ready:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.text += data.decode(errors="replace")
        return bool(data)

    def until(self, pattern):
        def seen():
            going_on = self.read()
            found = re.search(pattern, self.text)
            assert going_on or found, f"ended without {pattern}: {self.text[-4000:]!r}"
            return found

        return wait_for(seen, lambda: f"{pattern} in {self.text[-4000:]!r}")

    def send(self, text):
        os.write(self.fd, text.encode())

    def finish(self):
        wait_for(lambda: not self.read(), lambda: self.text[-2000:])
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)
