"""docs/howto: every how-to is run as it stands, block after block, in an empty folder; ten lines at most.

A block whose fence has a name (``csv nodes.csv``) is that file; ``sh`` is run by bash, ``python`` by Python.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest

from documents import ROOT, blocks
from meshpace.emulation.daemons import DAEMONS
from meshpace.emulation.record import EmulationError

sys.path.insert(0, str(ROOT / "tests" / "live"))
from calm_kernel import alone
from net import MESHPACED

HOWTOS = sorted(path for path in (ROOT / "docs" / "howto").glob("*.md") if path.name != "README.md")
MOST_LINES = 10
SBATCH = """\
#!/bin/sh
# SLURM's, for a test without SLURM: two tasks of the array side by side (tests/test_slurm.py has the real one).
shift
export SLURM_SUBMIT_DIR=. SLURM_CPUS_PER_TASK=1
bash "$1" & first=$!
bash "$1" && wait $first
"""
FILES = {
    "simulate-a-mesh": ("mesh.toml",),
    "compare-schemes": ("compared.pdf", "compared.html"),
    "sweep-a-scenario": ("runs.csv", "sweep.html"),
    "add-a-formula": (),
    "pace-at-a-gateway": (),
    "thin-acknowledgements": (),
    "see-why-a-flow-is-slow": ("why.html",),
    "use-jupyter": (),
    "latency-under-load": ("rrul.svg", "rrul.html"),
    "run-on-a-cluster": ("runs.csv",),
    "use-calm-on-a-host": ("client.txt",),
    "run-your-routing-daemon": (),
    "publish-a-mesh": ("roofs.toml", "roofs.pdf", "roofs.svg"),
    "ask-for-advice": ("advice.html", "mesh.toml"),
}
"""What each leaves, by its name: a how-to that is missing, or one too many, shows here."""
SAYS = {
    "simulate-a-mesh": "mill → internet",
    "compare-schemes": "Differences are to NewReno",
    "add-a-formula": "its pace: a segment every",
    "pace-at-a-gateway": "'scheme': 'steady'",
    "thin-acknowledgements": "0 acknowledgements, 0 thinned",
    "see-why-a-flow-is-slow": "held back by",
    "latency-under-load": "round trip of echoes, 99 %",
    "use-calm-on-a-host": "packets may wait, so it asks for",
    "run-your-routing-daemon": "10.77.0.5 via 10.77.0.3 dev mesh0 proto babel",
    "ask-for-advice": "Would pacing help?",
    "publish-a-mesh": "Differences are to CUBIC",
}


IN_A_MESH = ("thin-acknowledgements",)
"""Those that take a machine with an interface into the mesh: a network namespace of their own."""
MESH = 'ip link set lo up && ip link add mesh0 type veth peer name far0 && ip link set mesh0 up && exec "$@"'


def test_the_tasks_are_there() -> None:
    assert {path.stem for path in HOWTOS} == set(FILES)
    listed = (ROOT / "docs" / "howto" / "README.md").read_text()
    assert all(f"({path.name})" in listed for path in HOWTOS)


@pytest.mark.parametrize("howto", HOWTOS, ids=lambda path: path.stem)
def test_it_works_as_it_stands(howto: Path, tmp_path: Path) -> None:
    with alone() if howto.stem == "use-calm-on-a-host" else nullcontext():
        run_as_it_stands(howto, tmp_path)


def babeld_is_there() -> bool:
    with suppress(EmulationError):
        DAEMONS["babeld"].found()
        return True
    return False


def run_as_it_stands(howto: Path, tmp_path: Path) -> None:
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    if howto.stem == "run-your-routing-daemon" and (os.geteuid() != 0 or not babeld_is_there()):
        pytest.skip("needs root, and babeld (make setup unpacks it)")
    tools = tmp_path / "bin"
    tools.mkdir()
    place: list[str] = []
    if howto.stem in IN_A_MESH:
        if os.geteuid() != 0:
            pytest.skip("needs root: a network namespace")
        place = ["unshare", "--net", "bash", "-c", MESH, "mesh"]
    for name, text in (
        ("meshpace", f'#!/bin/sh\nexec {sys.executable} -m meshpace "$@"\n'),
        ("sbatch", SBATCH),
        ("meshpaced", f'#!/bin/sh\nexec {MESHPACED} "$@"\n'),
    ):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "COLUMNS": "200"}
    lines, said = 0, ""
    for block in blocks(howto):
        lines += sum(bool(line.strip()) for line in block.text.splitlines())
        kind, _, name = block.language.partition(" ")
        if name:
            (tmp_path / name).write_text(block.text + "\n")
            continue
        assert kind in ("sh", "python"), block
        words = ["bash", "-e", "-c"] if kind == "sh" else [sys.executable, "-c"]
        done = subprocess.run(
            [*place, *words, block.text],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"{block}: {done.stderr}"
        said += done.stdout
    assert lines <= MOST_LINES
    for name in FILES[howto.stem]:
        assert (tmp_path / name).stat().st_size > 0
    assert SAYS.get(howto.stem, "") in said
    assert not re.search(r"cannot be run", said)
