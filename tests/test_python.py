"""The simulator from Python: scenarios, runs, sweeps, notebooks, every field of a result documented."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import meshpace
import notebooks
import result_fields as fields
from commanding import CHAIN, Cli
from documents import ROOT
from test_pictures import shape


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
    assert 'alt="3 mesh nodes;' in mesh._repr_html_()
    run, runs = meshpace.run(mesh), meshpace.run(mesh, seeds=2)
    assert re.fullmatch(r"Run\(\S+, newreno, seed 1: 1 flow, [\d,.]+ kbit/s\)", repr(run))
    assert re.fullmatch(r"Runs\(\S+, newreno, 2 seeds: 1 flow, [\d,.]+ ± [\d,.]+ kbit/s\)", repr(runs))
    for shown, text in ((run, "<td>1 n0 → n2</td>"), (runs, "&nbsp;±&nbsp;")):
        assert text in " ".join(shown._repr_html_().split())
    assert "retransmissions" in run._repr_html_()
    swept = meshpace.sweep(mesh, {"radio.rate": ["2Mbps", "11Mbps"]}, seeds=2, store=tmp_path)
    assert "2 points, 4 runs" in repr(swept)
    shown = swept._repr_html_()
    assert 'alt="Aggregate goodput"' in shown
    assert "<td>11Mbps</td>" in shown
    for html in (mesh._repr_html_(), shown):
        assert not re.search(r"<(script|iframe|style|svg)", html), "what is not trusted is not shown"
    broken = mesh.set("radio.rate", "3Mbps")._repr_html_()
    assert "3Mbps" in broken, "a scenario that cannot be run is shown with the reason"
    nobody = meshpace.run(mesh.set("radio.rate", "2Mbps").set("flow", []))
    assert "No [[flow]]: nothing is sent" in nobody._repr_html_()


def test_pictures_are_files_that_stand_alone(mesh: meshpace.Scenario, tmp_path: Path) -> None:
    mesh.draw().save(tmp_path / "mesh.svg")
    meshpace.sweep(mesh, scheme=["newreno", "tcp-ap"], seeds=2, store=tmp_path / "store").save(tmp_path / "figure.svg")
    for name, words in (("mesh.svg", "n1"), ("figure.svg", "NewReno")):
        root = ElementTree.parse(tmp_path / name).getroot()
        size = [float(root.attrib[side]) for side in ("width", "height")]
        assert size == [pytest.approx(float(side), abs=0.5) for side in root.attrib["viewBox"].split()[2:]]
        assert words in [text.strip() for text in root.itertext()]
        assert "prefers-color-scheme: dark" in "".join(root.itertext())


@pytest.mark.parametrize("notebook", notebooks.NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebooks_outputs_are_todays(notebook: Path, tmp_path: Path) -> None:
    """In an empty folder, since it writes files; the scenarios are those of the package."""
    stored = json.loads(notebook.read_text())["cells"]
    assert any(cell.get("outputs") for cell in stored), "it ships with outputs"
    cells = notebooks.run(notebook, tmp_path)
    assert notebooks.said(cells) == notebooks.said(stored), "write them anew: python tests/notebooks.py"
    drawn = zip(notebooks.pictures(cells), notebooks.pictures(stored), strict=True)
    assert all(shape(ElementTree.fromstring(one)) == shape(ElementTree.fromstring(other)) for one, other in drawn)


def test_there_are_three_notebooks() -> None:
    assert [notebook.stem for notebook in notebooks.NOTEBOOKS] == ["formula", "one-mesh", "sweep"]


def test_every_field_is_documented(mesh: meshpace.Scenario) -> None:
    path = ROOT / "docs" / "result-fields.md"
    assert path.read_text() == fields.page(), "write it anew: python tests/result_fields.py > docs/result-fields.md"
    text = CHAIN.replace("newreno", "tcp-gap").replace("duration", "hop_delays = true\nduration")
    for run in (meshpace.run(mesh), meshpace.run(meshpace.Scenario(text), scheme="llap")):
        assert fields.undocumented(run) == []
    made_up: dict[str, Any] = {**meshpace.run(mesh), "new_field": 1}
    assert fields.undocumented(made_up) == ["new_field"]
