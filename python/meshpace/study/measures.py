"""The numbers that claims are about, by seed, at a point of a study."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from meshpace.study.model import Cell, Condition
from meshpace.study.outcome import Outcome
from meshpace.study.quantities import GOODPUT, Quantity
from meshpace.study.record import Kind

Values = list[float | None]
"""By seed, from 1; None where a run is missing or the number does not apply."""
Take = Callable[[Outcome, Condition, str], Values]
Along = tuple[str, ...] | Callable[[str], bool]
"""Points of an axis, by label or by what is true of it; empty for all."""
Beside = Callable[[str], Sequence[tuple[str, str]]]
"""For a point, schemes and points that are taken with it."""


def _nothing(_: str) -> Sequence[tuple[str, str]]:
    return ()


@dataclass(frozen=True, slots=True)
class Measure:
    """A number of every seed at a point."""

    schemes: tuple[str, ...]
    """Whose runs it takes."""
    take: Take
    quantity: Quantity | None = None
    """The quantity that is compared, whose absolute values are shown beside the measure."""
    along: Along | None = None
    """The points of the axis that it takes together, those that are run (all: empty); its own point if None."""
    once: bool = False
    """Whether it says one thing of the whole axis."""
    median: bool = False
    """Whether runs, topologies for example, are summed up by their median."""
    beside: Beside = _nothing
    """Runs that it takes beside those of ``schemes`` at its points: flows alone, to compare with."""

    def cells(self, outcome: Outcome, condition: Condition, point: str) -> list[Cell]:
        """Whose runs it takes when it is asked for that point: all, since those get the seeds that decide."""
        points = [point] if self.along is None else _run(outcome, self.along)
        own = [Cell(condition, scheme, label) for scheme in self.schemes for label in points]
        there = set(_run(outcome, ()))
        beside = (pair for at in points for pair in self.beside(at))
        return list(dict.fromkeys([*own, *(Cell(condition, *pair) for pair in beside if pair[1] in there)]))

    def reaches(self, here: str) -> Callable[[str], bool]:
        """Whether it takes a point's runs when it is asked for ``here``."""
        return here.__eq__ if self.along is None else _among(self.along)


def _among(points: Along) -> Callable[[str], bool]:
    if callable(points):
        return points
    return lambda label: not points or label in points


def _run(outcome: Outcome, points: Along) -> list[str]:
    """Those of the points that this effort runs."""
    wanted = _among(points)
    return [point.label for point in outcome.study.points(outcome.effort) if wanted(point.label)]


def of(quantity: Quantity, scheme: str) -> Measure:
    """A quantity of one scheme."""

    def take(outcome: Outcome, condition: Condition, point: str) -> Values:
        return outcome.values(Cell(condition, scheme, point), quantity)

    return Measure((scheme,), take, quantity)


def gain(quantity: Quantity, scheme: str = "tcp-gap", over: str = "newreno") -> Measure:
    """Relative difference of a quantity between two schemes, paired by seed."""
    return _two(quantity, scheme, over, lambda a, b: a / b - 1 if b else None)


def difference(quantity: Quantity, scheme: str = "tcp-gap", over: str = "newreno") -> Measure:
    """Absolute difference of a quantity between two schemes, paired by seed."""
    return _two(quantity, scheme, over, lambda a, b: a - b)


def _two(quantity: Quantity, scheme: str, over: str, compare: Callable[[float, float], float | None]) -> Measure:
    def take(outcome: Outcome, condition: Condition, point: str) -> Values:
        ours, theirs = (outcome.values(Cell(condition, name, point), quantity) for name in (scheme, over))
        return paired(ours, theirs, compare)

    return Measure((over, scheme), take, quantity)


def relative(quantity: Quantity, scheme: str, over: str = "newreno") -> Measure:
    """R - 1, R the ratio of two means: by seed the paired difference over the mean of ``over``.

    A mean of ratios would let single runs in which ``over`` collapsed speak for all.
    """

    def take(outcome: Outcome, condition: Condition, point: str) -> Values:
        ours, theirs = (outcome.values(Cell(condition, name, point), quantity) for name in (scheme, over))
        return less_over_mean(ours, theirs)

    return Measure((over, scheme), take, quantity)


def less_over_mean(ours: Values, theirs: Values) -> Values:
    """By seed the difference over the mean of the second."""
    known = [value for value in theirs if value is not None]
    middle = math.fsum(known) / len(known) if known else None
    if not middle:
        return [None] * len(ours)
    return [None if a is None or b is None else (a - b) / middle for a, b in zip(ours, theirs, strict=False)]


def ratio(quantity: Quantity, scheme: str, over: str) -> Measure:
    """One scheme's number by another's, paired by seed."""
    return compared(of(quantity, scheme), of(quantity, over), lambda a, b: a / b if b else None)


def wins(scheme: str, over: str) -> Measure:
    """By seed 1 where a scheme delivers more than another, else 0."""

    def take(outcome: Outcome, condition: Condition, point: str) -> Values:
        gains = gain(GOODPUT, scheme, over).take(outcome, condition, point)
        return [None if value is None else float(value > 0) for value in gains]

    return Measure((over, scheme), take)


def compared(of: Measure, than: Measure, compare: Callable[[float, float], float | None]) -> Measure:
    """A number against another one at the same point, paired by seed."""

    def take(outcome: Outcome, condition: Condition, point: str) -> Values:
        return paired(of.take(outcome, condition, point), than.take(outcome, condition, point), compare)

    return Measure(tuple(dict.fromkeys((*than.schemes, *of.schemes))), take, of.quantity)


