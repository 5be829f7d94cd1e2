"""Claims of the LLAP paper (docs/experiments/llap.md, sections 3 and 4): its figures with TCP over chains."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from meshpace.experiments.llap.figures import ASSIGNMENTS, LETTER, LLAP, PAPER, TCP_AP
from meshpace.experiments.llap.quantities import (
    FHD_ESTIMATE,
    SLOWEST,
)
from meshpace.stats import Estimate
from meshpace.study.claims import Ask, Claim, Role
from meshpace.study.measures import Measure, Values, difference, gain, mean_along, of, over_axis
from meshpace.study.model import Condition
from meshpace.study.outcome import Outcome
from meshpace.study.quantities import GOODPUT, JAIN, Quantity
from meshpace.study.rules import NO_FAIRNESS, NO_GAIN, Rule, equality, order
from meshpace.study.words import difference as signed
from meshpace.study.words import number, percent, share

SIGNIFICANT = Rule("MUCH", low=0.10, neutral=0.0, margin=NO_GAIN)
"""At least 10 % more: the catalogue's "significant"."""
DRASTIC = Rule("MUCH", low=0.25)
"""A fall by a quarter at least: its "drastic" and "huge"."""
MORE = order(NO_GAIN)
FEWER = order(rises=False)
LOST_LESS = order(NO_GAIN, rises=False)
"""Of a difference of two parts of what was sent: within two points, with an uncertain sign, there is none."""
LONG = ("4", "5", "6", "7", "8", "9", "10")
SEVERAL = ("2", "3", "4", "6", "8", "10")


def claim(
    number: str, statement: str, figure: str, printed: str, *asks: Ask, value: float | None = None,
    cause: str | None = None, told_with: str = "",
) -> Claim:  # fmt: skip
    """A claim of this paper. Its ids carry the paper's name, since other papers count figures alike."""
    source = f"{PAPER}, {figure}"
    return Claim(f"llap {number}", statement, figure, source, printed, asks, value, cause, told_with)


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
        Ask(
            gain(GOODPUT, LLAP),
            MORE,
            percent,
            "Below 4 hops (X.12)",
            ("llap-hops",),
            ("1", "2", "3"),
            " hops",
            role=Role.BESIDE,
        ),
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


def wins(over: str) -> Callable[[str], Measure]:
    """By seed, the part of the assignments of rates in which a scheme delivers more."""

    def measure(scheme: str) -> Measure:
        def one(outcome: Outcome, condition: Condition, point: str) -> Values:
            return [
                None if value is None else float(value > 0)
                for value in gain(GOODPUT, scheme, over).take(outcome, condition, point)
            ]

        return mean_along(Measure((over, scheme), one), ASSIGNMENTS)

    return measure


def correlation(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Pearson's; None where one side is constant, or one number is all there is."""
    if len(set(a)) < 2 or len(set(b)) < 2:
        return None
    return statistics.correlation(a, b)


_MOST = Rule("ORDER", low=0.5)
_RATES = (
    claim(
        "F26.1",
        "LLAP beats NewReno in most assignments of MAC rates.",
        "Fig. 26",
        "most",
        *beside("llap-random-rates", wins("newreno"), _MOST, share, "Assignments with more goodput than NewReno"),
        Ask(
            mean_along(gain(GOODPUT, LLAP)),
            MORE,
            percent,
            "Mean gain over the assignments",
            ("llap-random-rates",),
            role=Role.BESIDE,
        ),
        Ask(
            over_axis(
                lambda _, estimate, slowest: correlation(estimate, slowest), of(FHD_ESTIMATE, LLAP), of(SLOWEST, LLAP)
            ),
            order(),
            number,
            "Correlation of the estimate with four times the slowest node's time (F26.3)",
            ("llap-random-rates",),
            role=Role.BESIDE,
        ),
    ),
    claim(
        "F26.2",
        "LLAP beats TCP-AP in most assignments of MAC rates.",
        "Fig. 26",
        "most",
        *beside("llap-random-rates", wins(TCP_AP), _MOST, share, "Assignments with more goodput than TCP-AP"),
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

CLAIMS = (*_HOPS, *_FLOWS, *_RATES, *_INTERNET)
