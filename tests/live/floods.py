"""What the Internet and bad neighbours send through the gateway, for some seconds each: `make soak`.

None of it is of a connection that somebody has, but for `resets`, which guess at one. Every packet is lawful IP, so
that the gateway forwards it. Guesses are of SYNs and resets only: data with a number within the window would be the
connection's.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator

from net import CLIENT, SERVER, Net
from test_gateway_hostile import ACK, RST, SYN, Raw, tcp

A_SECOND = 1_000
NOBODY = "10.77.200."
"""Addresses in the mesh that no host has."""


def invented(draw: random.Random) -> Iterator[bytes]:
    """Data packets of connections that nobody has, to hosts that are there and that are not."""
    while True:
        host = CLIENT[4] if draw.random() < 0.5 else f"{NOBODY}{draw.randrange(256)}"
        source = (f"10.1.0.{3 + draw.randrange(250)}", draw.randrange(1, 65536))
        payload = draw.randbytes(draw.choice((1, 40, 1_400)))
        yield tcp(source, (host, draw.randrange(1, 65536)), draw.getrandbits(32), draw.getrandbits(32), payload=payload)


def small(draw: random.Random) -> Iterator[bytes]:
    """Packets of 41 bytes of one connection, each behind the one before, to a host that never answers."""
    ends = (SERVER[4], draw.randrange(1, 65536)), (f"{NOBODY}{draw.randrange(256)}", draw.randrange(1, 65536))
    number = draw.getrandbits(32)
    yield tcp(*ends, number, 0, SYN)
    while True:
        number += 1
        yield tcp(*ends, number, 1, ACK, payload=b"x")


def openings(draw: random.Random) -> Iterator[bytes]:
    """SYNs to addresses that no host has."""
    while True:
        source = (f"10.1.0.{3 + draw.randrange(250)}", draw.randrange(1, 65536))
        yield tcp(source, (f"{NOBODY}{draw.randrange(256)}", draw.randrange(1, 65536)), draw.getrandbits(32), 0, SYN)


def resets(draw: random.Random) -> Iterator[bytes]:
    """SYNs and resets with any number, to ports that connections of the crowd may have."""
    while True:
        ends = (SERVER[4], draw.randrange(32_768, 61_000)), (CLIENT[4], draw.randrange(32_768, 61_000))
        yield tcp(*ends, draw.getrandbits(32), draw.getrandbits(32), draw.choice((SYN, RST, RST | ACK)))


def broken(draw: random.Random) -> Iterator[bytes]:
    """Packets whose TCP header is anything."""
    while True:
        packet = bytearray(
            tcp(
                (SERVER[4], draw.randrange(1, 65536)),
                (f"{NOBODY}{draw.randrange(256)}", draw.randrange(1, 65536)),
                draw.getrandbits(32),
                draw.getrandbits(32),
                draw.getrandbits(8),
                draw.randbytes(4 * draw.randrange(11)),
                draw.randbytes(draw.randrange(200)),
            )
        )
        for _ in range(draw.randrange(4)):
            packet[draw.randrange(20, len(packet))] = draw.getrandbits(8)
        yield bytes(packet)


FLOODS: tuple[Callable[[random.Random], Iterator[bytes]], ...] = (invented, small, openings, resets, broken)


def flood(net: Net, kind: Callable[[random.Random], Iterator[bytes]], seconds: float, draw: random.Random) -> int:
    """Sends that kind from the Internet for some seconds; how many packets."""
    raw, sent = Raw(net, net.srv), 0
    start = time.monotonic()
    for packet in kind(draw):
        raw.send(packet)
        sent += 1
        if sent % 50 == 0:
            now = time.monotonic()
            if now - start >= seconds:
                break
            time.sleep(max(0.0, sent / A_SECOND - (now - start)))
    return sent
