"""The rules that a claim may apply to a number, with the same words for every paper.

They are those of docs/experiments/gap.md, section 1, "Judging".

A rule is a band in which a claim holds, and the value that would be no effect. A number lies in the band, short of it,
beyond it, or where the sign is wrong or nothing happens; which, only its 95 % interval says, and if that straddles a
border, nothing is said.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, auto

from meshpace.stats import Estimate, student_t

Show = Callable[[Estimate], str]


class Rating(Enum):
    """Where a number lies, seen from what is asked."""

    HOLDS = auto()
    SHORT = auto()
    """The sign agrees, the band is not reached."""
    BEYOND = auto()
    """The sign agrees, the band is passed."""
    FAILS = auto()
    OPEN = auto()
    """The interval straddles a border, or there is none."""


def bounds(value: Estimate) -> tuple[float, float]:
    """The confidence interval; of a single run that run."""
    width = value.half_width or 0.0
    return value.mean - width, value.mean + width


@dataclass(frozen=True, slots=True)
class Size:
    """The sizes with which an order holds; with others its sign does, so that it holds in part."""

    low: float
    high: float
    printed: bool
    """Whether they surround a printed size; else they are what is plausible at all."""

    def over(self, value: Estimate) -> Rating:
        """Where the size of a number lies, its sign aside: within, below, above, or across an end.

        Past what is plausible lies what has its mean there: a doubt needs no certainty, and is worth no seeds.
        """
        low, high = bounds(value) if self.printed else (value.mean, value.mean)
        if self.low <= low and high <= self.high:
            return Rating.HOLDS
        return Rating.SHORT if high < self.low else Rating.BEYOND if low > self.high else Rating.OPEN


_TURNED = {Rating.SHORT: Rating.BEYOND, Rating.BEYOND: Rating.SHORT}


@dataclass(frozen=True, slots=True)
class Rule:
    """A band, and what is no effect."""

    word: str
    """Of the vocabulary: ``VALUE``."""
    low: float = -math.inf
    high: float = math.inf
    neutral: float | None = None
    """No effect. It lies at or outside the band: from here towards the band the sign agrees."""
    margin: float = 0.0
    """A number no farther than this from ``neutral`` is no effect; where the band begins at ``neutral``, so that a
    sign is all that is asked, only if its sign is not certain either."""
    size: Size | None = None
    """The rule that applies besides the band, for a band without an end."""

    def answer(self, value: Estimate) -> Rating:
        """Where the number lies."""
        found = self.band(value)
        if found is not Rating.HOLDS or self.size is None:
            return found
        sized = self.size.over(value)
        return _TURNED.get(sized, sized) if self._falls or math.isinf(self.low) else sized

    def missed_size(self, value: Estimate) -> bool:
        """Whether it is its size alone for which it does not hold."""
        return self.band(value) is Rating.HOLDS and self.answer(value) in (Rating.SHORT, Rating.BEYOND)

    def band(self, value: Estimate) -> Rating:
        """Where the number lies as far as the band goes."""
        if value.half_width is None:
            return Rating.OPEN
        low, high = bounds(value)
        if self.neutral is not None:
            near = self.neutral - self.margin <= low and high <= self.neutral + self.margin
            if near and (low <= self.neutral <= high or self.neutral not in (self.low, self.high)):
                return Rating.FAILS
            if (low >= self.neutral) if self._falls else (high <= self.neutral):
                return Rating.FAILS
        if self.low <= low and high <= self.high:
            return Rating.HOLDS
        under, over = high < self.low, low > self.high
        if self.neutral is None:
            return Rating.FAILS if under or over else Rating.OPEN
        if self._falls:
            under, over = over and high < self.neutral, under
        else:
            under = under and low > self.neutral
        return Rating.SHORT if under else Rating.BEYOND if over else Rating.OPEN

    @property
    def _falls(self) -> bool:
        """Whether the effect lies below ``neutral``."""
        return self.neutral is not None and self.high <= self.neutral

    def runs_to_decide(self, value: Estimate) -> int | None:
        """How many runs the number would take to be decided, its mean and spread staying.

        An interval shrinks as one over the root of their number. None if no number would do,
        or nothing tells the spread.
        """
        if value.half_width is None:
            return None
        if self.answer(value) is not Rating.OPEN:
            return value.count
        clear = self._clear(value)
        return math.ceil(value.count * (value.half_width / clear) ** 2) if clear else None

    def runs_likely(self, value: Estimate) -> int | None:
        """As :meth:`runs_to_decide`, where the truth may lie: off the mean by a standard error.

        The mean of a few runs that happens to lie on a border says nothing about how many more it would take: it will
        not stay there. So this is never more than Student's t squared as many as there are.
        """
        if value.half_width is None:
            return None
        if self.answer(value) is not Rating.OPEN:
            return value.count
        error = value.half_width / student_t(value.count - 1)
        return math.ceil(value.count * (value.half_width / math.hypot(self._clear(value), error)) ** 2)

    def _clear(self, value: Estimate) -> float:
        """The widest interval about the mean that decides; 0 if none does."""
        for half_width in sorted(self._distances(value.mean), reverse=True):
            smaller = half_width * (1 - 1e-9)
            if smaller > 0 and self.answer(Estimate(value.mean, smaller, value.count)) is not Rating.OPEN:
                return smaller
        return 0.0

    def _distances(self, mean: float) -> Iterator[float]:
        neutral = () if self.neutral is None else (-self.margin, 0.0, self.margin)
        edges = [self.low, self.high, *((self.neutral or 0.0) + shift for shift in neutral)]
        edges += [self.size.low, self.size.high] if self.size is not None and self.size.printed else []
        yield from (abs(mean - edge) for edge in edges if math.isfinite(edge))

    def misses(self, mean: float) -> float:
        """How far a mean lies outside what is asked; 0 within."""
        low, high = self._ends
        return max(low - mean, mean - high, 0.0)

    def slack(self, mean: float) -> float:
        """How near a mean lies to the nearer edge of what is asked, negative outside."""
        low, high = self._ends
        return min(mean - low, high - mean)

    @property
    def _ends(self) -> tuple[float, float]:
        """Of band and size together."""
        if self.size is None:
            return self.low, self.high
        return max(self.low, self.size.low), min(self.high, self.size.high)

    def asks(self, show: Show) -> str:
        """The band in words, and the sizes that count."""
        return self._band_asked(show) + self._size_asked(show)

    def _size_asked(self, show: Show) -> str:
        if self.size is None:
            return ""
        low, high = (show(Estimate(edge, None, 1)) for edge in (self.size.low, self.size.high))
        if self.size.printed:
            return f", in size {low} to {high}"
        ends = [told for edge, told in ((self.size.low, low), (self.size.high, high)) if math.isfinite(edge)]
        return f", plausible to {' and '.join(ends)}"

    def _band_asked(self, show: Show) -> str:
        low, high = (show(Estimate(edge, None, 1)) for edge in (self.low, self.high))
        if math.isinf(self.high):
            return f"above {low}" if self.low == self.neutral else f"at least {low}"
        if math.isinf(self.low):
            return f"below {high}" if self.high == self.neutral else f"at most {high}"
        return f"{low} to {high}"


NO_GAIN = 0.02
"""A goodput that changes by less is the same: what a differently placed seed does."""
NO_FAIRNESS = 0.01
"""A Jain's index that changes by less is the same: for two flows near 1, shares of 45:55."""

