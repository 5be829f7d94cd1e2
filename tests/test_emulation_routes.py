"""Routes of kernels that forward: what netlink says, the ways they make, and the daemons' configurations."""

from __future__ import annotations

import struct
import tomllib
from ipaddress import IPv4Address
from pathlib import Path

import pytest

from meshpace import engine
from meshpace.emulation import daemons
from meshpace.emulation.converging import Standing
from meshpace.emulation.daemons import DAEMONS
from meshpace.emulation.record import EmulationError, Host
from meshpace.emulation.routes import Change, NextHops, Route, parse, ways
from meshpace.emulation.saved import save
from meshpace.engine import Job

NAMES = {"10.77.0.2": "n0", "10.77.0.3": "n1", "10.77.0.4": "n2"}
NEW, DELETED = 24, 25
MAIN, LOCAL = 254, 255
BABEL, KERNEL = 42, 2
UNICAST, UNREACHABLE = 1, 7


def message(
    kind: int, to: str, bits: int, via: str | None = None, *, table: int = MAIN, by: int = BABEL, type_: int = UNICAST
) -> bytes:
    """As the kernel sends it: nlmsghdr, rtmsg, RTA_TABLE, RTA_DST, RTA_GATEWAY."""
    attributes = struct.pack("=HHI", 8, 15, table) + struct.pack("=HH", 8, 1) + IPv4Address(to).packed
    if via is not None:
        attributes += struct.pack("=HH", 8, 5) + IPv4Address(via).packed
    body = struct.pack("=BBBBBBBBI", 2, bits, 0, 0, table, by, 0, type_, 0) + attributes
    return struct.pack("=IHHII", 16 + len(body), kind, 0, 0, 0) + body


def test_what_netlink_says_of_routes() -> None:
    told = [
        message(NEW, "10.77.0.4", 32, "10.77.0.3"),
        message(NEW, "10.9.0.0", 16, "10.77.0.9"),
        message(NEW, "10.77.0.2", 32, table=LOCAL, by=KERNEL),
        message(NEW, "10.77.0.0", 16, by=KERNEL),
        message(DELETED, "10.77.0.4", 32, "10.77.0.3"),
        message(NEW, "10.77.0.4", 32, type_=UNREACHABLE),
        message(DELETED, "10.77.0.4", 32, type_=UNREACHABLE),
        message(99, "10.77.0.4", 32),
    ]
    assert list(parse(b"".join(told), 7.0, "n0", NAMES)) == [
        Change(7.0, "n0", "n2", "n1", gone=False),
        Change(7.0, "n0", "10.9.0.0/16", "10.77.0.9", gone=False),
        Change(7.0, "n0", "n2", "n1", gone=True),
        Change(7.0, "n0", "n2", None, gone=True),
    ]


def test_damaged_messages_say_nothing() -> None:
    whole = message(NEW, "10.77.0.4", 32, "10.77.0.3")
    for cut in range(len(whole) - 12):
        assert all(change.to != "n2" for change in parse(whole[:cut], 0.0, "n0", NAMES)), cut
    assert list(parse(bytes(64), 0.0, "n0", NAMES)) == []


def route(node: str, to: str, via: str | None) -> Route:
    return Route(node, to, via, "mesh0", "babel")


def test_ways_follow_the_next_hops_and_loops_end_nowhere() -> None:
    routes = [
        route("n0", "n2", "n1"),
        route("n1", "n2", None),
        route("n0", "n3", "n1"),
        route("n1", "n3", "n0"),
        route("n2", "n0", "n1"),
    ]
    assert ways(routes) == {
        ("n0", "n2"): ["n0", "n1", "n2"],
        ("n1", "n2"): ["n1", "n2"],
        ("n0", "n3"): None,
        ("n1", "n3"): None,
        ("n2", "n0"): None,
    }


def changes(at: float, *rows: tuple[str, str, str | None], gone: bool = False) -> list[Change]:
    return [Change(at, node, to, via, gone) for node, to, via in rows]


ALL = (("n0", "n1", "n1"), ("n1", "n0", "n0"), ("n1", "n2", "n2"), ("n2", "n1", "n1"), ("n0", "n2", "n1"))
LAST = ("n2", "n0", "n1")


def test_routes_stand_once_all_have_led_for_a_while_though_some_turn() -> None:
    standing = Standing(["n0", "n1", "n2"])
    assert standing.look(1.0, changes(1.0, *ALL)) is None
    assert standing.look(6.5, []) is None, "n2 has no way to n0"
    assert standing.look(7.0, changes(6.9, LAST)) is None
    # One turns: gone at one look, there again at the next.
    assert standing.look(9.0, changes(9.0, LAST, gone=True)) is None
    assert standing.look(9.2, changes(9.1, LAST)) is None
    assert standing.look(11.8, []) is None
    assert standing.look(11.95, []) == 6.9


def test_next_hops_by_where_they_lead() -> None:
    next_hops = NextHops()
    for change in [*changes(0.0, *ALL), *changes(1.0, ("n0", "n2", "n9"), ("n1", "n0", None), gone=True)]:
        next_hops.apply(change)
    assert next_hops.by_goal() == {"n1": [("n0", "n1"), ("n2", "n1")], "n2": [("n0", "n1"), ("n1", "n2")]}


def test_a_route_that_is_lost_or_loops_begins_it_anew() -> None:
    standing = Standing(["n0", "n1", "n2"])
    standing.look(0.0, changes(0.0, *ALL, LAST))
    standing.look(3.0, changes(3.0, LAST, gone=True))
    standing.look(3.2, [])
    assert standing.look(5.5, []) is None
    assert standing.look(6.0, changes(6.0, LAST)) is None
    # What goes is not what has come meanwhile.
    assert standing.look(6.2, changes(6.1, ("n2", "n0", "n9"), gone=True)) is None
    assert standing.look(11.1, []) == 6.0
    loops = Standing(["n0", "n1", "n2"])
    loops.look(0.0, changes(0.0, *ALL, ("n2", "n0", "n1"), ("n1", "n0", "n2")))
    assert loops.look(10.0, []) is None


