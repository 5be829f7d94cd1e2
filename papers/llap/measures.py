"""What the LLAP paper reads off runs, and how its studies draw ends and rates (docs/experiments/llap.md, section 1)."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Sequence
from typing import Literal

from meshpace.results import FlowResult, HopDelayResult, RunResult
from meshpace.study.measures import Measure, Values, gain, paired
from meshpace.study.model import Condition, Point, Settings
from meshpace.study.outcome import Outcome
from meshpace.study.quantities import GOODPUT, SEGMENT, Quantity, Take


def _less_resent(run: RunResult) -> float:
    resent = sum(flow["retransmits"] or 0 for flow in run["flows"])
    delivered = sum(flow["delivered_bytes"] for flow in run["flows"])
    return 8 * (delivered - resent * SEGMENT) / run["measured_s"]


def _timeouts(run: RunResult) -> float:
    return 250 * sum(flow["timeouts"] or 0 for flow in run["flows"]) / run["measured_s"]


def _by_timeout(run: RunResult) -> float | None:
    timeouts = sum(flow["timeouts"] or 0 for flow in run["flows"])
    reductions = timeouts + sum(flow["fast_retransmits"] or 0 for flow in run["flows"])
    return timeouts / reductions if reductions else None


def _loss_rex(run: RunResult) -> float | None:
    sent = sum(flow["segments_sent"] for flow in run["flows"])
    return sum(flow["retransmits"] or 0 for flow in run["flows"]) / sent if sent else None


def _loss_mac(run: RunResult) -> float | None:
    sent = sum(flow["segments_sent"] for flow in run["flows"])
    return sum(link["data_drops"] + link["ack_drops"] for link in run["links"]) / sent if sent else None


def _mac_over_queue(run: RunResult) -> float:
    return float(sum(link["data_drops"] + link["ack_drops"] - link["queue_drops"] for link in run["links"]))


def _data_given_up(run: RunResult) -> float:
    return 250 * sum(link["data_drops"] for link in run["links"]) / run["measured_s"]


def _collisions_of_data(run: RunResult) -> float:
    return 250 * sum(link["collisions_data"] for link in run["links"]) / run["measured_s"]


G_PAPER = Quantity("g_paper", "delivered less resent", "kbit/s", _less_resent, 1e-3)
"""The paper's goodput (schemes.md 0.3)."""
TIMEOUTS_250 = Quantity("timeouts_250", "timeouts", "per 250 s", _timeouts)
BY_TIMEOUT = Quantity("by_timeout", "reductions of the window by timeout", "%", _by_timeout, 100.0, top=1.0)
LOSS_REX = Quantity("loss_rex", "segments resent of those sent", "%", _loss_rex, 100.0, 2)
LOSS_MAC = Quantity("loss_mac", "TCP packets given up by the MAC, of the segments sent", "%", _loss_mac, 100.0, 2)
MAC_OVER_QUEUE = Quantity(
    "mac_over_queue", "TCP packets given up by the MAC less those dropped by queues", "", _mac_over_queue
)
DATA_GIVEN_UP = Quantity("data_given_up", "data packets given up by the MAC", "per 250 s", _data_given_up)
COLLISIONS_DATA = Quantity("collisions_data", "collisions of data frames", "per 250 s", _collisions_of_data, decimals=0)


def _loss_mac2(run: RunResult) -> float | None:
    value = _loss_mac(run)
    return None if value is None else value * (2 if "radio.rts=always" in run["overrides"] else 1)


def _first(take: Callable[[FlowResult], float | None]) -> Callable[[RunResult], float | None]:
    return lambda run: take(run["flows"][0])


def _offered_delivered(run: RunResult) -> float | None:
    losses = [flow["loss_ratio"] for flow in run["flows"]]
    sent = [flow["segments_sent"] for flow in run["flows"]]
    known = [(loss, count) for loss, count in zip(losses, sent, strict=True) if loss is not None]
    total = sum(count for _, count in known)
    return 1 - sum(loss * count for loss, count in known) / total if total else None


