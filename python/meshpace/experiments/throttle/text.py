"""What Osipov and Tschudin 2005 say in the text only (catalogue, section 4), and N counted along the way."""

from __future__ import annotations

import json
from functools import partial

from meshpace.experiments.throttle.figures import (
    CUSTOM_WINDOWS,
    FLOWS_OF_STRIPS,
    QUICK_FLOWS,
    lone,
    parallel,
)
from meshpace.experiments.throttle.quantities import LOST, NET_LOAD
from meshpace.experiments.throttle.sources import ALPHA, TABLES
from meshpace.experiments.throttle.strip import STRIP, THREE, strip, window
from meshpace.experiments.throttle.study import FULL, QUICK, study
from meshpace.experiments.throttle.tables import alpha
from meshpace.study.model import Plan, Point, Settings
from meshpace.study.quantities import FLOWS, GOODPUT, JAIN, JAIN_1S, JAIN_10S, TIMEOUTS
from meshpace.words import in_hops

ROWS = "throttle-rows.toml"
_SHARED = (GOODPUT, JAIN, JAIN_1S, JAIN_10S, LOST, TIMEOUTS, NET_LOAD)
_BOTH = ("newreno", "throttle")
FIVE = 5
"""Flows of the studies that have but one number of them."""
TOLD_N = "scheme.throttle.ot_N"


_text = partial(study, schemes=_BOTH, quantities=_SHARED, notes=TABLES)


# X3: windows instead of throttling.

TUNED = (1, 2, window(6), 20, 64)


def tuned(limit: int) -> str:
    """The label of a window."""
    return f"window {limit}"


_TUNING = _text(
    "tuning",
    "Windows instead of throttling",
    "section 2.1",
    "Unfairness of 5 plain flows of 6 hops over their window, beside throttled ones.",
    scenario=STRIP,
    axis=("window", "segments"),
    points=(Point(lone(6), strip(6, 1)), *(Point(tuned(w), strip(6, FIVE, w), float(w)) for w in TUNED)),
    quick=Plan(4, QUICK, core_s=0.1),
    full_core_s=0.17,
)

# X4: more and less than the bound.

FACTORS = (0.5, 0.75, 1.0, 1.25, 1.5, 2.0)


def loaded(hops: int, factor: float) -> str:
    """The label of so many times the calibrated factor."""
    return f"{parallel(hops, FIVE)}, alpha x {factor:g}"


def _knee(hops: int) -> tuple[Point, ...]:
    def settings(factor: float) -> Settings:
        return (*strip(hops, FIVE), (ALPHA, f"{factor * alpha(hops, FIVE):.4f}"))

    return (Point(lone(hops), strip(hops, 1)), *(Point(loaded(hops, f), settings(f), f) for f in FACTORS))


_KNEE = _text(
    "knee",
    "Below and above the critical load",
    "sections 1.2 and 2.3.1",
    "Losses and unfairness of 5 flows of 3 and of 6 hops, throttled to half the calibrated load up to twice it.",
    scenario=STRIP,
    axis=("factor of alpha", ""),
    points=(*_knee(3), *_knee(6)),
    quick=Plan(4, QUICK, core_s=0.08),
    full_core_s=0.14,
)

# X5: which way flows go.

ONE_WAY, BOTH_WAYS, ALONE = "all one way", "two each way", "alone"


def _row(flow: int, hops: int, back: bool) -> Settings:
    path = [f"f{flow + 1}n{node}" for node in range(hops + 1)]
    if back:
        path.reverse()
    return (
        (f"flow.{flow}.from", path[0]),
        (f"flow.{flow}.to", path[-1]),
        (f"flow.{flow}.path", json.dumps(path)),
        (f"flow.{flow}.window", str(window(hops))),
    )


def rows(lengths: tuple[int, ...], back: tuple[int, ...] = ()) -> Settings:
    """A row for every flow, so many hops long, some from right to left."""
    return (
        ("topology.hops", str(max(lengths))),
        ("topology.rows", str(len(lengths))),
        *(setting for k, hops in enumerate(lengths) for setting in _row(k, hops, k in back)),
        *((f"flow.{k}.count", "0") for k in range(len(lengths), 4)),
    )


