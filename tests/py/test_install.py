"""`sluice daemon install`: which way it takes, what it says and writes, and that it takes everything back. Small programs
stand in for systemctl, loginctl, crontab, ssh and Slurm's; where Debian's cron is installed, its real crontab is used once
more, and test_slurm_node.py has the job on a real Slurm."""

import os
import shutil
import subprocess

import pytest

from conftest import PROGRAM

CRONTAB = """#!/bin/sh
case $1 in
-l) [ -f "$STAND/tab" ] && cat "$STAND/tab" || { echo "${SAYS:-no crontab for me}" >&2; exit 1; } ;;
-) cat >"$STAND/tab" ;;
esac
"""
RECORD = '#!/bin/sh\necho "${0##*/} $*" >>"$STAND/calls"\n'


@pytest.fixture
def host(tmp_path):
    """A host with the programs given; the state folder's name has what shells, cron and systemd could trip over."""
    folder, stand = tmp_path / "a 100%'s $HOME", tmp_path / "bin"
    stand.mkdir()
    for name in ("sh", "cat", "env"):
        (stand / name).symlink_to(shutil.which(name))

    class Host:
        keep, tab, calls = folder / "keep-daemon", stand / "tab", stand / "calls"
        unit = tmp_path / "config/systemd/user/sluice-daemon.service"
        env = {"PATH": str(stand), "STAND": str(stand), "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config"),
               "SLUICE_STATE": str(folder), "SLURM_CONF": "/etc/a b"}

        def has(self, name, text):
            (stand / name).write_text(text)
            (stand / name).chmod(0o755)

        def daemon(self, *words, rc=0):
            done = subprocess.run([PROGRAM, "daemon", *words], env=self.env, capture_output=True, text=True, timeout=120)
            assert done.returncode == rc, done
            return done.stdout + done.stderr
    return Host()


def test_without_cron_and_systemd_it_says_what_is_missing(host):
    said = host.daemon("install", rc=1)
    assert "systemctl is not in PATH" in said and "crontab is not in PATH" in said and "administrators" in said
    assert not host.keep.exists()


def test_crontab_keeps_other_lines_and_gives_ours_back(host):
    host.has("crontab", CRONTAB)
    assert "nothing was changed" in host.daemon("install", "--dry-run") and not host.tab.exists() and not host.keep.exists()
    mine = "# mine\n0 3 * * * backup --at 100\\%\n"
    host.tab.write_text(mine.rstrip("\n"))
    for _ in range(2):  # the second time changes nothing
        said = host.daemon("install")
        assert "systemctl is not in PATH" in said and "@reboot" in said
        lines = host.tab.read_text().removeprefix(mine).splitlines()
        assert [line.split(" '")[0] for line in lines] == ["@reboot", "*/10 * * * *"]
    # What cron makes of the line is a command that the shell runs: it starts the daemon, with this environment.
    command = lines[0].removeprefix("@reboot ").replace("\\%", "%")
    assert "SLURM_CONF='/etc/a b'" in host.keep.read_text()
    subprocess.run(["sh", "-c", command], env={"PATH": "/usr/bin:/bin"}, check=True, timeout=120)
    assert "kept alive by crontab" in host.daemon("status")
    assert "starts it again within 10 minutes" in host.daemon("stop")
    host.daemon("uninstall")
    assert host.tab.read_text() == mine and not host.keep.exists()
    assert "nothing was installed" in host.daemon("uninstall")


def test_crontab_that_cannot_be_read_is_not_overwritten(host):
    host.has("crontab", CRONTAB)
    host.env["SAYS"] = "You are not allowed to use this program"
    assert "not allowed" in host.daemon("install", rc=1)
    assert not host.tab.exists()


def test_systemd_comes_first_and_needs_lingering(host):
    host.has("crontab", CRONTAB)
    host.has("systemctl", RECORD)
    host.has("loginctl", RECORD)
    said = host.daemon("install")
    assert said.index("loginctl enable-linger") < said.index("done")
    calls = [call for call in host.calls.read_text().splitlines() if "show-environment" not in call]
    assert calls == ["loginctl enable-linger", "systemctl --user daemon-reload",
                     "systemctl --user enable sluice-daemon.service",
                     "systemctl --user --no-block start sluice-daemon.service"]
    unit = host.unit.read_text()
    path = str(host.keep).replace("%", "%%").replace("$", "$$")
    assert f'ExecStart="{path}" serve\n' in unit and "KillMode=process" in unit and not host.tab.exists()
    assert "kept alive by systemd" in host.daemon("status", rc=1)
    assert subprocess.run([host.keep, "--version"], capture_output=True, text=True, check=True).stdout.startswith("sluice")
    host.daemon("uninstall")
    assert not host.unit.exists() and not host.keep.exists()
    # Without lingering the unit would end with the session: the next way is taken.
    host.has("loginctl", '#!/bin/sh\necho "Could not enable linger: Access denied" >&2\nexit 1\n')
    assert "Access denied" in host.daemon("install") and host.tab.exists() and not host.unit.exists()


