"""TCP beside WE TCP-AP: the WE TCP-AP paper's utility test (docs/experiments/we-tcp-ap.md, T4).

On one path of nodes that stand (T4b), and as printed, with nodes that move each in its part of the area (T4a).
"""

from __future__ import annotations

from meshpace.experiments.we.chains import PAPER, WE
from meshpace.experiments.we.quantities import FORWARDED, LOSS, PACKET_DELAY
from meshpace.study.model import AS_IS, DSDV, NO_AXIS, Axis, Plan, Point, Study, timed
from meshpace.study.quantities import GOODPUT, JAIN, RESENT


def _study(flows: int, figure: str) -> Study:
    return Study(
        name=f"we-utility-{flows}",
        paper="we-tcp-ap",
        title=f"{flows} flows of TCP beside {flows} of WE TCP-AP",
        figures=(figure,),
        source=f"{PAPER}, {figure}",
        shows="Whether WE TCP-AP leaves TCP its share of a path, and takes its own.",
        scenario="we-utility.toml",
        axis=NO_AXIS,
        schemes=(WE,),
        conditions=(DSDV,),
        quick=Plan(10, timed(120, 0), core_s=1.0),
        full=Plan(30, timed(120, 0), core_s=1.0),
        quantities=(GOODPUT, JAIN, PACKET_DELAY, LOSS, RESENT, FORWARDED),
        # A study's scheme is every flow's that has none of its own said here.
        settings=(("flow.0.count", str(flows)), ("flow.0.scheme", "newreno"), ("flow.1.count", str(flows))),
        series=True,
        notes="Static nodes inside the printed areas (T4b): of random placements hardly one has a path.",
    )


def _moving(flows: int, figure: str) -> Study:
    return Study(
        name=f"we-utility-{flows}-moving",
        paper="we-tcp-ap",
        title=f"{flows} flows of TCP beside {flows} of WE TCP-AP, everybody moves",
        figures=(),
        source=f"{PAPER}, {figure}, as printed",
        shows="What the utility test delivers at all where its six nodes move as printed.",
        scenario="we-utility-moving.toml",
        axis=Axis("what is changed", "", (Point(AS_IS), *_EASIER)),
        schemes=(WE,),
        conditions=(DSDV,),
        quick=Plan(5, timed(120, 0), core_s=0.5),
        full=Plan(30, timed(120, 0), core_s=0.5),
        quantities=(GOODPUT, JAIN, PACKET_DELAY, LOSS),
        settings=(("flow.0.count", str(flows)), ("flow.0.scheme", "newreno"), ("flow.1.count", str(flows))),
        series=True,
        notes="T4a; a placement drawn uniformly has a path in 0.9 of 100 cases.",
    )


FAR = "transmission range 500 m"
_EASIER = (
    Point(FAR, (("radio.tx_range", "500m"), ("radio.cs_range", "1000m"))),
    Point("1 to 2 m/s", (("mobility.speed_min", "1"), ("mobility.speed_max", "2"))),
)

STUDIES = (_study(8, "Fig. 22"), _study(16, "Fig. 23"), _moving(8, "Fig. 22"), _moving(16, "Fig. 23"))
