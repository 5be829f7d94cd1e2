"""How LLAP's ingress follows the four-hop delay: Figs. 7 to 9, and its error by hops, load and loss.

The truth is the engine's ([measure] hop_delays, docs/contract.md): from when a node's MAC takes a packet until it has
come four hops further.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from meshpace.experiments.llap.figures import LETTER, LLAP, PAPER, quick_plan
from meshpace.experiments.llap.quantities import FHD_ACTUAL, FHD_ERROR, FHD_ERROR_ABS, FHD_ESTIMATE, MISSED, hop_delay
from meshpace.experiments.llap.udp import CONDITIONS
from meshpace.results import RunResult
from meshpace.study.model import AODV, STATIC, Axis, Plan, Point, Settings, Study, timed
from meshpace.study.quantities import GOODPUT, Quantity, Take
from meshpace.words import in_hops

CORES = ("llap-hold", "llap-spacing", "llap-clamped")
"""The other core laws (schemes.md 8, Core law)."""
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

RATES = (500, 1000, 2000)
"""Of flow 2, kbit/s: Figs. 7, 8, 9."""


def _tracking(name: str, size: int) -> Study:
    points = (Point(str(rate), (("flow.1.rate", f"{rate}kbps"),), float(rate)) for rate in RATES)
    sizes: Settings = tuple((f"flow.{flow}.packet", str(size)) for flow in range(2))
    return Study(
        name=name,
        paper="llap",
        title=f"The four-hop delay, estimated, {size} bytes",
        figures=("Fig. 7", "Fig. 8", "Fig. 9"),
        source=f"{PAPER}, Figs. 7 to 9",
        shows="What node 0 expects of the four-hop delay before, while and after a flow from node 6 to node 7 sends.",
        scenario="llap-tracking.toml",
        axis=Axis("rate of flow 2", "kbit/s", tuple(points)),
        schemes=(LLAP, LETTER, *CORES),
        conditions=CONDITIONS,
        quick=quick_plan(measure=timed(90, 0), core_s=0.4),
        full=Plan(10, timed(90, 0), core_s=0.4),
        quantities=(*ESTIMATE.values(), *TRUTH.values(), *DEPARTURES.values(), FOUR_HOPS, AT_MOST_FOUR, GOODPUT),
        settings=sizes,
        notes="Sizes are the catalogue's; 500 bytes come nearest to the 6 ms that are printed.",
    )


LOSSES = (1, 2, 5, 10)
HOPS = (5, 6, 8, 10)
ERROR_LOADS = (100, 200, 300, 400, 500, 600, 800, 1000)
TEN_HOPS: Settings = (("topology.hops", "10"), ("flow.0.to", "n10"), ("flow.0.rate", "300kbps"))


def _over(hops: int) -> Point:
    return Point(
        f"{in_hops(hops)}", (*TEN_HOPS[2:], ("topology.hops", str(hops)), ("flow.0.to", f"n{hops}")), float(hops)
    )


def _offered(rate: int) -> Point:
    return Point(f"{rate} kbit/s", (*TEN_HOPS[:2], ("flow.0.rate", f"{rate}kbps")), float(rate))


def _lossy(percent: int) -> Point:
    """Loss of frames of 1,000 bytes and headers, each way of each link."""
    links = ", ".join(
        f'{{from = "n{node}", to = "n{node + 1}", loss = {percent / 100}, loss_length = 1054}}' for node in range(10)
    )
    return Point(f"{percent} % lost", (*TEN_HOPS, ("radio_link", f"[{links}]")), float(percent))


_ERROR = Study(
    name="llap-fhd-error",
    paper="llap",
    title="Error of the estimated four-hop delay",
    figures=(),
    source=f"not in the paper: its section 6.2 announces the comparison; {PAPER}",
    shows="Estimated against true four-hop delay at the ingress by hops (300 kbit/s), load (10 hops) and loss of links "
    "(10 hops, 300 kbit/s).",
    scenario="llap-error.toml",
    axis=Axis("hops, load or loss", "", (*map(_over, HOPS), *map(_offered, ERROR_LOADS), *map(_lossy, LOSSES))),
    schemes=(LLAP, LETTER, *CORES),
    conditions=(AODV, STATIC),
    quick=quick_plan(
        measure=timed(60, 10),
        points=("5 hops", "10 hops", "100 kbit/s", "400 kbit/s", "1000 kbit/s", "1 % lost", "5 % lost"),
        core_s=0.1,
    ),
    full=Plan(10, timed(210, 10), core_s=0.4),
    quantities=(FHD_ACTUAL, FHD_ESTIMATE, FHD_ERROR, FHD_ERROR_ABS, MISSED, GOODPUT),
    notes="Datagrams of 1,000 bytes at 11 Mbit/s with RTS/CTS. A link's loss is of its frames of 1,000 bytes.",
)

STUDIES = (_tracking("llap-fhd-tracking", 500), _tracking("llap-fhd-tracking-1000", 1000), _ERROR)