def directed(hops: int, way: str) -> str:
    """The label of a direction."""
    return f"{in_hops(hops)}, {way}"


_DIRECTIONS = _text(
    "directions",
    "Directions of flows",
    "section 2.3.2",
    "Total and unfairness of 4 flows of 3 and 6 hops, all from left to right, and every other one the other way.",
    scenario=ROWS,
    axis=("directions", ""),
    points=tuple(
        point
        for h in (3, 6)
        for point in (
            Point(lone(h), rows((h,))),
            Point(directed(h, ONE_WAY), rows((h,) * 4)),
            Point(directed(h, BOTH_WAYS), rows((h,) * 4, (1, 3))),
        )
    ),
    quick=Plan(4, QUICK, core_s=0.08),
    full_core_s=0.14,
    quantities=(*_SHARED, *FLOWS[:4]),
)

# X6: places that are milder.

WORST, SPREAD, WIDE, LENGTHS = "the worst case", "rows over 250 m", "200 m between nodes", "3 flows, 1 to 3 hops"
_PLACEMENT = _text(
    "placement",
    "Milder places",
    "section 2.3.2",
    "Unfairness of throttled flows in the worst case and where nodes are farther apart or flows of different length.",
    scenario=STRIP,
    axis=("places", ""),
    points=(
        Point(lone(3), strip(3, 1)),
        Point(WORST, strip(3, FIVE)),
        Point(SPREAD, (*strip(3, FIVE), ("topology.gap", "62.5m"))),
        Point(WIDE, (*strip(3, FIVE), ("topology.spacing", "200m"))),
        Point(f"{WIDE}, alone", (*strip(3, 1), ("topology.spacing", "200m"))),
    ),
    quick=Plan(4, QUICK, core_s=0.06),
    full_core_s=0.1,
    notes=f"{TABLES} N is the oracle's: fewer where rows are farther apart.",
)
_MIXED = _text(
    "placement-lengths",
    "Flows of different length side by side",
    "section 2.3.2",
    "Unfairness of three throttled flows side by side, of 3 hops each, and of 1, 2 and 3.",
    scenario=ROWS,
    axis=("lengths", ""),
    points=(
        *(Point(lone(h), rows((h,))) for h in (1, 2, 3)),
        Point(parallel(3, 3), rows((3, 3, 3))),
        Point(LENGTHS, rows((1, 2, 3))),
    ),
    quick=Plan(4, QUICK, core_s=0.05),
    full_core_s=0.09,
)

# X9: a flow that stops.

STAYS, FIXED, TOLD, COUNTED = (
    "flow 3 stays", "flow 3 stops, N stays", "flow 3 stops, N follows", "flow 3 stops, N is counted",
)  # fmt: skip
_STOPS: Settings = (("flow.2.stop", "60s"),)
_AFTER: Settings = (("measure.warmup", "66s"),)
"""What is measured begins when the last packets of a flow that stopped at 60 s are through, and N is counted anew."""
_LATE = (("measure.duration", "126s"), *_AFTER)
_IDLE = _text(
    "idle",
    "A flow that stops",
    "section 4.2",
    "Goodput of two throttled flows of 3 hops after a third one beside them has stopped, N updated or not.",
    scenario=ROWS,
    axis=("the third flow", ""),
    points=(
        Point(ALONE, rows((3,))),
        Point(STAYS, rows((3, 3, 3))),
        Point(FIXED, (*rows((3, 3, 3)), *_STOPS, (TOLD_N, "3"))),
        Point(TOLD, (*rows((3, 3, 3)), *_STOPS)),
        Point(COUNTED, (*rows((3, 3, 3)), *_STOPS, (TOLD_N, "counted"))),
    ),
    quick=Plan(4, _LATE, core_s=0.1),
    full_core_s=0.1,
    full=(*FULL, *_AFTER),
    settings=_AFTER,
    quantities=(GOODPUT, *FLOWS[:3], NET_LOAD),
    notes=f"{TABLES} N follows by the oracle, at the stop; counted along the way, 3 to 6 s after it.",
)

