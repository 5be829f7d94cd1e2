"""The claims of the TCP-GAP paper (docs/experiments/gap.md), in our words, in the order of its figures."""

from __future__ import annotations

from functools import partial

from meshpace.study import table2
from meshpace.study.claims import Cause, Claim
from meshpace.study.gap import CASES, FAST, LONG, PAPER, SHORT
from meshpace.study.judges import everywhere, gain_of_up_to
from meshpace.study.quantities import GOODPUT, JAIN, SHARE, Quantity
from meshpace.study.rules import above, below, megabits, number, percent, within
from meshpace.study.statistics import difference, from_series, gain, of

_GAP, _NOGC, _NEWRENO = "tcp-gap", "tcp-gap-nogc", "newreno"
STARVED = 0.05
"""A flow with less than a twentieth of the aggregate over the whole run starves."""
EQUAL = 0.95
"""Jain's index of equal shares: for two flows, 39 % and 61 % at worst."""
_PART = partial(percent, signed=False)
_RATE_LIMITED, _RATE_FREE = ("1", "2", "5"), ("10", "20", "50", "100")
_SLIGHTLY = 0.10
"""What the paper calls slightly less, at most."""


def _source(where: str) -> str:
    return f"{PAPER}, {where}"


def chains(prefix: str = "gap") -> list[Claim]:
    """Figs. 8 and 9, of the studies PREFIX-chain-up and PREFIX-chain-down."""
    up, down = f"{prefix}-chain-up", f"{prefix}-chain-down"
    return [
        *(
            gain_of_up_to(
                f"{prefix}-chain-{way}-long",
                f"TCP-GAP delivers up to {100 * printed:.0f} % more than NewReno over 4 hops and more, {CASES[way]}.",
                source=_source(figure), printed=printed, study=f"{prefix}-chain-{way}", statistic=gain(GOODPUT),
                points=LONG, unit=" hops",
                cause=Cause(f"gap-switches-chain-{way}", gain(GOODPUT), percent, low=printed),
            )
            for way, figure, printed in (("up", "Fig. 8", 0.41), ("down", "Fig. 9", 0.42))
        ),
        everywhere(
            f"{up}-short", "Below 4 hops TCP-GAP delivers slightly less than NewReno, wireless to wired.",
            source=_source("Fig. 8"), printed="slightly less", tolerance="0 to 10 % less at each hop count",
            studies={up: ""}, statistic=gain(GOODPUT), answer=lambda v: within(v, -_SLIGHTLY, 0.0),
            show=percent, what="Against NewReno", points=SHORT, unit=" hops",
            cause=Cause("gap-switches-short-up", gain(GOODPUT), percent, -_SLIGHTLY, 0.0),
        ),
        everywhere(
            f"{down}-short", "Below 4 hops TCP-GAP stays within 3 % of NewReno, wired to wireless.",
            source=_source("Fig. 9"), printed="within 3 %", tolerance="within 3 % at each hop count",
            studies={down: ""}, statistic=gain(GOODPUT), answer=lambda v: within(v, -0.03, 0.03),
            show=percent, what="Against NewReno", points=SHORT, unit=" hops",
            cause=Cause("gap-switches-short-down", gain(GOODPUT), percent, -0.03, 0.03),
        ),
    ]  # fmt: skip


def same_way(way: str, prefix: str = "gap") -> list[Claim]:
    """Figs. 10 and 11, of the study PREFIX-parallel-WAY."""
    figure = {"up": "Fig. 10", "down": "Fig. 11"}[way]
    name, switches = f"{prefix}-parallel-{way}", f"gap-switches-parallel-{way}"
    study = {name: ""}
    return [
        everywhere(
            f"{name}-starves", f"With NewReno one of two parallel chains starves for good, {CASES[way]}.",
            source=_source(figure), printed="flow 2 starves", studies=study,
            tolerance="the weaker flow has less than 5 % of the aggregate",
            statistic=of(SHARE, _NEWRENO), answer=lambda v: below(v, STARVED), show=_PART,
            what="The weaker flow's part of the aggregate over the whole run",
            cause=Cause(switches, of(SHARE, _NEWRENO), _PART, high=STARVED),
        ),
        everywhere(
            f"{name}-equal", f"TCP-GAP shares equally between two parallel chains, {CASES[way]}.",
            source=_source(figure), printed="equal", tolerance=f"Jain's index over the whole run is above {EQUAL}",
            studies=study, statistic=of(JAIN, _GAP), answer=lambda v: above(v, EQUAL), show=number,
            what="Jain's index of TCP-GAP over the whole run", cause=Cause(switches, of(JAIN, _GAP), number, low=EQUAL),
        ),
        everywhere(
            f"{name}-aggregate", f"On two parallel chains TCP-GAP delivers more in all, {CASES[way]}.",
            source=_source(figure), printed="more", tolerance="the difference is above zero", studies=study,
            statistic=gain(GOODPUT), answer=lambda v: above(v, 0.0), show=percent, what="Against NewReno",
            cause=Cause(switches, gain(GOODPUT), percent, low=0.0),
        ),
    ]  # fmt: skip


