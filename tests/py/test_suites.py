"""scripts/test, which runs all suites: what breaks is counted, nothing ends early, and an interrupt leaves nothing behind."""

import importlib.machinery
import importlib.util
import signal
import subprocess
import sys
import textwrap

import pytest

from conftest import ROOT, wait_for

SCRIPT = ROOT / "scripts/test"
# scripts/test with other suites, in a folder of its own.
MAIN = """
    import importlib.machinery, importlib.util, pathlib, sys
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("suites", {script!r})
    suites = importlib.util.module_from_spec(importlib.util.spec_from_loader("suites", loader))
    loader.exec_module(suites)
    suites.LOGS = suites.BUILD = suites.ROOT = pathlib.Path({folder!r})
    suites.install = lambda *groups: None
    {body}
    sys.argv = ["test"]
    try:
        sys.exit(suites.main())
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.fixture
def suites(tmp_path):
    """The script as a module, with its logs elsewhere."""
    loader = importlib.machinery.SourceFileLoader("suites", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("suites", loader))
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    loader.exec_module(module)
    sys.dont_write_bytecode = before
    module.ROOT = module.BUILD = module.LOGS = tmp_path
    return module


def program(folder, body):
    return textwrap.dedent(MAIN.format(script=str(SCRIPT), folder=str(folder), body=textwrap.dedent(body).strip().replace("\n", "\n    ")))


def run_with(folder, body):
    done = subprocess.run([sys.executable, "-c", program(folder, body)], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


THREE = """
def broken(log): raise ValueError("it broke")
def wrong(log): return suites.Count(passed=2, failed=1, notes=["FAILED x::y\\n      E assert 1 == 2"])
def good(log): return suites.Count(passed=3, skipped=1, notes=["skipped: no Slurm here"])
suites.SUITES = {"broken": broken, "wrong": wrong, "good": good}
suites.LANES = (("broken", "wrong"), ("good",))
"""


def test_a_suite_that_breaks_or_fails_is_counted_and_the_others_go_on(tmp_path):
    status, out, err = run_with(tmp_path, THREE)
    assert status == 1, out + err
    assert out.splitlines()[-1] == "5 passed, 2 failed, 1 skipped"
    assert "== broken: 0 passed, 1 failed, 0 skipped" in out and "ValueError: it broke" in out
    assert "E assert 1 == 2" in out and "skipped: no Slurm here" in out


AGAIN = """
def alone(name):
    ran = (suites.LOGS / "ran").open("a")
    ran.write(name + " ")
    return suites.passed() if name.startswith("busy") else suites.failed(name)
def suite(log):
    count = suites.Count(passed=1)
    for name in NAMES:
        count.add(suites.failed(name + "\\n      E what was said", (alone, name)))
    return count
suites.SUITES = {"suite": suite}
suites.LANES = (("suite",),)
"""


def test_what_failed_is_run_alone_once_and_named_at_the_end_either_way(tmp_path):
    status, out, err = run_with(tmp_path, "NAMES = ['busy', 'broken']\n" + AGAIN)
    assert status == 1, out + err
    assert out.splitlines()[-3:] == ["unsteady, passed alone: busy", "FAILED broken", "2 passed, 1 failed, 0 skipped"]
    assert (tmp_path / "ran").read_text().split() == ["busy", "broken"]
    status, out, err = run_with(tmp_path, "NAMES = ['busy']\n" + AGAIN)
    assert status == 0 and out.splitlines()[-2:] == ["unsteady, passed alone: busy", "2 passed, 0 failed, 0 skipped"], out + err


def test_many_failures_are_not_run_again(tmp_path):
    status, out, err = run_with(tmp_path, "NAMES = [f'busy{i}' for i in range(6)]\n" + AGAIN)
    assert status == 1 and out.splitlines()[-1] == "1 passed, 6 failed, 0 skipped", out + err
    assert not (tmp_path / "ran").exists()


def test_failures_of_the_dashboard_are_named_with_their_file(suites):
    count = suites.web_failures("""ℹ fail 2

✖ failing tests:

test at ../tests/web/real.test.mjs:12:3
✖ the log follows (1200.5ms)
  AssertionError [ERR_ASSERTION]: no

test at ../tests/web/live.test.mjs:1:1
✖ /repo/tests/web/live.test.mjs (20ms)
  'test failed'
