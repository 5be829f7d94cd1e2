"""Studies for statements of the LLAP paper that no figure shows, and the best fixed interval beside LLAP."""

from __future__ import annotations

from meshpace.experiments.llap.figures import LETTER, LLAP, OFF, ON, PAPER, TCP_AP, quick_plan
from meshpace.experiments.llap.quantities import G_PAPER, TIMEOUTS_250
from meshpace.experiments.llap.udp import CONDITIONS
from meshpace.study.model import AODV, AODV_SINR, Axis, Plan, Point, Settings, Study, timed
from meshpace.study.quantities import GOODPUT, ROUTE_FAILURES, RTT

BY_AODV, BY_STATIC = "AODV", "static routes"

_ROUTES = Study(
    name="llap-routes",
    paper="llap",
    title="Losses taken for broken routes",
    figures=(),
    source=f"{PAPER}, section 2",
    shows="One TCP flow over 10 hops at 2 Mbit/s, with routes that break and with routes that never do.",
    scenario="llap-table1.toml",
    axis=Axis("routes", "", (Point(BY_AODV), Point(BY_STATIC, routing="static"))),
    schemes=("newreno",),
    conditions=(AODV, AODV_SINR),
    quick=Plan(3, timed(100, 0), core_s=0.2, conditions=(AODV,)),
    full=Plan(30, timed(250, 0), core_s=0.5),
    quantities=(TIMEOUTS_250, ROUTE_FAILURES, GOODPUT),
    settings=(("radio.rts", "never"),),
)

_ORACLES: dict[str, tuple[str, tuple[int, ...], Settings]] = {
    # kbit/s of 1,500-byte packets around what NewReno gets on static routes there.
    "off": (f"2 Mbit/s, {OFF}", (120, 160, 200, 220, 240, 260, 280, 320), (("radio.rts", "never"),)),
    "on": (f"2 Mbit/s, {ON}", (100, 130, 160, 180, 200, 220, 240, 280), (("radio.rts", "always"),)),
    "11": (
        "11 Mbit/s, RTS/CTS on", (250, 300, 350, 400, 450, 500, 550, 600),
        (("radio.rate", "11Mbps"), ("radio.rts", "always")),
    ),
}  # fmt: skip


def _oracle(key: str) -> Study:
    where, rates, settings = _ORACLES[key]
    beside = ("newreno", LLAP, LETTER, TCP_AP)
    points = (Point(str(rate), (("scheme.fixed-rate.fixed_rate", f"{rate}kbps"),), float(rate)) for rate in rates)
    return Study(
        name=f"llap-oracle-{key}",
        paper="llap",
        title=f"The best fixed interval, {where}",
        figures=(),
        source="not in the papers",
        shows="One TCP flow over 10 hops over the rate of a sender that spaces its packets evenly, beside schemes that "
        "find their interval themselves.",
        scenario="llap-table1.toml",
        axis=Axis("rate of the fixed interval", "kbit/s", tuple(points)),
        schemes=("fixed-rate", *beside),
        level=beside,
        conditions=CONDITIONS,
        quick=quick_plan(measure=timed(60, 10), core_s=0.1),
        full=Plan(10, timed(250, 0), core_s=0.4),
        quantities=(GOODPUT, G_PAPER, TIMEOUTS_250, RTT),
        settings=settings,
    )


STUDIES = (_ROUTES, *map(_oracle, _ORACLES))
