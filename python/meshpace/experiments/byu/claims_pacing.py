"""Claims of the thesis about pacing on chains (docs/experiments/thesis.md, 3.1): n hops, fixed rates, Table 5.1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from meshpace.experiments.byu.cal import PRINTED
from meshpace.experiments.byu.chains import ALL_N, RATES, N, with_n, with_rate
from meshpace.experiments.byu.measures import (
    FAIRER,
    FAR_LOWER,
    HIGHER,
    LOWER,
    along,
    at_most_of,
    below,
    beside,
    claim,
    fairness,
    far_below,
    goodput,
    relative,
    value,
    width,
)
from meshpace.experiments.byu.quantities import INTERVAL, MTU_BITS, SPREAD
from meshpace.experiments.byu.schemes import AP, FIXED, TAHOE
from meshpace.experiments.byu.study import COUNTS
from meshpace.study.claims import Against, Ask, Claim, Role
from meshpace.study.measures import Measure, Values, difference, of, rank_along
from meshpace.study.model import Cell, Condition
from meshpace.study.outcome import Outcome
from meshpace.study.quantities import FLOW_GOODPUT, GOODPUT, JAIN, LOG_UTILITY, Quantity
from meshpace.study.rules import NEARLY, Rule, about, equality, order, trend
from meshpace.study.words import count as counted
from meshpace.study.words import difference as signed
from meshpace.study.words import megabits, number, percent

C9, C4, C1 = "byu-ap-c9", "byu-ap-c4", "byu-ap-c1"
CHAINS = (C9, C4, C1)


def _cells(counts: Sequence[int], n: Sequence[int] = N) -> tuple[str, ...]:
    return tuple(with_n(count, each) for count in counts for each in n)


def _first(label: str) -> str:
    """The same number of flows with n = 1."""
    return f"{label.split(',', maxsplit=1)[0]}, n = 1"


ONE_HOP_BEST = "Goodput against n = 1"


def _over_first(study: str, rule: Rule, points: Sequence[str]) -> Ask:
    return Ask(beside(of(FLOW_GOODPUT, AP), _first), rule, percent, ONE_HOP_BEST, (study,), tuple(points))


def _falls(study: str, counts: Sequence[int]) -> tuple[Ask, ...]:
    """That goodput falls with n, and n = 1 is best."""
    ranks = (
        Ask(
            rank_along(of(FLOW_GOODPUT, AP), _cells((count,))),
            trend(0.2, rises=False),
            signed,
            f"Spearman's correlation of goodput with n, {count} flow(s)",
            (study,),
        )
        for count in counts
    )
    return (*ranks, _over_first(study, LOWER, _cells(counts, N[1:])))


def _lower(study: str, counts: Sequence[int]) -> Ask:
    return goodput(AP, LOWER, study, _cells(counts))


def _fair(number_: str, study: str, figure: str) -> tuple[Claim, ...]:
    cells = _cells((2, 5))
    name = f"5.{number_}"
    return (
        claim(
            f"{name}.a",
            "Pacing is fairer than Tahoe for every n.",
            figure,
            "higher",
            fairness(AP, FAIRER, study, cells),
        ),
        claim(
            f"{name}.b",
            "With pacing rates are very nearly equal.",
            figure,
            "very nearly equal",
            value(JAIN, AP, NEARLY, number, study, cells),
        ),
    )


def _poor(name: str, study: str, figure: str, cells: Sequence[str]) -> Claim:
    measure = difference(LOG_UTILITY, AP, TAHOE)
    return claim(
        name,
        "Utility with pacing tends to be lower than Tahoe's.",
        figure,
        "tends to be poor",
        at_most_of(measure, study, cells, below, "Cells with less utility than Tahoe"),
    )


_CHAINS = (
    claim(
        "5.1.a",
        "With 1 and 2 flows pacing gives less goodput than Tahoe for every n.",
        "Fig. 5.1",
        "less",
        _lower(C9, (1, 2)),
    ),
    claim(
        "5.1.b",
        "It is generally far lower.",
        "Fig. 5.1",
        "far lower",
        at_most_of(relative(FLOW_GOODPUT, AP), C9, _cells((1, 2)), far_below, "Cells with at least 20 % less goodput"),
    ),
    claim(
        "5.1.c",
        "With 1 and 2 flows goodput falls with n, and one hop is best.",
        "Fig. 5.1",
        "falls",
        *_falls(C9, (1, 2)),
    ),
    claim(
        "5.1.d",
        "With 5 flows n = 2 and n = 3 give more goodput than n = 1, and than Tahoe.",
        "Fig. 5.1",
        "more",
        goodput(AP, HIGHER, C9, _cells((5,), (2, 3))),
        _over_first(C9, HIGHER, _cells((5,), (2, 3))),
    ),
    claim(
        "5.1.e",
        "With 5 flows the gain is minor.",
        "Fig. 5.1",
        "minor (0 to 20 %)",
        Ask(
            relative(FLOW_GOODPUT, AP),
            Rule("UP-TO", 0.0, 0.2, neutral=0.0),
            percent,
            "Goodput against Tahoe",
            (C9,),
            _cells((5,)),
            best=True,
        ),
    ),
    *_fair("2", C9, "Fig. 5.2"),
    _poor("5.2.c", C9, "Fig. 5.2", (*_cells((2,)), *_cells((5,), (1, 4)))),
    claim(
        "5.3.a",
        "Pacing gives less goodput than Tahoe for every n and number of flows.",
        "Fig. 5.3",
        "less",
        _lower(C4, COUNTS),
    ),
    claim("5.3.b", "Goodput falls with n, and one hop is best.", "Fig. 5.3", "falls", *_falls(C4, COUNTS)),
    *_fair("4", C4, "Fig. 5.4"),
    _poor("5.4.c", C4, "Fig. 5.4", _cells((2, 5))),
    claim(
        "5.5.a",
        "Pacing gives far less goodput than Tahoe for every n and number of flows.",
        "Fig. 5.5",
        "far lower",
        goodput(AP, Rule("MUCH", high=FAR_LOWER, neutral=0.0), C1, _cells(COUNTS)),
    ),
    claim(
        "5.5.b",
        "One hop has the highest goodput.",
        "Fig. 5.5",
        "highest",
        _over_first(C1, LOWER, _cells(COUNTS, N[1:])),
    ),
    *_fair("6", C1, "Fig. 5.6"),
    _poor("5.6.c", C1, "Fig. 5.6", _cells((2, 5))),
    claim(
        "5.6.d",
        "Two, three and four hops are similarly fair, on every chain.",
        "Figs. 5.2, 5.4, 5.6",
        "similar",
        *(
            Ask(
                width(of(JAIN, AP), _cells((count,), (2, 3, 4))),
                equality(0.0, 0.03),
                number,
                f"Greatest less least Jain's index over n = 2, 3, 4, {count} flows",
                (study,),
            )
            for study in CHAINS
            for count in (2, 5)
        ),
    ),
)

# Table 5.1.

FHD_MS = {
    (C9, 5): 56.5743, (C9, 2): 24.7930, (C9, 1): 14.0153, (C4, 5): 43.0432, (C4, 2): 19.9717, (C4, 1): 11.7432,
    (C1, 5): 24.6570, (C1, 2): 15.7963, (C1, 1): 11.6968,
}  # fmt: skip
"""Printed, ms."""


def _rate_less_goodput(outcome: Outcome, condition: Condition, point: str) -> Values:
    """By seed one packet an interval less what Tahoe gets, over Tahoe's mean."""
    intervals = outcome.values(Cell(condition, AP, point), INTERVAL)
    theirs = outcome.values(Cell(condition, TAHOE, point), FLOW_GOODPUT)
    known = [x for x in theirs if x is not None]
    middle = math.fsum(known) / len(known) if known else 0.0
    pairs = zip(intervals, theirs, strict=False)
    return [None if a is None or b is None or not middle else (MTU_BITS / a - b) / middle for a, b in pairs]