OWN_GATES, ONE_GATE, ALL_BUSY = "a gate a flow", "one gate", "all three busy"
_IDLE_SOURCE = _text(
    "idle-source",
    "A flow that stops, of one source",
    "section 4.2",
    "Goodput of the flows of 2 and 3 hops after the one of 1 hop from the same node has stopped, N as before.",
    scenario=THREE,
    axis=("gates", ""),
    points=(
        Point(ALL_BUSY, (*CUSTOM_WINDOWS, (TOLD_N, "3"))),
        Point(OWN_GATES, (*CUSTOM_WINDOWS, ("flow.0.stop", "60s"), (TOLD_N, "3"))),
        Point(
            ONE_GATE,
            (*CUSTOM_WINDOWS, ("flow.0.stop", "60s"), (TOLD_N, "3"), ("scheme.throttle.ot_shared", "true")),
        ),
    ),
    quick=Plan(4, _LATE, core_s=0.1),
    full_core_s=0.1,
    full=(*FULL, *_AFTER),
    settings=_AFTER,
    schemes=("throttle",),
    quantities=(GOODPUT, *FLOWS[:3], NET_LOAD),
    notes=f"{TABLES} The paper says that flows of one source may use what a silent one leaves; gates of their own "
    "cannot.",
)

# X10: UDP under the same bound.

MIXED, TCP_ONLY = "two of four UDP", "four TCP"
_UDP: Settings = tuple(
    setting
    for k in (0, 1)
    for setting in ((f"flow.{k}.app", "cbr"), (f"flow.{k}.rate", "1Mbps"), (f"flow.{k}.packet", "600"))
)
_MIXED_ROWS = (*(setting for setting in rows((3,) * 4) if setting[0] not in {"flow.0.window", "flow.1.window"}), *_UDP)
_UDP_STUDY = _text(
    "udp",
    "UDP under the same bound",
    "section 4.2",
    "Four flows of 3 hops side by side, two of them UDP that offer 1 Mbit/s, plain and throttled.",
    scenario=ROWS,
    axis=("transports", ""),
    points=(Point(ALONE, rows((3,))), Point(TCP_ONLY, rows((3,) * 4)), Point(MIXED, _MIXED_ROWS)),
    quick=Plan(4, QUICK, core_s=0.08),
    full_core_s=0.14,
    quantities=(GOODPUT, *FLOWS[:4], JAIN, LOST),
)

# X1, X7, and N as the nodes of the way hear of it (X11: proposed, not measured).


def counted(flows: int) -> str:
    """The label of so many flows that count each other along the way."""
    return f"{parallel(3, flows)}, N counted"


_TEXT = _text(
    "text",
    "N counted along the way",
    "abstract, sections 2.4, 4.1 and 6",
    "Total and unfairness of throttled flows of 3 hops, with N as an oracle has it and as the way's nodes hear of it.",
    scenario=STRIP,
    axis=("flows", ""),
    points=(
        Point(lone(3), strip(3, 1)),
        *(
            point
            for n in FLOWS_OF_STRIPS
            for point in (
                Point(parallel(3, n), strip(3, n), float(n)),
                Point(counted(n), (*strip(3, n), (TOLD_N, "counted")), float(n)),
            )
        ),
    ),
    quick=Plan(
        4,
        QUICK,
        (lone(3), *(label for n in QUICK_FLOWS for label in (parallel(3, n), counted(n)))),
        core_s=0.06,
    ),
    full_core_s=0.1,
    reads=("throttle-family", "throttle-lengths"),
)

STUDIES = (
    _TUNING,
    _KNEE,
    _DIRECTIONS,
    _PLACEMENT,
    _MIXED,
    _IDLE,
    _IDLE_SOURCE,
    _UDP_STUDY,
    _TEXT,
)
