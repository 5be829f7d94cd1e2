"""The thesis's stand-ins for its building (docs/experiments/thesis.md, section 2)."""

from __future__ import annotations

import math
from typing import Any

import pytest

from meshpace import engine
from meshpace.project import scenario_directory
from meshpace.study.byu_topologies import C9, CONDITIONS, MPDU, PAR, TOPOLOGIES, Topology, flows, losses, reach
from meshpace.study.model import Condition, Settings


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
    assert (radio["retry_short"], radio["retry_long"], radio["rts"], radio["standard"]) == (0, 0, "never", "802.11a")
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
