"""The thesis's open points as switches, and the claims that look there for their ingredient."""

from __future__ import annotations

import pytest

from meshpace import engine
from meshpace.study import registry
from meshpace.study.model import AS_IS, Cell, Condition, Effort, Study
from meshpace.study.verdicts import CLAIMS

TAHOE, AP = "tahoe", "tcp-ap"
RETRIES = Condition("static", "mesh, 4 attempts")
NAMES = {study.name: study for study in registry.STUDIES}
SWITCHES = [study for name, study in NAMES.items() if name.startswith("byu-switches-")]
HOSTS = (0.0, 1.0, 2.5)
"""H1: what hosts take at least, ms."""


@pytest.mark.parametrize("study", SWITCHES, ids=lambda study: study.name)
def test_each_switch_changes_somebody_and_nobody_twice_alike(study: Study) -> None:
    """What two switches make of all the schemes' runs differs; what a switch is not about is one run for all."""
    seen = {}
    for point in study.axis.points:
        runs = tuple(study.job(Cell(RETRIES, scheme, point.label), 1, Effort.QUICK) for scheme in study.schemes)
        for run in runs:
            engine.resolve(run)
        assert runs not in seen, f"{point.label} is {seen.get(runs)}"
        seen[runs] = point.label
    as_is = next(runs for runs, label in seen.items() if label == AS_IS)
    of_control = [runs[0] for runs, label in seen.items() if label.startswith(("P", "W", "D"))]
    assert study.schemes[0] == TAHOE
    assert set(of_control) == {as_is[0]}


def test_floors_are_moved_whole() -> None:
    study = NAMES["byu-switches-par"]
    job = study.job(Cell(RETRIES, TAHOE, "M3: floors 60 m apart"), 1, Effort.QUICK)
    heights = {node["id"][0]: node["y"] for node in engine.resolve(job)["mesh"]}
    assert heights == {"a": 0, "b": 60}
    job = study.job(Cell(RETRIES, TAHOE, "M3: the second floor the other way"), 1, Effort.QUICK)
    ways = [flow["path"] for flow in engine.resolve(job)["flows"]]
    assert ways == [[f"a{i}" for i in range(5)], [f"b{i}" for i in range(4, -1, -1)]]


def test_hosts_take_their_time() -> None:
    study = NAMES["byu-host-c4"]
    found = {
        time: engine.resolve(study.job(Cell(RETRIES, AP, f"1 flow, {time:g} ms"), 1, Effort.QUICK))[
            "processing_delay_s"
        ]
        for time in HOSTS
    }
    assert found == {time: pytest.approx(time / 1000) for time in HOSTS}


def test_claims_look_for_their_ingredient_where_their_schemes_are_run() -> None:
    claims = [claim for claim in CLAIMS if claim.cause is not None and claim.cause.startswith("byu-")]
    assert len(claims) > 60
    for claim in claims:
        first, switches = claim.asks[0], NAMES[claim.cause or ""]
        assert set(first.measure.schemes) <= set(switches.schemes), claim.id
        assert first.studies[0].split("-")[2] == switches.name.split("-")[2], claim.id
        assert NAMES[first.studies[0]].scenario == switches.scenario, claim.id