def hop_delay(run: RunResult, node: str | None = None) -> HopDelayResult | None:
    """The row of a node, the first flow's source unless given, for that flow's end; None if it was not measured."""
    flow = run["flows"][0]
    found = (r for r in run.get("hop_delays", []) if r["node"] == (node or flow["from"]) and r["egress"] == flow["to"])
    return next(found, None)


def _of_source(key: Literal["actual_mean_s", "estimate_mean_s", "error_mean", "error_abs_mean"]) -> Take:
    def take(run: RunResult) -> float | None:
        row = hop_delay(run)
        return None if row is None else row[key]

    return take


def _wait_at_source(run: RunResult) -> float | None:
    """Of the first flow's delay, what packets wait in the source until its MAC takes them."""
    row, delay = hop_delay(run), run["flows"][0]["delay_mean_s"]
    if row is None or row["node_mean_s"] is None or row["mac_mean_s"] is None or not delay:
        return None
    return (row["node_mean_s"] - row["mac_mean_s"]) / delay


def _missed(run: RunResult) -> float:
    relays = run.get("relays", [])
    return sum(row["llap_missed"] for row in relays) / (len(relays) * run["measured_s"]) if relays else 0.0


def _added(run: RunResult) -> float | None:
    """Bytes of a data packet of the first flow on the air."""
    rows = [node["data"] for node in run["flows"][0]["load"]]
    packets = sum(row["packets"] for row in rows)
    return sum(row["packet_bytes"] for row in rows) / packets if packets else None


def _collided(run: RunResult) -> float | None:
    sizes = [
        row["data"]["packet_bytes"] / row["data"]["packets"]
        for row in run["flows"][0]["load"]
        if row["data"]["packets"]
    ]
    delivered = sum(flow["delivered_bytes"] for flow in run["flows"]) / max(sizes, default=1)
    return sum(link["collisions"] for link in run["links"]) / delivered if delivered else None


LOSS_MAC2 = Quantity(
    "loss_mac2", "the same with RTS give-ups as ns-2 writes them, twice with RTS/CTS", "%", _loss_mac2, 100.0, 2
)
FIRST_DELAY = Quantity("delay_1", "one-way delay of flow 1", "ms", _first(lambda flow: flow["delay_mean_s"]), 1e3)
FIRST_DELAY_STD = Quantity(
    "delay_std_1", "standard deviation of flow 1's delay", "ms", _first(lambda flow: flow["delay_std_s"]), 1e3
)
DELAY_STD = Quantity(
    "delay_std", "standard deviation of the delay", "ms", _first(lambda flow: flow["delay_std_s"]), 1e3
)
OFFERED_DELIVERED = Quantity("delivered", "delivered of what was sent", "%", _offered_delivered, 100.0, top=1.0)
FHD_ACTUAL = Quantity("fhd_actual", "four-hop delay", "ms", _of_source("actual_mean_s"), 1e3, 2)
FHD_ESTIMATE = Quantity("fhd_est", "four-hop delay as estimated", "ms", _of_source("estimate_mean_s"), 1e3, 2)
FHD_ERROR = Quantity("fhd_error", "estimated over true four-hop delay, less 1", "%", _of_source("error_mean"), 100.0)
FHD_ERROR_ABS = Quantity("fhd_error_abs", "its magnitude", "%", _of_source("error_abs_mean"), 100.0)
WAIT_AT_SOURCE = Quantity(
    "wait_at_source", "part of the delay that packets wait at the source", "%", _wait_at_source, 100.0, top=1.0
)
MISSED = Quantity("llap_missed", "expiries of the overhear timer", "per s and node", _missed, decimals=4)
MISSED_ALL = Quantity(
    "llap_missed_all", "expiries at any node", "",
    lambda run: float(sum(row["llap_missed"] for row in run.get("relays", []))), decimals=0,
)  # fmt: skip
ADDED_BYTES = Quantity("packet_bytes", "bytes of a data packet with its IP header", "", _added, decimals=2)
COLLIDED = Quantity("collided", "frames lost to overlap for each packet delivered", "", _collided, decimals=2)


