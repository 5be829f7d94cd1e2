"""What people do beside bulk: a page and a call through a live gateway, for bench/hosts_live.py.

A page is 30 files of 20 to 200 kB (their sizes are drawn once) over six connections, as a browser loads it. A call is a
datagram of 200 bytes every 20 ms each way. Both belong to the first host, and CUBIC's bulk to another one or to the
same.
"""

from __future__ import annotations

import math
import queue
import random
import socket
import statistics
import struct
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "live"))

from meanwhile import meanwhile
from net import SERVER, Net, client
from traffic import Open, quantile

CONNECTIONS = 6
FILES = [round(math.exp(random.Random(n).uniform(math.log(20e3), math.log(200e3)))) for n in range(30)]
CALL_PORT = 7779
PERIOD_S = 0.020
PAYLOAD = 172
LOST_S = 2.0
"""What a packet of a call counts as that has not come after so long."""


def page(net: Net) -> float:
    """How long the first host takes to load it, seconds."""
    left: queue.SimpleQueue[int] = queue.SimpleQueue()
    for size in FILES:
        left.put(size)

    def serve(srv: socket.socket) -> None:
        while asked := srv.recv(8):
            srv.sendall(bytes(struct.unpack("!Q", asked)[0]))

    def fetch() -> None:
        with Open(net, congestion="cubic") as ends:
            server = threading.Thread(target=serve, args=(ends.srv,), daemon=True)
            server.start()
            while not left.empty():
                try:
                    size = left.get_nowait()
                except queue.Empty:
                    break
                ends.cli.sendall(struct.pack("!Q", size))
                while size > 0:
                    size -= len(ends.cli.recv(min(size, 1 << 16)))
            ends.cli.shutdown(socket.SHUT_WR)
            server.join()

    begun = time.monotonic()
    loads = [threading.Thread(target=fetch, daemon=True) for _ in range(CONNECTIONS)]
    for load in loads:
        load.start()
    for load in loads:
        load.join()
    return time.monotonic() - begun


@contextmanager
def call(net: Net) -> Iterator[dict[str, list[float]]]:
    """One-way delays of a call with the first host, by direction, seconds; they are whole once it has ended."""
    with net.within(net.cli):
        far = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with net.within(net.srv):
        near = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    far.bind((client(4, 0), CALL_PORT))
    near.bind((SERVER[4], CALL_PORT))
    ways = {"down": (near, far, client(4, 0)), "up": (far, near, SERVER[4])}
    delays: dict[str, list[float]] = {way: [] for way in ways}
    sent = dict.fromkeys(ways, 0)
    over = threading.Event()

    def say(way: str) -> None:
        source, _, to = ways[way]
        begun = time.monotonic()
        while not over.is_set():
            source.sendto(struct.pack("!d", time.monotonic()).ljust(PAYLOAD), (to, CALL_PORT))
            sent[way] += 1
            over.wait(max(0.0, begun + sent[way] * PERIOD_S - time.monotonic()))

    def hear(way: str) -> None:
        sink = ways[way][1]
        sink.settimeout(0.2)
        end = math.inf
        while time.monotonic() < end:
            try:
                data = sink.recv(2_000)
                delays[way].append(time.monotonic() - struct.unpack("!d", data[:8])[0])
            except TimeoutError:
                pass
            if over.is_set():
                end = min(end, time.monotonic() + 0.5)

    works = [lambda way=way, work=work: work(way) for way in ways for work in (say, hear)]
    with far, near:
        with meanwhile(over, *works):
            yield delays
        for way in ways:
            delays[way] += [LOST_S] * (sent[way] - len(delays[way]))


def told(delays: list[float]) -> str:
    """The median and 99 % of them in ms, and how many were lost."""
    lost = sum(delay >= LOST_S for delay in delays) / max(1, len(delays))
    late = quantile(delays, 0.99) * 1e3
    return f"{statistics.median(delays) * 1e3:.0f} | {late:.0f} | {lost:.1%}"