def _oncoming() -> list[Claim]:
    fig12 = partial(everywhere, source=_source("Fig. 12"), studies={"gap-parallel-mix": ""})
    switches = "gap-switches-parallel-mix"
    return [
        fig12(
            "gap-parallel-mix-nogc-fairer",
            "Oncoming flows: TCP-GAP without goodput control shares more equally than NewReno.",
            printed="fairer", tolerance="the difference of Jain's index is above zero",
            statistic=difference(JAIN, _NOGC), answer=lambda v: above(v, 0.0), show=number,
            what="Jain's index less NewReno's", cause=Cause(switches, difference(JAIN, _NOGC), number, low=0.0),
        ),
        fig12(
            "gap-parallel-mix-nogc-unequal", "Oncoming flows: without goodput control the shares stay unequal.",
            printed="unequal", tolerance=f"Jain's index stays below {EQUAL}", statistic=of(JAIN, _NOGC),
            answer=lambda v: below(v, EQUAL), show=number, what="Jain's index of TCP-GAP without goodput control",
            cause=Cause(switches, of(JAIN, _NOGC), number, high=EQUAL),
        ),
        fig12(
            "gap-parallel-mix-gc-equal", "Oncoming flows: with goodput control TCP-GAP shares equally.",
            printed="equal", tolerance=f"Jain's index is above {EQUAL}", statistic=of(JAIN, _GAP),
            answer=lambda v: above(v, EQUAL), show=number, what="Jain's index of TCP-GAP",
            cause=Cause(switches, of(JAIN, _GAP), number, low=EQUAL),
        ),
        fig12(
            "gap-parallel-mix-gc-free", "Oncoming flows: goodput control costs almost nothing in aggregate.",
            printed="almost no loss", tolerance="5 % less at most", statistic=gain(GOODPUT, _GAP, _NOGC),
            answer=lambda v: above(v, -0.05), show=percent, what="Against TCP-GAP without it",
            cause=Cause(switches, gain(GOODPUT, _GAP, _NOGC), percent, low=-0.05),
        ),
    ]  # fmt: skip


def _drops(scheme: str, name: str) -> list[Claim]:
    printed = table2.PRINTED_UPWARD_SHARE
    share = of(Quantity("upward_share", "part of the wireless-to-wired flow", "%", table2.upward_share), scheme)
    likeness = of(Quantity("likeness", "rank correlation with Table 2", "", table2.likeness), scheme)
    table = partial(everywhere, source=_source("Table 2"), studies={"gap-link-drops": ""})
    switches = "gap-switches-parallel-mix"
    return [
        table(
            f"gap-link-drops-share-{scheme}",
            f"Oncoming flows: most data packets that links give up are the wireless-to-wired flow's ({name}).",
            printed=f"{100 * printed:.0f} %", tolerance="within 15 points", statistic=share,
            answer=lambda v: within(v, printed - 0.15, printed + 0.15), show=_PART,
            what="Its part of the data packets given up",
            cause=Cause(switches, share, _PART, low=printed - 0.15, high=printed + 0.15),
        ),
        table(
            f"gap-link-drops-pattern-{scheme}", f"Drops rise and fall along the chains as in Table 2 ({name}).",
            printed="20 numbers", tolerance="Spearman's rank correlation with them is above 0.6", statistic=likeness,
            answer=lambda v: above(v, 0.6), show=number, what="Rank correlation",
            cause=Cause(switches, likeness, number, low=0.6),
        ),
    ]  # fmt: skip


BACK_S, END_S = 170, 300
"""The new flow begins at 160 s; ten seconds on it should have its share (scenario gap-fig13-responsiveness)."""


def returned_share(series: dict[str, list[float]]) -> float | None:
    """The new flow's part of what the two chains deliver after it began."""
    first, third = (sum(series[flow][BACK_S:END_S]) for flow in ("1", "3"))
    return third / (first + third) if first + third else None


