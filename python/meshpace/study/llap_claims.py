"""Claims of the LLAP paper (docs/experiments/llap.md, sections 3 and 4): its tables, and its figures with TCP."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from meshpace.stats import Estimate
from meshpace.study.claims import Against, Ask, Claim, Role
from meshpace.study.llap import ASSIGNMENTS, LETTER, LLAP, OFF, ON, PAPER, TCP_AP
from meshpace.study.llap_quantities import (
    BY_TIMEOUT,
    COLLISIONS_DATA,
    DATA_GIVEN_UP,
    G_PAPER,
    LOSS_MAC,
    LOSS_REX,
    MAC_OVER_QUEUE,
    TIMEOUTS_250,
)
from meshpace.study.measures import Measure, Values, difference, gain, mean_along, of
from meshpace.study.model import Condition
from meshpace.study.outcome import Outcome
from meshpace.study.quantities import GOODPUT, JAIN, Quantity
from meshpace.study.rules import NO_FAIRNESS, NO_GAIN, Rule, about, equality, order
from meshpace.study.words import count, percent, share
from meshpace.study.words import difference as signed

kilobits: Callable[[Estimate], str] = partial(count, factor=1e-3, unit=" kbit/s")
"""Bit/s as ``96.6 ± 2.0 kbit/s``."""
SIGNIFICANT = Rule("MUCH", low=0.10, neutral=0.0, margin=NO_GAIN)
"""At least 10 % more: the catalogue's "significant"."""
DRASTIC = Rule("MUCH", low=0.25)
"""A fall by a quarter at least: its "drastic" and "huge"."""
MORE = order(NO_GAIN)
FEWER = order(rises=False)
LONG = ("4", "5", "6", "7", "8", "9", "10")
SEVERAL = ("2", "3", "4", "6", "8", "10")


def claim(number: str, statement: str, figure: str, printed: str, *asks: Ask, value: float | None = None) -> Claim:
    """A claim of this paper. Its ids carry the paper's name, since other papers count figures alike."""
    return Claim(f"llap {number}", statement, figure, f"{PAPER}, {figure}", printed, asks, value)


def within(printed: float, tolerance: float) -> Rule:
    """A printed number with a two-sided tolerance, a part of it."""
    return about(printed * (1 - tolerance), printed * (1 + tolerance))


def _factor_two(printed: float) -> Rule:
    return about(printed / 2, printed * 2)


def beside(
    study: str,
    measure: Callable[[str], Measure],
    rule: Rule,
    show: Callable[[Estimate], str],
    what: str,
    points: tuple[str, ...] | None = None,
    unit: str = "",
) -> tuple[Ask, Ask]:
    """What is asked of LLAP, and beside it of its Algorithm 1 to the letter."""
    return (
        Ask(measure(LLAP), rule, show, what, (study,), points, unit),
        Ask(
            measure(LETTER), rule, show, f"{what}, Algorithm 1 to the letter", (study,), points, unit, role=Role.BESIDE
        ),
    )


def _on_against_off(study: str, quantity: Quantity, scheme: str, rule: Rule, what: str) -> Ask:
    """A quantity with RTS/CTS against the same without, paired by seed."""
    without = Against(study, OFF, of(quantity, scheme), lambda on, off: on / off - 1 if off else None)
    return Ask(of(quantity, scheme), rule, percent, what, (study,), (ON,), against=without)


_T1, _T2 = "llap-table1", "llap-table2"


