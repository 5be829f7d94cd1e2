"""Gateways as they stand: a port of a bridge, a bridge that is the gateway, several mesh interfaces, two gateways."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from clock import bound
from daemon import Daemon
from net import MESHPACED, Net, client, ip, run, wait_for
from test_plausible import doubts
from traffic import Bulk

FAST: dict[str, Any] = {"rate": "54Mbps", "hops": 1}
FOUND_S = bound(2.0, 10.0)
"""How soon a connection that comes back is found, on a quiet machine and on a busy one."""


def paced(daemon: Daemon) -> list[dict[str, Any]]:
    """Its flows that are paced by round trips of their own."""
    return [flow for flow in daemon.flows() if flow["paced"] and flow["samples"] > 0 and flow["idle_s"] < 0.5]


def names(daemon: Daemon, interfaces: list[str], subnets: list[str] | None = None) -> None:
    """Has it take these for the mesh's."""
    quoted = ", ".join(f'"{name}"' for name in interfaces)
    prefixes = ", ".join(f'"{prefix}"' for prefix in subnets or [])
    text = daemon.file.read_text(encoding="utf-8").splitlines()
    at = next(n for n, line in enumerate(text) if line.startswith("interfaces ="))
    text = [line for line in text if not line.startswith("subnets =")]
    text[at] = f"interfaces = [{quoted}]\nsubnets = [{prefixes}]"
    daemon.file.write_text("\n".join(text) + "\n", encoding="utf-8")
    before = len(daemon.said())
    daemon.reload()
    # The rules follow at the next look. A connection that moves before them is not seen for a moment, and then found
    # again in its middle.
    wait_for(lambda: "replaced" in daemon.said()[before:])


def test_bridges_and_several_interfaces(tmp_path: Path) -> None:
    """A port of br-lan, routed; a host that moves to another interface; both sides bridged, with br_netfilter."""
    with Net(tmp_path, None, room="t") as net, Daemon(net, "pace", **FAST) as daemon:
        ip(net.gw, "link add br-lan type bridge", "link set br-lan up", "link set mesh0 master br-lan")
        ip(net.gw, "address flush dev mesh0", "address add 10.77.0.1/16 dev br-lan")
        told = ("--interface", "mesh0", "--rate", "54Mbps")
        made = run("ip", "netns", "exec", net.gw, MESHPACED, "init", "--print", *told)
        assert 'interfaces = ["br-lan"]' in made
        assert "br-lan (the bridge of mesh0, as told)" in made
        with Bulk(net):
            wait_for(lambda: doubts(daemon) == {"interface-below"})
            assert "mesh0 is a part of br-lan" in daemon.status()["doubts"][0]["found"]
            assert daemon.flows() == []
            names(daemon, ["br-lan"])
            wait_for(lambda: paced(daemon))
        wait_for(lambda: not doubts(daemon))

        # Another interface toward the mesh, by which the host is reached from now on.
        run("ip", "link", "add", "c1", "netns", net.cli, "type", "veth", "peer", "mesh1", "netns", net.gw)
        ip(net.cli, "link set c1 up")
        ip(net.gw, "address add 10.77.0.1/16 dev mesh1 noprefixroute", "link set mesh1 up")
        run("ip", "netns", "exec", net.gw, "sysctl", "-qw", "net.ipv4.conf.all.rp_filter=0")
        names(daemon, ["br-lan", "mesh1"])
        with Bulk(net) as bulk:
            wait_for(lambda: paced(daemon))
            before = daemon.status()["flows"]["opened"]
            ip(net.gw, f"route add {client(4)}/32 dev mesh1")
            ip(net.cli, "route replace default via 10.77.0.1 dev c1 onlink")
            bulk.goes_on()
            samples = paced(daemon)[0]["samples"] if paced(daemon) else 0
            wait_for(lambda: any(flow["samples"] > samples for flow in paced(daemon)))
            assert daemon.status()["flows"]["opened"] == before, "the same connection"
        ip(net.gw, f"route del {client(4)}/32 dev mesh1")

        # The gateway is a bridge: only with br_netfilter the firewall sees what passes, and then by addresses alone.
        ip(net.gw, "link set up0 master br-lan")
        ip(net.srv, "address add 10.77.1.2/16 dev s0")
        ip(net.cli, "route flush cache", "link set c1 down", "route add default via 10.77.0.1")
        run("ip", "netns", "exec", net.gw, "sysctl", "-qw", "net.bridge.bridge-nf-call-iptables=1")
        names(daemon, [], ["10.77.0.0/24"])
        ip(net.srv, "route replace 10.77.0.0/16 dev s0 src 10.77.1.2")
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(__import__("traffic").SERVER, 4, "10.77.1.2")
            with Bulk(net):
                wait_for(lambda: paced(daemon))
                run("ip", "netns", "exec", net.gw, "sysctl", "-qw", "net.bridge.bridge-nf-call-iptables=0")
                wait_for(lambda: not paced(daemon))


