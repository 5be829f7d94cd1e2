"""The LLAP paper's experiments with datagrams over chains and the small grid: Figs. 3, 4, 10, 11 and 16 to 21.

``newreno`` stands for drop-tail queues at every node: datagrams know no TCP.
"""

from __future__ import annotations

from meshpace.experiments.llap.figures import LETTER, LLAP, PAPER, quick_plan
from meshpace.experiments.llap.quantities import (
    ADDED_BYTES,
    COLLIDED,
    DELAY_STD,
    FHD_ACTUAL,
    FIRST_DELAY,
    FIRST_DELAY_STD,
    MISSED,
    MISSED_ALL,
    OFFERED_DELIVERED,
    WAIT_AT_SOURCE,
)
from meshpace.study.model import AODV, AODV_SINR, STATIC, STATIC_SINR, Axis, Plan, Point, Settings, Study, timed
from meshpace.study.quantities import DELAY, FLOWS, GOODPUT, JAIN

CONDITIONS = (AODV, STATIC, AODV_SINR, STATIC_SINR)
NONE = "newreno"
SIZES = (500, 1000, 1460)
LOADS = (20, 50, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200, 1500, 2000, 2500, 3000)
"""kbit/s; the peak is sharp."""
QUICK_LOADS = ("100", "400", "600", "800", "1000", "1500", "2000", "3000")
FULL = timed(500, 0)
_MEASURED: Settings = (("measure.hop_delays", "true"),)


def _offered(loads: tuple[int, ...]) -> Axis:
    points = (Point(str(load), (("flow.0.rate", f"{load}kbps"),), float(load)) for load in loads)
    return Axis("offered load", "kbit/s", tuple(points))


def _sent(size: int, rts: str) -> Settings:
    return (("flow.0.packet", str(size)), ("radio.rts", rts), *_MEASURED)


def load_study(rts: str, size: int) -> str:
    """The name of the study of Fig. 3 (off) or 4 (on)."""
    return f"llap-cbr-load-{rts}-{size}"


def _load(rts: str, size: int) -> Study:
    figure, setting = {"off": ("Fig. 3", "never"), "on": ("Fig. 4", "always")}[rts]
    return Study(
        name=load_study(rts, size),
        paper="llap",
        title=f"Datagrams over the offered load, RTS/CTS {rts}, {size} bytes",
        figures=(figure,),
        source=f"{PAPER}, {figure}",
        shows=f"What arrives over 10 hops of what is offered, {size} bytes a packet, RTS/CTS {rts}, drop-tail queues.",
        scenario="llap-udp.toml",
        axis=_offered(LOADS),
        schemes=(NONE,),
        conditions=CONDITIONS,
        quick=quick_plan(measure=timed(60, 0), points=QUICK_LOADS, core_s=0.15),
        full=Plan(10, FULL, core_s=0.8),
        quantities=(GOODPUT, OFFERED_DELIVERED, FHD_ACTUAL, DELAY),
        settings=_sent(size, setting),
        notes="The three sizes and the points of the axis are the catalogue's.",
    )


def chain_study(size: int) -> str:
    """The name of the study of Figs. 16 to 18."""
    return f"llap-cbr-chain-{size}"


def _chain(size: int) -> Study:
    return Study(
        name=chain_study(size),
        paper="llap",
        title=f"Datagrams with and without LLAP, {size} bytes",
        figures=("Fig. 16", "Fig. 17", "Fig. 18"),
        source=f"{PAPER}, Figs. 16 to 18",
        shows=f"Throughput, delay and its deviation over 10 hops, {size} bytes a packet, RTS/CTS on.",
        scenario="llap-udp.toml",
        axis=_offered(LOADS),
        schemes=(NONE, LLAP, LETTER),
        conditions=CONDITIONS,
        quick=quick_plan(measure=timed(60, 0), points=QUICK_LOADS, core_s=0.15),
        full=Plan(10, FULL, core_s=0.8),
        quantities=(GOODPUT, DELAY, DELAY_STD, OFFERED_DELIVERED, WAIT_AT_SOURCE, FHD_ACTUAL, ADDED_BYTES),
        settings=_sent(size, "always"),
        notes="Where nothing paces, these are the runs of Fig. 4.",
    )


SECOND_RATES = (0, 100, 250, 500, 750, 1000, 1500, 2000)


def _second(rate: int) -> Point:
    settings = (("flow.1.count", "0"),) if rate == 0 else (("flow.1.rate", f"{rate}kbps"), ("flow.1.start", "0s"))
    return Point(str(rate), settings, float(rate))


def _congestion(name: str, rate: int) -> Study:
    return Study(
        name=name,
        paper="llap",
        title=f"Delay beside a flow in the path, flow 1 at {rate} kbit/s",
        figures=("Fig. 19", "Fig. 20"),
        source=f"{PAPER}, Figs. 19, 20",
        shows="Delay of a flow over 9 hops and its deviation, over the rate of another from node 6 to node 7.",
        scenario="llap-tracking.toml",
        axis=Axis("rate of flow 2", "kbit/s", tuple(map(_second, SECOND_RATES))),
        schemes=(NONE, LLAP, LETTER),
        conditions=CONDITIONS,
        quick=quick_plan(
            measure=(*timed(60, 0), ("flow.1.stop", "60s")), points=("0", "250", "1000", "2000"), core_s=0.2
        ),
        full=Plan(10, (*FULL, ("flow.1.stop", "500s")), core_s=1.2),
        quantities=(FIRST_DELAY, FIRST_DELAY_STD, *FLOWS[:2]),
        settings=(("flow.0.rate", f"{rate}kbps"), ("measure.hop_delays", "false")),
        notes="500 bytes a packet; flow 1's rate is not repeated: as in Figs. 7 to 9, and 300 kbit/s as a switch.",
    )


