"""What is read off a run: one number with its name and unit. None where it does not apply."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from meshpace.results import FlowResult, RunResult

Take = Callable[[RunResult], float | None]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of every run. ``factor`` and ``decimals`` are how readers see it, in ``unit``."""

    name: str
    """A column of tables: ``goodput``."""
    title: str
    unit: str
    take: Take
    factor: float = 1.0
    decimals: int = 1
    top: float | None = None
    """The greatest possible value, if there is one."""

    def __call__(self, run: RunResult) -> float | None:
        """The number in the result's own unit (bit/s, s)."""
        return self.take(run)


SEGMENT = 1460
"""Payload bytes of a packet in the papers' scenarios."""


def _smallest_share(run: RunResult) -> float | None:
    total = run["aggregate_goodput_bps"]
    return min(flow["goodput_bps"] for flow in run["flows"]) / total if total else None


def over_flows(take: Callable[[FlowResult], float | None]) -> Take:
    """Mean over the flows in which it applies."""

    def mean(run: RunResult) -> float | None:
        values = [value for value in map(take, run["flows"]) if value is not None]
        return sum(values) / len(values) if values else None

    return mean


def _log_utility(run: RunResult) -> float | None:
    goodputs = [flow["goodput_bps"] for flow in run["flows"]]
    return sum(math.log(goodput / 1000) for goodput in goodputs) if min(goodputs, default=0) > 0 else 0.0


def _unfinished(run: RunResult) -> float | None:
    transfers = [flow for flow in run["flows"] if flow["app"] == "transfer"]
    return sum(flow["completed_s"] is None for flow in transfers) / len(transfers) if transfers else None


def _resent(run: RunResult) -> float | None:
    # Nothing where real hosts sent: their kernels do not tell.
    counts: list[int | None] = [flow["segments_sent"] for flow in run["flows"]]
    sent = 0 if None in counts else sum(filter(None, counts))
    return 1000 * sum(flow["retransmits"] or 0 for flow in run["flows"]) / sent if sent else None


def _timeouts(run: RunResult) -> float:
    """Per 100 s, so that runs of different lengths compare."""
    return 100 * sum(flow["timeouts"] or 0 for flow in run["flows"]) / run["measured_s"]


def _given_up(run: RunResult) -> float:
    return 100 * sum(link["retry_drops"] for link in run["links"]) / run["measured_s"]


def _dropped(run: RunResult) -> float | None:
    """Per 1,000 packets delivered."""
    delivered = sum(flow["delivered_bytes"] for flow in run["flows"]) / SEGMENT
    return (
        1000 * sum(link["data_drops"] + link["ack_drops"] for link in run["links"]) / delivered if delivered else None
    )


def _control(run: RunResult) -> float | None:
    packets = run["routing"]["control_packets"]
    return None if packets is None else 100 * packets / run["measured_s"]


def _queued(run: RunResult) -> float | None:
    return max((float(gateway["queue_max"]) for gateway in run["gateways"]), default=None)


def _lead(run: RunResult) -> float | None:
    first, second = (flow["goodput_bps"] for flow in run["flows"][:2])
    return (first - second) / (first + second) if first + second else None


def _route_failures(run: RunResult) -> float | None:
    failures = run["routing"]["route_failures"]
    return None if failures is None else 100 * failures / run["measured_s"]


def _jain(window: int) -> Quantity:
    def take(run: RunResult) -> float | None:
        return run["jain_windows"].get(str(window))

    return Quantity(f"jain_{window}s", f"Jain's index over {window} s", "", take, decimals=3, top=1.0)


def flow_goodput(index: int) -> Quantity:
    """Goodput of one flow; None in runs with fewer flows."""

    def take(run: RunResult) -> float | None:
        return run["flows"][index]["goodput_bps"] if index < len(run["flows"]) else None

    return Quantity(f"goodput_{index + 1}", f"goodput of flow {index + 1}", "kbit/s", take, 1e-3, 0)


GOODPUT = Quantity("goodput", "aggregate goodput", "kbit/s", lambda run: run["aggregate_goodput_bps"], 1e-3, 0)
JAIN = Quantity("jain", "Jain's index", "", lambda run: run["jain"], decimals=3, top=1.0)
JAIN_1S, JAIN_10S, JAIN_100S = map(_jain, (1, 10, 100))
SHARE = Quantity(
    "smallest_share", "part of the weakest flow", "%", _smallest_share, factor=100.0, decimals=1, top=1.0
)  # fmt: skip
DELAY = Quantity("delay", "one-way delay", "ms", over_flows(lambda flow: flow["delay_mean_s"]), 1e3, 0)
RTT = Quantity("rtt", "round-trip time", "ms", over_flows(lambda flow: flow["srtt_s"]), 1e3, 0)
RESENT = Quantity("resent", "segments resent", "per 1,000", _resent, decimals=1)
TIMEOUTS = Quantity("timeouts", "timeouts", "per 100 s", _timeouts, decimals=1)
GIVEN_UP = Quantity("given_up", "packets given up by the MAC", "per 100 s", _given_up)
ROUTE_FAILURES = Quantity("route_failures", "route failures", "per 100 s", _route_failures)
DROPS = Quantity("drops", "TCP packets given up by the MAC", "per 1,000 delivered", _dropped)
FLOW_GOODPUT = Quantity(
    "flow_goodput", "goodput of a flow, its mean", "kbit/s", over_flows(lambda flow: flow["goodput_bps"]), 1e-3, 0
)
"""A transfer's over its own time: the sum over flows may exceed what the mesh carries at once."""
LOG_UTILITY = Quantity("log_utility", "sum of the logarithms of the flows' kbit/s", "", _log_utility, decimals=2)
"""0 if a flow got nothing (docs/experiments/thesis.md, section 1)."""
UNFINISHED = Quantity("unfinished", "transfers that did not end", "%", _unfinished, 100.0, 0, top=1.0)
CONTROL = Quantity("control", "routing packets", "per 100 s", _control, decimals=0)
QUEUE_MAX = Quantity("queue_max", "most packets in the gateway's pacing queues", "", _queued, decimals=0)
LEAD = Quantity("lead", "first flow less the second, of both", "%", _lead, factor=100.0)
LATE = Quantity(
    "late", "packets late at real hosts", "%", lambda run: run["lateness"]["share_late"] if "lateness" in run else None,
    100.0, 3, top=1.0,
)  # fmt: skip
"""By more than a millisecond (docs/emulation.md); nothing where the run was simulated."""
FLOWS = tuple(map(flow_goodput, range(8)))

ALL = (
    GOODPUT, JAIN, JAIN_1S, JAIN_10S, JAIN_100S, SHARE, DELAY, RTT, RESENT, TIMEOUTS, GIVEN_UP, DROPS, ROUTE_FAILURES,
    CONTROL, QUEUE_MAX, FLOW_GOODPUT, LOG_UTILITY, UNFINISHED, LATE, *FLOWS,
)  # fmt: skip
"""The columns of a study's table."""