def _slowest(run: RunResult) -> float | None:
    """Four times what the slowest node's MAC takes for a packet of the first flow."""
    rows = (row["mac_mean_s"] for row in run.get("hop_delays", []) if row["egress"] == run["flows"][0]["to"])
    return max((4 * value for value in rows if value is not None), default=None)


def _unevenness(run: RunResult) -> float | None:
    row = hop_delay(run)
    if row is None or row["interval_std_s"] is None or not row["interval_mean_s"]:
        return None
    return row["interval_std_s"] / row["interval_mean_s"]


UNEVENNESS = Quantity(
    "uneven", "coefficient of variation of the times between packets that leave the first source's MAC", "",
    _unevenness, decimals=2,
)  # fmt: skip
SLOWEST = Quantity("slowest", "four times the slowest node's access and transmission", "ms", _slowest, 1e3, 1)


# Figs. 7 to 9: windows of a run. Flow 2 sends from 30 to 60 s.

BEFORE, DURING, AFTER = (10, 30), (35, 60), (70, 90)
"""Seconds of the windows; flow 2 sends from 30 to 60 s."""
Window = tuple[int, int]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def _estimate(window: Window) -> Take:
    def take(run: RunResult) -> float | None:
        row = hop_delay(run)
        return None if row is None else _mean(row["estimate_s"][slice(*window)])

    return take


def _ratio(window: Window) -> Take:
    def take(run: RunResult) -> float | None:
        row = hop_delay(run)
        actual = None if row is None else _mean(row["actual_s"][slice(*window)])
        estimate = _estimate(window)(run)
        return None if actual is None or estimate is None else estimate / actual

    return take


def _departures(window: Window) -> Take:
    def take(run: RunResult) -> float | None:
        row = hop_delay(run)
        return None if row is None else sum(row["taken"][slice(*window)]) / (window[1] - window[0])

    return take


def _hop(run: RunResult) -> float | None:
    """Access and transmission of a packet of flow 1, mean over the path before flow 2 begins."""
    flow = run["flows"][0]
    rows = (row for row in run.get("hop_delays", []) if row["egress"] == flow["to"])
    means = [_mean(row["mac_s"][slice(*BEFORE)]) for row in rows]
    return _mean(means)


def _four_times_a_hop(run: RunResult) -> float | None:
    estimate, hop = _estimate(BEFORE)(run), _hop(run)
    return None if estimate is None or not hop else estimate / (4 * hop) - 1


def _within_four_times(run: RunResult) -> float | None:
    """Part of the source's packets whose four-hop delay is at most four times the longest time in a node just then."""
    source = hop_delay(run)
    return None if source is None else source["within_share"]


def _windows(
    title: str, unit: str, take: Callable[[Window], Take], name: str, factor: float, decimals: int
) -> dict[Window, Quantity]:
    named = {BEFORE: "before", DURING: "during", AFTER: "after"}
    return {
        window: Quantity(
            f"{name}_{word}", f"{title}, {window[0]} to {window[1]} s", unit, take(window), factor, decimals
        )
        for window, word in named.items()
    }


ESTIMATE = _windows("four-hop delay as estimated", "ms", _estimate, "fhd_est", 1e3, 2)
TRUTH = _windows("estimated over true four-hop delay", "", _ratio, "fhd_ratio", 1.0, 3)
DEPARTURES = _windows("packets that leave the ingress", "per s", _departures, "departures", 1.0, 1)
FOUR_HOPS = Quantity("fhd_hop", "estimate over four times a hop, less 1", "%", _four_times_a_hop, 100.0)
AT_MOST_FOUR = Quantity(
    "fhd_at_most", "packets whose delay is at most 4 x the longest time in a node", "%", _within_four_times, 100.0,
    top=1.0,
)  # fmt: skip

WINDOWS = {"before": BEFORE, "during": DURING, "after": AFTER}
_CHANGING = {"fhd_est": ESTIMATE, "departures": DEPARTURES}
TRACKED = (*ESTIMATE.values(), *TRUTH.values(), *DEPARTURES.values())


