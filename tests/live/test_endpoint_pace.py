"""`meshpaced endpoint` paces as its sender's law says, seen from the kernel at the other end."""

from __future__ import annotations

import itertools
import socket
import statistics
import struct
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from clock import bound
from endpoints import ENDPOINT, KERNEL, Site, accept, digest_of, sha256
from net import inside, run, wait_for

# Parts that pace, each with a scheme that has it. `wireless-khd` (TCP-GAP) has no gateway here to tell it a round trip,
# and `winf-khd` goes by what routers write.
PARTS = {
    "fixed": ("fixed-rate", ["--set", "fixed_rate=56kbps"]),
    "khd": ("tcp-ap", []),
    "khd, two hops": ("tcp-ap-n2", []),
    "khd, delayed acknowledgements": ("dynack-ap", []),
    "agent": ("tcp-ap-ns2-2005", []),
    "oid": ("oid", []),
    "wifu-khd": ("tcp-ap", ["--set", "profile=byu-literal"]),
}
SEGMENTS = 60
# Every round trip takes as long as every other, so that the law comes to rest.
NETWORK = "delay=200ms,seed=3"
SO_TIMESTAMPNS = 35  # asm-generic/socket.h
ETH_P_IP = 0x0800


class Departures:
    """When data segments come out of the endpoint's device, by the kernel's clock."""

    def __init__(self, site: Site) -> None:
        with inside(site.near):
            self.door = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_IP))
        self.door.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.door.settimeout(0.2)
        self.seen: dict[int, float] = {}
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Departures:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.thread.join()
        self.door.close()

    def _watch(self) -> None:
        while not self.over.is_set():
            try:
                packet, extra, _, _ = self.door.recvmsg(2048, 64)
            except TimeoutError:
                continue
            header = (packet[0] & 15) * 4
            data = len(packet) - header - (packet[header + 12] >> 4) * 4
            if packet[9] == socket.IPPROTO_TCP and packet[12:16] == socket.inet_aton(ENDPOINT[4]) and data > 0:
                seconds, nanos = struct.unpack("=qq", extra[0][2])
                (sequence,) = struct.unpack_from("!I", packet, header + 4)
                self.seen.setdefault(sequence, seconds + nanos / 1e9)

    def spacing(self, last: int) -> float:
        """The median time between two of the last departures."""
        times = sorted(self.seen.values())[-last - 1 :]
        return statistics.median(b - a for a, b in itertools.pairwise(times))


def transfer(words: list[str], file: Path) -> tuple[float, dict[str, Any]]:
    """The spacing of the last departures, and the endpoint's report."""
    with Site() as site, site.listening() as door, Departures(site) as departures:
        address = f"{KERNEL[4]}:5000"
        sender = site.endpoint(
            "send", file, address, "--json", "--hops", 4, "--rate", "2Mbps", "--impair", NETWORK, *words
        )
        # One acknowledgement a segment, at once: else every other round trip has the kernel's timer in it.
        wait_for(lambda: "mp0" in run("ip", "-n", site.near, "-o", "-4", "address"))
        run("ip", "-n", site.near, "route", "replace", ENDPOINT[4], "dev", "mp0", "quickack", "1")
        with accept(door) as connection:
            assert digest_of(connection) == sha256(file), words
        report = sender.report()
    return departures.spacing(SEGMENTS // 2), report


def paced(parts: dict[str, tuple[str, list[str]]], file: Path) -> dict[str, tuple[float, float, int]]:
    """By part, the spacing of the last departures, the endpoint's word for it, in seconds, and what was sent again."""
    with ThreadPoolExecutor(len(parts)) as pool:
        words = [["--scheme", scheme, *settings] for scheme, settings in parts.values()]
        done = dict(zip(parts, pool.map(lambda each: transfer(each, file), words), strict=True))
    told = {
        part: (spacing, report["pacing"]["interval_s"], report["tcp"]["retransmits"])
        for part, (spacing, report) in done.items()
    }
    for part, (spacing, interval, again) in told.items():
        print(f"{part}: {spacing * 1e3:.2f} ms apart, the law says {interval * 1e3:.2f} ms; {again} sent again")
    return told


# A busy machine's late packets change a law's interval between the departures and the end, or are taken for lost: a
# part gets five tries.
TRIES = 5


def test_departures_keep_the_interval_of_every_part_that_paces(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(bytes(SEGMENTS * 1448))
    # 1,500 bytes at the rate given, whatever the endpoint says of itself.
    given = {"fixed": 1500 * 8 / 56_000}
    missed = dict(PARTS)
    for _ in range(TRIES):
        told = paced(missed, file)
        near = {
            part
            for part, (spacing, interval, again) in told.items()
            if again == 0
            and spacing == pytest.approx(interval, rel=bound(0.02, 0.05))
            and spacing == pytest.approx(given.get(part, interval), rel=bound(0.02, 0.05))
        }
        missed = {part: words for part, words in missed.items() if part not in near}
        if not missed:
            break
    assert not missed, {part: told[part] for part in missed}