def _printed(study: str, scheme: str, point: str, rows: tuple[tuple[str, float, float, float], ...]) -> list[Claim]:
    """Goodput or timeouts of a row: claim, goodput (0: of timeouts), tolerance, timeouts."""
    figure = "Table 1" if study == _T1 else "Table 2"
    name = {"newreno": "NewReno", TCP_AP: "TCP-AP", LLAP: "NewReno with LLAP"}[scheme]
    found = []
    for number, goodput, tolerance, timeouts in rows:
        if goodput:
            found.append(
                claim(
                    number,
                    f"{name}, {point}: {goodput} kbit/s.",
                    figure,
                    f"{goodput} kbit/s",
                    Ask(
                        of(G_PAPER, scheme),
                        within(1e3 * goodput, tolerance),
                        kilobits,
                        "Goodput less what was resent",
                        (study,),
                        (point,),
                    ),
                    Ask(
                        of(GOODPUT, scheme),
                        within(1e3 * goodput, tolerance),
                        kilobits,
                        "Goodput",
                        (study,),
                        (point,),
                        role=Role.BESIDE,
                    ),
                    value=1e3 * goodput,
                )
            )
        else:
            rule = within(timeouts, tolerance) if tolerance < 1 else _factor_two(timeouts)
            found.append(
                claim(
                    number,
                    f"{name}, {point}: {timeouts} timeouts in 250 s.",
                    figure,
                    f"{timeouts}",
                    Ask(of(TIMEOUTS_250, scheme), rule, count, "Timeouts in 250 s", (study,), (point,)),
                    value=timeouts,
                )
            )
    return found


_TABLE_1 = (
    *_printed(_T1, "newreno", OFF, (("T1.1", 96.64, 0.15, 0), ("T1.2", 0, 0.25, 27.33))),
    *_printed(_T1, "newreno", ON, (("T1.3", 88.50, 0.15, 0), ("T1.4", 0, 0.25, 53.8))),
    *_printed(_T1, TCP_AP, OFF, (("T1.5", 244.56, 0.10, 0), ("T1.6", 0, 1, 9.56))),
    claim(
        "T1.7",
        "RTS/CTS does not help NewReno: no more goodput, more timeouts and losses.",
        "Table 1",
        "×0.92, ×1.97, ×2.5",
        _on_against_off(_T1, G_PAPER, "newreno", Rule("ORDER", high=NO_GAIN), "Goodput with RTS/CTS against without"),
        _on_against_off(_T1, TIMEOUTS_250, "newreno", order(), "Timeouts"),
        _on_against_off(_T1, LOSS_REX, "newreno", order(), "Loss"),
    ),
    claim(
        "T1.8",
        "TCP-AP has more goodput than NewReno, and fewer timeouts and losses.",
        "Table 1",
        "×2.53, ×0.35, ×0.06",
        Ask(gain(G_PAPER, TCP_AP), MORE, percent, "Goodput against NewReno", (_T1,), (OFF,)),
        Ask(difference(TIMEOUTS_250, TCP_AP), FEWER, signed, "Timeouts less NewReno's", (_T1,), (OFF,)),
        Ask(difference(LOSS_REX, TCP_AP), FEWER, percent, "Loss less NewReno's", (_T1,), (OFF,)),
    ),
    claim(
        "T1.9",
        "Losses are the MAC's, not the queues'.",
        "Table 1",
        "more",
        Ask(
            of(MAC_OVER_QUEUE, "newreno"),
            order(),
            signed,
            "TCP packets given up by the MAC less those dropped by queues",
            (_T1,),
        ),
    ),
    claim(
        "T1.10",
        "RTS/CTS removes some collisions of data, and not the losses by contention.",
        "Table 1",
        "fewer",
        _on_against_off(
            _T1, COLLISIONS_DATA, "newreno", FEWER, "Collisions of data frames with RTS/CTS against without"
        ),
        Ask(of(DATA_GIVEN_UP, "newreno"), order(), count, "Data packets given up in 250 s", (_T1,), (ON,)),
    ),
    claim(
        "F5.1",
        "NewReno's window goes back to 1 most of the time.",
        "Fig. 5",
        "most",
        Ask(of(BY_TIMEOUT, "newreno"), Rule("ORDER", low=0.5), share, "Reductions by timeout", (_T1,)),
    ),
)


def _both(number: str, statement: str, printed: str, figure: str = "Table 2") -> Claim:
    asks = [
        *beside(_T2, lambda scheme: gain(G_PAPER, scheme), MORE, percent, "Goodput against NewReno"),
        *beside(_T2, lambda scheme: difference(TIMEOUTS_250, scheme), FEWER, signed, "Timeouts less NewReno's"),
        *beside(_T2, lambda scheme: difference(LOSS_REX, scheme), FEWER, percent, "Loss less NewReno's"),
    ]
    return claim(number, statement, figure, printed, *asks)


