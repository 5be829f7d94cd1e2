"""Quantities of a run's flows beside the common ones: how unlike they are, acknowledgements, pacing, delays."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable

from meshpace.results import FlowResult, RunResult
from meshpace.study.quantities import Quantity, over_flows


def _goodputs(run: RunResult) -> list[float]:
    return [flow["goodput_bps"] for flow in run["flows"]]


def _spread(run: RunResult) -> float | None:
    found = _goodputs(run)
    mean = math.fsum(found) / len(found)
    return math.sqrt(math.fsum((x - mean) ** 2 for x in found) / len(found)) / mean if mean else None


def _ratio(run: RunResult) -> float | None:
    least, most = min(_goodputs(run)), max(_goodputs(run))
    return most / least if least else None


def _short_over_long(run: RunResult) -> float | None:
    """Of two flows of unlike length, by the hops that their packets took."""
    paths = [(flow["hops"], flow["goodput_bps"]) for flow in run["flows"]]
    if len(paths) != 2 or None in (paths[0][0], paths[1][0]) or paths[0][0] == paths[1][0]:
        return None
    (_, short), (_, long) = sorted(paths, key=lambda path: path[0] or 0)
    return short / long if long else None


def _segments_an_ack(run: RunResult) -> float | None:
    acks = sum(flow["acks_sent"] or 0 for flow in run["flows"])
    segments = sum(flow["segments_sent"] - (flow["retransmits"] or 0) for flow in run["flows"])
    return segments / acks if acks else None


def _by_timer(run: RunResult) -> float | None:
    acks = sum(flow["acks_sent"] or 0 for flow in run["flows"])
    return sum(flow["timer_acks"] or 0 for flow in run["flows"]) / acks if acks else None


def _median(run: RunResult) -> float:
    return statistics.median(flow["goodput_bps"] for flow in run["flows"])


INTERVAL = Quantity(
    "interval_acks", "pacing interval, mean over ACKs", "ms", over_flows(lambda f: f["pacing_interval_acks_s"]), 1e3, 2
)
"""What Table 5.1 calls FHD: (1 + 2 cov) included."""

KHD = Quantity("khd_acks", "k-hop delay, mean over ACKs", "ms", over_flows(lambda flow: flow["khd_acks_s"]), 1e3, 2)

SPREAD = Quantity("flow_spread", "deviation of the flows' goodputs over their mean", "", _spread, decimals=3)

LEAST = Quantity("flow_least", "goodput of the weakest flow", "kbit/s", lambda run: min(_goodputs(run)), 1e-3, 0)

MOST = Quantity("flow_most", "goodput of the strongest flow", "kbit/s", lambda run: max(_goodputs(run)), 1e-3, 0)

RATIO = Quantity("flow_ratio", "strongest flow over the weakest", "", _ratio, decimals=2)

SHORT_OVER_LONG = Quantity("short_over_long", "shorter path's flow over the longer's", "", _short_over_long, decimals=2)

JAIN_NORM = Quantity(
    "jain_per_hop", "Jain's index of goodput by hops", "", lambda run: run["jain_per_hop"], decimals=3, top=1.0
)

SEGMENTS_AN_ACK = Quantity("segments_an_ack", "segments an acknowledgement", "", _segments_an_ack, decimals=2)

BY_TIMER = Quantity("timer_acks", "acknowledgements by the timer", "%", _by_timer, 100.0, 0, top=1.0)

LOSS = Quantity("flow_loss", "data packets of a flow lost", "%", over_flows(lambda f: f["loss_ratio"]), 100.0, top=1.0)

MEDIAN = Quantity("flow_median", "goodput of a flow, the median of a run", "kbit/s", _median, 1e-3, 0)


def _first(take: Callable[[FlowResult], float | None]) -> Callable[[RunResult], float | None]:
    return lambda run: take(run["flows"][0])


def _offered_delivered(run: RunResult) -> float | None:
    losses = [flow["loss_ratio"] for flow in run["flows"]]
    sent = [flow["segments_sent"] for flow in run["flows"]]
    known = [(loss, count) for loss, count in zip(losses, sent, strict=True) if loss is not None]
    total = sum(count for _, count in known)
    return 1 - sum(loss * count for loss, count in known) / total if total else None


FIRST_DELAY = Quantity("delay_1", "one-way delay of flow 1", "ms", _first(lambda flow: flow["delay_mean_s"]), 1e3)

FIRST_DELAY_STD = Quantity(
    "delay_std_1", "standard deviation of flow 1's delay", "ms", _first(lambda flow: flow["delay_std_s"]), 1e3
)

DELAY_STD = Quantity(
    "delay_std", "standard deviation of the delay", "ms", _first(lambda flow: flow["delay_std_s"]), 1e3
)

OFFERED_DELIVERED = Quantity("delivered", "delivered of what was sent", "%", _offered_delivered, 100.0, top=1.0)