EQUAL = Rule("EQUAL", low=0.98)
"""Jain's index of "equal" and "optimal": for two flows 43:57 at worst."""
NEARLY = Rule("NEARLY", low=0.95)
"""Of "nearly optimal"."""
STARVES = Rule("STARVES", high=0.05)
"""A flow's share of the aggregate over the whole run."""
SLIGHTLY_LESS = Rule("SLIGHTLY", -0.10, 0.0, neutral=0.0, margin=NO_GAIN)
"""0 to 10 % less."""
MUCH_FAIRER = Rule("MUCH", low=0.05, neutral=0.0, margin=NO_FAIRNESS)
"""Of a difference of Jain's index."""
FAIRER = Rule("ORDER", low=0.0, neutral=0.0, margin=NO_FAIRNESS)
"""A Jain's index above another."""
NO_LOSS = Rule("ORDER", low=-NO_GAIN)
"""The points beside the best of an UP-TO."""


def up_to(printed: float, tolerance: float) -> Rule:
    """The largest gain is as printed, on both sides."""
    return Rule("UP-TO", printed - tolerance, printed + tolerance, neutral=0.0, margin=NO_GAIN)


def about(low: float, high: float, neutral: float | None = None, margin: float = 0.0) -> Rule:
    """A printed value with its tolerance as a band."""
    return Rule("VALUE", low, high, neutral, margin)


def equality(low: float, high: float) -> Rule:
    """No difference: within a margin of equivalence."""
    return Rule("EQUALITY", low, high)


def order(margin: float = 0.0, *, rises: bool = True) -> Rule:
    """A paired difference above zero, or below."""
    low, high = (0.0, math.inf) if rises else (-math.inf, 0.0)
    return Rule("ORDER", low, high, 0.0, margin)


def trend(margin: float, *, rises: bool) -> Rule:
    """As :func:`order`, of a number that says whether a curve rises."""
    found = order(margin, rises=rises)
    return Rule("TREND", found.low, found.high, found.neutral, found.margin)