AVERAGES = (100, 300, 600, 900, 1200, 1500, 1800, 2200, 2600, 3000)


def _average(load: int) -> Point:
    pause = 0.5 * (5000 / load - 1)
    return Point(str(load), (("flow.0.pause_mean", f"{pause:.6f}s"),), float(load))


def self_similar_study(size: int) -> str:
    """The name of a study of Fig. 21."""
    return f"llap-selfsimilar-{size}"


def _self_similar(size: int) -> Study:
    return Study(
        name=self_similar_study(size),
        paper="llap",
        title=f"Self-similar datagrams, {size} bytes",
        figures=("Fig. 21",),
        source=f"{PAPER}, Fig. 21",
        shows=f"What arrives over 10 hops of bursts of ten sources, {size} bytes a packet.",
        scenario="llap-self-similar.toml",
        axis=Axis("average load", "kbit/s", tuple(map(_average, AVERAGES))),
        schemes=(NONE, LLAP, LETTER),
        conditions=CONDITIONS,
        quick=quick_plan(measure=timed(60, 0), points=("300", "900", "1500", "3000"), core_s=0.2),
        full=Plan(10, FULL, core_s=1.2),
        quantities=(GOODPUT, DELAY),
        settings=(("flow.0.packet", str(size)),),
        notes="The source is the catalogue's: ten flows of 500 kbit/s in bursts of 31,250 bytes, shape 1.5.",
    )


_OVERHEAR_CHAIN = Study(
    name="llap-overhear-chain",
    paper="llap",
    title="Expiries of the overhear timer, a chain",
    figures=("Fig. 10",),
    source=f"{PAPER}, section 6.2",
    shows="How often nodes of a chain of 9 hops miss what they listen for.",
    scenario="llap-udp.toml",
    axis=_offered(LOADS),
    schemes=(LLAP, LETTER),
    conditions=CONDITIONS,
    quick=quick_plan(measure=timed(60, 0), points=("100", "600", "1000", "3000"), core_s=0.15),
    full=Plan(10, FULL, core_s=0.8),
    quantities=(MISSED, MISSED_ALL, GOODPUT),
    settings=(("topology.hops", "9"), ("flow.0.to", "n9"), ("flow.0.packet", "500"), ("radio.rts", "always")),
)
GRID_RATES = (10, 25, 50, 100, 150, 200, 250, 300)


def _six(rate: int) -> Point:
    return Point(str(6 * rate), tuple((f"flow.{flow}.rate", f"{rate}kbps") for flow in range(6)), 6.0 * rate)


def _packets(size: int) -> Settings:
    return tuple((f"flow.{flow}.packet", str(size)) for flow in range(6))


def _overhear_grid(size: int) -> Study:
    return Study(
        name=f"llap-overhear-grid-{size}",
        paper="llap",
        title=f"Expiries of the overhear timer, a grid, {size} bytes",
        figures=("Fig. 11",),
        source=f"{PAPER}, Fig. 11",
        shows="How often nodes of a grid of 5 x 5 with six flows miss what they listen for, over the offered load.",
        scenario="llap-grid-small.toml",
        axis=Axis("offered load", "kbit/s", tuple(map(_six, GRID_RATES))),
        schemes=(LLAP, LETTER),
        conditions=CONDITIONS,
        quick=quick_plan(measure=timed(60, 0), points=("60", "600", "1200", "1800"), core_s=0.6),
        full=Plan(10, FULL, core_s=5.0),
        quantities=(MISSED, GOODPUT, JAIN),
        settings=_packets(size),
        notes="1,200 packets/s at 1,200 kbit/s, as printed, are 125 bytes a packet; 1,000 bytes are a switch.",
    )


_NO_HIDDEN = Study(
    name="llap-hidden",
    paper="llap",
    title="Collisions of a saturated chain",
    figures=(),
    source=f"{PAPER}, section 6.2",
    shows="Frames lost to overlap for each packet delivered over 9 hops at 3,000 kbit/s offered.",
    scenario="llap-udp.toml",
    axis=Axis("bytes", "", tuple(Point(f"{size} B", (("flow.0.packet", str(size)),), float(size)) for size in SIZES)),
    schemes=(NONE, LLAP, LETTER),
    conditions=CONDITIONS,
    quick=quick_plan(measure=timed(60, 0), core_s=0.2),
    full=Plan(10, FULL, core_s=1.0),
    quantities=(COLLIDED, GOODPUT),
    settings=(("topology.hops", "9"), ("flow.0.to", "n9"), ("flow.0.rate", "3000kbps"), ("radio.rts", "always")),
)

STUDIES = (
    *(_load(rts, size) for rts in ("off", "on") for size in SIZES),
    *map(_chain, SIZES),
    _congestion("llap-cbr-congestion", 1000),
    _congestion("llap-cbr-congestion-300", 300),
    *map(_self_similar, SIZES),
    _OVERHEAR_CHAIN,
    _overhear_grid(125),
    _overhear_grid(1000),
    _NO_HIDDEN,
)