_TABLE_2 = (
    *_printed(_T2, LLAP, OFF, (("T2.1", 248.75, 0.10, 0), ("T2.3", 0, 1, 2.66))),
    *_printed(_T2, LLAP, ON, (("T2.2", 160.38, 0.10, 0), ("T2.4", 0, 1, 9.16))),
    _both(
        "T2.6",
        "LLAP raises NewReno's goodput and lowers its timeouts and losses, with RTS/CTS and without.",
        "×2.57, ×1.81; ×0.10, ×0.17; ×0.27, ×0.31",
    ),
    claim(
        "T2.7",
        "With LLAP, RTS/CTS off beats on.",
        "Table 2",
        "×1.55",
        _on_against_off(_T2, G_PAPER, LLAP, FEWER, "Goodput with RTS/CTS against without"),
        _on_against_off(_T2, LOSS_MAC, LLAP, order(), "Loss at the MAC"),
    ),
    claim(
        "T2.8",
        "Without RTS/CTS LLAP delivers what TCP-AP does.",
        "Table 2",
        "+1.7 %",
        *beside(
            _T2,
            lambda scheme: gain(G_PAPER, scheme, TCP_AP),
            equality(-0.05, 0.05),
            percent,
            "Goodput against TCP-AP",
            (OFF,),
        ),
    ),
    claim(
        "F22.1",
        "With LLAP there are far fewer timeouts.",
        "Fig. 22",
        "fewer",
        *beside(
            _T2,
            lambda scheme: gain(TIMEOUTS_250, scheme),
            Rule("MUCH", high=-0.10, neutral=0.0),
            percent,
            "Timeouts against NewReno",
        ),
    ),
)


def _fall(quantity: Quantity, scheme: str, first: str, last: str) -> Measure:
    """From one point to another, as a part of the first."""

    def take(outcome: Outcome, condition: Condition, _: str) -> Values:
        begin, end = (of(quantity, scheme).take(outcome, condition, point) for point in (first, last))
        return [1 - b / a if a and b is not None else None for a, b in zip(begin, end, strict=False)]

    return Measure((scheme,), take, quantity, along=(first, last), once=True)


_HOPS = (
    claim(
        "F23.1",
        "Without LLAP NewReno's goodput falls drastically from 4 to 7 hops.",
        "Fig. 23",
        "drastically",
        Ask(_fall(GOODPUT, "newreno", "4", "7"), DRASTIC, percent, "Fall from 4 to 7 hops", ("llap-hops",)),
    ),
    claim(
        "F23.2",
        "From 4 hops on LLAP raises NewReno's goodput.",
        "Fig. 23",
        "more",
        *beside("llap-hops", lambda scheme: gain(GOODPUT, scheme), MORE, percent, "Against NewReno", LONG, " hops"),
    ),
    claim(
        "F23.3",
        "NewReno with LLAP is comparable with TCP-AP.",
        "Fig. 23",
        "comparable",
        *beside(
            "llap-hops",
            lambda scheme: gain(GOODPUT, scheme, TCP_AP),
            equality(-0.1, 0.1),
            percent,
            "Against TCP-AP",
            LONG,
            " hops",
        ),
    ),
)

