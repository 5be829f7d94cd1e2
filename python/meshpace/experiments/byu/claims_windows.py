"""Claims of the thesis about FeW on chains (docs/experiments/thesis.md, 3.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from meshpace.experiments.byu.chains import ALPHAS, with_alpha
from meshpace.experiments.byu.measures import (
    CLOSE,
    FAIRER,
    HIGHER,
    LESS_FAIR,
    LESS_USE,
    LOWER,
    MORE_USE,
    MOSTLY,
    SIGNIFICANT,
    at_most_of,
    below,
    claim,
    fairness,
    goodput,
    part,
    relative,
    utility,
)
from meshpace.experiments.byu.schemes import FEW, TAHOE
from meshpace.experiments.byu.study import COUNTS
from meshpace.study.claims import Ask, Claim
from meshpace.study.measures import Measure, Values, difference
from meshpace.study.model import Cell, Condition
from meshpace.study.outcome import Outcome
from meshpace.study.quantities import FLOW_GOODPUT, LOG_UTILITY
from meshpace.study.rules import NO_FAIRNESS, NO_GAIN, Rule, about, equality
from meshpace.study.words import percent, share

C9, C4, C1 = "byu-few-c9", "byu-few-c4", "byu-few-c1"
CHAINS = (C9, C4, C1)


def _cells(counts: Sequence[int], alphas: Sequence[float] = ALPHAS) -> tuple[str, ...]:
    return tuple(with_alpha(count, a) for count in counts for a in alphas)


LARGE = (0.25, 0.5, 0.75)
MINORITY = Rule("ORDER", high=2 / 3)
"""Of cells, run by run: what the catalogue calls no a that is best, or gains, in two thirds of them."""


def _lead(alpha: float) -> Measure:
    """Over the best other value of a, by how much goodput a value's exceeds that, at its own point."""

    def others(point: str) -> list[str]:
        return [point.replace(f"a = {alpha:g}", f"a = {a:g}") for a in ALPHAS if a != alpha]

    def take(outcome: Outcome, condition: Condition, point: str) -> Values:
        ours = outcome.values(Cell(condition, FEW, point), FLOW_GOODPUT)
        theirs = [outcome.values(Cell(condition, FEW, other), FLOW_GOODPUT) for other in others(point)]
        rows = zip(ours, *theirs, strict=False)
        return [None if None in row else row[0] - max(x for x in row[1:] if x is not None) for row in rows]

    return Measure((FEW,), take, FLOW_GOODPUT, beside=lambda point: [(FEW, other) for other in others(point)])


def _seldom(measure: Callable[[float], Measure], holds: Callable[[float], bool], what: str) -> tuple[Ask, ...]:
    """On no chain does something hold of a value of a in two thirds of the cells."""
    return tuple(
        Ask(part(measure(a), _cells(COUNTS, (a,)), holds), MINORITY, share, f"{what}, a = {a:g}", (study,))
        for study in CHAINS
        for a in ALPHAS
    )


def _together(outcome: Outcome, condition: Condition, point: str) -> Values:
    """By seed 1 where utility and goodput moved the same way from Tahoe's, else 0."""
    use = difference(LOG_UTILITY, FEW, TAHOE).take(outcome, condition, point)
    gains = relative(FLOW_GOODPUT, FEW).take(outcome, condition, point)
    pairs = zip(use, gains, strict=False)
    return [None if u is None or g is None else float((u > 0) == (g > 0)) for u, g in pairs]


