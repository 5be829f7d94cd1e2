"""What the LLAP paper reads off runs, and how its studies draw ends and rates (docs/experiments/llap.md, section 1)."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

from meshpace.results import RunResult
from meshpace.study.hops import hop_delay
from meshpace.study.model import Point, Settings
from meshpace.study.quantities import SEGMENT, Quantity, Take
from meshpace.study.seconds import Series, between, jain


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
MISSED = Quantity("llap_missed", "expiries of the overhear timer", "per s and node", _missed, decimals=4)
MISSED_ALL = Quantity(
    "llap_missed_all", "expiries at any node", "",
    lambda run: float(sum(row["llap_missed"] for row in run.get("relays", []))), decimals=0,
)  # fmt: skip
ADDED_BYTES = Quantity("packet_bytes", "bytes of a data packet with its IP header", "", _added, decimals=2)
COLLIDED = Quantity("collided", "frames lost to overlap for each packet delivered", "", _collided, decimals=2)


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


# Fig. 17: the first argument is the places on the axis, kbit/s.


def last_two(loads: Sequence[float], delay: Sequence[float]) -> float | None:
    """The delay at 3,000 kbit/s against that at 2,000."""
    there = delay[list(loads).index(2000.0)]
    return delay[-1] / there - 1 if there else None


# Fig. 26: random rates.


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


def time_to_fairness(series: Series) -> float | None:
    """TTF: from T0 until Jain's index of the goodputs since T0 reaches 0.95 (schemes.md 0.3); all the time if never."""
    length = min(map(len, series.values()))
    for end in range(T0 + 1, length + 1):
        index = jain(between(series, T0, end))
        if index is not None and index >= 0.95:
            return float(end - T0)
    return float(length - T0)


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