def change(of: str, begin: str, end: str) -> Quantity:
    """From one window of a run to another, as a part of the first: of ``fhd_est`` or ``departures``."""
    there = _CHANGING[of]

    def take(run: RunResult) -> float | None:
        first, last = (there[WINDOWS[window]](run) for window in (begin, end))
        return last / first - 1 if first and last is not None else None

    return Quantity("change", "change", "", take)


# Fig. 5, Fig. 22: the window.


def window_at_one(windows: dict[str, list[float]]) -> float | None:
    """Part of the time at a window below 2 segments."""
    samples = [value for flow in windows.values() for value in flow]
    return sum(value < 2 for value in samples) / len(samples) if samples else None


def unevenness(windows: dict[str, list[float]]) -> float | None:
    """Coefficient of variation of the first flow's window after 20 s, as far as 64 segments allow it to act."""
    samples = [min(value, 64.0) for value in next(iter(windows.values()))[80:]]
    middle = math.fsum(samples) / len(samples) if samples else 0.0
    return math.sqrt(math.fsum((x - middle) ** 2 for x in samples) / len(samples)) / middle if middle else None


# Figs. 3, 4, 16 to 21: curves over the offered load. The first argument is the places on the axis, kbit/s.

Curve = Sequence[float]


def peak(goodput: Curve) -> float:
    """The most that arrives, kbit/s, as loads are counted: the knee of an ideal curve."""
    return max(goodput) / 1000


def fall(_: Curve, goodput: Curve) -> float | None:
    """From the peak to the greatest load, as a part of the peak."""
    return 1 - goodput[-1] / max(goodput) if max(goodput) else None


def linear(loads: Curve, goodput: Curve, delivered: Curve) -> float | None:
    """The least part that is delivered at loads up to 0.8 of the peak."""
    low = (part for load, part in zip(loads, delivered, strict=True) if load <= 0.8 * peak(goodput))
    return min(low, default=None)


def least_gain(loads: Curve, theirs: Curve, ours: Curve) -> float | None:
    """The least relative difference at loads above what the first curve carries at most."""
    pairs = [(a, b) for load, a, b in zip(loads, theirs, ours, strict=True) if load > peak(theirs)]
    return min((b / a - 1 for a, b in pairs if a), default=None)


def spread_above(loads: Curve, goodput: Curve) -> float | None:
    """(max - min) / max at loads above the peak."""
    above = [value for load, value in zip(loads, goodput, strict=True) if load > peak(goodput)]
    top = max(above, default=0.0)
    return (top - min(above)) / top if top else None


def at_the_knee(_: Curve, theirs: Curve, ours: Curve) -> float | None:
    """The second curve where the first has its peak, over that peak."""
    best = max(theirs)
    return ours[list(theirs).index(best)] / best if best else None


def saturated(_: Curve, theirs: Curve, ours: Curve) -> float | None:
    """The second curve at the greatest load against the first one's peak."""
    return ours[-1] / max(theirs) - 1 if max(theirs) else None


def _low(loads: Curve, goodput: Curve) -> list[int]:
    """Places of loads at which packets come slower than the four-hop delay, with room."""
    return [place for place, load in enumerate(loads) if load <= 0.7 * peak(goodput)]


def spread_below(loads: Curve, goodput: Curve, delay: Curve) -> float | None:
    """(max - min) / max of a delay at loads up to 0.7 of the peak."""
    values = [delay[place] for place in _low(loads, goodput)]
    top = max(values, default=0.0)
    return (top - min(values)) / top if top else None


def strays_below(loads: Curve, goodput: Curve, theirs: Curve, ours: Curve) -> float | None:
    """The relative difference of two delays that is farthest from none, at loads up to 0.7 of the peak."""
    found = (ours[place] / theirs[place] - 1 for place in _low(loads, goodput) if theirs[place])
    return max(found, key=abs, default=None)


