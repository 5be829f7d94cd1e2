"""The simulator from Python: scenarios, runs, sweeps, notebooks, every field of a result documented."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import meshpace
import result_fields as fields
from commanding import CHAIN, Cli
from documents import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.fixture
def mesh() -> meshpace.Scenario:
    return meshpace.Scenario(CHAIN, "chain.toml")


def test_a_run_is_that_of_the_command(cli: Cli, chain: Path) -> None:
    done = json.loads(
        cli("run", chain, "--set", "radio.rate=2Mbps", "--scheme", "tcp-ap", "--seed", 3, "--json").stdout
    )
    ours = meshpace.run(meshpace.Scenario.load(chain).set("radio.rate", "2Mbps"), scheme="tcp-ap", seed=3)
    assert {**ours, "wall_s": 0} == {**done, "wall_s": 0}
    assert ours.table().num_rows == 1
    assert ours.table()["goodput_bps"][0].as_py() == done["flows"][0]["goodput_bps"]
    assert ours.links().num_rows == len(done["links"])
    runs = meshpace.run(chain, seeds=3)
    assert [run["seed"] for run in runs] == [1, 2, 3]
    assert runs.table().num_rows == 3


def test_a_scenario_is_changed_and_checked(mesh: meshpace.Scenario) -> None:
    assert mesh.copy().set("topology.hops", 3).resolve()["mesh"][-1]["id"] == "n3"
    assert mesh.set("radio.arp", False).set("radio.rate", "11Mbps").set("scenario.name", "7").resolve()["name"] == "7"
    assert mesh.set("scenario.name", "8").settings.count('scenario.name="8"') == 1, "set again, it replaces"
    assert mesh.validate() is mesh
    mesh.set("topology.hops", "many").set("flow.0.window", 0)
    assert len(mesh.complaints()) == 2
    with pytest.raises(meshpace.ScenarioError, match=r"(?s)topology\.hops.*\n.*window"):
        mesh.validate()


def test_a_sweep_is_that_of_the_command(cli: Cli, chain: Path, tmp_path: Path) -> None:
    assert cli("sweep", chain, "--vary", "topology.hops,flow.0.to=2:n2,3:n3", "--scheme", "newreno,tcp-ap",
               "--seeds", 2, "--csv", "a.csv").returncode == 0  # fmt: skip
    keys = ("topology.hops", "flow.0.to")
    swept = meshpace.sweep(chain, {keys: [(2, "n2"), (3, "n3")]}, scheme=["newreno", "tcp-ap"], seeds=2,
                           store=tmp_path / "store")  # fmt: skip
    assert swept.swept.tally.made == 0, "the command's runs are these"
    swept.save(tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    means = swept.means().to_pylist()
    assert {row["scheme"] for row in means} == {"newreno", "tcp-ap"}
    with pytest.raises(meshpace.api.OutputError, match="allowed"):
        swept.save(tmp_path / "b.txt")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"seed": -1}, "seed: found -1; allowed: a whole number 0 to 18,446,744,073,709,551,615"),
        ({"seed": "1"}, "seed: found '1'; allowed"),
        ({"seeds": 0}, "seeds: found 0; allowed: a whole number 1 to 100,000"),
        ({"threads": 0}, "threads: found 0; allowed: a whole number 1 to 1,024"),
    ],
)
def test_numbers_out_of_bounds(asked: dict[str, Any], said: str, mesh: meshpace.Scenario) -> None:
    with pytest.raises(ValueError, match=said):
        meshpace.run(mesh, **asked)
    if "seed" not in asked:
        with pytest.raises(ValueError, match=said):
            meshpace.sweep(mesh, {"topology.hops": [2]}, **asked)


@pytest.mark.parametrize("values", [[], "2,3", 2])
def test_what_varies_has_values(values: Any, mesh: meshpace.Scenario) -> None:
    with pytest.raises(meshpace.api.ArgumentError, match=r"vary, 'topology.hops': found .*; allowed: a list"):
        meshpace.sweep(mesh, {"topology.hops": values})


def test_notebooks_show_what_there_is(mesh: meshpace.Scenario, tmp_path: Path) -> None:
    assert "<svg" in mesh._repr_html_()
    assert "<table" in meshpace.run(mesh)._repr_html_()
    shown = meshpace.sweep(mesh, {"radio.rate": ["2Mbps", "11Mbps"]}, seeds=2, store=tmp_path)._repr_html_()
    assert "<iframe" in shown
    assert "<table" in shown
    broken = mesh.set("radio.rate", "3Mbps")._repr_html_()
    assert "3Mbps" in broken, "a scenario that cannot be run is shown with the reason"


RUNNER = """
import json, sys
cells = json.load(open(sys.argv[1]))["cells"]
space = {"__name__": "__main__"}
for number, cell in enumerate(cells):
    if cell["cell_type"] != "code":
        continue
    import ast
    tree = ast.parse("".join(cell["source"]))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, f"cell {number}", "exec"), space)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), space)
        shown = getattr(value, "_repr_html_", lambda: repr(value))()
        assert shown, number
print("whole")
"""


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(notebook: Path, tmp_path: Path) -> None:
    """Cell by cell, what a cell ends with shown, as Jupyter would: in a folder of its own, since it writes files, which
    lies as the notebook's does, so that what it reads is where it says."""
    there = tmp_path / notebook.parent.relative_to(ROOT)
    there.mkdir(parents=True)
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    words = [sys.executable, "-c", RUNNER, str(notebook)]
    done = subprocess.run(words, cwd=there, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("whole\n")


def test_there_are_three_notebooks() -> None:
    assert len(NOTEBOOKS) == 3
    for notebook in NOTEBOOKS:
        cells = json.loads(notebook.read_text())["cells"]
        assert all(not cell.get("outputs") for cell in cells), "results are made, not kept"


def test_every_field_is_documented(mesh: meshpace.Scenario) -> None:
    path = ROOT / "docs" / "result-fields.md"
    assert path.read_text() == fields.page(), "write it anew: python tests/result_fields.py > docs/result-fields.md"
    text = CHAIN.replace("newreno", "tcp-gap").replace("duration", "hop_delays = true\nduration")
    for run in (meshpace.run(mesh), meshpace.run(meshpace.Scenario(text), scheme="llap")):
        assert fields.undocumented(run) == []
    made_up: dict[str, Any] = {**meshpace.run(mesh), "new_field": 1}
    assert fields.undocumented(made_up) == ["new_field"]
