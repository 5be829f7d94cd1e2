"""The thesis's stand-ins for its building (docs/experiments/thesis.md, section 2)."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

from meshpace import engine
from meshpace.keyed import read
from meshpace.project import paper_directory, scenario_directory
from meshpace.study import registry
from meshpace.study.model import AS_IS, Cell, Condition, Effort, Settings
from meshpace.study.outcome import Outcome
from meshpace.study.quantities import FLOW_GOODPUT, Quantity
from meshpace.study.written.families import shared
from papers import words

PAPER = words("byu")
STUDIES = {study.name: study for study in registry.STUDIES}
VALUES = shared([read(paper_directory() / "byu/paper.toml")]).values
RETRIES = Condition("static", "mesh, 4 attempts")
CONDITIONS = (Condition("static", "ideal"), Condition("static", "mesh"), RETRIES)


def chain(hops: int) -> list[list[str]]:
    return [[f"n{i}" for i in range(hops + 1)]]


SHORT = ["mesh2", "mesh1", "mesh14"]
DRAWINGS = {
    "c9": chain(9), "c4": chain(4), "c1": chain(1), "par": [[f"{floor}{i}" for i in range(5)] for floor in "ab"],
    "asl": [["mesh4", "mesh1", "r1", "r2", "mesh11"], SHORT],
    "asl-b": [["mesh4", "mesh1", "mesh14", "r2", "mesh11"], SHORT], "ass": [["mesh4", "mesh1"], SHORT],
}  # fmt: skip
"""The ways of the flows of each topology of the thesis."""


def uneven(topology: str) -> dict[tuple[str, str], float]:
    """The losses of the catalogue for a topology; over one hop they are alike."""
    if topology == "c1":
        return {("n0", "n1"): 2e-4, ("n1", "n0"): 2e-4}
    return {(link["from"], link["to"]): link["loss"] for link in VALUES[f"{topology}-uneven"]}


def resolve(topology: str, settings: Settings = ()) -> dict[str, Any]:
    scenario = f"byu-{topology}.toml"
    text = (scenario_directory() / scenario).read_bytes()
    return engine.resolve(engine.Job(scenario, text, tuple(f"{k}={v}" for k, v in settings), "tahoe", 1))


@pytest.mark.parametrize("topology", DRAWINGS)
@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda condition: condition.reception)
def test_flows_take_the_ways_of_the_drawings(topology: str, condition: Condition) -> None:
    profiles = dict(STUDIES[f"byu-ap-{topology}"].receptions)
    resolved = resolve(topology, profiles[condition.reception])
    assert [flow["path"] for flow in resolved["flows"]] == DRAWINGS[topology]
    assert all(flow["bytes"] == 1_000_000 and flow["start_s"] == 0 for flow in resolved["flows"])
    radio = resolved["radio"]
    retries = 4 if condition is RETRIES else 0
    assert (radio["retry_short"], radio["retry_long"], radio["rts"], radio["standard"]) == (
        retries,
        0,
        "never",
        "802.11a",
    )
    lost = {(link["from"], link["to"]): link["loss"] for link in resolved["radio_links"]}
    assert lost == ({} if condition.reception == "ideal" else uneven(topology))
    assert all(link["loss_length"] == PAPER.MPDU for link in resolved["radio_links"])
    there = {link for path in DRAWINGS[topology] for link in itertools.pairwise(path)}
    assert set(lost) <= there | {(b, a) for a, b in there}


def test_the_table_of_the_long_chain_loses_what_the_catalogue_says() -> None:
    there = [uneven("c9")[link] for link in itertools.pairwise(DRAWINGS["c9"][0])]
    arrives = math.prod(1 - loss for loss in there)
    assert 1 - arrives == pytest.approx(0.0085, rel=0.01)
    assert 691 * (1 - arrives) == pytest.approx(5.9, rel=0.01)


def test_floors_are_within_each_others_capture() -> None:
    """35.6 m for links of 20 m: only the node above spoils a frame, 30 m away; its neighbours are 36.1 m away."""
    radius = 20 * 10 ** (10 / 40)
    assert 30 < radius < math.hypot(20, 30)
    places = {node["id"]: (node["x"], node["y"]) for node in resolve("par")["mesh"]}
    assert math.dist(places["a2"], places["b2"]) == 30
    assert resolve("par")["radio"]["path_loss_exponent"] == 4


def test_settings_of_reach_losses_and_flows() -> None:
    study = STUDIES["byu-cal-c9"]
    resolved = engine.resolve(study.job(Cell(study.conditions[0], "tahoe", "margin, L1, 5 flows"), 1, Effort.QUICK))
    assert (resolved["radio"]["tx_range_m"], resolved["radio"]["cs_range_m"]) == (50, 105)
    assert len(resolved["flows"]) == 5
    assert len(resolved["radio_links"]) == 18
    assert {link["loss"] for link in resolved["radio_links"]} == {2e-4}
    assert PAPER.losses({("n0", "n1"): 0.0}) == ()


def test_the_misfit_is_that_of_the_nine_means() -> None:
    """Made of numbers: every mean as printed but C9's, e times too great at one pair and missing at another."""
    chains = [STUDIES[f"byu-cal-{chain}"] for chain in PAPER.PRINTED]
    means = dict(zip((study.name for study in chains), PAPER.PRINTED.values(), strict=True))

    class Made(Outcome):
        def values(self, cell: Cell, quantity: Quantity) -> list[float | None]:
            assert quantity is FLOW_GOODPUT
            printed = means[self.study.name][PAPER.COUNTS.index(int(cell.point.split()[-2]))]
            if self.study is chains[0] and cell.point.startswith("one, L3"):
                return [None]
            factor = math.e if self.study is chains[0] and cell.point.startswith("margin, L2") else 1.0
            return [0.5 * factor * printed, None, 1.5 * factor * printed]

    found = PAPER.misfit({study.name: Made(study, Effort.QUICK, {}, {}) for study in chains})
    assert len(found) == 11
    assert ("one", "L3") not in found
    assert list(found)[-1] == ("margin", "L2")
    assert found["margin", "L2"] == pytest.approx(3 / 9)
    assert sum(found.values()) == pytest.approx(3 / 9)


def test_each_assumption_is_dropped_by_itself() -> None:
    """Points resolve, differ from each other, and touch the radio, its links and heights only."""
    for study in (study for name, study in STUDIES.items() if name.startswith("byu-assumptions-")):
        jobs = {cell.point: job for cell, job in study.jobs(Effort.QUICK) if cell.scheme == "tahoe" and job.seed == 1}
        plain = set(jobs[AS_IS].overrides)
        seen = {jobs[AS_IS].overrides}
        for label, job in jobs.items():
            changed = {override.partition("=")[0] for override in set(job.overrides) ^ plain}
            assert label == AS_IS or changed
            assert all(key.startswith(("radio.", "radio_link", "node.")) for key in changed), label
            assert label == AS_IS or job.overrides not in seen, label
            seen.add(job.overrides)
