"""Numbers that compare places of one study: one point against another."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from meshpace.study.measures import Measure, Values, less_over_mean, paired
from meshpace.study.model import Condition
from meshpace.study.outcome import Outcome

Compare = Callable[[float, float], float | None]


def less(a: float, b: float) -> float:
    """The first less the second."""
    return a - b


def ratio(a: float, b: float) -> float | None:
    """The first over the second."""
    return a / b if b else None


def gain(a: float, b: float) -> float | None:
    """How much more the first is, as a part of the second."""
    return a / b - 1 if b else None


def contrast(of: Measure, here: str, there: str, than: Measure | None = None, compare: Compare = less) -> Measure:
    """A number at one point against it, or another one, at another point, paired by seed."""
    other = of if than is None else than

    def take(outcome: Outcome, condition: Condition, _: str) -> Values:
        return paired(of.take(outcome, condition, here), other.take(outcome, condition, there), compare)

    sides = ((of, of.reaches(here)), (other, other.reaches(there)))

    def taken(label: str) -> bool:
        return any(reached(label) for _, reached in sides)

    def beside(label: str) -> list[tuple[str, str]]:
        return [pair for measure, reached in sides if reached(label) for pair in measure.beside(label)]

    schemes = tuple(dict.fromkeys((*of.schemes, *other.schemes)))
    return Measure(schemes, take, along=taken, once=True, beside=beside)


def against(of: Measure, at: tuple[str, ...], than: Measure | None = None, compare: Compare = less) -> Measure:
    """A number at each point against it, or another one, at the point that goes with it, paired by seed.

    Which that is say a pattern and what is put in its place in a point's label, ``at``. Against itself a point has no
    number.
    """
    other = of if than is None else than

    def take(outcome: Outcome, condition: Condition, point: str) -> Values:
        if than is None and beyond(at, point) == point:
            return []
        return paired(of.take(outcome, condition, point), other.take(outcome, condition, beyond(at, point)), compare)

    def beside(label: str) -> list[tuple[str, str]]:
        theirs = beyond(at, label)
        return [*((scheme, theirs) for scheme in other.schemes), *of.beside(label), *other.beside(theirs)]

    return Measure(of.schemes, take, of.quantity, beside=beside)


def beyond(at: tuple[str, ...], label: str) -> str:
    """The point that goes with another: the first place where a pattern fits its label is written anew."""
    pattern, put = at
    return re.sub(pattern, put, label, count=1)


def over_mean_at(of: Measure, at: tuple[str, ...]) -> Measure:
    """A number at a point over that at the point that goes with it, less 1: paired, over the mean there."""

    def take(outcome: Outcome, condition: Condition, label: str) -> Values:
        return less_over_mean(of.take(outcome, condition, label), of.take(outcome, condition, beyond(at, label)))

    return Measure(of.schemes, take, of.quantity, along=())


def best_over_worst(of: Measure) -> Measure:
    """At the point with the most what it is against that with the least.

    Which two these are the odd seeds of the plan say, and all others estimate: of noisy numbers the largest is too
    large and the smallest too small.
    """

    def take(outcome: Outcome, condition: Condition, _: str) -> Values:
        labels = [point.label for point in outcome.study.points(outcome.effort)]
        columns = {label: of.take(outcome, condition, label) for label in labels}
        known = {label: _mean_of(values[: outcome.plan_seeds : 2]) for label, values in columns.items()}
        ranked = sorted((mean, label) for label, mean in known.items() if mean is not None)
        if len(ranked) < 2:
            return []
        ratios = paired(columns[ranked[-1][1]], columns[ranked[0][1]], lambda a, b: a / b - 1 if b else None)
        return [None if seed in range(0, outcome.plan_seeds, 2) else value for seed, value in enumerate(ratios)]

    return Measure(of.schemes, take, of.quantity, along=(), once=True)


def _mean_of(values: Sequence[float | None]) -> float | None:
    found = [value for value in values if value is not None]
    return math.fsum(found) / len(found) if found else None
