"""`meshpace emulate` without the rights that it takes: one line, and nothing made."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from emulating import MESH, called, emulate, left_behind

NOBODY = 65534
pytestmark = pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv (Debian: util-linux)")


def refused(name: str, *privileges: str) -> str:
    """What it says of a scenario that everybody may read, with these options of setpriv(1)."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        scenario = Path(folder, "mesh.toml")
        scenario.write_text(MESH)
        words = ["setpriv", *privileges, *emulate(scenario, "--json", "--name", name)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert left_behind(name) == []
    return done.stderr


def test_another_user_is_told_what_it_takes() -> None:
    # It may read every file: this Python may be in root's home.
    reads = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")
    said = refused(called(30), f"--reuid={NOBODY}", "--clear-groups", *reads)
    assert "needs root" in said
    assert f"this is user {NOBODY}" in said


@pytest.mark.parametrize("capability", ["sys_admin", "net_admin"])
def test_root_without_a_capability_is_told_which_step_failed(capability: str) -> None:
    """As in a container: network namespaces take CAP_SYS_ADMIN, devices in them CAP_NET_ADMIN."""
    said = refused(called(31), f"--bounding-set=-{capability}")
    assert "Operation not permitted" in said or "Permission denied" in said
