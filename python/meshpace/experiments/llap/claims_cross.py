"""Claims of the LLAP paper about flows that cross (docs/experiments/llap.md, Figs. 12 to 15)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from meshpace.experiments.llap.claims import SIGNIFICANT, beside, claim
from meshpace.experiments.llap.cross import (
    ALPHAS,
    CHOSEN,
    Read,
    goodput_between,
    jain_between,
    reaction,
    share_of_first,
    time_to_fairness,
)
from meshpace.experiments.llap.figures import LLAP
from meshpace.experiments.throttle.measures import at_least, at_most
from meshpace.study.claims import Ask, Claim, Role
from meshpace.study.measures import Measure, compared, from_series, median, of, paired
from meshpace.study.model import Condition
from meshpace.study.outcome import Outcome
from meshpace.study.quantities import GOODPUT, JAIN
from meshpace.study.rules import NO_FAIRNESS, NO_GAIN, Rule, order
from meshpace.study.words import count, number, percent, share
from meshpace.study.words import difference as signed

OTHERS = tuple(str(alpha) for alpha in ALPHAS if str(alpha) != CHOSEN)


def _against_chosen(measure: Measure) -> Measure:
    """At each alpha what the number is against that at 0.9, seed by seed."""

    def take(outcome: Outcome, condition: Condition, point: str) -> list[float | None]:
        here, chosen = (measure.take(outcome, condition, label) for label in (point, CHOSEN))
        return paired(here, chosen, lambda a, b: a / b - 1 if b else None)

    chosen = [(scheme, CHOSEN) for scheme in measure.schemes]
    return Measure(measure.schemes, take, measure.quantity, beside=lambda _: chosen)


def best_over_worst(measure: Measure) -> Measure:
    """At the point with the most what it is against that with the least.

    Which two these are the odd seeds of the plan say, and all others estimate: of noisy numbers the largest is too
    large and the smallest too small.
    """

    def take(outcome: Outcome, condition: Condition, _: str) -> list[float | None]:
        labels = [point.label for point in outcome.study.points(outcome.effort)]
        columns = {label: measure.take(outcome, condition, label) for label in labels}
        known = {label: _mean(values[: outcome.plan_seeds : 2]) for label, values in columns.items()}
        ranked = sorted((mean, label) for label, mean in known.items() if mean is not None)
        if len(ranked) < 2:
            return []
        ratios = paired(columns[ranked[-1][1]], columns[ranked[0][1]], lambda a, b: a / b - 1 if b else None)
        return [None if seed in range(0, outcome.plan_seeds, 2) else value for seed, value in enumerate(ratios)]

    return Measure(measure.schemes, take, measure.quantity, along=(), once=True)


def _mean(values: Sequence[float | None]) -> float | None:
    found = [value for value in values if value is not None]
    return math.fsum(found) / len(found) if found else None


def _ttf(scheme: str) -> Measure:
    return from_series(time_to_fairness, scheme)


_ALPHA = (
    claim(
        "F13.1",
        "Of all alphas 0.9 has the highest goodput and the shortest time to fairness.",
        "Fig. 13",
        "0.9",
        *beside(
            "llap-alpha",
            lambda scheme: _against_chosen(of(GOODPUT, scheme)),
            Rule("BOUND", high=NO_GAIN),
            percent,
            "Goodput against that at 0.9",
            OTHERS,
        ),
        *beside(
            "llap-alpha",
            lambda scheme: _against_chosen(_ttf(scheme)),
            Rule("BOUND", low=-NO_GAIN),
            percent,
            "Time to fairness against that at 0.9",
            OTHERS,
        ),
        Ask(_ttf(LLAP), at_most(40.0), count, "Time to fairness, s", ("llap-alpha",), role=Role.BESIDE),
    ),
    claim(
        "F13.2",
        "Alpha matters: between the best and the worst goodput differs significantly.",
        "Fig. 13",
        "matters",
        *beside(
            "llap-alpha",
            lambda scheme: best_over_worst(of(GOODPUT, scheme)),
            SIGNIFICANT,
            percent,
            "Goodput at the best against that at the worst",
        ),
        Ask(
            _against_chosen(_ttf(LLAP)),
            SIGNIFICANT,
            percent,
            "Time to fairness against that at 0.9",
            ("llap-alpha",),
            OTHERS,
            role=Role.BESIDE,
        ),
    ),
    claim(
        "F13.3",
        "Over a long run the flows share equally.",
        "Fig. 13",
        "1",
        *beside("llap-alpha", lambda scheme: of(JAIN, scheme), at_least(0.98), number, "Jain's index", (CHOSEN,)),
    ),
)

_STUDY = "llap-responsiveness"


def _over_none(read: Read, scheme: str) -> Measure:
    ours, theirs = from_series(read, scheme), from_series(read, "newreno")
    return compared(ours, theirs, lambda a, b: a / b - 1 if b else None)


def _less_none(read: Read, scheme: str) -> Measure:
    ours, theirs = from_series(read, scheme), from_series(read, "newreno")
    return compared(ours, theirs, lambda a, b: a - b)


_TOGETHER = jain_between(35, 60)
_RESPONSES: tuple[Claim, ...] = (
    claim(
        "F14.1",
        "Without LLAP flow 1 captures the channel and keeps nearly all of it.",
        "Fig. 14",
        "nearly all",
        Ask(
            from_series(share_of_first(32, 60), "newreno"), at_least(0.9), share, "Flow 1's part, 32 to 60 s",
            (_STUDY,),
        ),
        Ask(
            from_series(jain_between(32, 60), "newreno"), at_most(0.6), number, "Jain's index there", (_STUDY,),
            role=Role.BESIDE,
        ),
    ),
    claim(
        "F15.1",
        "With LLAP they share fairly.",
        "Fig. 15",
        "fairly",
        *beside(
            _STUDY, lambda scheme: from_series(_TOGETHER, scheme), at_least(0.95), number, "Jain's index, 35 to 60 s"
        ),
        *beside(
            _STUDY, lambda scheme: _less_none(_TOGETHER, scheme), order(NO_FAIRNESS), signed, "Less that without LLAP"
        ),
    ),
    claim(
        "F15.2",
        "A flow that is alone uses what is there.",
        "Fig. 15",
        "all",
        *beside(
            _STUDY, lambda scheme: _over_none(goodput_between(0, 5, 30), scheme), at_least(-0.1), percent,
            "Flow 1 alone, 5 to 30 s, against that without LLAP",
        ),
        *beside(
            _STUDY, lambda scheme: _over_none(goodput_between(1, 62, 90), scheme), at_least(-0.1), percent,
            "Flow 2 alone, 62 to 90 s",
        ),
    ),
    claim(
        "F15.3",
        "Flows react quickly.",
        "Fig. 15",
        "quickly",
        *beside(
            _STUDY, lambda scheme: median(from_series(reaction(30, 60), scheme)), at_most(10.0), count,
            "Median of the seconds until Jain's index over 5 s stays at 0.9",
        ),
    ),
)  # fmt: skip

CLAIMS = (*_ALPHA, *_RESPONSES)
