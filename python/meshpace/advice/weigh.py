"""The effect of a change on a mesh in numbers: paired by seed, as ratios to the mesh without the change.

Goodput is told twice. The ratio of sums says how much the mesh carries, not which flows get it. The median flow's
ratio says what happens to the one in the middle; two flows of 15 kbit/s that double do not move it. Intervals of
ratios come from their logarithms, which are symmetric where ratios are not.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from meshpace.results import RunResult
from meshpace.stats import Estimate, estimate
from meshpace.study.quantities import GOODPUT, JAIN
from meshpace.study.rules import NO_FAIRNESS, NO_GAIN
from meshpace.sweeps.delays import DELAY

NO_DELAY = 0.05
"""A delay that changes by less is the same."""


class Movement(StrEnum):
    """Which way something moves."""

    MORE = "more"
    LESS = "less"
    SAME = "same"
    OPEN = "undecided"
    """The interval allows several of these."""


class Benefit(StrEnum):
    """Whether something helps."""

    YES = "yes"
    FAIRER = "yes, for fairness"
    TRADE = "a trade"
    OPEN = "undecided"
    COSTS = "no, or a trade"
    """One falls for certain; whether the other rises is undecided."""
    NO = "no"


@dataclass(frozen=True, slots=True)
class Shift:
    """By how much something changes, as a part of what it was or as a difference; its 95 % interval if it has one."""

    mean: float
    low: float | None
    high: float | None

    @property
    def half_width(self) -> float | None:
        """To the farther end of the interval."""
        if self.low is None or self.high is None:
            return None
        return max(self.mean - self.low, self.high - self.mean)


def way(value: Shift | None, margin: float) -> Movement:
    """``same`` if the interval lies within the margin; else its side of zero, if it lies on one."""
    if value is None or value.low is None or value.high is None:
        return Movement.OPEN
    if -margin <= value.low and value.high <= margin:
        return Movement.SAME
    return Movement.MORE if value.low > 0 else Movement.LESS if value.high < 0 else Movement.OPEN


Pair = tuple[float, float]
"""With the change, and without it."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A quantity with and without a change, by seed; None where it does not apply."""

    pairs: tuple[Pair | None, ...]
    margin: float
    ratio: bool = True
    """Else the difference counts."""

    def change(self, comparisons: int = 1) -> Shift | None:
        """The mean with the interval that is right for so many comparisons together (Bonferroni).

        Without an interval where it has none: of one seed, or where nothing arrives in some of the seeds.
        """
        pairs = [pair for pair in self.pairs if pair is not None]
        confidence = 1 - 0.05 / comparisons
        if not self.ratio:
            return _around(estimate([one - other for one, other in pairs], confidence), lambda value: value)
        before = math.fsum(other for _, other in pairs)
        if before <= 0:
            return None
        if all(one > 0 and other > 0 for one, other in pairs):
            return _around(estimate([math.log(one / other) for one, other in pairs], confidence), math.expm1)
        # Nothing has no logarithm. Nothing in every seed is certain; in some of them is not.
        mean = math.fsum(one for one, _ in pairs) / before - 1
        sure = len(pairs) > 1 and all(one <= 0 for one, _ in pairs)
        return Shift(mean, -1.0, -1.0) if sure else Shift(mean, None, None)

    def way(self, comparisons: int = 1) -> Movement:
        """Which way it moves."""
        return way(self.change(comparisons), self.margin)


def _around(value: Estimate | None, back: Callable[[float], float]) -> Shift | None:
    """Mean and ends of an interval, each taken back to what readers count in."""
    if value is None or value.half_width is None:
        return None if value is None else Shift(back(value.mean), None, None)
    return Shift(back(value.mean), back(value.mean - value.half_width), back(value.mean + value.half_width))


@dataclass(frozen=True, slots=True)
class Effect:
    """What a change does to goodput and delay (as parts of what they are without it) and to Jain's index."""

    goodput: Weighed
    """Of all flows together: the ratio of sums."""
    median_flow: Weighed
    """The median over flows of each one's ratio."""
    fairness: Weighed
    """Nothing where flows are alone."""
    delay: Weighed

    @property
    def answer(self) -> Benefit:
        """Goodput and fairness count; no is said only if neither can rise."""
        goodput = self.goodput.way()
        fairness = Movement.SAME if self.fairness.change() is None else self.fairness.way()
        if goodput is Movement.MORE:
            return Benefit.TRADE if fairness is Movement.LESS else Benefit.YES
        if fairness is Movement.MORE:
            return Benefit.TRADE if goodput is Movement.LESS else Benefit.FAIRER
        if Movement.OPEN not in (goodput, fairness):
            return Benefit.NO
        return Benefit.COSTS if Movement.LESS in (goodput, fairness) else Benefit.OPEN


Beside = tuple[Sequence[RunResult], Sequence[RunResult]]
"""Runs of a pattern of traffic with a change and without it, each with the same seeds."""


def effect(patterns: Sequence[Beside]) -> Effect:
    """Over patterns of traffic, seed by seed: sums over all of them, the median of all their flows."""
    seeds = range(len(patterns[0][0]))
    by_seed = [[(changed[seed], before[seed]) for changed, before in patterns] for seed in seeds]
    return Effect(
        Weighed(tuple(map(_sums, by_seed)), NO_GAIN),
        Weighed(tuple(map(_middle, by_seed)), NO_GAIN),
        Weighed(tuple(map(_shares, by_seed)), NO_FAIRNESS, ratio=False),
        Weighed(tuple(map(_delays, by_seed)), NO_DELAY),
    )


_Runs = Sequence[tuple[RunResult, RunResult]]


def _sums(runs: _Runs) -> Pair:
    return math.fsum(_known(GOODPUT(one)) for one, _ in runs), math.fsum(_known(GOODPUT(other)) for _, other in runs)


def _middle(runs: _Runs) -> Pair | None:
    """The median ratio, over 1. A flow that gets nothing either way says nothing."""
    flows = [
        (one["goodput_bps"], other["goodput_bps"])
        for changed, before in runs
        for one, other in zip(changed["flows"], before["flows"], strict=True)
    ]
    ratios = [math.inf if other <= 0 else one / other for one, other in flows if one > 0 or other > 0]
    middle = statistics.median(ratios) if ratios else math.inf
    return (middle, 1.0) if math.isfinite(middle) else None


def _shares(runs: _Runs) -> Pair | None:
    """Jain's index, mean over the patterns whose flows share."""
    pairs = [
        (one, other)
        for changed, before in runs
        if len(changed["flows"]) > 1 and (one := JAIN(changed)) is not None and (other := JAIN(before)) is not None
    ]
    if not pairs:
        return None
    return statistics.fmean(one for one, _ in pairs), statistics.fmean(other for _, other in pairs)


def _delays(runs: _Runs) -> Pair | None:
    """The geometric mean over patterns of the mean over packets."""
    pairs = [
        (one, other)
        for changed, before in runs
        if (one := DELAY(changed)) is not None and (other := DELAY(before)) is not None and other > 0
    ]
    if not pairs:
        return None
    return statistics.geometric_mean(one / other for one, other in pairs), 1.0


def _known(value: float | None) -> float:
    assert value is not None, "every run has a goodput"
    return value
