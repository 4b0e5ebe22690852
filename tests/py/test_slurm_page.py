"""The pages in a real browser on a real Slurm: the tests are in tests/web/slurm_page.mjs, the cluster and the daemon come
from here."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

from conftest import PROGRAM, ROOT

WEB = ROOT / "web"
BROWSER = os.environ.get("CHROMIUM", "/usr/bin/chromium")
TRAIN = re.search(r"const SCRIPT = `(.*?)`;", (ROOT / "tests/web/slurm_page.mjs").read_text(), re.S).group(1)


@pytest.mark.skipif(not shutil.which("node") or not (WEB / "node_modules/playwright-core").exists(), reason="no playwright-core here")
@pytest.mark.skipif(not pathlib.Path(BROWSER).exists(), reason="no Chromium here")
def test_the_pages_on_a_real_cluster(slurm, folder):
    script = folder / "train.py"
    script.write_text(TRAIN)
    host, port = slurm.tcp_address()
    env = {**os.environ, **slurm.env, "SLUICE_BIN": str(PROGRAM), "SLUICE_URL": f"http://{host}:{port}", "SCRIPT": str(script)}
    done = subprocess.run(["node", "--test", "--test-reporter=spec", str(ROOT / "tests/web/slurm_page.mjs")],
                          cwd=WEB, env=env, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