SLURM = {
    "sbatch": 'echo "$*" >>"$STAND/submitted"; touch "$STAND/queued"; echo Submitted batch job 7\n',
    "squeue": '[ ! -e "$STAND/queued" ] || echo 7\n',
    "scancel": 'echo "$*" >>"$STAND/cancelled"; rm -f "$STAND/queued"\n',
    "id": "echo 7\n",
    "sleep": "",
    "rm": 'exec /bin/rm "$@"\n',
    "touch": 'exec /bin/touch "$@"\n',
}
SSH = 'for last; do :; done; echo "$*" >>"$STAND/ssh"; exec /bin/sh -c "$last"\n'


def test_a_job_keeps_it_alive_where_nothing_else_may(host):
    for name, text in SLURM.items():
        host.has(name, "#!/bin/sh\n" + text)
    stand = host.tab.parent
    host.has("ssh", "#!/bin/sh\necho 'Permission denied (publickey).' >&2\nexit 255\n")
    said = host.daemon("install", rc=1)
    assert "without a password: ssh: Permission denied (publickey)" in said and "make a key" in said
    assert not host.keep.exists() and not (stand / "submitted").exists()
    host.has("ssh", "#!/bin/sh\nexit 255\n")
    assert "without a password: ssh: failed and gave no reason" in host.daemon("install", rc=1)
    host.has("ssh", "#!/bin/sh\n" + SSH)
    job = host.keep.with_name("keep-daemon-job")
    assert "nothing was changed" in host.daemon("install", "--dry-run") and not job.exists()
    for _ in range(2):  # the second time replaces the first
        host.daemon("install")
    assert (stand / "submitted").read_text() == f"{job}\n" * 2
    assert "kept alive by job" in host.daemon("status", rc=1)
    # What the node does: it submits itself again, unless one waits already, and starts the daemon on this host.
    (stand / "queued").unlink()
    for _ in range(2):
        subprocess.run([job], env={"STAND": str(stand)}, check=True, timeout=120)
    assert (stand / "submitted").read_text().splitlines()[2:] == [f"--begin=now+10minutes {job}"]
    assert "BatchMode=yes" in (stand / "ssh").read_text().splitlines()[-1]
    host.daemon("status")
    # A cluster that takes no job any more: said in the log, by `daemon status` and by `doctor`.
    (stand / "queued").unlink()
    host.has("date", "#!/bin/sh\necho 2026-01-01T00:00:00.000Z\n")
    host.has("sbatch", "#!/bin/sh\necho tried >>\"$STAND/refused\"\necho 'sbatch: error: invalid account *' >&2\nexit 1\n")
    subprocess.run([job], env={"STAND": str(stand)}, check=True, timeout=120)
    assert len((stand / "refused").read_text().splitlines()) == 5
    assert "could not be submitted: sbatch: error: invalid account *\n" in (host.keep.parent / "daemon.log").read_text()
    said = host.daemon("status")
    assert "has ended: sbatch: error: invalid account *; 'sluice daemon install' begins it again" in said
    doctor = subprocess.run([PROGRAM, "doctor"], env=host.env, capture_output=True, text=True, timeout=120).stdout
    assert "has ended: sbatch: error: invalid account *" in doctor and "`sluice daemon install` begins it again" in doctor
    host.has("sbatch", "#!/bin/sh\n" + SLURM["sbatch"])
    host.daemon("install")
    assert "kept alive by job" in host.daemon("status") and not job.with_name("keep-daemon-job.failed").exists()
    assert "the job starts it again within 10 minutes" in host.daemon("stop")
    host.daemon("uninstall")
    assert not job.exists() and not host.keep.exists() and not (stand / "queued").exists()
    assert "nothing was installed" in host.daemon("uninstall")


@pytest.mark.skipif(not shutil.which("crontab") or os.geteuid() != 0, reason="needs Debian's cron, and root to be another user")
def test_real_crontab_of_another_user(host, tmp_path):
    user = "nobody"
    if subprocess.run(["crontab", "-u", user, "-l"], capture_output=True).returncode == 0:
        pytest.skip("nobody has a crontab here")
    host.has("crontab", f'#!/bin/sh\nexec {shutil.which("crontab")} -u {user} "$@"\n')
    try:
        host.daemon("install")
        listed = subprocess.run(["crontab", "-u", user, "-l"], capture_output=True, text=True, check=True).stdout
        assert listed.count("keep-daemon") == 2
        host.daemon("uninstall")
        assert "keep-daemon" not in subprocess.run(["crontab", "-u", user, "-l"], capture_output=True, text=True).stdout
    finally:
        subprocess.run(["crontab", "-u", user, "-r"], capture_output=True)
