"""Routes of kernels that forward: what netlink says, the ways they make, and the daemons' configurations."""

from __future__ import annotations

import struct
from ipaddress import IPv4Address
from pathlib import Path

import pytest

from meshpace.emulation import daemons
from meshpace.emulation.daemons import DAEMONS
from meshpace.emulation.record import EmulationError, Host
from meshpace.emulation.routes import Change, Route, complete, parse, ways

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


def test_complete_is_from_each_to_each() -> None:
    both = [route("n0", "n1", None), route("n1", "n0", None)]
    assert complete(both, ["n0", "n1"])
    assert not complete(both, ["n0", "n1", "n2"])


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