def paired(a: Values, b: Values, compare: Callable[[float, float], float | None]) -> Values:
    """Two lists seed by seed, as far as both go."""
    pairs = zip(a, b, strict=False)
    return [compare(x, y) if x is not None and y is not None else None for x, y in pairs]


def from_series(
    take: Callable[[dict[str, list[float]]], float | None], scheme: str, kind: Kind = "goodput_bps"
) -> Measure:
    """A number read off the time series of one scheme's runs; unknown where none was kept (switches)."""

    def by_seed(outcome: Outcome, condition: Condition, point: str) -> Values:
        records = outcome.records.get(Cell(condition, scheme, point), [])
        kept = [{} if record is None else record.of_flows(kind) for record in records]
        return [take(series) if series else None for series in kept]

    return Measure((scheme,), by_seed)


def series(read: Callable[[dict[str, list[float]]], float | None], scheme: str, kind: str = "goodput_bps") -> Measure:
    """As :func:`from_series`, with the kind of the series as a text: ``goodput_bps`` or ``cwnd``."""
    return from_series(read, scheme, "cwnd" if kind == "cwnd" else "goodput_bps")


def median(measure: Measure) -> Measure:
    """The same number, the median of which is asked for."""
    return replace(measure, median=True)


def greatest(measure: Measure) -> Measure:
    """The greatest of all runs, for what is said of every one of them: a single run beyond a bound refutes it."""

    def take(outcome: Outcome, condition: Condition, point: str) -> Values:
        found = measure.take(outcome, condition, point)
        most = max((value for value in found if value is not None), default=None)
        return [None if value is None else most for value in found]

    return replace(measure, take=take)


SumUp = Callable[[list[float]], float | None]
"""One number of those at several points."""


def along(measure: Measure, sum_up: SumUp, points: tuple[str, ...] = ()) -> Measure:
    """By seed one number of those at several points of the axis, all if none is named."""

    def take(outcome: Outcome, condition: Condition, _: str) -> Values:
        columns = [measure.take(outcome, condition, point) for point in _run(outcome, points)]
        rows = (list(row) for row in zip(*columns, strict=False))
        return [None if None in row else sum_up([value for value in row if value is not None]) for row in rows]

    return Measure(measure.schemes, take, measure.quantity, along=points, once=True, beside=measure.beside)


def mean(values: list[float]) -> float:
    """The arithmetic mean."""
    return math.fsum(values) / len(values)


def correlation(values: list[float]) -> float | None:
    """Spearman's correlation of the number with the axis."""
    return spearman(range(len(values)), values)


def rise(values: list[float]) -> float | None:
    """The last less the first, as a part of the mean."""
    middle = mean(values)
    return (values[-1] - values[0]) / middle if middle else None


def change(values: list[float]) -> float:
    """The last less the first."""
    return values[-1] - values[0]


def fall(values: list[float]) -> float | None:
    """From the first to the last, as a part of the first."""
    return 1 - values[-1] / values[0] if values[0] else None


def width(values: list[float]) -> float:
    """The greatest less the least."""
    return max(values) - min(values)


def part_that(holds: Callable[[float], bool]) -> SumUp:
    """The part of the numbers of which something is true."""
    return lambda values: sum(map(holds, values)) / len(values)


ALONG: Mapping[str, SumUp] = {
    "mean": mean, "rank": correlation, "rise": rise, "change": change, "fall": fall, "width": width, "least": min,
    "greatest": max,
}  # fmt: skip
"""The functions of numbers along an axis, by their words."""


def rank(quantity: Quantity, scheme: str, points: tuple[str, ...] = ()) -> Measure:
    """Spearman's correlation of a scheme's number with the axis."""
    return along(of(quantity, scheme), correlation, points)


def from_the_mean(of: Measure) -> Measure:
    """At each point how far the number is from its mean over the axis, as a part of that."""
    middle = along(of, mean)

    def take(outcome: Outcome, condition: Condition, point: str) -> Values:
        here, mean = of.take(outcome, condition, point), middle.take(outcome, condition, point)
        return paired(here, mean, lambda a, b: a / b - 1 if b else None)

    return Measure(of.schemes, take, of.quantity, along=(), beside=of.beside)


def curves(read: Callable[..., float | None], of: tuple[Measure, ...]) -> Measure:
    """One number of whole curves, seed by seed: ``read`` gets the places on the axis and each measure's values."""
    measures = of

    def take(outcome: Outcome, condition: Condition, _: str) -> Values:
        labels = _run(outcome, ())
        places = [outcome.study.point(label).value for label in labels]
        curves = [[measure.take(outcome, condition, label) for label in labels] for measure in measures]
        by_seed = zip(*(zip(*columns, strict=False) for columns in curves), strict=False)
        return [None if any(None in curve for curve in seed) else read(places, *seed) for seed in by_seed]

    schemes = tuple(dict.fromkeys(scheme for measure in measures for scheme in measure.schemes))
    return Measure(schemes, take, measures[0].quantity, along=(), once=True)


def spearman(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Spearman's rank correlation, ties at their mean rank; None where one side is constant."""
    x, y = _ranks(a), _ranks(b)
    middle = (len(x) + 1) / 2
    across = sum((p - middle) * (q - middle) for p, q in zip(x, y, strict=True))
    own = sum((p - middle) ** 2 for p in x) * sum((q - middle) ** 2 for q in y)
    return across / float(own**0.5) if own else None


def _ranks(values: Sequence[float]) -> list[float]:
    order = sorted(values)
    return [order.index(value) + (order.count(value) + 1) / 2 for value in values]