def most_above(loads: Curve, goodput: Curve, theirs: Curve, ours: Curve) -> float | None:
    """The greatest relative difference at loads above the peak."""
    pairs = zip(loads, theirs, ours, strict=True)
    return max((b / a - 1 for load, a, b in pairs if load > peak(goodput) and a), default=None)


def last_two(loads: Curve, delay: Curve) -> float | None:
    """The delay at 3,000 kbit/s against that at 2,000."""
    there = delay[list(loads).index(2000.0)]
    return delay[-1] / there - 1 if there else None


def peak_at(loads: Curve, goodput: Curve) -> float | None:
    """The load at which most arrives."""
    return loads[list(goodput).index(max(goodput))]


def smaller_fall(loads: Curve, theirs: Curve, ours: Curve) -> float | None:
    """The fall of the second curve less that of the first."""
    a, b = fall(loads, theirs), fall(loads, ours)
    return None if a is None or b is None else b - a


def best_rate(size: int) -> Callable[[Curve, Curve, Curve], float | None]:
    """Packets of that size a second at the peak times the true four-hop delay there: 1 if R_max = 1 / FHD."""

    def read(_: Curve, goodput: Curve, delay: Curve) -> float | None:
        best = max(goodput)
        return best / (8 * size) * delay[list(goodput).index(best)]

    return read


def correlated(_: Curve, ours: Curve, theirs: Curve) -> float | None:
    """Pearson's correlation of two curves; None where one side is constant, or one number is all there is."""
    if len(set(ours)) < 2 or len(set(theirs)) < 2:
        return None
    return statistics.correlation(ours, theirs)


# Fig. 26: random rates.


def wins(scheme: str, over: str) -> Measure:
    """By seed 1 where a scheme delivers more than another, else 0."""

    def take(outcome: Outcome, condition: Condition, point: str) -> Values:
        gains = gain(GOODPUT, scheme, over).take(outcome, condition, point)
        return [None if value is None else float(value > 0) for value in gains]

    return Measure((over, scheme), take)


RATES = ("1Mbps", "2Mbps", "5.5Mbps", "11Mbps")
_NODES = 11


def rates_of_nodes(point: Point, _: int) -> Settings:
    """Rates of n0 to n10, drawn uniformly; the assignment's number is a seed of its own."""
    draw = random.Random(int(point.label))  # noqa: S311
    rates = [RATES[int(draw.random() * len(RATES))] for _ in range(_NODES)]
    return tuple((f"radio.link_rates.{node}.rate", rate) for node, rate in enumerate(rates))


# Figs. 12 to 15: flows that cross.

T0 = 20
"""From where on the time to fairness counts, s."""

Series = dict[str, list[float]]
Read = Callable[[Series], float | None]


def jain(goodputs: Sequence[float]) -> float | None:
    """Jain's index; None if nothing was delivered."""
    squares = math.fsum(x * x for x in goodputs)
    return math.fsum(goodputs) ** 2 / (len(goodputs) * squares) if squares else None


def _between(series: Series, begin: int, end: int) -> list[float]:
    """Mean goodput of every flow from second ``begin`` to ``end``."""
    return [math.fsum(values[begin:end]) / (end - begin) for values in series.values()]


def time_to_fairness(series: Series) -> float | None:
    """TTF: from T0 until Jain's index of the goodputs since T0 reaches 0.95 (schemes.md 0.3); all the time if never."""
    length = min(map(len, series.values()))
    for end in range(T0 + 1, length + 1):
        index = jain(_between(series, T0, end))
        if index is not None and index >= 0.95:
            return float(end - T0)
    return float(length - T0)


def share_of_first(begin: int, end: int) -> Read:
    """Of both flows' goodput from ``begin`` to ``end``, the first flow's part."""

    def read(series: Series) -> float | None:
        first, second = _between(series, begin, end)
        return first / (first + second) if first + second else None

    return read


def jain_between(begin: int, end: int) -> Read:
    """Jain's index of the goodputs from ``begin`` to ``end``."""
    return lambda series: jain(_between(series, begin, end))


