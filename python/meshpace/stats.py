"""Means, confidence intervals, fairness."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

# 97.5 % quantiles of Student's t for 1..30 degrees of freedom (any table of the distribution).
_T975 = (
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
    2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
    2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
)  # fmt: skip
_Z975 = 1.959964


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over independent runs with the half-width of its 95 % confidence interval (None for one run)."""

    mean: float
    half_width: float | None
    count: int


def t975(degrees: int) -> float:
    """The 97.5 % quantile of Student's t; beyond 30 degrees by two terms of its expansion (Fisher and Cornish)."""
    if degrees <= len(_T975):
        return _T975[degrees - 1]
    z = _Z975
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)


def estimate(values: Sequence[float]) -> Estimate | None:
    """Mean and confidence half-width of independent values; None without values."""
    count = len(values)
    if count == 0:
        return None
    mean = math.fsum(values) / count
    if count == 1:
        return Estimate(mean, None, 1)
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    return Estimate(mean, t975(count - 1) * math.sqrt(variance / count), count)


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
