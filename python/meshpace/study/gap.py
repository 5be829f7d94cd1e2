"""The experiments of the TCP-GAP paper, figure by figure (docs/experiments/gap.md is its catalogue).

Plans: ``full`` measures 55,000 packets in 11 batches as the paper did; ``quick`` a fixed time. Seeds and times of the
quick plans are sized so that all of ``gap`` takes two to three minutes on two cores.
"""

from __future__ import annotations

from meshpace.study.model import NO_AXIS, PAPER_CONDITIONS, Axis, Plan, Point, Settings, Study
from meshpace.study.quantities import (
    DELAY,
    FLOWS,
    GIVEN_UP,
    GOODPUT,
    JAIN,
    JAIN_1S,
    JAIN_10S,
    JAIN_100S,
    RESENT,
    ROUTE_FAILURES,
    RTT,
    SHARE,
    TIMEOUTS,
    Quantity,
)

PAPER = "TCP-GAP (ElRakabawy, Klemm, Lindemann, Computer Networks 2008)"
SCHEMES = ("newreno", "tcp-ap", "tcp-gap", "tcp-gap-nogc")
FULL: Settings = (("measure.packets", "55000"), ("measure.batches", "11"))
"""The paper's: 11 batches of 5,000 packets, the first discarded."""

LONG = tuple(str(h) for h in range(4, 11))
SHORT = ("1", "2", "3")
_HOPS = Axis(
    "wireless hops", "", tuple(Point(str(h), (("topology.hops", str(h)),), float(h)) for h in range(1, 11))
)  # fmt: skip
WIRED_RATES = (1, 2, 5, 10, 20, 50, 100)
_WIRED_RATE = Axis(
    "rate of the wired links",
    "Mbit/s",
    tuple(Point(str(r), (("topology.wired_rate", f"{r}Mbps"),), float(r)) for r in WIRED_RATES),
    logarithmic=True,
)
PAUSES = ("0.5", "1", "2", "5", "10")


def timed(duration: int, warmup: int) -> Settings:
    """So many seconds, the first of them discarded."""
    return (("measure.duration", f"{duration}s"), ("measure.warmup", f"{warmup}s"))


def _pauses(flows: int) -> Axis:
    points = (
        Point(p, tuple((f"flow.{flow}.pause_mean", f"{p}s") for flow in range(flows)), float(p)) for p in PAUSES
    )  # fmt: skip
    return Axis("mean pause between files", "s", tuple(points), logarithmic=True)


_CHAIN: tuple[Quantity, ...] = (GOODPUT, DELAY, RTT, RESENT, TIMEOUTS, GIVEN_UP, ROUTE_FAILURES)
_SHARED: tuple[Quantity, ...] = (GOODPUT, SHARE, JAIN, JAIN_1S, JAIN_10S, JAIN_100S, DELAY, RTT, RESENT, TIMEOUTS)


def _chain(direction: str, figure: str, scenario: str, way: str) -> Study:
    return Study(
        name=f"gap-chain-{direction}",
        title=f"Chain, {way}",
        figures=(figure,),
        source=f"{PAPER}, {figure}",
        shows=f"Goodput of one flow over 1 to 10 wireless hops and three wired links, {way}.",
        scenario=scenario,
        axis=_HOPS,
        schemes=SCHEMES,
        conditions=PAPER_CONDITIONS,
        quick=Plan(3, timed(80, 10), ("1", "2", "3", "4", "6", "8", "10"), core_s=0.04),
        full=Plan(3, FULL, core_s=0.8),
        quantities=_CHAIN,
    )


def _parallel(case: str, figure: str, way: str) -> Study:
    return Study(
        name=f"gap-parallel-{case}",
        title=f"Two parallel chains, {way}",
        figures=(figure,),
        source=f"{PAPER}, {figure}; topology of Fig. 5",
        shows=f"How two 5-hop chains, 400 m apart, share a gateway; {way}.",
        scenario=f"{PARALLEL[case]}.toml",
        axis=NO_AXIS,
        schemes=SCHEMES,
        conditions=PAPER_CONDITIONS,
        quick=Plan(5, timed(140, 20), core_s=0.18),
        full=Plan(8, FULL, core_s=0.9),
        quantities=(*FLOWS[:2], *_SHARED),
    )


PARALLEL = {
    "up": "gap-fig10-parallel-up",
    "down": "gap-fig11-parallel-down",
    "mix": "gap-fig12-parallel-mix",
}
UP, DOWN, MIX = "wireless to wired", "wired to wireless", "one flow each way"
CASES = {"up": UP, "down": DOWN, "mix": MIX}


FAST = {"ofdm": ("802.11g", "OFDM frame times"), "dsss": ("802.11g-ns2", "DSSS frame times as in ns-2")}
"""The two readings of 54 Mbit/s: the standard that a scenario names, and words for it."""


def _fast(profile: str, figure: str) -> Study:
    standard, what = FAST[profile]
    return Study(
        name=f"gap-54mbps-{profile}",
        title=f"54 Mbit/s, {what}",
        figures=(figure,),
        source=f"{PAPER}, {figure}",
        shows=f"Aggregate goodput of two parallel chains over the rate of the wired links, {what}.",
        scenario="gap-fig15-54mbps.toml",
        axis=_WIRED_RATE,
        schemes=SCHEMES,
        conditions=PAPER_CONDITIONS,
        settings=(("radio.standard", standard),),
        quick=Plan(3, timed(25, 5), ("1", "5", "20", "100"), core_s=0.04),
        full=Plan(3, FULL, core_s=0.9),
        quantities=_SHARED,
        notes="ns-2 has no OFDM and what the authors set is not known, so both readings are run: true OFDM frame times "
        "(802.11g), and 54 Mbit/s data with DSSS timing and preambles (802.11g-ns2). Topology and direction (parallel "
        "chains, wireless to wired) are assumptions.",
    )


