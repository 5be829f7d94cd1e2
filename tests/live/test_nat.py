"""Gateways that translate addresses: what the daemon sends again has the addresses and ports of what was lost."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from clock import PATIENCE_S
from daemon import Daemon
from net import CLIENT, SERVER, Delays, Net, run, wait_for
from test_rules import WAYS, tools
from traffic import receive_all, text

SIZE = 400_000
PORT, FORWARDED = 8_080, 7_300
PACE = {"rate": "54Mbps", "more": "[gateway]\ngoodput_control = false\n"}


def iptables(net: Net, *words: str) -> None:
    """An IPv4 rule of the gateway's."""
    run("ip", "netns", "exec", net.gw, "iptables-nft", *words)


def lossy(net: Net) -> None:
    """Every 25th long packet that comes to the mesh hosts is lost on its last hop."""
    rule = "-A INPUT -i c0 -p tcp -m length --length 1000: -m statistic --mode nth --every 25 --packet 24 -j DROP"
    run("ip", "netns", "exec", net.cli, "iptables-nft", *rule.split())


@contextmanager
def carried(opener: socket.socket, called: socket.socket) -> Iterator[tuple[socket.socket, socket.socket]]:
    """Both ends, closed afterwards."""
    with opener, called:
        called.settimeout(PATIENCE_S)
        yield opener, called


def download(source: socket.socket, sink: socket.socket) -> None:
    """A text from one end to the other, which must arrive unharmed."""
    data = text(12, SIZE)
    source.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * SIZE)
    source.sendall(data)
    source.shutdown(socket.SHUT_WR)
    assert receive_all(sink) == data


def connect(net: Net, opener: str, to: tuple[str, int], door: socket.socket) -> tuple[socket.socket, socket.socket]:
    """A connection to an address that somebody on the way translates to the door's; opener's end, then the other."""
    calling = net.socket(opener)
    calling.connect(to)
    called, _ = door.accept()
    return calling, called


def repaired(daemon: Daemon) -> int:
    """Packets that were sent again from the gateway's cache, by the end of the connections."""
    return int(daemon.status()["traffic"]["retransmitted"])


def foreign(net: Net, source: tuple[str, int], sink: tuple[str, int]) -> list[str]:
    """What went between the two hosts on the mesh link under other ports than the connection's; resets among it."""
    seen = [packet for packet in net.log("mesh") if {packet.source, packet.destination} == {source[0], sink[0]}]
    assert seen
    ports = {source[1], sink[1]}
    return [
        f"{packet.source}:{packet.sport} > {packet.destination}:{packet.dport} flags {packet.flags}"
        for packet in seen
        if {packet.sport, packet.dport} != ports or packet.flags & 4
    ]


@pytest.mark.parametrize("way", WAYS)
def test_repairs_behind_masquerade(tmp_path: Path, way: str) -> None:
    with Net(tmp_path, Delays(0.005, 0.005), room="n") as net:
        iptables(net, "-t", "nat", "-A", "POSTROUTING", "-o", "up0", "-j", "MASQUERADE")
        lossy(net)
        daemon = Daemon(net, "pace", **PACE)
        daemon.under = ["env", f"PATH={tools(tmp_path, WAYS[way])}"]
        with daemon, net.listen(net.srv) as door:
            port = door.getsockname()[1]
            calling, called = connect(net, net.cli, (SERVER[4], port), door)
            with carried(calling, called):
                assert called.getpeername()[0] == "10.1.0.1", "the server sees the gateway's address"
                own = calling.getsockname()[1]
                flow = wait_for(daemon.flows)[0]
                assert flow["flow"] == f"{CLIENT[4]}:{own}-{SERVER[4]}:{port}", "and the daemon the mesh host's own"
                download(called, calling)
            count = repaired(daemon)
        assert count > 0, "losses were repaired here"
        assert foreign(net, (SERVER[4], port), (CLIENT[4], own)) == []


