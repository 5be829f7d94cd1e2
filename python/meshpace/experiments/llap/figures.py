"""The experiments of the LLAP paper (docs/experiments/llap.md is its catalogue).

Plans: ``full`` is as long as the paper's; ``quick`` takes 60 s, three seeds, coarse axes and two conditions. What the
axes that are lost had, and what else the paper does not say, is the catalogue's decision.
"""

from __future__ import annotations

import random

from meshpace.experiments.llap.quantities import (
    BY_TIMEOUT,
    COLLISIONS_DATA,
    DATA_GIVEN_UP,
    FHD_ESTIMATE,
    G_PAPER,
    LOSS_MAC,
    LOSS_MAC2,
    LOSS_REX,
    MAC_OVER_QUEUE,
    SLOWEST,
    TIMEOUTS_250,
    UNEVENNESS,
)
from meshpace.study.model import AODV, NO_AXIS, PAPER_CONDITIONS, STATIC, Axis, Plan, Point, Settings, Study, timed
from meshpace.study.quantities import GOODPUT, JAIN, RTT

PAPER = "LLAP (Franklin, Siva Ram Murthy 2008)"
LLAP, LETTER, TCP_AP = "llap", "llap-letter", "tcp-ap-ns2-2005"
QUICK = (AODV, STATIC)
"""The conditions of the quick plans."""

OFF, ON = "RTS/CTS off", "RTS/CTS on"
_RTS = Axis("RTS/CTS", "", (Point(OFF, (("radio.rts", "never"),)), Point(ON, (("radio.rts", "always"),))))
_AT_11: Settings = (("radio.rate", "11Mbps"), ("radio.rts", "always"))


def quick_plan(
    seeds: int = 3, measure: Settings | None = None, points: tuple[str, ...] | None = None, core_s: float = 0.2
) -> Plan:
    """Three seeds of 60 s under two conditions, unless said otherwise."""
    return Plan(seeds, measure or timed(60, 0), points, core_s, QUICK)


_TABLE = (
    G_PAPER,
    GOODPUT,
    TIMEOUTS_250,
    LOSS_REX,
    LOSS_MAC,
    LOSS_MAC2,
    MAC_OVER_QUEUE,
    COLLISIONS_DATA,
    DATA_GIVEN_UP,
    BY_TIMEOUT,
)


def _table(number: int, figure: str, schemes: tuple[str, ...], shows: str) -> Study:
    return Study(
        name=f"llap-table{number}",
        paper="llap",
        title=f"One TCP flow at 2 Mbit/s, Table {number}",
        figures=(f"Table {number}", figure),
        source=f"{PAPER}, Table {number}, {figure}",
        shows=shows,
        scenario="llap-table1.toml",
        axis=_RTS,
        schemes=schemes,
        conditions=PAPER_CONDITIONS,
        quick=quick_plan(measure=timed(100, 0)),
        full=Plan(30, timed(250, 0), core_s=0.5),
        quantities=_TABLE,
        series=True,
        notes="10 hops; the text also calls the chain's ends nodes 0 and 9. Window 64 segments.",
    )