def _cross(case: str, figure: str, way: str) -> Study:
    return Study(
        name=f"gap-cross-{case}",
        title=f"Cross, {way}",
        figures=(figure,),
        source=f"{PAPER}, {figure}; topology of Fig. 17",
        shows=f"How four arms around a gateway share it; {way}.",
        scenario=f"gap-fig18-cross-{case}.toml",
        axis=NO_AXIS,
        schemes=SCHEMES,
        conditions=PAPER_CONDITIONS,
        quick=Plan(4, timed(70, 10), core_s=0.08),
        full=Plan(5, FULL, core_s=1.0),
        quantities=(*FLOWS[:4], *_SHARED),
        notes="Arms of 4 hops are an assumption; which of the figures is which direction too.",
    )


_LINK_DROPS = Study(
    name="gap-link-drops",
    title="Drops by link",
    figures=("Table 2",),
    source=f"{PAPER}, Table 2",
    shows="Data packets and TCP ACKs that each link gives up in 1,000 s on two parallel chains, one flow each way.",
    scenario=f"{PARALLEL['mix']}.toml",
    axis=NO_AXIS,
    schemes=SCHEMES,
    conditions=PAPER_CONDITIONS,
    quick=Plan(5, timed(140, 20), core_s=0.18),
    full=Plan(8, FULL, core_s=0.9),
    quantities=(GIVEN_UP, RESENT, GOODPUT, *FLOWS[:2]),
    notes="The table's scheme is not known; every scheme is shown. Shares its runs with gap-parallel-mix.",
)

_RESPONSIVENESS = Study(
    name="gap-responsiveness",
    title="Responsiveness",
    figures=("Fig. 13", "Fig. 14"),
    source=f"{PAPER}, Figs. 13 and 14",
    shows="Goodput over time on two parallel chains; the second flow stops at 130 s and a new one begins at 160 s.",
    scenario="gap-fig13-responsiveness.toml",
    axis=NO_AXIS,
    schemes=SCHEMES,
    conditions=PAPER_CONDITIONS,
    quick=Plan(3, (), core_s=0.25),
    full=Plan(10, (), core_s=0.3),
    quantities=(*FLOWS[:3], GOODPUT, DELAY),
    series=True,
    notes="Direction (wireless to wired) and the end at 300 s are assumptions.",
)

_RANDOM = Study(
    name="gap-random",
    title="Random mesh",
    figures=("Fig. 21",),
    source=f"{PAPER}, Fig. 21",
    shows="How 8 flows share a gateway in a mesh of 120 random nodes, 2,500 m by 1,000 m; a topology a seed.",
    scenario="gap-fig21-random.toml",
    axis=NO_AXIS,
    schemes=SCHEMES,
    conditions=PAPER_CONDITIONS,
    quick=Plan(3, timed(50, 10), core_s=0.3),
    full=Plan(5, FULL, core_s=7.0),
    quantities=(*FLOWS, *_SHARED),
    notes="Four flows each way are an assumption.",
)

_HTTP_PARALLEL = Study(
    name="gap-http-parallel",
    title="Web traffic on parallel chains",
    figures=("Fig. 22", "Fig. 23"),
    source=f"{PAPER}, Figs. 22 and 23",
    shows="Aggregate goodput of Pareto files of 30 kB on two parallel chains over the mean pause between files.",
    scenario="gap-fig22-http-parallel.toml",
    axis=_pauses(2),
    schemes=SCHEMES,
    conditions=PAPER_CONDITIONS,
    quick=Plan(4, timed(140, 20), ("0.5", "2", "10"), core_s=0.025),
    full=Plan(3, FULL, core_s=0.7),
    quantities=_SHARED,
    notes="The pauses and the direction (wired to wireless) are assumptions.",
)

_HTTP_RANDOM = Study(
    name="gap-http-random",
    title="Web traffic in a random mesh",
    figures=("Fig. 24",),
    source=f"{PAPER}, Fig. 24",
    shows="Aggregate goodput of 8 hosts that fetch Pareto files of 30 kB in a random mesh, over the mean pause.",
    scenario="gap-fig24-http-random.toml",
    axis=_pauses(1),
    schemes=SCHEMES,
    conditions=PAPER_CONDITIONS,
    quick=Plan(3, timed(50, 10), ("0.5", "10"), core_s=0.13),
    full=Plan(3, FULL, ("0.5", "2", "10"), core_s=2.7),
    quantities=_SHARED,
    notes="The pauses are an assumption.",
)

STUDIES = (
    _chain("up", "Fig. 8", "gap-fig08-chain-up.toml", UP),
    _chain("down", "Fig. 9", "gap-fig09-chain-down.toml", DOWN),
    *(_parallel(case, f"Fig. {10 + i}", way) for i, (case, way) in enumerate(CASES.items())),
    _LINK_DROPS,
    _RESPONSIVENESS,
    _fast("ofdm", "Fig. 15"),
    _fast("dsss", "Fig. 16"),
    *(_cross(case, f"Fig. {18 + i}", way) for i, (case, way) in enumerate(CASES.items())),
    _RANDOM,
    _HTTP_PARALLEL,
    _HTTP_RANDOM,
)
"""The paper's, in its order."""
