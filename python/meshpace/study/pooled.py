"""Quantiles over all flows of all runs together, as a paper has them that pools its flows, with an interval by seed.

Flows of a run are no samples of their own: they share its losses and its ends. So the interval is the bootstrap's over
seeds, as the thesis's catalogue asks (section 3). What each seed does to the number is the covariance of the drawn
numbers with how often that seed was drawn (B. Efron, "Estimation and Accuracy After Model Selection", JASA 109(507),
2014, Theorem 1), scaled to the bootstrap's deviation: pseudo-values with the number as their mean.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from meshpace.results import RunResult
from meshpace.study.measures import Measure, Values
from meshpace.study.model import Cell, Condition
from meshpace.study.outcome import Outcome

Pair = tuple[Sequence[float], Sequence[float]]
"""Goodputs of the flows of a run, and of the same run with another scheme."""
Row = TypeVar("Row")
"""What a seed contributes."""
Left = Callable[[int, int], Sequence[int]]
"""Of a run of that seed with so many flows, the indices of those that count."""
DRAWS = 400


def all_flows(_: int, flows: int) -> Sequence[int]:
    """Every flow counts."""
    return range(flows)


def without(part: float) -> Left:
    """Flows left out at random, each with that probability; the same of a seed for all schemes."""

    def left(seed: int, flows: int) -> Sequence[int]:
        draw = random.Random(seed)  # noqa: S311
        return [flow for flow in range(flows) if draw.random() >= part]

    return left


def quantile(values: Sequence[float], part: float) -> float:
    """That part of the values is no greater; between two of them in proportion."""
    ordered = sorted(values)
    place = part * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def gain_of_quantile(part: float, pairs: Sequence[Pair]) -> float | None:
    """The quantile of all flows over that with the other scheme, less 1."""
    ours = [value for values, _ in pairs for value in values]
    theirs = [value for _, values in pairs for value in values]
    base = quantile(theirs, part) if ours and theirs else 0.0
    return quantile(ours, part) / base - 1 if base else None


def by_seed(rows: Sequence[Row], statistic: Callable[[Sequence[Row]], float | None]) -> list[float | None]:
    """A pseudo-value of each seed for a number of all seeds together; None where there is no such number."""
    count = len(rows)
    whole = statistic(rows)
    if count < 2 or whole is None:
        return [None] * count
    draw = random.Random(count)  # noqa: S311
    drawn: list[tuple[list[int], float]] = []
    for _ in range(DRAWS):
        chosen = [draw.randrange(count) for _ in rows]
        found = statistic([rows[index] for index in chosen])
        if found is not None:
            drawn.append(([chosen.count(index) for index in range(count)], found))
    if not drawn:
        return [None] * count
    middle = math.fsum(found for _, found in drawn) / len(drawn)
    shares = [math.fsum((times[i] - 1) * (found - middle) for times, found in drawn) / len(drawn) for i in range(count)]
    centre = math.fsum(shares) / count
    length = math.sqrt(math.fsum((share - centre) ** 2 for share in shares))
    deviation = math.sqrt(math.fsum((found - middle) ** 2 for _, found in drawn) / len(drawn))
    scale = count * deviation / length if length else 0.0
    return [whole + scale * (share - centre) for share in shares]


def pooled(part: float, scheme: str, over: str, left_out: float = 0.0) -> Measure:
    """A quantile of the flows' goodputs of all runs against another scheme's, by the seeds that both have.

    ``left_out`` is the part of the flows that do not count, drawn.
    """
    left = without(left_out) if left_out else all_flows

    def take(outcome: Outcome, condition: Condition, point: str) -> Values:
        return _spread(_pairs(outcome, condition, point, (scheme, over), left), partial(gain_of_quantile, part))

    return Measure((over, scheme), take)


def pooled_points(part: float, scheme: str, over: str, points: tuple[str, ...]) -> Measure:
    """The part of the points at which that quantile gains: one number of all seeds."""

    def take(outcome: Outcome, condition: Condition, _: str) -> Values:
        run = [point.label for point in outcome.study.points(outcome.effort) if point.label in points]
        columns = [_pairs(outcome, condition, point, (scheme, over), all_flows) for point in run]

        def cells(rows: Sequence[Sequence[Pair]]) -> float | None:
            gains = [gain_of_quantile(part, [row[cell] for row in rows]) for cell in range(len(run))]
            known = [gain for gain in gains if gain is not None]
            return sum(gain > 0 for gain in known) / len(known) if known and len(known) == len(gains) else None

        rows = ([pair for pair in row if pair is not None] for row in zip(*columns, strict=False))
        return _spread([row if len(row) == len(run) else None for row in rows], cells)

    return Measure((over, scheme), take, along=points, once=True)


def _pairs(
    outcome: Outcome, condition: Condition, point: str, schemes: tuple[str, str], left: Left
) -> list[Pair | None]:
    """By seed the goodputs with both schemes; None where a run is missing."""
    ours, theirs = (outcome.results.get(Cell(condition, name, point), []) for name in schemes)
    return [
        None if a is None or b is None else (_goodputs(a, seed, left), _goodputs(b, seed, left))
        for seed, (a, b) in enumerate(zip(ours, theirs, strict=False), 1)
    ]


def _goodputs(run: RunResult, seed: int, left: Left) -> list[float]:
    flows = run["flows"]
    return [flows[index]["goodput_bps"] for index in left(seed, len(flows))]


def _spread(rows: Sequence[Row | None], statistic: Callable[[Sequence[Row]], float | None]) -> Values:
    """Pseudo-values where there are rows."""
    values = iter(by_seed([row for row in rows if row is not None], statistic))
    return [None if row is None else next(values) for row in rows]
