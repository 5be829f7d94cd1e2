"""TCP beside WE TCP-AP on one path: the WE TCP-AP paper's utility test (docs/experiments/we-tcp-ap.md, T4)."""

from __future__ import annotations

from meshpace.study.gap import timed
from meshpace.study.model import DSDV, NO_AXIS, Plan, Study
from meshpace.study.quantities import GOODPUT, JAIN, RESENT
from meshpace.study.we import PAPER, WE
from meshpace.study.we_quantities import FORWARDED, LOSS, PACKET_DELAY


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


STUDIES = (_study(8, "Fig. 22"), _study(16, "Fig. 23"))