def _excess(outcome: Outcome, condition: Condition, point: str) -> Values:
    """By seed the table's last column: Tahoe's mean over one packet an interval, less 1."""
    intervals = outcome.values(Cell(condition, AP, point), INTERVAL)
    theirs = [x for x in outcome.values(Cell(condition, TAHOE, point), FLOW_GOODPUT) if x is not None]
    middle = math.fsum(theirs) / len(theirs) if theirs else 0.0
    return [None if a is None else middle * a / MTU_BITS - 1 for a in intervals]


RATE = Measure((TAHOE, AP), _rate_less_goodput, INTERVAL)
EXCESS = Measure((TAHOE, AP), _excess, INTERVAL)
_FOUR = tuple(with_n(count, 4) for count in COUNTS)


_milliseconds = partial(counted, factor=1e3, unit=" ms")


def _shorter(study: str, longer: str, count: int) -> Ask:
    other = Against(longer, with_n(count, 4), EXCESS, lambda a, b: a - b)
    return Ask(
        EXCESS,
        order(),
        signed,
        f"Excess less that over more hops, {count} flow(s)",
        (study,),
        (with_n(count, 4),),
        against=other,
    )


_DOTS = {C9: "C9", C4: "C4", C1: "C1"}
_TABLE = (
    claim(
        "T5.1.a",
        "A packet of 1500 bytes an interval is less than what Tahoe gets, in all nine cells.",
        "Table 5.1",
        "less",
        *(Ask(RATE, LOWER, percent, "Rate less Tahoe's goodput, over it", (study,), _FOUR) for study in CHAINS),
    ),
    claim(
        "T5.1.b",
        "Tahoe's excess over that rate falls with the number of flows and rises as paths get shorter.",
        "Table 5.1",
        "18 % (9 hops, 5 flows) to 972 % (1 hop, 1 flow)",
        *(
            Ask(
                rank_along(EXCESS, _FOUR),
                trend(0.2, rises=False),
                signed,
                "Spearman's correlation with the flows",
                (study,),
            )
            for study in CHAINS
        ),
        *(_shorter(a, b, count) for a, b in ((C4, C9), (C1, C4)) for count in COUNTS),
    ),
    *(
        claim(
            f"T5.1.c {_DOTS[study]} {count}",
            f"The mean interval of n = 4 is {printed:g} ms with {count} flow(s).",
            "Table 5.1",
            f"{printed:g} ms",
            value(INTERVAL, AP, about(printed * 0.75e-3, printed * 1.25e-3), _milliseconds, study, (with_n(count, 4),)),
            value=printed * 1e-3,
        )
        for (study, count), printed in FHD_MS.items()
    ),
    *(
        claim(
            f"T5.1.d {_DOTS[study]} {count}",
            f"Tahoe's mean goodput is {printed / 1e6:g} Mbit/s with {count} flow(s).",
            "Table 5.1",
            f"{printed / 1e6:g} Mbit/s",
            value(FLOW_GOODPUT, TAHOE, about(printed * 0.75, printed * 1.25), megabits, study, (with_n(count, 4),)),
            value=printed,
        )
        for study in CHAINS
        for count, printed in zip(COUNTS, PRINTED[_DOTS[study]], strict=True)
    ),
    claim(
        "T5.1.e",
        "Over one hop one flow of Tahoe has nearly 1000 % more than that rate.",
        "Table 5.1",
        "972.21 %",
        Ask(EXCESS, about(9.7221 * 0.75, 9.7221 * 1.25), percent, "Excess", (C1,), (with_n(1, 4),)),
        value=9.7221,
    ),
    claim(
        "T5.1.f",
        "With one flow the interval is about the same over 1, 4 and 9 hops.",
        "Table 5.1",
        "11.7, 11.7, 14.0 ms",
        *(
            Ask(
                of(INTERVAL, AP),
                equality(-0.3, 0.3),
                percent,
                "Interval against that over one hop",
                (study,),
                (with_n(1, 4),),
                against=Against(C1, with_n(1, 4), of(INTERVAL, AP), lambda a, b: a / b - 1 if b else None),
            )
            for study in (C4, C9)
        ),
    ),
    claim(
        "T5.1.g",
        "Over one hop Tahoe finds the optimum: the flows together have what the hop carries.",
        "Table 5.1",
        "0.8 of 13.2 Mbit/s at least",
        value(GOODPUT, TAHOE, Rule("ORDER", low=0.8 * 13.2e6), megabits, C1, _FOUR),
        Ask(of(JAIN, TAHOE), Rule("ORDER", low=0.0), number, "Jain's index", (C1,), _FOUR[1:], role=Role.BESIDE),
    ),
    claim(
        "T5.1.h",
        "With 5 flows on 9 and 4 hops packets are more than 40 ms apart.",
        "section 5.6",
        "above 40 ms",
        *(value(INTERVAL, AP, Rule("ORDER", low=0.04), _milliseconds, study, (with_n(5, 4),)) for study in (C9, C4)),
    ),
)

