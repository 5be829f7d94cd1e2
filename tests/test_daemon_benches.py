"""The benchmarks of routing daemons: their meshes and ways by hand, what they hold to be a lost way, their twins."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

import daemon_runs
import lost_routes_emulated
from daemon_meshes import MESHES, cost_of, least
from daemon_runs import BEFORE_S, LEAVES_OUT_S, Cell
from daemon_stretches import changes_of_ways, longest_stretch
from daemon_stretches import simulated as simulated_along
from emulated_daemons import cells, over_least
from lost_routes_emulated import breaks, hellos
from lost_routes_places import BEGIN_S, SENDERS, longest
from lost_routes_simulated import PROTOCOLS, simulated
from meshpace import engine
from meshpace.engine import Job


def change(at_s: float, node: str, to: str, via: str | None) -> dict[str, Any]:
    """A route that comes; that goes, without a neighbour."""
    return {"at_s": at_s, "node": node, "to": to, "via": via, "gone": via is None}


def result(*changes: dict[str, Any]) -> dict[str, Any]:
    return {"daemon": {"changes": list(changes)}}


TWO_HOPS = lost_routes_emulated.Cell("babeld", "cubic", 2, 30)
END_S = TWO_HOPS.end_s
UP = [change(9, "n0", "B", "n1"), change(9, "n1", "B", "n2"), change(9, "n1", "n0", "n0"), change(9, "n2", "n0", "n1")]


def test_a_way_is_lost_while_a_node_of_it_has_no_route() -> None:
    assert list(breaks(TWO_HOPS, result(*UP))) == []
    turns = [*UP, change(40, "n1", "B", None), change(40.5, "n0", "B", None), change(43, "n0", "B", "n1")]
    back = [change(44, "n1", "B", "n2"), change(50, "n0", "n2", None), change(51, "n2", "n0", None)]
    assert list(breaks(TWO_HOPS, result(*turns, *back))) == [(40, 44), (51, END_S)]
    before = [*UP, change(20, "n1", "n0", None), change(21, "n1", "n0", "n0"), change(30, "n2", "n0", None)]
    assert list(breaks(TWO_HOPS, result(*before, change(END_S + 1, "n2", "n0", "n1")))) == [(BEGIN_S, END_S)]
    assert list(breaks(TWO_HOPS, result(*UP[1:]))) == [(BEGIN_S, END_S)], "it never was"
    assert [longest(map(bool, quiet)) for quiet in ([], [0, 0], [1, 0, 1, 1, 0, 1])] == [0, 0, 2]


def test_the_share_of_hellos_is_of_those_that_neighbours_were_meant_to_hear() -> None:
    rows = [("n0", 10, 9), ("n1", 10, 12), ("n2", 10, 9)]
    ethernet = [{"node": node, "sent_to_all": sent, "received_to_all": came} for node, sent, came in rows]
    assert hellos(2, {"ethernet": ethernet}) == 30 / 40


@pytest.mark.parametrize("sender", SENDERS)
def test_every_download_can_be_emulated_and_simulated(sender: str, tmp_path: Path) -> None:
    cell = lost_routes_emulated.Cell("babeld", sender, 3, 30)
    resolved = engine.resolve(
        Job(cell.name(1), lost_routes_emulated.scenario(cell, tmp_path, Path("meshpaced")).encode())
    )
    frames = {row["node"] for row in resolved["emulated_hosts"] if row["frames"]}
    assert frames == ({"n0", "n3"} if sender == "gap" else {"n0"})
    outcome = simulated("static", sender, 3, 10, 1)
    assert (outcome.broken, outcome.silence_s < 1) == (0, True)
    assert 500e3 < outcome.goodput_bps < 1800e3, "of some 2 Mbit/s that two hops carry"


def test_of_protocols_only_those_that_ask_the_mac_lose_routes_that_are_there() -> None:
    broken = {protocol: simulated(protocol, "cubic", 6, 30, 1).broken > 0 for protocol in PROTOCOLS}
    assert broken == {"static": False, "AODV of ns-2": True, "AODV of RFC 3561": True, "DSDV": False, "Babel": False}


def test_ways_by_hand() -> None:
    hops = least(MESHES["grid"].costs())
    assert (hops["g0_0", "g3_3"], hops["g0_0", "g0_1"], len(hops)) == (6, 1, 256)
    assert least(MESHES["chain"].costs())["n0", "n6"] == 6
    etx = MESHES["village"].costs()
    assert etx["church", "inn"] == etx["inn", "church"] > 2
    assert least(etx)["church", "inn"] < etx["church", "inn"]
    assert cost_of(["g0_0", "g0_1", "g1_1"], MESHES["grid"].costs()) == 2
    rows = [("n0", "n6", "n1")] + [(f"n{number}", "n6", f"n{number + 1}") for number in range(1, 6)]
    routes = [
        {"node": node, "to": to, "via": via, "device": "mesh0", "protocol": "babel", "hops": 1}
        for node, to, via in rows
    ]
    assert over_least("chain", {"daemon": {"routes": routes}}) == 1


@pytest.mark.parametrize("part", ["rest", "load", "many", "outage"])
def test_every_run_of_daemons_can_be_read(part: str, tmp_path: Path) -> None:
    for cell in cells(part, ["babeld"], list(MESHES)):
        resolved = engine.resolve(Job(cell.name(1), daemon_runs.scenario(cell, tmp_path / "out").encode()))
        assert len(resolved["mesh"]) in {5, 7, 14, 16, 30}
    assert len({cell.name(1) for cell in cells(part, ["babeld", "bird"], list(MESHES))}) == (2 if part == "many" else 6)


def test_a_simulated_protocol_at_rest() -> None:
    found = {protocol: daemon_runs.at_rest("chain", protocol, 1) for protocol in daemon_runs.PROTOCOLS}
    assert [found[protocol].frames for protocol in ("static, ETX", "AODV")] == [0, 0]
    assert all(found[protocol].frames > 0.05 for protocol in ("DSDV", "Babel"))
    first = {protocol: one.first_s or 99 for protocol, one in found.items()}
    assert first["static, ETX"] < first["AODV"] < 1 < first["Babel"] < 40


def test_a_transfer_under_a_simulated_protocol() -> None:
    found = {mesh: daemon_runs.under_protocol(mesh, "static, ETX", range(1, 2))[0] for mesh in MESHES}
    assert all(400 < goodput < 4000 for goodput in found.values()), found


def test_a_stretch_of_a_transfer_has_one_way_there_and_one_back() -> None:
    cell = Cell("load", "chain", "babeld")
    nodes = [f"n{number}" for number in range(7)]
    up = [change(20, node, "n6", onward) for node, onward in itertools.pairwise(nodes)]
    down = [change(20, node, "n0", onward) for node, onward in itertools.pairwise(nodes[::-1])]
    begin = BEFORE_S + LEAVES_OUT_S
    told = {"begins_s": begin, "seconds": [float(second) for second in range(30)]}
    both = (nodes, nodes[::-1])
    assert longest_stretch(cell, told | result(*up, *down)) == (both, told["seconds"])
    assert longest_stretch(cell, told | result(*up)) is None, "nothing comes back"
    turns = [change(begin + 8.5, "n2", "n6", None), change(begin + 12.5, "n2", "n6", "n3")]
    assert longest_stretch(cell, told | result(*up, *down, *turns)) == (both, [*map(float, range(15, 30))])
    early = [change(begin + 22.5, "n2", "n6", None), change(begin + 29.5, "n2", "n6", "n3")]
    assert longest_stretch(cell, told | result(*up, *down, *early)) == (both, [*map(float, range(21))])
    assert changes_of_ways(cell, told | result(*up, *down, *turns)) == 0, "it came back"
    village = Cell("load", "village", "babeld")
    there = [change(20, "church", "school", "barn"), change(20, "barn", "school", "school")]
    back = [change(20, "school", "church", "hall"), change(20, "hall", "church", "church")]
    others = [change(20, "hall", "school", "school"), change(begin + 3, "church", "school", "hall")]
    after = change(begin + 40, "church", "school", "barn")
    assert changes_of_ways(village, told | result(*there, *back, *others, after)) == 1
    assert 500 < simulated_along(cell, both, 1) < 700
