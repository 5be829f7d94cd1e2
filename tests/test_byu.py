"""The thesis's stand-ins for its building (docs/experiments/thesis.md, section 2)."""

from __future__ import annotations

import math
from typing import Any

import pytest

from meshpace import engine
from meshpace.experiments.byu import assumptions
from meshpace.experiments.byu.cal import CHAINS, PRINTED, STUDIES, misfit
from meshpace.experiments.byu.study import COUNTS
from meshpace.experiments.byu.topologies import (
    C9,
    CONDITIONS,
    MPDU,
    PAR,
    RETRIES,
    TOPOLOGIES,
    Topology,
    flows,
    losses,
    reach,
)
from meshpace.project import scenario_directory
from meshpace.study.model import AS_IS, Cell, Condition, Effort, Settings
from meshpace.study.outcome import Outcome
from meshpace.study.quantities import FLOW_GOODPUT, Quantity


def resolve(topology: Topology, settings: Settings = ()) -> dict[str, Any]:
    text = (scenario_directory() / topology.scenario).read_bytes()
    return engine.resolve(engine.Job(topology.scenario, text, tuple(f"{k}={v}" for k, v in settings), "tahoe", 1))


@pytest.mark.parametrize("topology", TOPOLOGIES, ids=lambda topology: topology.name)
@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda condition: condition.reception)
def test_flows_take_the_ways_of_the_drawings(topology: Topology, condition: Condition) -> None:
    profiles = dict(topology.profiles)
    resolved = resolve(topology, profiles[condition.reception])
    assert [tuple(flow["path"]) for flow in resolved["flows"]] == list(topology.paths)
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
    assert lost == ({} if condition.reception == "ideal" else dict(topology.uneven))
    assert all(link["loss_length"] == MPDU for link in resolved["radio_links"])
    assert set(lost) <= set(topology.links)


def test_the_table_of_the_long_chain_loses_what_the_catalogue_says() -> None:
    there = [C9.uneven[link] for link in C9.links[:9]]
    arrives = math.prod(1 - loss for loss in there)
    assert 1 - arrives == pytest.approx(0.0085, rel=0.01)
    assert 691 * (1 - arrives) == pytest.approx(5.9, rel=0.01)


def test_floors_are_within_each_others_capture() -> None:
    """35.6 m for links of 20 m: only the node above spoils a frame, 30 m away; its neighbours are 36.1 m away."""
    radius = 20 * 10 ** (10 / 40)
    assert 30 < radius < math.hypot(20, 30)
    places = {node["id"]: (node["x"], node["y"]) for node in resolve(PAR)["mesh"]}
    assert math.dist(places["a2"], places["b2"]) == 30
    assert resolve(PAR)["radio"]["path_loss_exponent"] == 4


def test_settings_of_reach_losses_and_flows() -> None:
    resolved = resolve(C9, (*reach("margin"), *losses(C9.even(2e-4)), *flows(5)))
    assert (resolved["radio"]["tx_range_m"], resolved["radio"]["cs_range_m"]) == (50, 105)
    assert len(resolved["flows"]) == 5
    assert len(resolved["radio_links"]) == 18
    assert losses(C9.even(0.0)) == ()


def test_the_misfit_is_that_of_the_nine_means() -> None:
    """Made of numbers: every mean as printed but C9's, e times too great at one pair and missing at another."""
    means = {study.name: PRINTED[topology.name] for study, topology in zip(STUDIES, CHAINS, strict=True)}

    class Made(Outcome):
        def values(self, cell: Cell, quantity: Quantity) -> list[float | None]:
            assert quantity is FLOW_GOODPUT
            printed = means[self.study.name][COUNTS.index(int(cell.point.split()[-2]))]
            if self.study is STUDIES[0] and cell.point.startswith("one, L3"):
                return [None]
            factor = math.e if self.study is STUDIES[0] and cell.point.startswith("margin, L2") else 1.0
            return [0.5 * factor * printed, None, 1.5 * factor * printed]

    found = misfit({study.name: Made(study, Effort.QUICK, {}, {}) for study in STUDIES})
    assert len(found) == 11
    assert ("one", "L3") not in found
    assert list(found)[-1] == ("margin", "L2")
    assert found["margin", "L2"] == pytest.approx(3 / 9)
    assert sum(found.values()) == pytest.approx(3 / 9)


def test_each_assumption_is_dropped_by_itself() -> None:
    """Points resolve, differ from each other, and touch the radio, its links and heights only."""
    for study in assumptions.STUDIES:
        jobs = {cell.point: job for cell, job in study.jobs(Effort.QUICK) if cell.scheme == "tahoe" and job.seed == 1}
        plain = set(jobs[AS_IS].overrides)
        seen = {jobs[AS_IS].overrides}
        for label, job in jobs.items():
            changed = {override.partition("=")[0] for override in set(job.overrides) ^ plain}
            assert label == AS_IS or changed
            assert all(key.startswith(("radio.", "radio_link", "node.")) for key in changed), label
            assert label == AS_IS or job.overrides not in seen, label
            seen.add(job.overrides)
