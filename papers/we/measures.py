"""What the WE TCP-AP paper reads off a run (docs/experiments/we-tcp-ap.md, section 1, metrics)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from meshpace.results import FlowResult, RunResult
from meshpace.study.jackknife import Rows, pseudo_values
from meshpace.study.measures import Measure, Values
from meshpace.study.model import Cell, Condition
from meshpace.study.outcome import Outcome
from meshpace.study.quantities import GOODPUT, SEGMENT, Quantity, over_flows

DATA_AIRTIME_S = 192e-6 + 8 * (SEGMENT + 40 + 34) / 11e6
"""Of a full segment's frame at 11 Mbit/s with the long preamble (schemes.md 17.2)."""


def _distinct(flow: FlowResult) -> float:
    """Distinct data packets that arrived."""
    return 0.0 if flow["loss_ratio"] is None else flow["segments_sent"] * (1 - flow["loss_ratio"])


def _received(run: RunResult) -> float:
    return sum(map(_distinct, run["flows"])) / run["measured_s"]


def _delay(run: RunResult) -> float | None:
    known = [(flow["delay_mean_s"], _distinct(flow)) for flow in run["flows"]]
    weighed = [(delay, packets) for delay, packets in known if delay is not None]
    packets = sum(packets for _, packets in weighed)
    return sum(delay * count for delay, count in weighed) / packets if packets else None


def _loss(run: RunResult) -> float | None:
    sent = sum(flow["segments_sent"] for flow in run["flows"])
    return 1 - sum(map(_distinct, run["flows"])) / sent if sent else None


def _drops(run: RunResult) -> float | None:
    sent = sum(flow["segments_sent"] for flow in run["flows"])
    return sum(link["retry_drops"] + link["queue_drops"] for link in run["links"]) / sent if sent else None


def _use(run: RunResult) -> float | None:
    on_air = sum(link["airtime_s"] or 0.0 for link in run["links"])
    carried = sum(_distinct(flow) * (flow["hops"] or 0) for flow in run["flows"]) * DATA_AIRTIME_S
    return carried / on_air if on_air else None


RECEIVED = Quantity("received", "packets received", "packets/s", _received)
"""Distinct data packets of all flows (the paper's "number of received packets"), a second."""
PACKET_DELAY = Quantity("packet_delay", "delay of the packets received", "ms", _delay, 1e3, 0)
"""Mean over all packets, whichever flow's."""
FLOW_DELAY = Quantity(
    "flow_delay", "delay, mean of the flows' means", "ms", over_flows(lambda flow: flow["delay_mean_s"]), 1e3, 0
)
LOSS = Quantity("loss", "data packets lost", "%", _loss, 100.0, 2)
WE_DROPS = Quantity(
    "we_drops", "packets given up by MACs or dropped by queues, of the segments sent", "%", _drops, 100.0
)


def _queues(run: RunResult) -> float | None:
    """Every node may relay, so all count."""
    means = [node["packets_mean"] for node in run.get("queues", [])]
    known = [mean for mean in means if mean is not None]
    return sum(known) / len(known) if known else None


QUEUES = Quantity("queues", "packets waiting in a node's queue, time mean", "", _queues, 1.0, 2)
USE = Quantity(
    "use", "of the time on the air, that of the data frames which delivered packets needed", "%", _use, 100.0
)
"""By the flows' median hops."""


def _forwarded(run: RunResult) -> float | None:
    """Data packets that M1 forwards, WE TCP-AP's by TCP's; the MAC's, each packet once."""
    each: dict[bool, float] = {True: 0.0, False: 0.0}
    for flow in run["flows"]:
        each[flow["scheme"] == "we-tcp-ap"] += sum(at["data"]["packets"] for at in flow["load"] if at["node"] == "M1")
    return each[True] / each[False] if each[False] else None


FORWARDED = Quantity("forwarded", "data packets that M1 forwards, WE TCP-AP's by TCP's", "", _forwarded, 1.0, 3)
SENT = Quantity(
    "sent", "data segments sent", "", lambda run: float(sum(flow["segments_sent"] for flow in run["flows"]))
)
PACE = Quantity("pace", "pacing rate", "kbit/s", over_flows(lambda flow: flow["pacing_rate_bps"]), 1e-3, 0)


def throughput_of_the_tool(bins: dict[str, list[float]]) -> float | None:
    """THR_TOOL: mean over flows of the throughput up to the last second in which the flow received something, bit/s.

    trace2stats divides by the time from first sending to last reception; a flow that dies early keeps what it had.
    """
    each = []
    for seconds in bins.values():
        last = max((second for second, rate in enumerate(seconds) if rate > 0), default=None)
        each.append(0.0 if last is None else math.fsum(seconds[: last + 1]) / (last + 1))
    return math.fsum(each) / len(each) if each else None


def _spread(values: Sequence[float]) -> float:
    """Standard deviation over mean; 0 where nothing was delivered."""
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((x - mean) ** 2 for x in values) / max(1, len(values) - 1))
    return deviation / mean if mean else 0.0


def spread_difference(rows: Rows) -> float:
    """CVS of the first less that of the second."""
    ours, than = zip(*rows, strict=True)
    return _spread(ours) - _spread(than)


def scatter_less(scheme: str, over: str) -> Measure:
    """CVS, standard deviation over mean of the aggregate goodput over seeds, of one scheme less that of another.

    It is one number of all seeds, so each seed has the pseudo-value of the jackknife.
    """

    def take(outcome: Outcome, condition: Condition, point: str) -> Values:
        values = [outcome.values(Cell(condition, name, point), GOODPUT) for name in (scheme, over)]
        rows = [(a, b) for a, b in zip(*values, strict=False) if a is not None and b is not None]
        return pseudo_values(rows, spread_difference)

    return Measure((over, scheme), take, GOODPUT)


# Figs. 22 and 23: TCP beside WE TCP-AP. Goodput second by second, by flow: the first half are TCP's.

Bins = dict[str, list[float]]
"""Goodput second by second, by flow: the first half are TCP's, the others WE TCP-AP's."""
LATER = (60, 120)
"""Seconds (the catalogue's)."""


def classes(bins: Bins) -> tuple[list[float], list[float]]:
    """Goodput of TCP's flows and of WE TCP-AP's, second by second."""
    flows = list(bins.values())
    half = len(flows) // 2
    tcp, we = ([math.fsum(at) for at in zip(*part, strict=False)] for part in (flows[:half], flows[half:]))
    return tcp, we


def tcp_share(begin: int, end: int) -> Callable[[Bins], float | None]:
    """TCP's part of what both get."""

    def take(bins: Bins) -> float | None:
        tcp, we = (math.fsum(each[begin:end]) for each in classes(bins))
        return tcp / (tcp + we) if tcp + we else None

    return take


def we_by_tcp(bins: Bins) -> float | None:
    """WE TCP-AP's rate by TCP's, later."""
    tcp, we = (math.fsum(each[slice(*LATER)]) for each in classes(bins))
    return we / tcp if tcp else None


def adjusted_at(bins: Bins) -> float:
    """When the means since the start first are within 20 % of each other, seconds; the run's length if never."""
    tcp, we = classes(bins)
    one = other = 0.0
    for second, (a, b) in enumerate(zip(tcp, we, strict=False), start=1):
        one, other = one + a, other + b
        if one and other and abs(one - other) <= 0.2 * max(one, other):
            return float(second)
    return float(len(tcp))