def test_repairs_of_a_forwarded_port(tmp_path: Path) -> None:
    with Net(tmp_path, Delays(0.005, 0.005), room="n") as net:
        to = f"{CLIENT[4]}:{FORWARDED}"
        rule = f"-A PREROUTING -i up0 -p tcp --dport {PORT} -j DNAT --to-destination {to}"
        iptables(net, "-t", "nat", *rule.split())
        iptables(net, "-t", "nat", "-A", "POSTROUTING", "-o", "up0", "-j", "MASQUERADE")
        lossy(net)
        with Daemon(net, "pace", **PACE) as daemon, net.listen(net.cli, port=FORWARDED) as door:
            calling, called = connect(net, net.srv, ("10.1.0.1", PORT), door)
            with carried(calling, called):
                own = calling.getsockname()[1]
                flow = wait_for(daemon.flows)[0]
                assert flow["flow"] == f"{to}-{SERVER[4]}:{own}"
                download(calling, called)
            count = repaired(daemon)
        assert count > 0
        assert foreign(net, (SERVER[4], own), (CLIENT[4], FORWARDED)) == []


def test_a_hairpin_is_nobodys_business(tmp_path: Path) -> None:
    """From one mesh host to another by the gateway's outer address: both ends lie in the mesh."""
    with Net(tmp_path, Delays(0.005, 0.005), clients=2, room="n") as net:
        other = "10.77.0.3"
        rule = f"-A PREROUTING -d 10.1.0.1 -p tcp --dport {PORT} -j DNAT --to-destination {other}:{FORWARDED}"
        iptables(net, "-t", "nat", *rule.split())
        iptables(net, *f"-t nat -A POSTROUTING -s 10.77.0.0/16 -d {other} -j MASQUERADE".split())
        with Daemon(net, "pace", **PACE) as daemon, net.listen(net.cli, port=FORWARDED) as door:
            with carried(*connect(net, net.cli, ("10.1.0.1", PORT), door)) as (calling, called):
                assert called.getpeername()[0] == "10.77.0.1"
                download(called, calling)
                download(calling, called)
            wait_for(lambda: daemon.status()["traffic"]["unread"]["not_crossing"] > SIZE // 1448)
            status = daemon.status()
        assert status["flows"]["opened"] == 0
        assert status["traffic"]["held_total"] == 0


def test_two_uplinks_by_mark(tmp_path: Path) -> None:
    with Net(tmp_path, Delays(0.005, 0.005), room="n") as net:
        run("ip", "link", "add", "s1", "netns", net.srv, "type", "veth", "peer", "up1", "netns", net.gw)
        for name, device, address in ((net.srv, "s1", "10.2.0.2/24"), (net.gw, "up1", "10.2.0.1/24")):
            run("ip", "-n", name, "address", "add", address, "dev", device)
            run("ip", "-n", name, "link", "set", device, "up")
        run("ip", "-n", net.srv, "address", "add", "192.0.2.1/32", "dev", "lo")
        for mark, via in ((1, "10.1.0.2"), (2, "10.2.0.2")):
            run("ip", "-n", net.gw, "route", "add", "default", "via", via, "table", 100 + mark)
            run("ip", "-n", net.gw, "rule", "add", "fwmark", mark, "table", 100 + mark)
            device = f"up{mark - 1}"
            iptables(net, "-t", "nat", "-A", "POSTROUTING", "-o", device, "-j", "MASQUERADE")
        # As multi-uplink scripts have it: a new connection draws its uplink, later packets follow it.
        new = "-A PREROUTING -i mesh0 -p tcp -m conntrack --ctstate NEW"
        for rule in (
            f"{new} --dport 7301 -j CONNMARK --set-mark 1",
            f"{new} --dport 7302 -j CONNMARK --set-mark 2",
            "-A PREROUTING -i mesh0 -j CONNMARK --restore-mark",
            "-A OUTPUT -j CONNMARK --restore-mark",
        ):
            iptables(net, "-t", "mangle", *rule.split())
        lossy(net)
        ends = []
        with Daemon(net, "pace", **PACE) as daemon:
            for port, outer in ((7_301, "10.1.0.1"), (7_302, "10.2.0.1")):
                with (
                    net.listen(net.srv, port=port) as door,
                    carried(*connect(net, net.cli, ("192.0.2.1", port), door)) as (calling, called),
                ):
                    assert called.getpeername()[0] == outer
                    ends.append((("192.0.2.1", port), calling.getsockname()))
                    before = repaired(daemon)
                    download(called, calling)
                assert repaired(daemon) > before
        net.stop_relay()
        ports = {number for source, sink in ends for number in (source[1], sink[1])}
        seen = [packet for packet in net.log("mesh") if "192.0.2.1" in (packet.source, packet.destination)]
        strange = [packet for packet in seen if not {packet.sport, packet.dport} <= ports or packet.flags & 4]
        assert strange == []
