"""Formulas that tests give to the engine; worker processes import them from here."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import meshpace
from meshpace import Feedback, Formula, Reply, Wait


def swept_alike(mesh: meshpace.Scenario, schemes: Sequence[str | type[Formula]], seeds: int, folder: Path) -> Path:
    """Sweeps in one thread, in four, and in two processes, and sees that the tables are equal; the last one's store."""
    tables = []
    for kind, threads in (("threads", 1), ("threads", 4), ("processes", 2)):
        store = folder / f"{kind}{threads}"
        found = meshpace.sweep(mesh, scheme=schemes, seeds=seeds, store=store, executor=kind, threads=threads)
        assert found.swept.tally.made == seeds * len(schemes)
        tables.append(found.table())
    assert tables[0].equals(tables[1])
    assert tables[0].equals(tables[2])
    return store


class Slow(Formula):
    """A departure every 40 ms."""

    interval = 0.04

    def on_ack(self, ack: Any) -> None:
        """Says nothing."""


class TwoSegments(Formula):
    """Two segments outstanding, never more."""

    window = 2

    def on_ack(self, ack: Any) -> Reply:  # noqa: ARG002
        """As before."""
        return Reply(window=2.0)


class Own(Formula):
    """Each connection counts its own acknowledgements."""

    def __init__(self) -> None:
        self.heard = 0

    def on_ack(self, ack: Any) -> Reply | None:
        """Slower with each."""
        self.heard += ack.kind == "new"
        return Reply(interval=1e-4 * self.heard)

    def on_timeout(self, now: float) -> Reply:
        """From the beginning."""
        assert now > 0
        self.heard = 0
        return Reply(interval=0.0)

    def on_loss(self) -> None:
        """Half as slow."""
        self.heard //= 2


class Fewer(Formula):
    """Acknowledges more rarely the more its own end has heard."""

    def __init__(self) -> None:
        self.heard = 0
        self.sent = 0

    def on_segment(self, segment: Any) -> Wait | None:
        """One of two, then one of three."""
        self.heard += 1
        return None if segment.waiting >= (2 if self.heard < 50 else 3) else Wait(0.1)

    def on_ack_sent(self) -> None:
        """Counted, so that there is a state to share if ends shared one."""
        self.sent += 1
        assert self.sent <= 2 * self.heard + 10


class HalfAtGateway(Formula):
    """A gateway's law: half a round trip over the hops between packets; each flow counts its own."""

    base = "tcp-gap"

    def __init__(self) -> None:
        self.heard = 0

    def on_round_trip(self, trip: Any) -> Reply | None:
        """Nothing at first."""
        self.heard += 1
        return Reply(interval=trip.rtt / (2 * trip.hops)) if self.heard > 3 else None


class RcpByHand(Formula):
    """schemes.md 12: the rate that the routers on the way have for every flow, and no window."""

    base = "rcp"
    rated = True
    interval = 0.05

    def request(self, rtt: float | None) -> Feedback:
        """The round trip, and as fast as can be."""
        return Feedback(2, struct.pack(">dd", rtt or 0.0, math.inf))

    def on_ack(self, ack: Any) -> Reply | None:
        """The least rate on the way."""
        if ack.feedback is None:
            return None
        _, rate = struct.unpack(">dd", ack.feedback.bytes)
        return Reply(interval=ack.mss / rate if rate < math.inf else 0.05)