# Fixed rates.

F9, F4, F1 = "byu-fixed-c9", "byu-fixed-c4", "byu-fixed-c1"
_ALL = tuple(map(with_rate, RATES))
_TOP = tuple(map(with_rate, (200, 250, 300)))
_REST = tuple(label for label in _ALL if label not in _TOP)


def _near(outcome: Outcome, condition: Condition, quantity: Measure) -> Values:
    """By seed the mean of a number over those rates that are 0.8 to 1.1 of Tahoe's mean goodput."""
    theirs = [x for x in outcome.values(Cell(condition, TAHOE, _ALL[0]), FLOW_GOODPUT) if x is not None]
    middle = math.fsum(theirs) / len(theirs) if theirs else 0.0
    near = [with_rate(rate) for rate in RATES if 0.8 * middle <= rate * 1e3 <= 1.1 * middle]
    if not near:
        return []
    return along(quantity, near, lambda values: math.fsum(values) / len(values)).take(outcome, condition, "")


def _near_the_mean(measure: Measure) -> Measure:
    return Measure(measure.schemes, lambda o, c, _: _near(o, c, measure), measure.quantity, along=_ALL, once=True)


def _without_loss(outcome: Outcome, condition: Condition, point: str) -> Values:
    """By seed how much fairer than Tahoe a rate is that keeps 97 % of its goodput; -1 where it does not."""
    kept = relative(FLOW_GOODPUT, FIXED).take(outcome, condition, point)
    fairer = difference(JAIN, FIXED, TAHOE).take(outcome, condition, point)
    pairs = zip(kept, fairer, strict=False)
    return [None if k is None or f is None else f if k >= -0.03 else -1.0 for k, f in pairs]


