"""What a change does to a mesh, in numbers: paired by seed, as parts of what there is without it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from meshpace.results import RunResult
from meshpace.stats import Estimate, estimate
from meshpace.study.quantities import DELAY, GOODPUT, JAIN, Quantity
from meshpace.study.rules import NO_FAIRNESS, NO_GAIN, bounds

NO_DELAY = 0.05
"""A delay that changes by less is the same."""


class Way(StrEnum):
    """Which way something moves."""

    MORE = "more"
    LESS = "less"
    SAME = "same"
    OPEN = "undecided"
    """The interval allows several of these."""


class Answer(StrEnum):
    """Whether something helps."""

    YES = "yes"
    FAIRER = "yes, for fairness"
    TRADE = "a trade"
    OPEN = "undecided"
    COSTS = "no, or a trade"
    """One falls for certain; whether the other rises is undecided."""
    NO = "no"


def way(value: Estimate | None, margin: float) -> Way:
    """``same`` if the interval lies within the margin; else its side of zero, if it lies on one."""
    if value is None or value.half_width is None:
        return Way.OPEN
    low, high = bounds(value)
    if -margin <= low and high <= margin:
        return Way.SAME
    return Way.MORE if low > 0 else Way.LESS if high < 0 else Way.OPEN


@dataclass(frozen=True, slots=True)
class Weighed:
    """A quantity with and without a change; ``shifts`` by seed, None where it does not apply."""

    shifts: tuple[float | None, ...]
    margin: float

    def change(self, comparisons: int = 1) -> Estimate | None:
        """The mean with the interval that is right for so many comparisons together (Bonferroni)."""
        return estimate([shift for shift in self.shifts if shift is not None], 1 - 0.05 / comparisons)

    def way(self, comparisons: int = 1) -> Way:
        """Which way it moves."""
        return way(self.change(comparisons), self.margin)


@dataclass(frozen=True, slots=True)
class Effect:
    """What a change does to goodput and delay (as parts of what they are without it) and to Jain's index."""

    goodput: Weighed
    fairness: Weighed
    """Nothing where flows are alone."""
    delay: Weighed

    @property
    def answer(self) -> Answer:
        """Goodput and fairness count; no is said only if neither can rise."""
        goodput = self.goodput.way()
        fairness = Way.SAME if self.fairness.change() is None else self.fairness.way()
        if goodput is Way.MORE:
            return Answer.TRADE if fairness is Way.LESS else Answer.YES
        if fairness is Way.MORE:
            return Answer.TRADE if goodput is Way.LESS else Answer.FAIRER
        if Way.OPEN not in (goodput, fairness):
            return Answer.NO
        return Answer.COSTS if Way.LESS in (goodput, fairness) else Answer.OPEN


def effect(runs: Sequence[RunResult], without: Sequence[RunResult]) -> Effect:
    """Of runs beside those with the same seeds and without the change."""
    return Effect(
        Weighed(_parts(runs, without, GOODPUT), NO_GAIN),
        Weighed(_differences(runs, without), NO_FAIRNESS),
        Weighed(_parts(runs, without, DELAY), NO_DELAY),
    )


def together(effects: Sequence[Effect]) -> Effect:
    """The mean over patterns of traffic, seed by seed."""
    return Effect(
        _mean(effects, lambda one: one.goodput),
        _mean(effects, lambda one: one.fairness),
        _mean(effects, lambda one: one.delay),
    )


def _mean(effects: Sequence[Effect], take: Callable[[Effect], Weighed]) -> Weighed:
    weighed = [take(one) for one in effects]
    # A pattern counts if it says something with every seed, so that each seed is a mean over the same patterns.
    able = [one.shifts for one in weighed if one.shifts and None not in one.shifts]
    rows = zip(*able, strict=True)
    return Weighed(tuple(math.fsum(_known(row)) / len(row) for row in rows), weighed[0].margin)


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _parts(runs: Sequence[RunResult], without: Sequence[RunResult], quantity: Quantity) -> tuple[float | None, ...]:
    """Differences as parts of the mean without the change: a single seed in which nothing arrives divides nothing."""
    before = [quantity(run) for run in without]
    middle = estimate(_known(before))
    if middle is None or middle.mean <= 0:
        return tuple(None for _ in runs)
    return tuple(
        None if value is None or other is None else (value - other) / middle.mean
        for value, other in zip(map(quantity, runs), before, strict=True)
    )


def _differences(runs: Sequence[RunResult], without: Sequence[RunResult]) -> tuple[float | None, ...]:
    if len(runs[0]["flows"]) < 2:
        return tuple(None for _ in runs)
    pairs = zip(map(JAIN, runs), map(JAIN, without), strict=True)
    return tuple(None if one is None or other is None else one - other for one, other in pairs)