@contextmanager
def second_gateway(net: Net) -> Iterator[Daemon]:
    """Another gateway between the same server and the same mesh, with a daemon of its own."""
    gw = net.gw.replace("-gw", "-gw2")
    run("ip", "netns", "add", gw)
    try:
        run("ip", "netns", "exec", gw, "sysctl", "-qw", "net.ipv4.ip_forward=1")
        for name in (net.srv, net.gw, net.cli, gw):
            rp_filter = ["net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.default.rp_filter=0"]
            run("ip", "netns", "exec", name, "sysctl", "-qw", *rp_filter)
        run("ip", "link", "add", "s1", "netns", net.srv, "type", "veth", "peer", "up0", "netns", gw)
        run("ip", "link", "add", "c1", "netns", net.cli, "type", "veth", "peer", "mesh0", "netns", gw)
        ip(net.srv, "address add 10.2.0.2/24 dev s1", "link set s1 up")
        ip(net.cli, "address add 10.78.0.2/24 dev c1", "link set c1 up")
        ip(gw, "link set lo up", "address add 10.2.0.1/24 dev up0", "address add 10.78.0.1/24 dev mesh0")
        ip(gw, "link set up0 up", "link set mesh0 up", "route add 10.77.0.0/16 via 10.78.0.2")
        ip(gw, "route add 10.1.0.0/24 via 10.2.0.2")
        with Daemon(SimpleNamespace(folder=net.folder, gw=gw), "pace", **FAST) as daemon:  # type: ignore[arg-type]
            yield daemon
    finally:
        run("ip", "netns", "del", gw, check=False)


def test_connections_that_go_another_way_are_found_again(tmp_path: Path) -> None:
    """Acknowledgements go by the second gateway, then the data too, then all come back.

    The connection tracker calls invalid what it finds then; the gateways pace it all the same, and at once.
    """
    with (
        Net(tmp_path, None, room="t") as net,
        Daemon(net, "pace", **FAST) as first,
        second_gateway(net) as second,
        Bulk(net) as bulk,
    ):
        wait_for(lambda: paced(first))
        ip(net.cli, "route replace default via 10.78.0.1")
        # For longer than a window: from then on the tracker knows nothing of what passes.
        arrived = bulk.received
        wait_for(lambda: bulk.received > arrived + 3_000_000)
        assert doubts(first) <= {"one-sided", "rate", "round-trip"}

        ip(net.srv, f"route replace {client(4)}/32 via 10.2.0.1")
        found(second, first)
        ip(net.srv, f"route del {client(4)}/32")
        ip(net.cli, "route replace default via 10.77.0.1")
        found(first, second)


def found(here: Daemon, there: Daemon) -> None:
    """The connection is paced here soon, and not there."""
    begun = time.monotonic()
    wait_for(lambda: paced(here))
    took = time.monotonic() - begun
    assert took < FOUND_S, took
    wait_for(lambda: not paced(there))
