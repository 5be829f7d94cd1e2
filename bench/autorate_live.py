"""cake-autorate's rule at work: echoes to mesh hosts through a gateway, whose cake has the rate that the rule finds."""

from __future__ import annotations

import itertools
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "live"))

from meanwhile import meanwhile
from net import Net, client

from autorate import PING_PERIOD_S, PINGERS, Autorate, Bounds

IDENTIFIER = 0x6175
NUMBERS = 10_000 * PINGERS
DATA = bytes(56)
"""As much as fping sends."""


def request(number: int) -> bytes:
    """An ICMP echo request (RFC 792)."""
    total = sum(struct.unpack("!32H", struct.pack("!BBHHH", 8, 0, 0, IDENTIFIER, number) + DATA))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return struct.pack("!BBHHH", 8, 0, total ^ 0xFFFF, IDENTIFIER, number) + DATA


def answered(packet: bytes) -> int | None:
    """The number of the request that an IPv4 packet answers."""
    icmp = packet[(packet[0] & 0xF) * 4 :]
    kind, _, _, identifier, number = struct.unpack("!BBHHH", icmp[:8])
    return number if (kind, identifier) == (0, IDENTIFIER) else None


@contextmanager
def autorate(net: Net, first: int, bounds: Bounds) -> Iterator[Autorate]:
    """Sets the bandwidth of the cake on the gateway's `mesh0`, by the answers of mesh hosts from the first on."""
    rule, over = Autorate(bounds), threading.Event()
    reflectors = [client(4, first + number) for number in range(PINGERS)]
    with net.within(net.gw):
        asking = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
        # The file is of the namespace in which it was opened.
        devices = Path("/proc/thread-self/net/dev").open(encoding="ascii")  # noqa: SIM115
    words = ["ip", "netns", "exec", net.gw, "tc", "-batch", "-"]
    changes = subprocess.Popen(words, stdin=subprocess.PIPE, text=True)
    asked: dict[int, float] = {}

    def sent() -> int:
        devices.seek(0)
        row = next(line for line in devices if line.lstrip().startswith("mesh0:"))
        return int(row.split(":")[1].split()[8])

    def ask() -> None:
        begun = time.monotonic()
        for count in itertools.count(1):
            number = count % NUMBERS
            asked[number] = time.monotonic()
            asking.sendto(request(number), (reflectors[number % PINGERS], 0))
            if over.wait(max(0.0, begun + count * PING_PERIOD_S / PINGERS - time.monotonic())):
                break

    def obey() -> None:
        assert changes.stdin is not None
        looked, before, said = time.monotonic(), sent(), round(rule.rate / 1e3)
        while not over.is_set():
            try:
                number = answered(asking.recv(2_000))
            except TimeoutError:
                continue
            if number is None or number not in asked:
                continue
            now = time.monotonic()
            if now - looked >= rule.look_s:
                count = sent()
                rule.achieved((count - before) * 8 / (now - looked))
                looked, before = now, count
            rule.answered(now, number % PINGERS, now - asked.pop(number))
            if said != (said := round(rule.rate / 1e3)):
                print(f"qdisc change dev mesh0 root cake bandwidth {said}kbit", file=changes.stdin, flush=True)

    asking.settimeout(0.2)
    with asking, devices, meanwhile(over, ask, obey):
        yield rule
    changes.communicate()
    assert changes.returncode == 0, "tc did not take a change"