def _responsiveness() -> list[Claim]:
    figures = partial(everywhere, studies={"gap-responsiveness": ""}, show=_PART)
    what = "The new flow's part of what both deliver from 170 to 300 s"
    return [
        figures(
            "gap-responsiveness-gap", "When the second flow comes back, TCP-GAP gives it its share again.",
            source=_source("Fig. 13"), printed="equal shares", tolerance="35 to 65 %", what=what,
            statistic=from_series(returned_share, _GAP), answer=lambda v: within(v, 0.35, 0.65),
        ),
        figures(
            "gap-responsiveness-newreno", "When the second flow comes back, it starves with NewReno.",
            source=_source("Fig. 14"), printed="flow 2 starves", tolerance="less than 5 %", what=what,
            statistic=from_series(returned_share, _NEWRENO), answer=lambda v: below(v, STARVED),
            cause=Cause("gap-switches-parallel-up", of(SHARE, _NEWRENO), _PART, high=STARVED),
        ),
    ]  # fmt: skip


def _fast(profile: str, figure: str) -> list[Claim]:
    study, switches, what = f"gap-54mbps-{profile}", f"gap-switches-54mbps-{profile}", FAST[profile][1]
    return [
        everywhere(
            f"{study}-equal",
            f"At 54 Mbit/s both deliver the same while the wired links have 5 Mbit/s or less ({what}).",
            source=_source(figure), printed="equal", tolerance="within 3 % at each rate", studies={study: ""},
            statistic=gain(GOODPUT), answer=lambda v: within(v, -0.03, 0.03), show=percent, what="Against NewReno",
            points=_RATE_LIMITED, unit=" Mbit/s",
        ),
        gain_of_up_to(
            f"{study}-gain",
            f"At 54 Mbit/s and wired links above 5 Mbit/s TCP-GAP delivers about 13 % more ({what}).",
            source=_source(figure), printed=0.13, study=study, statistic=gain(GOODPUT), points=_RATE_FREE,
            unit=" Mbit/s",
            cause=Cause(switches, gain(GOODPUT), percent, low=0.13),
        ),
        everywhere(
            f"{study}-rate", f"At 54 Mbit/s the mesh carries about 5 Mbit/s in all ({what}).", source=_source(figure),
            printed="5 Mbit/s", tolerance="within 20 %, with the fastest wired links", studies={study: ""},
            statistic=of(GOODPUT, _GAP), answer=lambda v: within(v, 4e6, 6e6), show=megabits,
            what="Aggregate goodput of TCP-GAP", points=("100",), unit=" Mbit/s wired",
            cause=Cause(switches, of(GOODPUT, _GAP), megabits, 4e6, 6e6),
        ),
    ]  # fmt: skip


def _fairer(name: str, statement: str, figure: str, study: str) -> Claim:
    return everywhere(
        name, statement, source=_source(figure), printed="fairer", studies={study: ""}, statistic=difference(JAIN),
        tolerance="the difference of Jain's index is above zero", answer=lambda v: above(v, 0.0), show=number,
        what="Jain's index less NewReno's",
    )  # fmt: skip


def _wide() -> list[Claim]:
    return [
        *(
            _fairer(
                f"gap-cross-{way}-fairer",
                f"Four arms around one gateway share more equally with TCP-GAP than with NewReno, {CASES[way]}.",
                figure,
                f"gap-cross-{way}",
            )
            for way, figure in (("up", "Fig. 18"), ("down", "Fig. 19"), ("mix", "Fig. 20"))
        ),
        _fairer(
            "gap-random-fairer",
            "In a random mesh 8 flows share more equally with TCP-GAP than with NewReno.",
            "Fig. 21",
            "gap-random",
        ),
        everywhere(
            "gap-random-aggregate", "In a random mesh TCP-GAP delivers slightly less in all than NewReno.",
            source=_source("Fig. 21"), printed="slightly less", tolerance="0 to 10 % less", studies={"gap-random": ""},
            statistic=gain(GOODPUT), answer=lambda v: within(v, -_SLIGHTLY, 0.0), show=percent, what="Against NewReno",
        ),
        gain_of_up_to(
            "gap-http-parallel-gain", "Web-like traffic on parallel chains gets up to 70 % more than with NewReno.",
            source=_source("Figs. 22 and 23"), printed=0.70, study="gap-http-parallel", statistic=gain(GOODPUT),
            unit=" s pause", cause=Cause("gap-switches-http", gain(GOODPUT), percent, low=0.70),
        ),
        gain_of_up_to(
            "gap-http-random-gain", "Web-like traffic in a random mesh gets up to 70 % more than with NewReno.",
            source=_source("Fig. 24"), printed=0.70, study="gap-http-random", statistic=gain(GOODPUT), unit=" s pause",
        ),
    ]  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    *chains(),
    *same_way("up"),
    *same_way("down"),
    *_oncoming(),
    *_drops(_NEWRENO, "NewReno"),
    *_drops(_NOGC, "TCP-GAP without goodput control"),
    *_responsiveness(),
    *_fast("ofdm", "Fig. 15"),
    *_fast("dsss", "Fig. 16"),
    *_wide(),
)