_FLOWS = (
    claim(
        "F24.1",
        "Without LLAP the aggregate falls drastically with the number of flows.",
        "Fig. 24",
        "drastically",
        Ask(_fall(GOODPUT, TCP_AP, "1", "10"), DRASTIC, percent, "TCP-AP, fall from 1 to 10 flows", ("llap-flows",)),
        Ask(_fall(GOODPUT, "newreno", "1", "10"), DRASTIC, percent, "NewReno", ("llap-flows",), role=Role.BESIDE),
    ),
    claim(
        "F24.2",
        "NewReno with LLAP has the highest aggregate of the three.",
        "Fig. 24",
        "highest",
        *beside(
            "llap-flows", lambda scheme: gain(GOODPUT, scheme), MORE, percent, "Against NewReno", SEVERAL, " flows"
        ),
        *beside(
            "llap-flows",
            lambda scheme: gain(GOODPUT, scheme, TCP_AP),
            MORE,
            percent,
            "Against TCP-AP",
            SEVERAL,
            " flows",
        ),
    ),
    claim(
        "F24.3",
        "With ten flows the gain is huge.",
        "Fig. 24",
        "huge",
        *beside(
            "llap-flows", lambda scheme: gain(GOODPUT, scheme), DRASTIC, percent, "Against NewReno", ("10",), " flows"
        ),
        *beside(
            "llap-flows",
            lambda scheme: gain(GOODPUT, scheme, TCP_AP),
            DRASTIC,
            percent,
            "Against TCP-AP",
            ("10",),
            " flows",
        ),
    ),
    claim(
        "F25.1",
        "Fairness falls with the number of flows, with LLAP and without.",
        "Fig. 25",
        "falls",
        Ask(
            _fall(JAIN, "newreno", "2", "10"),
            order(NO_FAIRNESS),
            percent,
            "NewReno, fall from 2 to 10 flows",
            ("llap-flows",),
        ),
        *beside("llap-flows", lambda scheme: _fall(JAIN, scheme, "2", "10"), order(NO_FAIRNESS), percent, "LLAP"),
    ),
    claim(
        "F25.2",
        "It falls least with LLAP.",
        "Fig. 25",
        "smallest",
        *beside(
            "llap-flows",
            lambda scheme: difference(JAIN, scheme),
            Rule("ORDER", low=-NO_FAIRNESS),
            signed,
            "Jain's index less NewReno's",
            SEVERAL,
            " flows",
        ),
    ),
    claim(
        "F25.3",
        "LLAP is less fair than TCP-AP.",
        "Fig. 25",
        "less",
        *beside(
            "llap-flows",
            lambda scheme: difference(JAIN, scheme, TCP_AP),
            order(rises=False),
            signed,
            "Jain's index less TCP-AP's",
            SEVERAL,
            " flows",
        ),
    ),
)


def _wins(over: str) -> Callable[[str], Measure]:
    """By seed, the part of the assignments of rates in which a scheme delivers more."""

    def measure(scheme: str) -> Measure:
        def one(outcome: Outcome, condition: Condition, point: str) -> Values:
            return [
                None if value is None else float(value > 0)
                for value in gain(GOODPUT, scheme, over).take(outcome, condition, point)
            ]

        return mean_along(Measure((over, scheme), one), ASSIGNMENTS)

    return measure


_MOST = Rule("ORDER", low=0.5)
_RATES = (
    claim(
        "F26.1",
        "LLAP beats NewReno in most assignments of MAC rates.",
        "Fig. 26",
        "most",
        *beside("llap-random-rates", _wins("newreno"), _MOST, share, "Assignments with more goodput than NewReno"),
        Ask(
            mean_along(gain(GOODPUT, LLAP)),
            MORE,
            percent,
            "Mean gain over the assignments",
            ("llap-random-rates",),
            role=Role.BESIDE,
        ),
    ),
    claim(
        "F26.2",
        "LLAP beats TCP-AP in most assignments of MAC rates.",
        "Fig. 26",
        "most",
        *beside("llap-random-rates", _wins(TCP_AP), _MOST, share, "Assignments with more goodput than TCP-AP"),
    ),
)


def _over(other: str) -> Callable[[str], Measure]:
    return lambda scheme: gain(GOODPUT, scheme, other)


_INTERNET = tuple(
    claim(
        number,
        statement,
        "section 7",
        printed,
        *(
            ask
            for way in ("up", "down")
            for ask in beside(
                f"llap-wired-{way}",
                _over(over),
                MORE,
                percent,
                f"{what}, {way}",
            )
        ),
    )
    for number, statement, printed, over, what in (
        ("X.5", "LLAP helps, too, where one end is in the Internet.", "significant gain", "newreno", "Against NewReno"),
        ("X.6", "There TCP-AP, whose estimate fails, delivers less.", "less", TCP_AP, "Against TCP-AP"),
    )
)

CLAIMS = (*_TABLE_1, *_TABLE_2, *_HOPS, *_FLOWS, *_RATES, *_INTERNET)
