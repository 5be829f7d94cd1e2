"""The rules stand behind the firewall's filter: what it drops, or calls invalid, is nothing to the daemon."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from net import CLIENT, SERVER, Net, run, wait_for
from test_gateway_hostile import ACK, SYN, Raw, tcp
from test_rules import WAYS, Gateway, tools
from traffic import Open

PACKETS = 5_000
FLOWS = 1_000


def iptables(net: Net, way: str, *words: str) -> str:
    """Both IP versions' rules, one command each."""
    return "".join(run("ip", "netns", "exec", net.gw, f"ip{six}{way[2:]}", *words) for six in ("", "6"))


def firewall(net: Net, way: str) -> None:
    """What nearly every gateway has: the mesh may ask, the Internet may answer."""
    iptables(net, way, "-P", "FORWARD", "DROP")
    iptables(net, way, "-A", "FORWARD", "-m", "conntrack", "--ctstate", "ESTABLISHED,RELATED", "-j", "ACCEPT")
    iptables(net, way, "-A", "FORWARD", "-i", "mesh0", "-j", "ACCEPT")


def flood(net: Net) -> None:
    """Data packets of connections that nobody has, from the Internet to a mesh host."""
    draw = random.Random(10)
    raw = Raw(net, net.srv)
    for _ in range(PACKETS):
        source = (f"10.1.0.{3 + draw.randrange(250)}", draw.randrange(1, 65536))
        raw.send(
            tcp(source, (CLIENT[4], draw.randrange(1, 65536)), draw.getrandbits(32), draw.getrandbits(32), payload=b"x")
        )


def forwarded(net: Net) -> int:
    """Packets that the gateway's IP forwarded or dropped on the way so far (RFC 4293: ipForwDatagrams)."""
    lines = Path(f"/proc/{_pid(net)}/net/snmp").read_text(encoding="utf-8").splitlines()
    names, values = (line.split() for line in lines if line.startswith("Ip:"))
    return int(values[names.index("ForwDatagrams")])


def _pid(net: Net) -> str:
    """A process in the gateway's namespace: the daemon."""
    return run("ip", "netns", "pids", net.gw).split()[0]


@pytest.mark.parametrize("way", WAYS)
def test_a_flood_that_the_firewall_drops_fills_no_table(tmp_path: Path, way: str) -> None:
    with Net(tmp_path, None, room="r") as net:
        gateway = Gateway(net, tools(tmp_path, WAYS[way])).start()
        try:
            firewall(net, way)
            with Open(net) as connection:
                connection.srv.sendall(b"known before the flood")
                connection.cli.recv(100)
                before = forwarded(net)
                flood(net)
                wait_for(lambda: forwarded(net) >= before + PACKETS * 0.9)
                connection.cli.sendall(b"and after it")
                assert connection.srv.recv(100) == b"and after it"
                status = gateway.daemon.status()
                assert 1 <= status["flows"]["known"] < FLOWS, status["flows"]
                assert status["traffic"]["packets"] < FLOWS, "they do not even come to the daemon"
        finally:
            gateway.stop()


@pytest.mark.parametrize("way", WAYS)
def test_what_the_tracker_calls_invalid_goes_on_unread(tmp_path: Path, way: str) -> None:
    """Answers to nobody's SYNs, as forged addresses cause them: nobody drops them, the daemon sees none."""
    with Net(tmp_path, None, room="r") as net:
        gateway = Gateway(net, tools(tmp_path, WAYS[way])).start()
        try:
            with Open(net) as connection:
                connection.cli.sendall(b"tracked")
                assert connection.srv.recv(100) == b"tracked"
                before = forwarded(net)
                raw = Raw(net, net.srv)
                for number in range(1, 201):
                    raw.send(tcp((SERVER[4], number), (CLIENT[4], 50_000), number, number, SYN | ACK))
                wait_for(lambda: forwarded(net) >= before + 200)
                connection.cli.sendall(b"still there")
                assert connection.srv.recv(100) == b"still there"
                # What is told is a tenth of a second old at most.
                time.sleep(0.2)
                status = gateway.daemon.status()
                assert status["traffic"]["packets"] < 50, status["traffic"]
                assert status["flows"]["known"] == 1
        finally:
            gateway.stop()
