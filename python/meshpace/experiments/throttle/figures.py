"""The experiments of Osipov and Tschudin 2005, ingress throttling by path length and path density.

docs/experiments/ingress-throttling.md is the catalogue. Flows alone, which u compares with, are points of the same
study. Here stands what throttles nothing; ``throttle_sources`` has what throttles, ``throttle_text`` what is only said.
"""

from __future__ import annotations

from meshpace.experiments.throttle.quantities import ACK_PART, DATA_LOAD, LOST, NET_LOAD, QUEUED, RELAYED, RELAYED_ONCE
from meshpace.experiments.throttle.strip import CHAIN, HOPS, SEGMENTS, STRIP, THREE, chain, strip, window
from meshpace.experiments.throttle.study import QUICK, study
from meshpace.study.model import Plan, Point, Settings, Study
from meshpace.study.quantities import FLOWS, GOODPUT, JAIN, JAIN_1S, JAIN_10S, TIMEOUTS
from meshpace.words import in_hops

FLOWS_OF_STRIPS = tuple(range(2, 10))
QUICK_HOPS, QUICK_FLOWS = (1, 3, 6, 9), (2, 5, 9)
WINDOWS = tuple(range(1, 21))


# Figs. 5 and 6: one flow alone.


def alone(hops: int, segment: int = 600) -> str:
    """The label of a flow alone with its window of 3h/2."""
    return f"{in_hops(hops)}, {segment} B"


def windowed(hops: int, limit: int) -> str:
    """The label of a flow alone with another window."""
    return f"{in_hops(hops)}, window {limit}"


_ALONE = tuple(
    Point(alone(h, s), (("defaults.segment", str(s)), *chain(h)), float(h)) for s in SEGMENTS for h in HOPS
)  # fmt: skip
_WINDOWED = tuple(Point(windowed(h, w), chain(h, w), float(h)) for h in HOPS for w in WINDOWS)
_QUICK_ALONE = tuple(alone(h, s) for s in SEGMENTS for h in QUICK_HOPS)
_QUICK_WINDOWED = tuple(windowed(h, w) for h in HOPS for w in ((1, 2, 4, 6, 9, 12, 16, 20) if h in {4, 8} else (1, 12)))

_CRITICAL = study(
    "critical-load",
    "Critical load of one flow",
    "Fig. 5",
    "What one flow alone, with a window of 3h/2, puts on the air over its path length and segment; and what "
    "other windows reach.",
    scenario=CHAIN,
    axis=("path length and segment", ""),
    points=(*_ALONE, *_WINDOWED),
    schemes=("newreno",),
    quantities=(NET_LOAD, DATA_LOAD, GOODPUT, LOST, TIMEOUTS),
    quick=Plan(6, QUICK, (*_QUICK_ALONE, alone(4), alone(8), alone(2), *_QUICK_WINDOWED), core_s=0.07),
    full_core_s=0.12,
    figures=("Fig. 5",),
    notes="Load counts every attempt of the MAC with 34 bytes more than the packet. Path lengths and sample segments "
    "are decisions of schemes.md 4.",
)
_DATA = study(
    "critical-data",
    "Part of the critical load from data",
    "Fig. 6",
    "What the data segments of one flow alone put on the air over its path length and segment.",
    scenario=CHAIN,
    axis=("path length and segment", ""),
    points=_ALONE,
    schemes=("newreno",),
    quantities=(DATA_LOAD, NET_LOAD, RELAYED, RELAYED_ONCE, GOODPUT),
    quick=Plan(4, QUICK, (*_QUICK_ALONE, alone(2)), core_s=0.07),
    full_core_s=0.12,
    figures=("Fig. 6",),
)

# Fig. 10: flows of equal length side by side.


def parallel(hops: int, flows: int) -> str:
    """The label of so many chains."""
    return f"{in_hops(hops)}, {flows} flows"


def lone(hops: int) -> str:
    """The label of one of them alone."""
    return f"{in_hops(hops)}, alone"


def strips(lengths: tuple[int, ...]) -> tuple[Point, ...]:
    """A chain alone and 2 to 9 side by side, of each length."""
    return tuple(
        point
        for h in lengths
        for point in (
            Point(lone(h), strip(h, 1), 1.0),
            *(Point(parallel(h, n), strip(h, n), float(n)) for n in FLOWS_OF_STRIPS),
        )
    )


def quick_strips(lengths: tuple[int, ...]) -> tuple[str, ...]:
    """Labels of a few of them."""
    return tuple(label for h in lengths for label in (lone(h), *(parallel(h, n) for n in QUICK_FLOWS)))


