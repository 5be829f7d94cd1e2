"""The LLAP paper's grid of 100 nodes, Figs. 27 to 30: flows between opposite sides, their ends drawn by pattern.

A pattern is a seed: the run of seed n has pattern n, the same for every scheme, load and condition.
"""

from __future__ import annotations

import random

from meshpace.experiments.llap.figures import LLAP, PAPER, quick_plan
from meshpace.experiments.llap.udp import CONDITIONS, NONE
from meshpace.results import RunResult
from meshpace.study.model import AODV, Axis, Plan, Point, Settings, Study, timed
from meshpace.study.quantities import DELAY, GOODPUT, JAIN, TIMEOUTS, Quantity

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


def _ends(each: int, number: int) -> Settings:
    return tuple(
        setting
        for flow, (begin, end) in enumerate(pattern(each, number))
        for setting in ((f"flow.{flow}.from", begin), (f"flow.{flow}.to", end))
    )


def _twenty(_: Point, seed: int) -> Settings:
    return _ends(5, seed)


def _silent(run: RunResult) -> float:
    return float(sum(flow["goodput_bps"] == 0 for flow in run["flows"]))


def _lost(run: RunResult) -> float | None:
    flows = run["flows"]
    sent = sum(flow["segments_sent"] for flow in flows)
    lost = sum((flow["loss_ratio"] or 0) * flow["segments_sent"] for flow in flows)
    return lost / sent if sent else None


SILENT = Quantity("silent", "flows that deliver nothing", "", _silent)
LOST = Quantity("loss", "packets lost of those sent", "%", _lost, 100.0, top=1.0)
_FLOWS = 20


def _udp(size: int, rate: str, figure: str, rates: tuple[int, ...], quick: tuple[str, ...], core_s: float) -> Study:
    points = (
        Point(str(_FLOWS * each), tuple((f"flow.{flow}.rate", f"{each}kbps") for flow in range(_FLOWS)), 20.0 * each)
        for each in rates
    )
    packets: Settings = tuple((f"flow.{flow}.packet", str(size)) for flow in range(_FLOWS))
    return Study(
        name=f"llap-grid-udp-{size}",
        paper="llap",
        title=f"A grid, datagrams of {size} bytes",
        figures=("Fig. 27", figure),
        source=f"{PAPER}, Figs. 27, {figure.removeprefix('Fig. ')}",
        shows=f"What 20 flows between opposite sides of a grid of 100 nodes deliver of what is offered, {rate}.",
        scenario="llap-grid-udp.toml",
        axis=Axis("offered load", "kbit/s", tuple(points)),
        schemes=(NONE, LLAP),
        conditions=CONDITIONS,
        quick=quick_plan(measure=timed(60, 0), points=quick, core_s=core_s),
        full=Plan(30, timed(500, 0), core_s=8 * core_s),
        quantities=(GOODPUT, JAIN, LOST, SILENT, DELAY),
        settings=(("radio.rate", rate), *packets),
        drawn=_twenty,
        notes="Minimum-hop routes are not unique here and static ones crowd the lowest rows: AODV is the condition.",
    )


EACH = (2, 5, 10)


def _count(each: int) -> Point:
    left_out = tuple((f"flow.{flow}.count", "0") for flow in range(4 * each, 40))
    return Point(str(each), left_out, float(each))


def _as_many(point: Point, seed: int) -> Settings:
    return _ends(int(point.label), seed)


_TCP = Study(
    name="llap-grid-tcp",
    paper="llap",
    title="A grid, TCP",
    figures=("Fig. 30",),
    source=f"{PAPER}, Fig. 30",
    shows="What 2, 5 and 10 TCP flows from each side of a grid of 100 nodes to the opposite one deliver together.",
    scenario="llap-grid-tcp.toml",
    axis=Axis("flows from each side", "", tuple(map(_count, EACH))),
    schemes=("newreno", LLAP),
    conditions=CONDITIONS,
    quick=Plan(3, timed(60, 10), ("2", "5"), 5.0, (AODV,)),
    full=Plan(30, timed(500, 50), core_s=40.0),
    quantities=(GOODPUT, JAIN, SILENT, TIMEOUTS),
    settings=(("radio.rate", "11Mbps"),),
    drawn=_as_many,
)

STUDIES = (
    _udp(50, "2Mbps", "Fig. 28", (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16), ("40", "60", "120", "320"), 1.0),
    _udp(1000, "11Mbps", "Fig. 29", tuple(range(10, 101, 10)), ("200", "600", "1000", "2000"), 2.0),
    _TCP,
)
