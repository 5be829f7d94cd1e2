"""The experiments of the TCP-GAP paper with lasting flows, figure by figure (docs/experiments/gap.md is its catalogue).

Plans: ``full`` measures 55,000 packets in 11 batches as the paper did; ``quick`` a fixed time. Seeds and times of the
quick plans are sized so that all of ``gap`` takes less than four minutes on two quiet cores.
"""

from __future__ import annotations

from meshpace.study.model import NO_AXIS, PAPER_CONDITIONS, Axis, Plan, Point, Settings, Study, timed
from meshpace.study.quantities import (
    DELAY,
    DROPS,
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
SCHEMES = ("newreno", "tcp-gap")
WITH_NOGC = (*SCHEMES, "tcp-gap-nogc")
FULL: Settings = (("measure.packets", "55000"), ("measure.batches", "11"))
"""The paper's: 11 batches of 5,000 packets, the first discarded."""

LONG = tuple(str(h) for h in range(4, 11))
SHORT = ("1", "2", "3")


def hops(*lengths: int) -> Axis:
    """An axis of wireless hops."""
    points = (Point(str(h), (("topology.hops", str(h)),), float(h)) for h in lengths)
    return Axis("wireless hops", "", tuple(points))


WIRED_RATES = (1, 2, 3, 4, 5, 6, 8, 10, 20, 50, 100)
_WIRED_RATE = Axis(
    "rate of the wired links",
    "Mbit/s",
    tuple(Point(str(r), (("topology.wired_rate", f"{r}Mbps"),), float(r)) for r in WIRED_RATES),
    logarithmic=True,
)


_CHAIN: tuple[Quantity, ...] = (GOODPUT, DELAY, RTT, RESENT, TIMEOUTS, DROPS, GIVEN_UP, ROUTE_FAILURES)
SHARED: tuple[Quantity, ...] = (GOODPUT, SHARE, JAIN, JAIN_1S, JAIN_10S, JAIN_100S, DELAY, RTT, RESENT, TIMEOUTS)
"""Of flows that compete."""

UP, DOWN, MIX = "wireless to wired", "wired to wireless", "each way"
CASES = {"up": UP, "down": DOWN, "mix": MIX}
CHAINS = {"up": "gap-fig08-chain-up.toml", "down": "gap-fig09-chain-down.toml"}
PARALLEL = {
    "up": "gap-fig10-parallel-up.toml",
    "down": "gap-fig11-parallel-down.toml",
    "mix": "gap-fig12-parallel-mix.toml",
}
CROSS = {
    "up": "gap-fig18-cross-up.toml",
    "down": "gap-fig19-cross-down.toml",
    "mix": "gap-fig20-cross-mix.toml",
}


def of_the_paper(
    *, name: str, title: str, figures: tuple[str, ...], shows: str, scenario: str, quick: Plan, full: Plan,
    quantities: tuple[Quantity, ...], axis: Axis = NO_AXIS, schemes: tuple[str, ...] = SCHEMES, settings: Settings = (),
    where: str = "", series: bool = False, notes: str = "", reads: tuple[str, ...] = (),
) -> Study:  # fmt: skip
    """One of the paper's studies: TCP-GAP beside NewReno at one point unless it says otherwise, under every condition.

    ``where`` goes on after the figures in the source.
    """
    printed = ", ".join(figures)
    if len(figures) == 2 and all(figure.startswith("Fig. ") for figure in figures):
        printed = f"Figs. {' and '.join(figure.removeprefix('Fig. ') for figure in figures)}"
    return Study(
        name, title, figures, f"{PAPER}, {printed}{where}", shows, scenario, axis, schemes, PAPER_CONDITIONS, quick,
        full, quantities, settings, series=series, paper="gap", notes=notes, reads=reads,
    )  # fmt: skip


def _chain(direction: str, figure: str) -> Study:
    return of_the_paper(
        name=f"gap-chain-{direction}",
        title=f"Chain, {CASES[direction]}",
        figures=(figure,),
        shows=f"Goodput of one flow over 1 to 10 wireless hops and three wired links, {CASES[direction]}.",
        scenario=CHAINS[direction],
        axis=hops(*range(1, 11)),
        quick=Plan(6, timed(50, 10), core_s=0.05),
        full=Plan(6, FULL, core_s=1.5),
        quantities=_CHAIN,
        notes="The figure has points below 4 hops and from 4 on; that its axis ends at 10 is an assumption.",
    )


def _parallel(case: str, figure: str) -> Study:
    return of_the_paper(
        name=f"gap-parallel-{case}",
        title=f"Two parallel chains, {CASES[case]}",
        figures=(figure,),
        where="; topology of Fig. 5",
        shows=f"How two 5-hop chains, 400 m apart, share a gateway; {CASES[case]}.",
        scenario=PARALLEL[case],
        schemes=WITH_NOGC,
        quick=Plan(8, timed(110, 10), core_s=0.13),
        full=Plan(10, FULL, core_s=1.3),
        quantities=(*FLOWS[:2], *SHARED, DROPS),
    )


_LINK_DROPS = of_the_paper(
    name="gap-link-drops",
    title="Drops by link",
    figures=("Table 2",),
    shows="Data packets and TCP ACKs that each link gives up in 1,000 s on two parallel chains, one flow each way.",
    scenario=PARALLEL["mix"],
    schemes=("tcp-gap-nogc", *SCHEMES),
    quick=Plan(4, timed(250, 0), core_s=0.3),
    full=Plan(10, timed(1000, 0), core_s=1.2),
    quantities=(GIVEN_UP, RESENT, GOODPUT, *FLOWS[:2]),
    notes="Pacing without goodput control, by the table's context; the other schemes are shown beside it. No warm-up.",
)


RETURNS = {"": "as a new connection", "-kept": "on the same connection"}
"""How the second flow of Figs. 13 and 14 comes back, by what the reading adds to a study's name."""


def _responsiveness(kind: str, what: str, scenario: str = "responsiveness", settings: Settings = ()) -> Study:
    return of_the_paper(
        name=f"gap-responsiveness{kind}",
        title=f"Responsiveness, {what}",
        figures=("Fig. 13", "Fig. 14"),
        shows="Goodput over time on two parallel chains, wired to wireless; the second flow stops at 130 s and comes "
        f"back at 160 s; {what}.",
        scenario=f"gap-fig13-{scenario}.toml",
        settings=settings,
        quick=Plan(4, (), core_s=0.3),
        full=Plan(20, (), core_s=0.35),
        quantities=(*FLOWS[:3], GOODPUT, DELAY),
        series=True,
        notes="The end at 300 s is an assumption, and how the flow comes back.",
    )  # fmt: skip


_SILENT: Settings = (("flow.1.start", "298s"), ("flow.1.stop", "300s"), ("flow.2.start", "298s"))
"""The second flow stays away until the last seconds, which nothing looks at."""

FAST = {"ofdm": ("802.11g", "OFDM frame times"), "dsss": ("802.11g-ns2", "DSSS frame times as in ns-2")}
"""The two readings of 54 Mbit/s: the standard that a scenario names, and words for it."""


def _fast(profile: str) -> Study:
    standard, what = FAST[profile]
    return of_the_paper(
        name=f"gap-54mbps-{profile}",
        title=f"54 Mbit/s, {what}",
        figures=("Fig. 15", "Fig. 16"),
        shows="Aggregate goodput and fairness of two parallel chains, wired to wireless, over the wired links' rate, "
        f"{what}.",
        scenario="gap-fig15-54mbps.toml",
        axis=_WIRED_RATE,
        settings=(("radio.standard", standard),),
        quick=Plan(4, timed(20, 5), ("1", "3", "5", "10", "20", "100"), core_s=0.07),
        full=Plan(5, FULL, core_s=0.9),
        quantities=(*SHARED, DROPS),
        notes="ns-2 has no OFDM and what the authors set is not known, so both readings are run: true OFDM frame times "
        "(802.11g), and 54 Mbit/s data with DSSS timing and preambles (802.11g-ns2). That the second flow of Figs. 13 "
        "and 14 does not rest here is an assumption.",
    )  # fmt: skip


def _cross(case: str, figure: str) -> Study:
    return of_the_paper(
        name=f"gap-cross-{case}",
        title=f"Cross, {CASES[case]}",
        figures=(figure,),
        where="; topology of Fig. 17",
        shows=f"How four arms around a gateway share it; {'two flows ' if case == 'mix' else ''}{CASES[case]}.",
        scenario=CROSS[case],
        schemes=WITH_NOGC,
        quick=Plan(6, timed(70, 10), core_s=0.14),
        full=Plan(10, FULL, core_s=1.0),
        quantities=(*FLOWS[:4], *SHARED),
        notes="Arms of 4 hops are an assumption, and how the seven wired hosts hang together.",
    )


_RANDOM = of_the_paper(
    name="gap-random",
    title="Random mesh",
    figures=("Fig. 21",),
    shows="How 8 flows, four each way, share a random gateway in a mesh of 120 random nodes, 2,500 m by 1,000 m.",
    scenario="gap-fig21-random.toml",
    schemes=WITH_NOGC,
    quick=Plan(6, timed(50, 10), core_s=0.35),
    full=Plan(20, FULL, core_s=7.0),
    quantities=(*FLOWS, *SHARED),
    notes="A topology a seed, drawn again until it is connected; the gateway is a node, ends of flows differ.",
)

STUDIES = (
    _chain("up", "Fig. 8"),
    _chain("down", "Fig. 9"),
    *(_parallel(case, f"Fig. {10 + i}") for i, case in enumerate(CASES)),
    _LINK_DROPS,
    _responsiveness("", RETURNS[""]),
    _responsiveness("-kept", RETURNS["-kept"], "same-connection"),
    _responsiveness("-alone", "the first flow alone", settings=_SILENT),
    *map(_fast, FAST),
    *(_cross(case, f"Fig. {18 + i}") for i, case in enumerate(CASES)),
    _RANDOM,
)
"""The paper's, in its order."""