CLAIMS: tuple[Claim, ...] = (
    claim(
        "FeW.a",
        "On chains FeW's goodput is close to Tahoe's for every a.",
        "section 5.4",
        "close",
        *(goodput(FEW, CLOSE, study, _cells(COUNTS)) for study in CHAINS),
    ),
    claim(
        "FeW.b",
        "No a is best in two thirds of the cells of a chain.",
        "section 5.4",
        "none",
        *_seldom(_lead, lambda lead: lead > 0, "Cells in which it is best"),
    ),
    claim(
        "FeW.c",
        "No a gains significantly over Tahoe in two thirds of the cells of a chain.",
        "section 5.4",
        "none",
        *_seldom(
            lambda _: relative(FLOW_GOODPUT, FEW), lambda gain: gain >= SIGNIFICANT.low, "Cells with 10 % more goodput"
        ),
    ),
    claim(
        "FeW.d",
        "The best gain is far below the original's 90 %.",
        "section 5.4",
        "at most 20 %",
        *(
            Ask(
                relative(FLOW_GOODPUT, FEW),
                Rule("UP-TO", high=0.2),
                percent,
                "Goodput against Tahoe",
                (study,),
                _cells(COUNTS),
                best=True,
            )
            for study in CHAINS
        ),
    ),
    claim(
        "5.11.a",
        "With 1 and 2 flows Tahoe is above every a.",
        "Fig. 5.11",
        "less",
        goodput(FEW, LOWER, C9, _cells((1, 2))),
    ),
    claim(
        "5.11.b",
        "With 5 flows a = 0.5 and 0.75 are above Tahoe by very little.",
        "Fig. 5.11",
        "0 to 5 %",
        goodput(FEW, about(0.0, 0.05, 0.0, NO_GAIN), C9, _cells((5,), (0.5, 0.75))),
    ),
    claim(
        "5.12.a",
        "With 2 flows every a is fairer than Tahoe.",
        "Fig. 5.12",
        "fairer",
        fairness(FEW, FAIRER, C9, _cells((2,))),
    ),
    claim(
        "5.12.b",
        "With 5 flows no a is fairer than Tahoe.",
        "Fig. 5.12",
        "none",
        fairness(FEW, Rule("ORDER", high=NO_FAIRNESS), C9, _cells((5,))),
    ),
    claim(
        "5.12.c",
        "With 2 flows utility is below Tahoe's for most a.",
        "Fig. 5.12",
        "most",
        Ask(
            part(difference(LOG_UTILITY, FEW, TAHOE), _cells((2,)), below),
            Rule("ORDER", low=0.5),
            share,
            "Values of a with less utility than Tahoe",
            (C9,),
        ),
    ),
    claim(
        "5.12.d",
        "With 5 flows utility is slightly above Tahoe's for a above 0.2.",
        "Fig. 5.12",
        "slightly more",
        utility(FEW, about(0.0, 0.5, 0.0), C9, _cells((5,), LARGE)),
    ),
    claim(
        "5.13.a",
        "Goodput tends to be below Tahoe's.",
        "Fig. 5.13",
        "tends to be lower",
        at_most_of(relative(FLOW_GOODPUT, FEW), C4, _cells(COUNTS), below, "Cells with less goodput than Tahoe"),
    ),
    claim(
        "5.13.b",
        "The exceptions are 2 flows with a = 0.25 and 5 flows with a = 0.2.",
        "Fig. 5.13",
        "slightly more",
        goodput(FEW, HIGHER, C4, (with_alpha(2, 0.25), with_alpha(5, 0.2))),
    ),
    claim(
        "5.14.a", "No a is as fair as Tahoe.", "Fig. 5.14", "less fair", fairness(FEW, LESS_FAIR, C4, _cells((2, 5)))
    ),
    claim(
        "5.14.b",
        "Utility is above Tahoe's only with 2 flows and a above 0.2.",
        "Fig. 5.14",
        "only there",
        utility(FEW, MORE_USE, C4, _cells((2,), LARGE)),
        utility(FEW, LESS_USE, C4, (*_cells((2,), (0.01, 0.1, 0.2)), *_cells((5,)))),
    ),
    claim(
        "5.15.a",
        "With 1 and 2 flows goodput is slightly above Tahoe's for every a.",
        "Fig. 5.15",
        "slightly more",
        goodput(FEW, about(0.0, 0.1, 0.0, NO_GAIN), C1, _cells((1, 2))),
    ),
    claim(
        "5.15.b", "With 5 flows it is below for every a.", "Fig. 5.15", "less", goodput(FEW, LOWER, C1, _cells((5,)))
    ),
    claim(
        "5.16.a",
        "With 2 flows fairness differs by 0.02 at most.",
        "Fig. 5.16",
        "0.02",
        fairness(FEW, equality(-0.02, 0.02), C1, _cells((2,))),
    ),
    claim(
        "5.16.b",
        "With 5 flows every a is well below Tahoe's fairness.",
        "Fig. 5.16",
        "well below",
        fairness(FEW, Rule("MUCH", high=-0.05, neutral=0.0, margin=NO_FAIRNESS), C1, _cells((5,))),
    ),
    claim(
        "5.16.c",
        "Utility follows goodput.",
        "Fig. 5.16",
        "follows",
        Ask(
            part(Measure((TAHOE, FEW), _together, LOG_UTILITY), _cells(COUNTS), lambda same: same > 0.5),
            MOSTLY,
            share,
            "Cells in which both moved the same way",
            (C1,),
        ),
    ),
)
