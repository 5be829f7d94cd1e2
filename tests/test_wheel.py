"""`make wheel`: what it makes is installed without Rust and runs, scenarios included.

Run where a wheel lies (`make wheel`, or MESHPACE_WHEEL=FILE), since making one takes minutes; `make test` makes it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from documents import ROOT
from notebooks import NOTEBOOKS, RUNNER, said

WHEELS = sorted((ROOT / "target" / "wheels").glob("meshpace-*.whl"), key=lambda wheel: wheel.stat().st_mtime)
WHEEL = Path(os.environ["MESHPACE_WHEEL"]) if "MESHPACE_WHEEL" in os.environ else WHEELS[-1] if WHEELS else None
pytestmark = [
    pytest.mark.skipif(WHEEL is None, reason="no wheel lies in target/wheels: make wheel"),
    pytest.mark.xdist_group("wheel"),  # it is installed once
]

DEMO = """
from pathlib import Path
from meshpace.demo import command
from meshpace.demo.plan import studies

chosen = studies(2, hops=(1, 4), measure=(("measure.duration", "6s"), ("measure.warmup", "2s")))
command.show(chosen, Path("report.html"), seeds=2, threads=None, most_seeds=12)
"""
Installed = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Runs a command of an environment with the wheel in it, in an empty folder and without Rust."""
    folder = tmp_path_factory.mktemp("clean")
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    words = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(WHEEL)]
    subprocess.run(words, check=True, capture_output=True)
    # What it needs of others comes from this environment, behind its own: no network.
    site = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    (Path(site) / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (folder / "empty").mkdir()
    clean = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "COLUMNS": "200"}

    def run(*words: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(folder / "venv" / "bin" / words[0]), *words[1:]],
            input=stdin, cwd=folder / "empty", env=clean, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip

    return run


def test_one_wheel_fits_every_python_and_glibc_since() -> None:
    assert WHEEL is not None
    assert re.search(r"-cp311-abi3-(\w+\.)*(manylinux_2_\d+|linux)_\w+\.whl$", WHEEL.name)
    with zipfile.ZipFile(WHEEL) as content:
        names = set(content.namelist())
    assert {f"meshpace/scenarios/{file.name}" for file in (ROOT / "scenarios").glob("*.toml")} <= names
    papers = [file for kind in ("*.toml", "*.py") for file in (ROOT / "papers").glob(f"*/{kind}")]
    assert {f"meshpace/{file.relative_to(ROOT)}" for file in papers} <= names
    assert "meshpace/_engine.abi3.so" in names


def test_it_is_the_wheel_that_runs(installed: Installed) -> None:
    done = installed("python", "-c", "import meshpace; print(meshpace.__file__)")
    assert "clean" in done.stdout
    assert str(ROOT) not in done.stdout


def test_scenarios_and_studies_are_there(installed: Installed) -> None:
    listed = installed("meshpace", "scenarios")
    assert listed.returncode == 0, listed.stderr
    path = re.search(r"^ (/\S*/chain-adhoc\.toml)", listed.stdout, re.MULTILINE)
    assert path is not None, "as a path that can be given to `meshpace run`"
    short = ("--set", "measure.duration=6s", "--set", "measure.warmup=2s")
    ran = installed("meshpace", "run", path[1], *short)
    assert ran.returncode == 0, ran.stderr
    studies = installed("meshpace", "study", "list")
    assert (studies.returncode, "gap-chain-up" in studies.stdout) == (0, True), studies.stderr


def test_a_short_demo_writes_its_report(installed: Installed) -> None:
    done = installed("python", "-c", DEMO)
    assert done.returncode == 0, done.stderr
    assert "Report: report.html" in done.stdout
    page = installed("python", "-c", "print(len(open('report.html').read()))")
    assert int(page.stdout) > 50_000


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_says_what_it_said_in_the_checkout(notebook: Path, installed: Installed) -> None:
    """With the wheel alone, in a folder without scenarios."""
    done = installed("python", "-c", RUNNER, stdin=notebook.read_text())
    assert done.returncode == 0, done.stderr
    assert said(json.loads(done.stdout)["cells"]) == said(json.loads(notebook.read_text())["cells"])