def _fairest(outcome: Outcome, condition: Condition, _: str) -> Values:
    """By seed the best index of the rates from 200 to 300 kbit/s less the best of all others."""
    best, others = (along(of(JAIN, FIXED), points, max).take(outcome, condition, "") for points in (_TOP, _REST))
    return [None if a is None or b is None else a - b for a, b in zip(best, others, strict=False)]


def _kept(study: str, role: Role = Role.CLAIM) -> Ask:
    """The rate that keeps Tahoe's goodput and is fairest."""
    what = "Jain's index less Tahoe's at 97 % of its goodput"
    measure = Measure((TAHOE, FIXED), _without_loss, JAIN)
    return Ask(measure, Rule("ORDER", low=0.0), signed, what, (study,), _ALL, best=True, role=role)


def _best_n(quantity: Quantity) -> Measure:
    """By seed the n with the most of a quantity, the mean over numbers of flows."""

    def take(outcome: Outcome, condition: Condition, _: str) -> Values:
        found = []
        for count in COUNTS[1:]:
            columns = [outcome.values(Cell(condition, AP, with_n(count, n)), quantity) for n in ALL_N]
            found.append([None if None in row else _arg_max(row) for row in zip(*columns, strict=False)])
        return [None if None in row else math.fsum(filter(None, row)) / len(row) for row in zip(*found, strict=False)]

    points = tuple(with_n(count, n) for count in COUNTS[1:] for n in ALL_N)
    return Measure((AP,), take, quantity, along=points, once=True)