def test_where_some_cannot_reach_others_routes_stand_when_nothing_changes() -> None:
    standing = Standing(["n0", "n1", "far"])
    assert standing.look(30.0, []) is None, "there are none"
    standing.look(30.0, changes(30.0, ("n0", "n1", "n1"), ("n1", "n0", "n0")))
    assert standing.look(49.0, []) is None
    assert standing.look(50.0, []) == 30.0


GATEWAY = Host("a b/c", "mp-x-a_b_c", "10.77.0.5", "fd77::a4d:5", gateway=True, radios=2)


def test_a_configuration_names_every_radio_and_a_gateway_s_way_out() -> None:
    babeld = DAEMONS["babeld"].configuration(GATEWAY, "7")
    assert babeld[:2] == ["interface mesh0 type wireless", "interface mesh1 type wireless"]
    assert "redistribute local ip 10.77.0.5/32 eq 32 allow" in babeld
    assert "redistribute proto 4 allow" in babeld
    assert babeld[-1] == "redistribute deny", "nothing else"
    bird = "\n".join(DAEMONS["bird"].configuration(GATEWAY, "7"))
    for part in (
        '"7.log"',
        "router id 10.77.0.5;",
        'interface "mesh1" { type wireless; };',
        "import where krt_source = 4;",
    ):
        assert part in bird
    inside = Host("n1", "mp-x-n1", "10.77.0.3", "fd77::a4d:3", radios=1)
    assert "proto 4" not in "\n".join(line for name in DAEMONS for line in DAEMONS[name].configuration(inside, "7"))


def test_a_daemon_that_is_not_there_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(daemons, "_PLACES", ())
    with pytest.raises(EmulationError, match=r"--daemon bird: bird is missing \(Debian: bird2\)"):
        DAEMONS["bird"].found()


CHAIN = b"""
measure = { duration = "20s", warmup = "2s" }
topology = { kind = "chain", hops = 2 }
routing = { protocol = "aodv" }
radio.mac_overhead = "36B"
[scenario]
name = "a \\"chain\\""
[[emulate.node]]
node = "n0"
[[flow]]
from = "n2"
to = "n0"
scheme = "newreno"
"""


def transfer(source: str, sink: str) -> dict[str, str]:
    return {"from": source, "to": sink, "app": "iperf3", "scheme": "kernel-cubic"}


ROUTES = [route("n0", "n2", "n1"), route("n1", "n2", None), route("n2", "n0", "n1"), route("n1", "n0", None)]


def test_saved_routes_are_paths_of_a_scenario_that_runs(tmp_path: Path) -> None:
    path = tmp_path / "saved.toml"
    job = Job("chain.toml", CHAIN, ("radio.rate=2Mbps", "flow.0.start=3s"))
    save(path, job, {"flows": [transfer("n0", "n2")]}, ROUTES)
    found = tomllib.loads(path.read_text())
    assert found["routing"] == {"protocol": "static"}
    assert "emulate" not in found
    assert found["radio"] == {"mac_overhead": "36B", "rate": "2Mbps"}
    assert found["scenario"]["name"] == 'a "chain"'
    first, second = found["flow"]
    assert (first["scheme"], first["start"], first["path"]) == ("newreno", "3s", ["n2", "n1", "n0"])
    assert (second["scheme"], second["path"]) == ("linux-cubic", ["n0", "n1", "n2"])
    assert found["scheme"] == {"linux-cubic": {"small_queue": False}}
    (result,) = engine.run_many([Job(str(path), path.read_bytes())])
    assert all(flow["goodput_bps"] > 0 for flow in result["flows"])


def test_a_way_back_of_its_own_is_saved(tmp_path: Path) -> None:
    path = tmp_path / "saved.toml"
    grid = b"""
topology = { kind = "grid", rows = 2, cols = 2 }
measure = { duration = "5s", warmup = "1s" }
[[emulate.node]]
node = "g0_0"
"""
    way = [route("g0_0", "g1_1", "g0_1"), route("g0_1", "g1_1", None)]
    back = [route("g1_1", "g0_0", "g1_0"), route("g1_0", "g0_0", None)]
    save(path, Job("grid.toml", grid), {"flows": [transfer("g0_0", "g1_1")]}, [*way, *back])
    (flow,) = tomllib.loads(path.read_text())["flow"]
    assert (flow["path"], flow["path_back"]) == (["g0_0", "g0_1", "g1_1"], ["g1_1", "g1_0", "g0_0"])
    (result,) = engine.run_many([Job(str(path), path.read_bytes())])
    assert result["flows"][0]["goodput_bps"] > 1e5
    with pytest.raises(EmulationError, match="no way from g1_1 to g0_0"):
        save(path, Job("grid.toml", grid), {"flows": [transfer("g0_0", "g1_1")]}, way)


def test_routes_that_lead_nowhere_are_not_saved(tmp_path: Path) -> None:
    path = tmp_path / "saved.toml"
    job = Job("chain.toml", CHAIN)
    with pytest.raises(EmulationError, match="no way from n2 to n0"):
        save(path, job, {"flows": []}, ROUTES[:2])
    with pytest.raises(EmulationError, match="found no transfer"):
        save(path, job._replace(text=CHAIN.partition(b"[[flow]]")[0]), {"flows": []}, ROUTES)
    assert not path.exists()
