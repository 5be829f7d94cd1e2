"""What a judge's run comes to, in the terms of ``meshpace run --json``.

A figure that a judge does not report is missing, not zero.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from meshpace.errors import MendableError
from meshpace.stats import jain_index, jain_over_windows


@dataclass(frozen=True, slots=True)
class FlowFigures:
    """One flow's counters over the measured interval."""

    id: str
    goodput_bps: float
    delivered_bytes: float
    segments_sent: int | None
    retransmits: int | None
    timeouts: int | None
    srtt_s: float | None
    delay_mean_s: float | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """One run's figures over the measured interval."""

    flows: tuple[FlowFigures, ...]
    jain: float | None
    jain_windows: dict[str, float | None]
    data_drops: int
    ack_drops: int
    queue_drops: int
    collisions: int | None = None
    collisions_rts: int | None = None
    arp_drops: int | None = None

    @property
    def aggregate_goodput_bps(self) -> float:
        """Sum over the flows."""
        return sum(flow.goodput_bps for flow in self.flows)


class BrokenRunError(MendableError):
    """A judge stopped before the run's end; carries the end of what it wrote."""


def fairness(
    flows: Sequence[FlowFigures], counters: Sequence[Sequence[int]]
) -> tuple[float | None, dict[str, float | None]]:
    """Jain's index over the run and over windows of 1, 10 and 100 s; None for one flow.

    ``counters`` are those of the flows' sinks, second by second.
    """
    several = len(flows) > 1
    seconds = [[float(b - a) for a, b in itertools.pairwise(counter)] for counter in counters]
    return (
        jain_index([flow.goodput_bps for flow in flows]) if several else None,
        {str(w): jain_over_windows(seconds, w) if several else None for w in (1, 10, 100)},
    )