_FAMILY = study(
    "family-plain",
    "The family of worst cases, plain",
    "Fig. 10",
    "Unfairness of 2 to 9 flows of 1 to 9 hops side by side, plain NewReno with a window of 3h/2.",
    scenario=STRIP,
    axis=("hops and flows", ""),
    points=strips(HOPS),
    schemes=("newreno",),
    quantities=(GOODPUT, JAIN, JAIN_1S, JAIN_10S, TIMEOUTS, LOST, ACK_PART),
    quick=Plan(6, QUICK, quick_strips(QUICK_HOPS), core_s=0.5),
    full_core_s=0.8,
    figures=("Fig. 10",),
    notes="Up to 4 hops all nodes sense each other: no hidden nodes.",
)

# Tables 2 and 3: three flows of one, two and three hops from one node.

CUSTOM, DEFAULT, RTS_ON = "window 3h/2", "window 20", "window 20, RTS"


def single(configuration: str, flow: int) -> str:
    """The label of one of the three flows alone."""
    return f"{configuration}, TCP{flow + 1} alone"


CUSTOM_WINDOWS: Settings = tuple((f"flow.{k}.window", str(window(k + 1))) for k in range(3))
_ON: Settings = (("radio.rts", "always"),)


def configuration(label: str, settings: Settings) -> tuple[Point, ...]:
    """All three flows from one node, and each of them alone."""
    return (
        Point(label, settings),
        *(
            Point(single(label, k), (*settings, *((f"flow.{other}.count", "0") for other in range(3) if other != k)))
            for k in range(3)
        ),
    )


def three_flows(
    table: str, name: str, title: str, shows: str, points: tuple[Point, ...], schemes: tuple[str, ...]
) -> Study:  # fmt: skip
    """A study of three flows from one node."""
    return study(
        name,
        title,
        f"{table}; topology of Fig. 12",
        shows,
        scenario=THREE,
        axis=("configuration", ""),
        points=points,
        schemes=schemes,
        quantities=(GOODPUT, JAIN, NET_LOAD, TIMEOUTS, *FLOWS[:3], *QUEUED),
        quick=Plan(6, QUICK, core_s=0.08),
        full_core_s=0.15,
        figures=(table,),
        settings=(("measure.queues", "true"),),
        notes="Alone means unthrottled, one queue, the same window and RTS. 126 m between nodes and 600 bytes a "
        "segment are decisions; ns-2.35 itself misses Tables 2 and 3(a).",
    )


_RTS = three_flows(
    "Table 2",
    "rts",
    "RTS/CTS",
    "Three flows of 1, 2 and 3 hops from one queue, with RTS/CTS and without.",
    (*configuration(DEFAULT, _ON[:0]), *configuration(RTS_ON, _ON), *configuration(CUSTOM, CUSTOM_WINDOWS)[1:]),
    ("newreno",),
)


def with_rts(label: str) -> str:
    """The label of a place of ``throttle-rts-family`` with RTS/CTS."""
    return f"{label}, RTS"


_PLACES = (*((lone(h), strip(h, 1)) for h in HOPS), *((parallel(h, 5), strip(h, 5)) for h in (3, 6)))
_RTS_FAMILY = study(
    "rts-family",
    "RTS/CTS on chains and strips",
    "appendix 6.1",
    "Total goodput of flows alone over 1 to 9 hops, and of 5 side by side, with RTS/CTS and without.",
    scenario=STRIP,
    axis=("network", ""),
    points=tuple(
        point
        for label, settings in _PLACES
        for point in (Point(label, settings), Point(with_rts(label), (*settings, *_ON)))
    ),
    schemes=("newreno",),
    quantities=(GOODPUT, TIMEOUTS, LOST, NET_LOAD),
    quick=Plan(4, QUICK, core_s=0.06),
    full_core_s=0.1,
    figures=("Table 2",),
)
_WINDOW = three_flows(
    "Table 3(a)",
    "window",
    "The window, one queue",
    "Three flows of 1, 2 and 3 hops from one queue, with windows of 20 and of 3h/2.",
    (*configuration(DEFAULT, _ON[:0]), *configuration(CUSTOM, CUSTOM_WINDOWS)),
    ("newreno",),
)
_QUEUES = three_flows(
    "Table 3(b)",
    "queues",
    "The window, separate queues",
    "Three flows of 1, 2 and 3 hops from a queue each, with windows of 20 and of 3h/2.",
    (*configuration(DEFAULT, _ON[:0]), *configuration(CUSTOM, CUSTOM_WINDOWS)),
    ("newreno", "split"),
)

STUDIES = (_CRITICAL, _DATA, _FAMILY, _RTS, _RTS_FAMILY, _WINDOW, _QUEUES)
"""The paper's, in its order."""
