"""The experiments of Osipov and Tschudin 2005 that throttle at sources: Figs. 8, 9 and 11, and Table 1.

Throttled flows go by the tables that ship (``meshpace calibrate throttle``), calibrated with ns-2's reception on seeds
of their own, under either condition.
"""

from __future__ import annotations

from meshpace.experiments.throttle.figures import (
    CUSTOM,
    CUSTOM_WINDOWS,
    FLOWS_OF_STRIPS,
    QUICK_FLOWS,
    QUICK_HOPS,
    configuration,
    parallel,
    quick_strips,
    strips,
    three_flows,
)
from meshpace.experiments.throttle.quantities import ACK_PART, DATA_LOAD, LOST, NET_LOAD
from meshpace.experiments.throttle.strip import HOPS, STRIP, strip
from meshpace.experiments.throttle.study import QUICK, study
from meshpace.experiments.throttle.tables import critical
from meshpace.study.model import Plan, Point, Settings
from meshpace.study.quantities import FLOWS, GOODPUT, JAIN, JAIN_1S, JAIN_10S, TIMEOUTS

ALPHA, GATE = "scheme.throttle.ot_alpha", "scheme.throttle.ot_gate"
TABLES = "alpha and critical loads are the shipped ones, calibrated with ns-2 capture on seeds of their own."

# Fig. 8.

UNIT, GENTLE, STEEP, SPACED = "alpha 1", "alpha 0.95", "alpha 1.05", "alpha 1, gate by spacing"
_OTHERWISE: dict[str, Settings] = {
    UNIT: ((ALPHA, "1"),),
    GENTLE: ((ALPHA, "0.95"),),
    STEEP: ((ALPHA, "1.05"),),
    SPACED: ((ALPHA, "1"), (GATE, "spacing")),
}


def otherwise(flows: int, what: str) -> str:
    """The label of so many flows of three hops with another alpha or gate."""
    return f"{parallel(3, flows)}, {what}"


_ALPHA_POINTS = tuple(
    Point(otherwise(n, what), (*strip(3, n), *settings), float(n))
    for what, settings in _OTHERWISE.items()
    for n in (FLOWS_OF_STRIPS if what in {UNIT, SPACED} else (2, 9))
)
_ALPHA = study(
    "alpha",
    "The load correction factor",
    "Fig. 8",
    "Total load of 2 to 9 throttled flows of 3 hops with alpha = 1 and with the calibrated one, beside one's.",
    scenario=STRIP,
    axis=("flows", ""),
    points=(*strips((3,)), *_ALPHA_POINTS),
    schemes=("newreno", "throttle"),
    quantities=(NET_LOAD, DATA_LOAD, ACK_PART, GOODPUT, *FLOWS[:2]),
    quick=Plan(
        6,
        QUICK,
        (
            *quick_strips((3,)),
            *(otherwise(n, what) for n in QUICK_FLOWS for what in (UNIT, SPACED)),
            *(otherwise(n, what) for n in (2, 9) for what in (GENTLE, STEEP)),
        ),
        core_s=0.06,
    ),
    full_core_s=0.1,
    figures=("Fig. 8",),
    notes=f"{TABLES} Path density counts data senders, h(N - 1).",
)

# Fig. 9.

_THREE_HOPS = study(
    "three-hops",
    "Flows of three hops side by side",
    "Fig. 9",
    "Total goodput and unfairness of 2 to 9 flows of 3 hops, plain and throttled.",
    scenario=STRIP,
    axis=("flows", ""),
    points=strips((3,)),
    schemes=("newreno", "throttle"),
    quantities=(GOODPUT, JAIN, JAIN_1S, JAIN_10S, NET_LOAD, ACK_PART, TIMEOUTS, *FLOWS),
    quick=Plan(8, QUICK, (*quick_strips((3,)), parallel(3, 3)), core_s=0.06),
    full_core_s=0.1,
    figures=("Fig. 9",),
    notes=f"{TABLES} Plain is NewReno with a window of 3h/2. The caption names the networks of Fig. 12, where N cannot "
    "vary; the text means those of Fig. 4.",
)

# Fig. 11.

_FAMILY = study(
    "family",
    "The family of worst cases, throttled",
    "Fig. 11",
    "Unfairness of 2 to 9 flows of 1 to 9 hops side by side, throttled, beside plain NewReno.",
    scenario=STRIP,
    axis=("hops and flows", ""),
    points=strips(HOPS),
    schemes=("newreno", "throttle"),
    quantities=(GOODPUT, JAIN, JAIN_1S, JAIN_10S, TIMEOUTS, LOST),
    quick=Plan(8, QUICK, quick_strips(QUICK_HOPS), core_s=0.1),
    full_core_s=0.17,
    figures=("Fig. 11",),
    notes=f"{TABLES} Up to 4 hops all nodes sense each other: no hidden nodes.",
)

# Table 1.

COMMON = "window 3h/2, critical load of one hop"
_LENGTHS = three_flows(
    "Table 1",
    "lengths",
    "Throttling flows of unequal length",
    "Three flows of 1, 2 and 3 hops from one node with a queue each, without and with throttling.",
    (
        *configuration(CUSTOM, CUSTOM_WINDOWS),
        Point(COMMON, (*CUSTOM_WINDOWS, ("scheme.throttle.ot_crit", str(critical(1))))),
    ),
    ("newreno", "split", "throttle"),
)

STUDIES = (_ALPHA, _THREE_HOPS, _FAMILY, _LENGTHS)