def _arg_max(values: Sequence[float | None]) -> float:
    """The smallest n at which the greatest value stands."""
    return float(ALL_N[values.index(max(value for value in values if value is not None))])


_FIXED = (
    claim(
        "5.10.a",
        "The flows' goodputs spread more as the rate nears and passes Tahoe's mean.",
        "Fig. 5.10",
        "spread grows",
        Ask(
            rank_along(of(SPREAD, FIXED), _ALL),
            trend(0.2, rises=True),
            signed,
            "Spearman's correlation with the rate",
            (F9,),
        ),
    ),
    claim(
        "5.10.b",
        "Near Tahoe's mean a fixed rate spreads less and is fairer.",
        "Fig. 5.10",
        "less spread, fairer",
        Ask(
            _near_the_mean(difference(SPREAD, FIXED, TAHOE)),
            order(rises=False),
            signed,
            "Spread less Tahoe's, at 0.8 to 1.1 of its mean",
            (F9,),
        ),
        Ask(_near_the_mean(difference(JAIN, FIXED, TAHOE)), FAIRER, signed, "Jain's index less Tahoe's there", (F9,)),
    ),
    claim(
        "5.10.c",
        "Fairness is greatest between 200 and 300 kbit/s.",
        "Fig. 5.10",
        "200 to 300 kbit/s",
        Ask(
            Measure((FIXED,), _fairest, JAIN, along=_ALL, once=True),
            FAIRER,
            signed,
            "Best index there less the best elsewhere",
            (F9,),
        ),
    ),
    claim(
        "5.10.d",
        "Tahoe's mean is about 250 kbit/s.",
        "Fig. 5.10",
        "250 kbit/s",
        value(FLOW_GOODPUT, TAHOE, about(187_500, 312_500), megabits, F9, _ALL[:1]),
        value=250_000,
    ),
    claim(
        "5.10.e",
        "Some rate keeps Tahoe's goodput and is fairer.",
        "Fig. 5.10",
        "some",
        *(_kept(study, role) for study, role in ((F9, Role.CLAIM), (F4, Role.BESIDE), (F1, Role.BESIDE))),
    ),
    claim(
        "X.b",
        "The right fixed rate keeps Tahoe's goodput and is fairer on every chain: TCP-AP's metric is too conservative.",
        "chapter 6",
        "on every chain",
        *(_kept(study) for study in (F9, F4, F1)),
    ),
)

_REACH = (
    claim(
        "X.l",
        "Four hops are the distance at which a flow's packets do not contend: on 9 hops n = 4 has the most goodput and "
        "is the fairest, or a greater n where more hops are sensed.",
        "section 3.4",
        "4 at least",
        *(
            Ask(_best_n(quantity), Rule("ORDER", low=4.0), counted, f"Best n by {quantity.title}", (C9,))
            for quantity in (FLOW_GOODPUT, JAIN)
        ),
    ),
)

CLAIMS = (
    *_CHAINS,
    *_REACH,
    *(
        Claim(c.id, c.statement, c.figure, c.source, c.printed, c.asks, c.value, c.cause, told_with="byu-fhd")
        for c in _TABLE
    ),
    *_FIXED,
)
