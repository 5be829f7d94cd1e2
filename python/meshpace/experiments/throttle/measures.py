"""Numbers of the throttle's studies that compare places of one study, or sum up many."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from meshpace.experiments.throttle.figures import lone, single
from meshpace.experiments.throttle.shares import Shares, excess_of
from meshpace.study.jackknife import Rows, pseudo_values
from meshpace.study.measures import Measure, Values, paired
from meshpace.study.model import Cell, Condition
from meshpace.study.outcome import Outcome
from meshpace.study.pooled import by_seed
from meshpace.study.rules import Rule

Compare = Callable[[float, float], float | None]


def at_most(value: float) -> Rule:
    """BOUND: no more."""
    return Rule("BOUND", high=value)


def at_least(value: float) -> Rule:
    """BOUND: no less."""
    return Rule("BOUND", low=value)


def relative(a: float, b: float) -> float | None:
    """How much more the first is."""
    return a / b - 1 if b else None


def less(a: float, b: float) -> float:
    """The first less the second."""
    return a - b


def contrast(one: Measure, here: str, other: Measure, there: str, compare: Compare = less) -> Measure:
    """A number at one point against one at another, paired by seed."""

    def take(outcome: Outcome, condition: Condition, _: str) -> Values:
        return paired(one.take(outcome, condition, here), other.take(outcome, condition, there), compare)

    sides = ((one, one.reaches(here)), (other, other.reaches(there)))

    def taken(label: str) -> bool:
        return any(reached(label) for _, reached in sides)

    def beside(label: str) -> list[tuple[str, str]]:
        return [pair for measure, reached in sides if reached(label) for pair in measure.beside(label)]

    schemes = tuple(dict.fromkeys((*one.schemes, *other.schemes)))
    return Measure(schemes, take, along=taken, once=True, beside=beside)


def against(one: Measure, other: Measure, there: Callable[[str], str], compare: Compare = less) -> Measure:
    """A number at each point against one at a point that goes with it, paired by seed."""

    def take(outcome: Outcome, condition: Condition, point: str) -> Values:
        return paired(one.take(outcome, condition, point), other.take(outcome, condition, there(point)), compare)

    def beside(label: str) -> list[tuple[str, str]]:
        theirs = there(label)
        return [*((scheme, theirs) for scheme in other.schemes), *one.beside(label), *other.beside(theirs)]

    return Measure(one.schemes, take, beside=beside)


def over_points(
    measure: Measure, wanted: Callable[[str], bool], sum_up: Callable[[Sequence[float]], float | None]
) -> Measure:
    """One number of those points that are run, seed by seed."""

    def take(outcome: Outcome, condition: Condition, _: str) -> Values:
        labels = [point.label for point in outcome.study.points(outcome.effort) if wanted(point.label)]
        columns = [measure.take(outcome, condition, label) for label in labels]
        rows = [[value for value in row if value is not None] for row in zip(*columns, strict=False)]
        return [sum_up(row) if len(row) == len(labels) else None for row in rows]

    return Measure(measure.schemes, take, along=wanted, once=True, beside=measure.beside)


def mean(values: Sequence[float]) -> float | None:
    """The arithmetic mean."""
    return math.fsum(values) / len(values) if values else None


def part(of: Callable[[float], bool]) -> Callable[[Sequence[float]], float | None]:
    """The part of the values of which something is true."""
    return lambda values: sum(map(of, values)) / len(values) if values else None


def part_of_means(measure: Measure, wanted: Callable[[str], bool], holds: Callable[[float], bool]) -> Measure:
    """The part of the points at which something is true of the mean over the seeds: one number of them all."""

    def take(outcome: Outcome, condition: Condition, _: str) -> Values:
        labels = [point.label for point in outcome.study.points(outcome.effort) if wanted(point.label)]
        columns = [measure.take(outcome, condition, label) for label in labels]
        rows = [[value for value in row if value is not None] for row in zip(*columns, strict=False)]

        def true_of(some: Sequence[Sequence[float]]) -> float | None:
            means = [math.fsum(column) / len(some) for column in zip(*some, strict=True)]
            return sum(map(holds, means)) / len(means) if means else None

        return by_seed([row for row in rows if row and len(row) == len(labels)], true_of)

    return Measure(measure.schemes, take, along=wanted, once=True, beside=measure.beside)


def width(values: Sequence[float]) -> float | None:
    """The largest less the smallest."""
    return max(values) - min(values) if values else None


def constant(value: float, scheme: str, point: str) -> Measure:
    """A number that no run changes: the same for every seed of a point that is run."""

    def take(outcome: Outcome, condition: Condition, _: str) -> Values:
        return [value] * len(outcome.results.get(Cell(condition, scheme, point), []))

    return Measure((scheme,), take, along=(point,), once=True)


def _farthest(rows: Rows) -> float:
    return max(abs(math.fsum(column)) / len(rows) for column in zip(*rows, strict=True))


def farthest_flow(
    shares: Shares, scheme: str, wanted: Callable[[str], bool], flows: Callable[[str], int]
) -> Measure:  # fmt: skip
    """How far the flow whose mean over the seeds lies farthest from its ideal does so, of all points, bit/s.

    It is one number of all seeds, so each seed has the pseudo-value of the jackknife.
    """

    def take(outcome: Outcome, condition: Condition, _: str) -> Values:
        labels = [point.label for point in outcome.study.points(outcome.effort) if wanted(point.label)]
        measures = [(label, shares.of(excess_of(k), scheme)) for label in labels for k in range(flows(label))]
        columns = [measure.take(outcome, condition, label) for label, measure in measures]
        rows = [[value for value in row if value is not None] for row in zip(*columns, strict=False)]
        return pseudo_values([row for row in rows if len(row) == len(columns)], _farthest)

    return Measure((scheme,), take, along=wanted, once=True, beside=shares.of(excess_of(0), scheme).beside)


def flows_of(label: str) -> int:
    """Of ``3 hops, 5 flows``."""
    return int(label.split(", ")[1].split(maxsplit=1)[0])


def hops_of(label: str) -> int:
    """Of ``3 hops, 5 flows``."""
    return int(label.split(maxsplit=1)[0])


def is_strip(label: str) -> bool:
    """Whether several flows run at a point of a family."""
    return label.endswith("flows")


STRIPS = Shares(lambda label: (lone(hops_of(label)),))
"""Flows of equal length: each would get alone what the others would."""


def three(configuration: Callable[[str], str]) -> Shares:
    """The flows of 1, 2 and 3 hops from one node."""
    return Shares(lambda label: tuple(single(configuration(label), flow) for flow in range(3)))
