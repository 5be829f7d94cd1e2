"""`datapath = "ebpf"` under a flood of connections that nobody has: what user space keeps of them is bounded."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from pathlib import Path

from daemon import Daemon
from net import CLIENT, SERVER, Net, wait_for
from test_gateway_hostile import ACK, Raw, memory, silence, tcp
from traffic import Bulk

PLACES = 65_536
PACKETS = 200_000
"""Connections, each with one packet: three times as many as there are places, in the kernel and here. Time has no part
in it; the first packet of each is told, unless the kernel has no room for what it tells."""
GROWTH = 64 << 20


def small_packets(count: int) -> Iterator[bytes]:
    """Data of one byte each (41 bytes of IP), of as many connections from the Internet to a mesh host."""
    packet = bytearray(tcp((SERVER[4], 0), (CLIENT[4], 0), 1, 1, ACK, payload=b"x"))
    rest = 0xFFFF ^ struct.unpack_from("!H", packet, 36)[0]
    draw = random.Random(64)
    for ports in draw.sample(range(1 << 32), count):
        struct.pack_into("!I", packet, 20, ports)
        total = rest + (ports >> 16) + (ports & 0xFFFF)
        total = (total & 0xFFFF) + (total >> 16)
        struct.pack_into("!H", packet, 36, 0xFFFF ^ ((total & 0xFFFF) + (total >> 16)))
        yield bytes(packet)


def test_a_flood_of_small_packets_grows_user_space_by_a_bounded_amount(tmp_path: Path) -> None:
    with (
        Net(tmp_path, None, room="e") as net,
        Daemon(net, "observe", top='datapath = "ebpf"') as daemon,
        Bulk(net) as beside,
    ):
        silence(net.cli)
        wait_for(lambda: len(daemon.flows()) == 1)
        raw, before = Raw(net, net.srv), memory(daemon)
        opened = daemon.status()["flows"]["opened"]
        largest, most = before, 0
        for number, packet in enumerate(small_packets(PACKETS)):
            raw.send(packet)
            if number % 10_000 == 0:
                # Now, too: who is not heard of for a while is forgotten, and a busy machine takes a while.
                largest, most = max(largest, memory(daemon)), max(most, daemon.status()["flows"]["known"])
        wait_for(lambda: daemon.status()["flows"]["opened"] - opened > PLACES)
        largest, most = max(largest, memory(daemon)), max(most, daemon.status()["flows"]["known"])
        status = daemon.status()
        assert beside.goes_on()
    print(f"grew by {(largest - before) / 2**20:.1f} MiB over {status['flows']['opened'] - opened} connections")
    assert PLACES / 8 < most <= PLACES / 4 + 1, "who is never answered has a quarter of the places"
    assert largest - before <= GROWTH, "bounded by the places, not by the packets"
