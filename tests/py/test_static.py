"""One file to copy: the program answers in a root folder that holds nothing but itself, and keeps what it promises
about size and memory."""

import json
import os
import pathlib
import shutil
import subprocess

import pytest

from conftest import PROGRAM, ROOT, UnixConnection, wait_for


@pytest.fixture
def empty_root(folder):
    """A root folder with the program and nothing else."""
    root = folder / "root"
    (root / "tmp").mkdir(parents=True)
    shutil.copy(PROGRAM, root / "sluice")
    return root


def inside(root, *argv):
    """How to run argv with `root` as the whole file system; a user name space where we are not root."""
    chroot = shutil.which("chroot", path="/usr/sbin:/usr/bin:/sbin:/bin")
    if not chroot:
        pytest.skip("chroot is not installed")
    prefix = [] if os.getuid() == 0 else ["unshare", "--user", "--map-root-user"]
    if prefix and subprocess.run([*prefix, "true"], capture_output=True).returncode:
        pytest.skip("neither root nor user name spaces")
    return [*prefix, chroot, str(root), *argv]


def test_version_and_help_in_an_empty_root(empty_root):
    done = subprocess.run(inside(empty_root, "/sluice", "--version"), capture_output=True, text=True, env={}, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().startswith("sluice")
    done = subprocess.run(inside(empty_root, "/sluice", "--help"), capture_output=True, text=True, env={}, timeout=60)
    assert done.returncode == 0 and "serve" in done.stdout and "run" in done.stdout


def test_daemon_answers_in_an_empty_root(empty_root):
    (empty_root / "experiment.yaml").write_text("command: [/sluice, --version]\nparameters: {a: [1, 2, 3]}\n")
    (empty_root / "wrong.yaml").write_text("command: [x]\nnonsense: 1\n")
    env = {"SLUICE_STATE": "/state", "HOME": "/"}
    with open(empty_root / "log", "wb") as log:
        daemon = subprocess.Popen(inside(empty_root, "/sluice", "serve", "--listen", "127.0.0.1:0"), env=env, stdout=log, stderr=log)
    socket = empty_root / "state/sluice.sock"

    def ask(method, path):
        try:
            connection = UnixConnection(socket)
            connection.request(method, "/api/v1" + path)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except OSError:
            assert daemon.poll() is None, (empty_root / "log").read_text()
            return None

    try:
        status, body = wait_for(lambda: ask("GET", "/health"), lambda: (empty_root / "log").read_text())
        assert status == 200 and b'"ok"' in body
        done = subprocess.run(inside(empty_root, "/sluice", "check", "/experiment.yaml"), capture_output=True, text=True, env=env, timeout=60)
        assert done.returncode == 0, done.stderr
        assert "3" in done.stdout
        done = subprocess.run(inside(empty_root, "/sluice", "check", "/wrong.yaml"), capture_output=True, text=True, env=env, timeout=60)
        assert done.returncode == 2 and "nonsense" in done.stderr
    finally:
        daemon.terminate()
        daemon.wait(timeout=60)


def test_program_is_static_and_small():
    described = subprocess.run(["readelf", "-dlh", PROGRAM], capture_output=True, text=True, check=True).stdout
    assert "(NEEDED)" not in described and "INTERP" not in described
    assert "DYN (" in described  # position-independent
    stripped = pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / f"sluice-stripped-{os.getpid()}"
    subprocess.run(["strip", "-o", stripped, PROGRAM], check=True)
    size = stripped.stat().st_size
    stripped.unlink()
    assert size < 8_000_000


@pytest.mark.skipif(not shutil.which("scdoc"), reason="scdoc is not installed")
def test_licences_of_what_is_linked_are_in_the_program():
    said = subprocess.run([PROGRAM, "--licences"], capture_output=True, text=True, timeout=60, check=True).stdout
    for name in ("glibc", "SQLite", "libuv", "jansson", "libyaml", "libsodium", "zlib", "preact", "LESSER GENERAL PUBLIC", "Apache"):
        assert name in said, name
    assert "was not on the machine" not in said
    # What the linker took is in the list.
    listed = (ROOT / "THIRD-PARTY.md").read_text()
    for name in ("glibc", "SQLite", "libuv", "http-parser", "jansson", "libyaml", "libsodium", "zlib", "preact"):
        assert name in listed, name


def test_program_is_hardened():
    shown = subprocess.run(["readelf", "-dW", PROGRAM], capture_output=True, text=True, timeout=60, check=True).stdout
    assert "BIND_NOW" in shown and "PIE" in shown
    segments = subprocess.run(["readelf", "-lW", PROGRAM], capture_output=True, text=True, timeout=60, check=True).stdout
    assert "GNU_RELRO" in segments and not [line for line in segments.splitlines() if "GNU_STACK" in line and "RWE" in line]
    symbols = subprocess.run(["nm", PROGRAM], capture_output=True, text=True, timeout=60, check=True).stdout
    assert "__printf_chk" in symbols, "our own files are not built with _FORTIFY_SOURCE"  # no library of Debian's prints
    code = subprocess.run(["objdump", "-d", "--disassemble=main", PROGRAM], capture_output=True, text=True, timeout=60, check=True).stdout
    assert "endbr64" in code or "x86-64" not in code, "our own files are not built with -fcf-protection"
    commands = PROGRAM.parent / "compile_commands.json"
    if commands.exists():
        built = [one["command"] for one in json.loads(commands.read_text()) if one["file"].endswith("main.c")]
        assert all("-fstack-clash-protection" in command and "-fstack-protector-strong" in command for command in built)


def test_install_puts_program_pages_and_completions_in_place(tmp_path):
    subprocess.run(["make", "install", f"DESTDIR={tmp_path}", "PREFIX=/usr"], cwd=ROOT, check=True, capture_output=True)
    share = tmp_path / "usr/share"
    done = subprocess.run([tmp_path / "usr/bin/sluice", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("sluice")
    pages = {page.name for page in (share / "man/man1").iterdir()}
    assert {"sluice.1", "sluice-run.1", "sluice-serve.1", "sluice-stop.1"} <= pages
    for page in share.glob("man/man*/*"):
        assert page.read_text().count(".SH") >= 2, page
    for path in ("bash-completion/completions/sluice", "zsh/site-functions/_sluice", "fish/vendor_completions.d/sluice.fish"):
        assert "sluice" in (share / path).read_text()


def test_idle_daemon_is_small(daemon):
    """Less than 16 MB resident after an experiment has come and gone."""
    daemon.wait_ended(daemon.submit("print('ok')"))
    status = pathlib.Path(f"/proc/{daemon.process.pid}/status").read_text()
    resident_kb = int(status.split("VmRSS:")[1].split()[0])
    assert resident_kb < 16 * 1024, f"{resident_kb} KB"
