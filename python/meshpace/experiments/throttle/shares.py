"""What flows got of what each would get alone: the unfairness of Osipov and Tschudin 2005, and its parts.

With X_opt,i = X_alone,i / n and the goodputs X_act,i of a run,

    u = sqrt(sum (X_opt,i - X_act,i)^2) / sqrt(sum X_opt,i^2)

u is no index of fairness alone: an equal shortfall of all flows gives 1 - m, one flow that takes everything
sqrt(n - 1). So m and s, mean and standard deviation of X_act / X_opt over the flows, stand beside it;
u^2 = (1 - m)^2 + s^2 for equal X_opt.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from meshpace.results import RunResult
from meshpace.study.measures import Measure, Values
from meshpace.study.model import Cell, Condition
from meshpace.study.outcome import Outcome

Number = Callable[[Sequence[float], Sequence[float]], float | None]
"""Of the goodputs of a run and those that would be ideal."""
Alone = Callable[[str], Sequence[str]]
"""The points at which the flows of a point run alone, in the order of the flows; one for all if they are alike."""


def unfairness(actual: Sequence[float], ideal: Sequence[float]) -> float | None:
    """u; None where nothing would be ideal."""
    whole = math.sqrt(math.fsum(x * x for x in ideal))
    return math.sqrt(math.fsum((x - y) ** 2 for x, y in zip(actual, ideal, strict=True))) / whole if whole else None


def ratios(actual: Sequence[float], ideal: Sequence[float]) -> list[float]:
    """X_act / X_opt."""
    return [x / y for x, y in zip(actual, ideal, strict=True) if y]


def mean_ratio(actual: Sequence[float], ideal: Sequence[float]) -> float | None:
    """The mean of X_act / X_opt, m."""
    found = ratios(actual, ideal)
    return math.fsum(found) / len(found) if found else None


def spread(actual: Sequence[float], ideal: Sequence[float]) -> float | None:
    """The population's standard deviation of X_act / X_opt, s."""
    found, middle = ratios(actual, ideal), mean_ratio(actual, ideal)
    return None if middle is None else math.sqrt(math.fsum((x - middle) ** 2 for x in found) / len(found))


def least_ratio(actual: Sequence[float], ideal: Sequence[float]) -> float | None:
    """The flow that got least of what it should."""
    return min(ratios(actual, ideal), default=None)


def part_captured(actual: Sequence[float], ideal: Sequence[float]) -> float | None:
    """The part of the flows with a twentieth of what they should get, or less."""
    found = ratios(actual, ideal)
    return sum(ratio <= 0.05 for ratio in found) / len(found) if found else None


def ratio_of(flow: int) -> Number:
    """X_act / X_opt of one flow."""
    return lambda actual, ideal: actual[flow] / ideal[flow] if ideal[flow] else None


def advantage(actual: Sequence[float], ideal: Sequence[float]) -> float | None:
    """X_act / X_opt of the last flow less that of the first."""
    last, first = ratio_of(-1)(actual, ideal), ratio_of(0)(actual, ideal)
    return None if last is None or first is None else last - first


def excess_of(flow: int) -> Number:
    """X_act less X_opt of one flow, bit/s."""
    return lambda actual, ideal: actual[flow] - ideal[flow]


def of_alone(actual: Sequence[float], ideal: Sequence[float]) -> float | None:
    """The total over the mean of what the flows get alone."""
    return math.fsum(actual) / math.fsum(ideal) if any(ideal) else None


@dataclass(frozen=True, slots=True)
class Shares:
    """How the runs of a study are compared with flows alone, which are points of the same study."""

    alone: Alone
    scheme: str = "newreno"
    """What runs alone: unthrottled, one queue."""

    def of(self, number: Number, scheme: str) -> Measure:
        """A number of each run of a scheme."""

        def take(outcome: Outcome, condition: Condition, point: str) -> Values:
            alone = [self._mean(outcome, condition, label) for label in self.alone(point)]
            runs = outcome.results.get(Cell(condition, scheme, point), [])
            return [None if run is None else _number(run, alone, number) for run in runs]

        return Measure((scheme,), take, beside=self._beside)

    def difference(self, number: Number, scheme: str, over: str) -> Measure:
        """The number of one scheme less that of another, paired by seed."""
        ours, theirs = self.of(number, scheme), self.of(number, over)

        def take(outcome: Outcome, condition: Condition, point: str) -> Values:
            pairs = zip(ours.take(outcome, condition, point), theirs.take(outcome, condition, point), strict=False)
            return [x - y if x is not None and y is not None else None for x, y in pairs]

        return Measure((over, scheme), take, beside=self._beside)

    def _beside(self, point: str) -> list[tuple[str, str]]:
        """What runs alone for the flows of a point."""
        return [(self.scheme, label) for label in self.alone(point)]

    def _mean(self, outcome: Outcome, condition: Condition, label: str) -> float | None:
        runs = outcome.results.get(Cell(condition, self.scheme, label), [])
        found = [run["flows"][0]["goodput_bps"] for run in runs if run is not None]
        return math.fsum(found) / len(found) if found else None


def _number(run: RunResult, alone: Sequence[float | None], number: Number) -> float | None:
    actual = [flow["goodput_bps"] for flow in run["flows"]]
    each = [*alone] * len(actual) if len(alone) == 1 else alone
    known = [value for value in each if value is not None]
    if len(known) != len(actual):
        return None
    return number(actual, [value / len(actual) for value in known])
