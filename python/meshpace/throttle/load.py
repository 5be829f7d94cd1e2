"""What flows put on the air: the account of a run, with the headers that a reader counts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from meshpace.results import FlowResult, LoadResult, RunResult

Counting = Literal["attempts", "once"]
OVERHEAD = {"attempts": 34, "once": 28}
"""Bytes of lower layers with each packet (schemes.md 4: ``ot_count``)."""


@dataclass(frozen=True, slots=True)
class Load:
    """Bit/s on the air."""

    data: float
    ack: float

    @property
    def net(self) -> float:
        """Of both."""
        return self.data + self.ack


def bits(load: LoadResult, counting: Counting = "attempts") -> int:
    """Of one node's packets of one kind."""
    count, size = (
        (load["attempts"], load["bytes"]) if counting == "attempts" else (load["packets"], load["packet_bytes"])
    )
    return 8 * (size + OVERHEAD[counting] * count)


def of_flows(run: RunResult, flows: Iterable[FlowResult], counting: Counting = "attempts") -> Load:
    """The load of some flows of a run, over all nodes."""
    nodes = [node for flow in flows for node in flow["load"]]
    data, ack = (sum(bits(node[kind], counting) for node in nodes) for kind in ("data", "ack"))
    return Load(data / run["measured_s"], ack / run["measured_s"])


def of_run(run: RunResult, counting: Counting = "attempts") -> Load:
    """The load of all flows of a run."""
    return of_flows(run, run["flows"], counting)