""")
    assert count.notes == ["FAILED real.test.mjs: the log follows", "FAILED live.test.mjs: /repo/tests/web/live.test.mjs"]
    assert [argument for *_, argument in count.again] == ["../tests/web/real.test.mjs", "../tests/web/live.test.mjs"]


def test_all_passing_is_the_only_success(tmp_path):
    body = THREE + "suites.SUITES = {'good': good}\nsuites.LANES = (('good',),)"
    status, out, err = run_with(tmp_path, body)
    assert status == 0 and out.splitlines()[-1] == "3 passed, 0 failed, 1 skipped", out + err
    nothing = THREE + "suites.SUITES = {'none': lambda log: suites.skipped('nothing here')}\nsuites.LANES = (('none',),)"
    assert run_with(tmp_path, nothing)[0] == 1


def test_tests_of_a_program_that_was_not_built_are_failures(tmp_path):
    body = """
    suites.SUITES = {"build-gcc": lambda log: suites.failed("gcc"), "pytest": lambda log: suites.passed()}
    suites.LANES = (("build-gcc",), ("pytest",))
    """
    status, out, _ = run_with(tmp_path, body)
    assert status == 1 and "pytest was not run" in out and out.splitlines()[-1] == "0 passed, 2 failed, 0 skipped"


def test_tests_begin_only_when_the_program_is_built(tmp_path):
    body = """
    import time
    def build(log):
        time.sleep(1)
        (suites.ROOT / "built").touch()
        return suites.passed()
    suites.SUITES = {"build-gcc": build, "pytest": lambda log: suites.passed() if (suites.ROOT / "built").exists() else suites.failed("early")}
    suites.LANES = (("build-gcc",), ("pytest",))
    """
    status, out, _ = run_with(tmp_path, body)
    assert status == 0 and out.splitlines()[-1] == "2 passed, 0 failed, 0 skipped", out


@pytest.mark.parametrize("before", [signal.SIG_DFL, signal.SIG_IGN], ids=["in front", "in the background"])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_everything_in_every_lane(tmp_path, how, before):
    # A shell starts what runs in the background with SIGINT ignored.
    # The first command ends only when it is interrupted, and tidies up; the second has a child of its own. No other
    # program runs in front of it then: bash goes on where such a program survives the interrupt.
    body = f"""
    tidy = "trap 'sleep 0.5; touch {tmp_path}/tidied; exit 1' INT; : > {tmp_path}/one; while :; do sleep 0.1; done"
    family = "sleep 600 & echo $! > {tmp_path}/pid; : > {tmp_path}/two; wait"
    def first(log): return suites.passed() if suites.command(log, ["bash", "-c", tidy]) == 0 else suites.failed("first")
    def second(log): return suites.passed() if suites.command(log, ["bash", "-c", family]) == 0 else suites.failed("second")
    suites.SUITES = {{"first": first, "second": second, "third": first}}
    suites.LANES = (("first", "third"), ("second",))
    """
    child = subprocess.Popen([sys.executable, "-c", program(tmp_path, body)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, before))
    try:
        wait_for(lambda: (tmp_path / "one").exists() and (tmp_path / "two").exists(), "the commands do not start")
        child.send_signal(how)
        out, err = child.communicate(timeout=120)
    finally:
        child.kill()
    assert child.returncode == 130, out + err
    assert (tmp_path / "tidied").exists() and "passed" not in out
    wait_for(lambda: not is_alive((tmp_path / "pid").read_text().strip()), "a child of a command goes on")


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_command_that_takes_too_long_is_ended_with_its_children(suites, tmp_path):
    log, before = tmp_path / "log", signal.signal(signal.SIGINT, signal.default_int_handler)  # as scripts/test does
    try:
        assert suites.command(log, ["bash", "-c", "sleep 600 & echo $! > pid; wait"], limit_s=1, cwd=tmp_path) == 124
    finally:
        signal.signal(signal.SIGINT, before)
    wait_for(lambda: not is_alive((tmp_path / "pid").read_text().strip()), "its child goes on")


def test_what_pytest_said_of_a_failure_is_shown(suites, tmp_path):
    (tmp_path / "x.xml").write_text("""<testsuites><testsuite><testcase classname="a" name="b"><failure message="m">def b():
E       assert 1 == 2</failure></testcase><testcase classname="a" name="c"><skipped message="no Slurm"/></testcase>
<testcase classname="a" name="d"/></testsuite></testsuites>""")
    count = suites.from_junit(tmp_path / "x.xml")
    assert count.text() == "1 passed, 1 failed, 1 skipped"
    assert "assert 1 == 2" in count.notes[0] and "no Slurm" in count.notes[1]


def test_every_test_file_belongs_to_one_suite(suites):
    suites.ROOT = ROOT
    files = [*suites.pytest_files(False), *suites.pytest_files(True)]
    assert sorted(files) == sorted((ROOT / "tests/py").glob("test_*.py"))
    assert {name for lane in suites.LANES for name in lane} == set(suites.SUITES)
    assert set(suites.LONGEST) <= {path.stem for path in files}
