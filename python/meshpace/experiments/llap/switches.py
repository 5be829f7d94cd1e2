"""Which ingredient makes a result of LLAP: what its paper leaves open, changed one at a time.

The numbers O1 to O15 are those of docs/experiments/llap.md, section 5; the words are schemes.md 8's.
"""

from __future__ import annotations

from meshpace.experiments.llap import figures as llap
from meshpace.experiments.llap import grid, tracking, udp
from meshpace.experiments.llap.figures import LLAP, PAPER, quick_plan
from meshpace.experiments.llap.quantities import DELAY_STD, G_PAPER, LOSS_MAC, LOSS_REX, MISSED, TIMEOUTS_250
from meshpace.experiments.llap.tracking import DEPARTURES, ESTIMATE
from meshpace.study.model import AODV, AS_IS, STATIC, Axis, Plan, Point, Settings, Study, timed
from meshpace.study.quantities import DELAY, GOODPUT, JAIN, Quantity


def _law(*pairs: tuple[str, str]) -> Settings:
    return tuple((f"scheme.{LLAP}.llap_{key}", value) for key, value in pairs)


LAW = (
    Point("core: hold", _law(("core", "hold"))),
    Point("core: spacing", _law(("core", "spacing"))),
    Point("core: spacing, timers that never stop at the core", _law(("core", "spacing"), ("idle", "free-core"))),
    Point("core: spacing, timers that never stop", _law(("core", "spacing"), ("idle", "free"))),
    Point("core: spacing, clamped", _law(("core", "spacing-clamped"))),
    Point("clock: own acknowledgement", _law(("clock", "ack-end"))),
    Point("clock: Algorithm 2", _law(("clock", "algorithm-2"))),
    Point("PD at each packet", _law(("update", "packet"))),
    Point("PD counts at once", _law(("pd_change", "at-once"))),
    Point("each packet by its own rule", _law(("mixed", "own-rule"))),
    Point("a miss is skipped", _law(("miss", "skip"))),
    Point("no cap of a miss", _law(("penalty_cap", "3600s"))),
    Point("the last copy", _law(("copy", "last"))),
    Point("ACKs pass", _law(("acks", "pass"))),
    Point("5 places for relayed packets", _law(("reserve", "5"))),
    Point("identity of 4 bytes", _law(("id_bytes", "4"))),
)
"""Of the scheme alone: what runs beside it is the same run."""
NET = (
    Point("static routes", routing="static"),
    Point("AODV as in ns-2", routing="aodv"),
    Point("AODV after RFC 3561", routing="rfc3561"),
    Point("reception by SINR", reception="sinr"),
    Point("reception as in ns-2", reception="ns2-capture"),
    Point("MAC overhead 28 bytes", (("radio.mac_overhead", "28"),)),
)
_QUEUE = Point("queue of 50", (("radio.queue", "50"), *_law(("queue", "50"))))
_WINDOW = Point("window 20", (("defaults.window", "20"),))
_NINE = Point("9 hops", (("topology.hops", "9"), ("flow.0.to", "n9")))
_WARM = Point("warm-up of 10 s", (("measure.warmup", "10s"),))
_QUICK = (
    AS_IS, "core: hold", "core: spacing, timers that never stop at the core", "clock: Algorithm 2", "a miss is skipped",
    "static routes", "AODV as in ns-2",
)  # fmt: skip


def _switches(
    name: str, what: str, base: Study, settings: Settings, points: tuple[Point, ...], quantities: tuple[Quantity, ...],
    quick: Settings, full: Settings, schemes: tuple[str, ...], core_s: float,
) -> Study:  # fmt: skip
    labels = (*_QUICK, *(point.label for point in points if point not in (*LAW, *NET)))
    return Study(
        name=f"llap-switches-{name}",
        paper="llap",
        title=f"What makes it: {what}",
        figures=(),
        source=f"not in the paper: what it leaves open; {PAPER}",
        shows=f"{what}, one ingredient changed at a time.",
        scenario=base.scenario,
        axis=Axis("changed", "", (Point(AS_IS), *LAW, *NET, *points)),
        schemes=schemes,
        conditions=(AODV, STATIC),
        quick=quick_plan(measure=quick, points=labels, core_s=core_s),
        full=Plan(10, full, core_s=8 * core_s),
        quantities=quantities,
        settings=(*base.settings, *settings),
        drawn=base.drawn,
    )


_BASES = {study.name: study for module in (llap, udp, tracking, grid) for study in module.STUDIES}
_PAIR = ("newreno", LLAP)
_RATES: Settings = tuple((f"flow.{flow}.rate", "100kbps") for flow in range(20))

STUDIES = (
    _switches(
        "tracking", "tracking of the four-hop delay, flow 2 at 1,000 kbit/s", _BASES["llap-fhd-tracking"],
        (("flow.1.rate", "1000kbps"),),
        (
            Point("1,000 bytes", (("flow.0.packet", "1000"), ("flow.1.packet", "1000"))),
            Point("1,460 bytes", (("flow.0.packet", "1460"), ("flow.1.packet", "1460"))),
            Point("flow 1 at 300 kbit/s", (("flow.0.rate", "300kbps"),)),
            Point("no RTS/CTS", (("radio.rts", "never"),)),
        ),
        (*ESTIMATE.values(), *DEPARTURES.values(), MISSED), timed(90, 0), timed(90, 0), (LLAP,), 0.3,
    ),
    _switches(
        "table2", "one TCP flow at 2 Mbit/s without RTS/CTS", _BASES["llap-table2"], (("radio.rts", "never"),),
        (_QUEUE, _WINDOW, _NINE, Point("RTS/CTS on", (("radio.rts", "always"),))),
        (G_PAPER, GOODPUT, TIMEOUTS_250, LOSS_REX, LOSS_MAC), timed(100, 0), timed(250, 0), _PAIR, 0.2,
    ),
    _switches(
        "flows", "ten TCP flows on one chain", _BASES["llap-flows"], (("flow.0.count", "10"),),
        (_QUEUE, _WINDOW, Point("no RTS/CTS", (("radio.rts", "never"),))),
        (GOODPUT, JAIN, TIMEOUTS_250), timed(60, 10), timed(500, 50), _PAIR, 0.3,
    ),
    _switches(
        "cbr", "1,000-byte datagrams, 3,000 kbit/s offered", _BASES["llap-cbr-chain-1000"],
        (("flow.0.rate", "3000kbps"),), (_QUEUE, _NINE, _WARM, Point("no RTS/CTS", (("radio.rts", "never"),))),
        (GOODPUT, DELAY, DELAY_STD, MISSED), timed(60, 0), timed(500, 0), _PAIR, 0.2,
    ),
    _switches(
        "grid", "20 flows of 1,000-byte datagrams on a grid, 2,000 kbit/s offered", _BASES["llap-grid-udp-1000"],
        _RATES, (_QUEUE, _WARM, Point("no RTS/CTS", (("radio.rts", "never"),))),
        (GOODPUT, JAIN, MISSED), timed(60, 0), timed(500, 0), _PAIR, 0.6,
    ),
)  # fmt: skip
