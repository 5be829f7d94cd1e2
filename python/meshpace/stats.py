"""Means, confidence intervals, fairness."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over independent runs with the half-width of its 95 % confidence interval (None for one run)."""

    mean: float
    half_width: float | None
    count: int


@functools.lru_cache(maxsize=4096)
def student_t(degrees: int, confidence: float = 0.95) -> float:
    """How many standard errors an interval of that confidence reaches to each side, by Student's t.

    For whole degrees of freedom the distribution is a finite sum (Abramowitz and Stegun, 26.7.3 and 26.7.4).
    """
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _inside(middle, degrees) < confidence else (low, middle)
    return math.sqrt(degrees) * math.tan(high)


def _inside(angle: float, degrees: int) -> float:
    """The probability of a value within +- sqrt(degrees) tan(angle)."""
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = degrees % 2
    term, total = (cosine if odd else 1.0), 0.0
    for k in range(1 + odd, degrees, 2):
        total += term
        term *= cosine * cosine * k / (k + 1)
    return 2 / math.pi * (angle + sine * total) if odd else sine * total


def estimate(values: Sequence[float], confidence: float = 0.95) -> Estimate | None:
    """Mean and confidence half-width of independent values; None without values."""
    count = len(values)
    if count == 0:
        return None
    mean = math.fsum(values) / count
    if count == 1:
        return Estimate(mean, None, 1)
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    return Estimate(mean, student_t(count - 1, confidence) * math.sqrt(variance / count), count)


def median_estimate(values: Sequence[float], confidence: float = 0.95) -> Estimate | None:
    """Median and the farther end of its interval between order statistics (David and Nagaraja, Order Statistics, 7.1).

    Below six values no such interval has 95 %: then it has none.
    """
    ordered, count = sorted(values), len(values)
    if count == 0:
        return None
    middle = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
    tail, rank = 0.0, 0
    while rank < count // 2 and tail + math.comb(count, rank) / 2**count <= (1 - confidence) / 2:
        tail += math.comb(count, rank) / 2**count
        rank += 1
    if rank == 0:
        return Estimate(middle, None, count)
    return Estimate(middle, max(middle - ordered[rank - 1], ordered[count - rank] - middle), count)


def jain_index(values: Sequence[float]) -> float | None:
    """Jain's index (sum x)^2 / (n sum x^2) (schemes.md 0.3); None if nothing was delivered at all."""
    squares = math.fsum(value * value for value in values)
    return math.fsum(values) ** 2 / (len(values) * squares) if squares > 0 else None


def jain_over_windows(flows: Sequence[Sequence[float]], window: int) -> float | None:
    """Mean of Jain's index over consecutive whole windows of ``window`` entries; one series a flow."""
    length = min(len(series) for series in flows)
    indices = []
    for start in range(0, length - window + 1, window):
        index = jain_index([math.fsum(series[start : start + window]) for series in flows])
        if index is not None:
            indices.append(index)
    return math.fsum(indices) / len(indices) if indices else None
