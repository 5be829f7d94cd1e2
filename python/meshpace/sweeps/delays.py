"""Delays as readers of tables need them: over packets, not over flows, and without flows that starve.

A mean over flows lets one flow with a handful of packets at 10 s outweigh thousands of packets at 40 ms.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence

from meshpace.results import FlowResult, RunResult
from meshpace.study.quantities import SEGMENT, Quantity, Take

STARVED = 0.01
"""Of the median flow's goodput: a flow that gets less is listed, and no delay is averaged over it."""
GREEDY = ("ftp", "transfer", "http")
"""Applications that take as much as they can get; the others ask for a certain amount."""


def packets(flow: FlowResult) -> float:
    """Distinct packets that reached the receiver; of a real host, which does not tell, as many as its bytes fill."""
    sent: int | None = flow["segments_sent"]
    return flow["delivered_bytes"] / SEGMENT if sent is None else sent * (1.0 - (flow["loss_ratio"] or 0.0))


def bulk(run: RunResult) -> list[FlowResult]:
    """Flows that take what they can get."""
    return [flow for flow in run["flows"] if flow["app"] in GREEDY]


def starved(run: RunResult) -> list[FlowResult]:
    """Flows that get less than 1 % of what the median flow gets, among those that take what they can get."""
    greedy = bulk(run)
    if len(greedy) < 2:
        return []
    least = STARVED * statistics.median(flow["goodput_bps"] for flow in greedy)
    return [flow for flow in greedy if flow["goodput_bps"] < least]


def fed(run: RunResult) -> list[FlowResult]:
    """The other flows."""
    hungry = {flow["id"] for flow in starved(run)}
    return [flow for flow in run["flows"] if flow["id"] not in hungry]


def one_way(run: RunResult) -> list[FlowResult]:
    """Flows whose delays are those of packets on one way: an echo's is that of both."""
    return [flow for flow in fed(run) if flow["app"] != "echo"]


def echoes(run: RunResult) -> list[FlowResult]:
    """Flows that ask and are answered."""
    return [flow for flow in run["flows"] if flow["app"] == "echo"]


_Flows = Callable[[RunResult], list[FlowResult]]


def over_packets(flows: _Flows, take: Callable[[FlowResult], float | None]) -> Take:
    """Mean over the packets of flows: each flow weighs as many as arrived."""

    def mean(run: RunResult) -> float | None:
        pairs = [(value, packets(flow)) for flow in flows(run) if (value := take(flow)) is not None]
        weight = sum(count for _, count in pairs)
        return sum(value * count for value, count in pairs) / weight if weight else None

    return mean


def of_median_flow(flows: _Flows, take: Callable[[FlowResult], float | None]) -> Take:
    """The median over flows."""

    def middle(run: RunResult) -> float | None:
        values = [value for value in map(take, flows(run)) if value is not None]
        return statistics.median(values) if values else None

    return middle


_SHARES = (50, 95, 99)


def _share(share: int) -> Callable[[FlowResult], float | None]:
    # Engines before the field was there made runs that stores still hold.
    return lambda flow: flow.get(f"delay_p{share}_s")  # type: ignore[return-value]


def _quantiles(name: str, title: str, flows: _Flows) -> tuple[Quantity, ...]:
    return tuple(
        Quantity(f"{name}_p{share}", f"{title}, {share} %", "ms", of_median_flow(flows, _share(share)), 1e3, 0)
        for share in _SHARES
    )


DELAY = Quantity("delay", "one-way delay, mean", "ms", over_packets(one_way, lambda flow: flow["delay_mean_s"]), 1e3, 0)
"""Over the packets of all flows but the starved ones."""
DELAYS = (DELAY, *_quantiles("delay", "one-way delay", one_way))
"""With what 50, 95 and 99 % of a flow's packets do not exceed, of the median flow."""
RTT = Quantity("rtt", "round-trip time", "ms", over_packets(fed, lambda flow: flow["srtt_s"]), 1e3, 0)
"""As transport samples it, weighed like delays."""
ECHO = Quantity(
    "echo", "round trip of echoes, mean", "ms", over_packets(echoes, lambda flow: flow["delay_mean_s"]), 1e3, 0
)
ECHOES = (ECHO, *_quantiles("echo", "round trip of echoes", echoes))
"""Of flows with ``app = "echo"``, which send little: what a user who types or plays would see."""
READING = (
    "Delay is one way, from the first hand-over to the network layer until the first arrival: its mean over packets, "
    "and what 50, 95 and 99 % of the median flow's packets do not exceed."
)


def named(flow: FlowResult) -> str:
    """``1  n0 → B``."""
    return f"{flow['id']}  {flow['from']} → {flow['to']}"


def left_out(runs: Sequence[RunResult]) -> list[str]:
    """A line a starved flow: what it gets and in how many of the runs; nothing where none starves."""
    found: dict[str, list[float]] = {}
    for run in runs:
        for flow in starved(run):
            found.setdefault(named(flow), []).append(flow["goodput_bps"])
    several = f" in {{}} of {len(runs)} runs" if len(runs) > 1 else ""
    return [
        f"flow {name}: {statistics.fmean(got) / 1e3:,.1f} kbit/s{several.format(len(got))}"
        for name, got in found.items()
    ]


def told(sides: Iterable[tuple[str, Sequence[RunResult]]]) -> list[str]:
    """The flows left out of each side's delays, as lines below a table."""
    lines = [
        f"{side}: {'; '.join(lines)}" if side else "; ".join(lines) for side, runs in sides if (lines := left_out(runs))
    ]
    return [f"Starved, under 1 % of the median flow's goodput, and left out of delays: {line}." for line in lines]