def goodput_between(flow: int, begin: int, end: int) -> Read:
    """Goodput of a flow from ``begin`` to ``end``."""
    return lambda series: _between(series, begin, end)[flow]


def reaction(start: int, end: int, window: int = 5) -> Read:
    """From ``start`` until the second from which on Jain's index over 5 s stays at 0.9 and above; ``end`` if never."""

    def read(series: Series) -> float | None:
        since = end
        for second in range(end - window, start - 1, -1):
            index = jain(_between(series, second, second + window))
            if index is None or index < 0.9:
                break
            since = second
        return float(since - start)

    return read


def best_over_worst(of: Measure) -> Measure:
    """At the point with the most what it is against that with the least.

    Which two these are the odd seeds of the plan say, and all others estimate: of noisy numbers the largest is too
    large and the smallest too small.
    """

    def take(outcome: Outcome, condition: Condition, _: str) -> Values:
        labels = [point.label for point in outcome.study.points(outcome.effort)]
        columns = {label: of.take(outcome, condition, label) for label in labels}
        known = {label: _mean_of(values[: outcome.plan_seeds : 2]) for label, values in columns.items()}
        ranked = sorted((mean, label) for label, mean in known.items() if mean is not None)
        if len(ranked) < 2:
            return []
        ratios = paired(columns[ranked[-1][1]], columns[ranked[0][1]], lambda a, b: a / b - 1 if b else None)
        return [None if seed in range(0, outcome.plan_seeds, 2) else value for seed, value in enumerate(ratios)]

    return Measure(of.schemes, take, of.quantity, along=(), once=True)


def _mean_of(values: Sequence[float | None]) -> float | None:
    found = [value for value in values if value is not None]
    return math.fsum(found) / len(found) if found else None


# Figs. 27 to 30: flows between opposite sides of a grid. A pattern is a seed: the run of seed n has pattern n, the
# same for every scheme, load and condition.

SIDE = 10
"""Nodes of a side; a corner belongs to two."""
LEFT, RIGHT, TOP, BOTTOM = range(4)
_WAYS = ((LEFT, RIGHT), (RIGHT, LEFT), (TOP, BOTTOM), (BOTTOM, TOP))
"""Flow k goes the way k % 4."""


def _node(side: int, place: int) -> str:
    row, column = {
        LEFT: (place, 0), RIGHT: (place, SIDE - 1), TOP: (0, place), BOTTOM: (SIDE - 1, place)
    }[side]  # fmt: skip
    return f"g{row}_{column}"


def pattern(each: int, number: int) -> list[tuple[str, str]]:
    """Ends of ``each`` flows from every side to the opposite one.

    No node of a side is source and destination for it, unless every one is both (``each`` is 10); sources and
    destinations are matched at random.
    """
    draw = random.Random(number)  # noqa: S311
    order = [draw.sample(range(SIDE), SIDE) for _ in range(4)]
    sources = [places[:each] for places in order]
    sinks = [draw.sample(places[-each:], each) for places in order]
    return [
        (_node(begin, sources[begin][flow]), _node(end, sinks[end][flow]))
        for flow in range(each)
        for begin, end in _WAYS
    ]


def ends(point: Point, seed: int, each: int | None = None) -> Settings:
    """The ends of the flows of the seed's pattern: so many from each side, or as many as the point is called."""
    return tuple(
        setting
        for flow, (begin, end) in enumerate(pattern(int(point.label) if each is None else each, seed))
        for setting in ((f"flow.{flow}.from", begin), (f"flow.{flow}.to", end))
    )


def _silent(run: RunResult) -> float:
    return float(sum(flow["goodput_bps"] == 0 for flow in run["flows"]))


def _lost(run: RunResult) -> float | None:
    flows = run["flows"]
    sent = sum(flow["segments_sent"] for flow in flows)
    lost = sum((flow["loss_ratio"] or 0) * flow["segments_sent"] for flow in flows)
    return lost / sent if sent else None


SILENT = Quantity("silent", "flows that deliver nothing", "", _silent)
LOST = Quantity("loss", "packets lost of those sent", "%", _lost, 100.0, top=1.0)
