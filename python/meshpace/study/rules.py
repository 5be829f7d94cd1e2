"""The rules by which numbers judge a claim, the same for every claim.

A statement about one point is true or false only if the point's 95 % confidence interval (paired by seed where two
schemes are compared) says so; else it is open. A claim about several points holds if it is true at all of them, holds
in part if true at some only, does not hold if false somewhere and true nowhere, and is undecided otherwise: more seeds
are needed. "Up to x %" holds if the largest gain reaches half of x, some point gains and none loses.
"""

from __future__ import annotations

from collections.abc import Sequence

from meshpace.report.model import Verdict
from meshpace.stats import Estimate

Labelled = tuple[str, Estimate]
"""A point's label and what was found there."""


def bounds(value: Estimate) -> tuple[float, float]:
    """The confidence interval; a single run is taken at its word."""
    width = value.half_width or 0.0
    return value.mean - width, value.mean + width


def above(value: Estimate, threshold: float) -> bool | None:
    """Whether the value lies above the threshold; None if its interval allows both."""
    low, high = bounds(value)
    return True if low > threshold else False if high <= threshold else None


def below(value: Estimate, threshold: float) -> bool | None:
    """Whether the value lies below the threshold; None if its interval allows both."""
    low, high = bounds(value)
    return True if high < threshold else False if low >= threshold else None


def within(value: Estimate, low: float, high: float) -> bool | None:
    """Whether the value lies from ``low`` to ``high``; None if its interval allows both."""
    least, most = bounds(value)
    if low <= least and most <= high:
        return True
    return False if most < low or least > high else None


def combine(answers: Sequence[bool | None]) -> Verdict:
    """The verdict on a claim from the answers at its points."""
    if all(answers):
        return Verdict.HOLDS
    if any(answers):
        return Verdict.PART
    return Verdict.FAILS if False in answers else Verdict.OPEN


def up_to(gains: Sequence[Estimate], printed: float) -> Verdict:
    """The verdict on a gain of "up to" so much."""
    wins, losses = [above(gain, 0.0) for gain in gains], [below(gain, 0.0) for gain in gains]
    if max(gain.mean for gain in gains) >= printed / 2 and True in wins and True not in losses:
        return Verdict.HOLDS
    if True in wins:
        return Verdict.PART
    # Refuted only if no point can reach what is asked, even at the upper end of its interval.
    return Verdict.FAILS if max(bounds(gain)[1] for gain in gains) < printed / 2 else Verdict.OPEN


def percent(value: Estimate, *, signed: bool = True) -> str:
    """``+12.3 ± 1.0 %``."""
    width = "" if value.half_width is None else f" ± {value.half_width * 100:.1f}"
    return f"{value.mean * 100:{'+' if signed else ''}.1f}{width} %"


def number(value: Estimate) -> str:
    """``0.934 ± 0.010``."""
    width = "" if value.half_width is None else f" ± {value.half_width:.3f}"
    return f"{value.mean:.3f}{width}"


def megabits(value: Estimate) -> str:
    """Bit/s as ``4.81 ± 0.05 Mbit/s``."""
    width = "" if value.half_width is None else f" ± {value.half_width / 1e6:.2f}"
    return f"{value.mean / 1e6:.2f}{width} Mbit/s"


def extremes(points: Sequence[Labelled]) -> str:
    """The best and the worst of several gains."""
    best, worst = max(points, key=lambda p: p[1].mean), min(points, key=lambda p: p[1].mean)
    if len(points) == 1:
        return f"{percent(best[1])} at {best[0]}"
    return f"best {percent(best[1])} at {best[0]}, worst {percent(worst[1])} at {worst[0]}"