_HOPS_AXIS = Axis(
    "wireless hops", "", tuple(
        Point(str(h), (("topology.hops", str(h)), ("flow.0.to", f"n{h}")), float(h)) for h in range(1, 11)
    ),
)  # fmt: skip
_HOPS = Study(
    name="llap-hops",
    paper="llap",
    title="One TCP flow over 1 to 10 hops",
    figures=("Fig. 23",),
    source=f"{PAPER}, Fig. 23",
    shows="Goodput of one flow over the length of the chain at 11 Mbit/s.",
    scenario="llap-table1.toml",
    axis=_HOPS_AXIS,
    schemes=("newreno", LLAP, LETTER, TCP_AP),
    conditions=PAPER_CONDITIONS,
    quick=quick_plan(measure=timed(60, 10), points=("2", "4", "5", "6", "7", "10")),
    full=Plan(10, timed(500, 50), core_s=1.0),
    quantities=(GOODPUT, G_PAPER, RTT, TIMEOUTS_250, LOSS_MAC),
    settings=_AT_11,
)
FLOW_COUNTS = (1, 2, 3, 4, 6, 8, 10)
_FLOWS = Study(
    name="llap-flows",
    paper="llap",
    title="Several TCP flows on one chain",
    figures=("Fig. 24", "Fig. 25"),
    source=f"{PAPER}, Figs 24, 25",
    shows="Aggregate goodput and fairness of flows from end to end of 10 hops.",
    scenario="llap-table1.toml",
    axis=Axis("flows", "", tuple(Point(str(n), (("flow.0.count", str(n)),), float(n)) for n in FLOW_COUNTS)),
    schemes=("newreno", LLAP, LETTER, TCP_AP),
    conditions=PAPER_CONDITIONS,
    quick=quick_plan(measure=timed(60, 10), points=("1", "2", "4", "10")),
    full=Plan(10, timed(500, 50), core_s=1.0),
    quantities=(GOODPUT, JAIN, RTT, TIMEOUTS_250, UNEVENNESS),
    settings=(*_AT_11, ("measure.hop_delays", "true")),
)

RATES = ("1Mbps", "2Mbps", "5.5Mbps", "11Mbps")
_NODES = 11


def _assignment(number: int) -> Point:
    """Rates of n0 to n10, drawn uniformly; the draw is a seed of its own."""
    draw = random.Random(number)  # noqa: S311
    rates = [RATES[int(draw.random() * len(RATES))] for _ in range(_NODES)]
    settings = tuple((f"radio.link_rates.{node}.rate", rate) for node, rate in enumerate(rates))
    return Point(str(number), settings, float(number))


ASSIGNMENTS = tuple(str(number) for number in range(1, 31))
_RANDOM_RATES = Study(
    name="llap-random-rates",
    paper="llap",
    title="Random MAC rates",
    figures=("Fig. 26",),
    source=f"{PAPER}, Fig. 26",
    shows="One flow over 10 hops whose nodes send at 1, 2, 5.5 or 11 Mbit/s, drawn at random.",
    scenario="llap-rates.toml",
    axis=Axis("assignment", "", tuple(map(_assignment, range(1, 31)))),
    schemes=("newreno", LLAP, LETTER, TCP_AP),
    conditions=PAPER_CONDITIONS,
    quick=quick_plan(measure=timed(60, 10), points=ASSIGNMENTS[:6]),
    full=Plan(5, timed(500, 50), core_s=0.7),
    quantities=(GOODPUT, RTT, TIMEOUTS_250, FHD_ESTIMATE, SLOWEST),
    settings=(("measure.hop_delays", "true"),),
    notes="The set of rates is the catalogue's; so is that they are by sender.",
)

WAYS = {"up": ("n0", "B"), "down": ("B", "n0")}


def _wired(way: str) -> Study:
    source, destination = WAYS[way]
    return Study(
        name=f"llap-wired-{way}",
        paper="llap",
        title=f"One end in the Internet, {way}",
        figures=(),
        source=f"{PAPER}, section 7",
        shows="One flow over 8 hops and three wired links of 40 ms: the paper says that LLAP helps there, too.",
        scenario="llap-table1.toml",
        axis=NO_AXIS,
        schemes=("newreno", LLAP, LETTER, TCP_AP),
        conditions=PAPER_CONDITIONS,
        quick=quick_plan(measure=timed(60, 10)),
        full=Plan(10, timed(500, 50), core_s=1.0),
        quantities=(GOODPUT, RTT, TIMEOUTS_250),
        settings=(*_AT_11, ("topology.hops", "8"), ("flow.0.from", source), ("flow.0.to", destination)),
        notes="No experiment of the paper.",
    )


STUDIES = (
    _table(1, "Fig. 5", ("newreno", TCP_AP, "tcp-ap"), "What RTS/CTS and TCP-AP do for one flow over 10 hops."),
    _table(2, "Fig. 22", ("newreno", LLAP, LETTER, TCP_AP), "What LLAP does for one flow over 10 hops."),
    _HOPS,
    _FLOWS,
    _RANDOM_RATES,
    *map(_wired, WAYS),
)
