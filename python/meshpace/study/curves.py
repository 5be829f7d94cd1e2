"""Numbers of whole curves, for ``measure = "curves"``: of goodput over the offered load, and of what goes with it.

The first argument of each is the places on the axis, kbit/s; the others are the curves, in the results' own units.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

Curve = Sequence[float]


def peak(goodput: Curve) -> float:
    """The most that arrives, kbit/s, as loads are counted: the knee of an ideal curve."""
    return max(goodput) / 1000


def fall(_: Curve, goodput: Curve) -> float | None:
    """From the peak to the greatest load, as a part of the peak."""
    return 1 - goodput[-1] / max(goodput) if max(goodput) else None


def linear(loads: Curve, goodput: Curve, delivered: Curve) -> float | None:
    """The least part that is delivered at loads up to 0.8 of the peak."""
    low = (part for load, part in zip(loads, delivered, strict=True) if load <= 0.8 * peak(goodput))
    return min(low, default=None)


def least_gain(loads: Curve, theirs: Curve, ours: Curve) -> float | None:
    """The least relative difference at loads above what the first curve carries at most."""
    pairs = [(a, b) for load, a, b in zip(loads, theirs, ours, strict=True) if load > peak(theirs)]
    return min((b / a - 1 for a, b in pairs if a), default=None)


def spread_above(loads: Curve, goodput: Curve) -> float | None:
    """(max - min) / max at loads above the peak."""
    above = [value for load, value in zip(loads, goodput, strict=True) if load > peak(goodput)]
    top = max(above, default=0.0)
    return (top - min(above)) / top if top else None


def at_the_knee(_: Curve, theirs: Curve, ours: Curve) -> float | None:
    """The second curve where the first has its peak, over that peak."""
    best = max(theirs)
    return ours[list(theirs).index(best)] / best if best else None


def saturated(_: Curve, theirs: Curve, ours: Curve) -> float | None:
    """The second curve at the greatest load against the first one's peak."""
    return ours[-1] / max(theirs) - 1 if max(theirs) else None


def _low(loads: Curve, goodput: Curve) -> list[int]:
    """Places of loads at which packets come slower than the four-hop delay, with room."""
    return [place for place, load in enumerate(loads) if load <= 0.7 * peak(goodput)]


def spread_below(loads: Curve, goodput: Curve, delay: Curve) -> float | None:
    """(max - min) / max of a delay at loads up to 0.7 of the peak."""
    values = [delay[place] for place in _low(loads, goodput)]
    top = max(values, default=0.0)
    return (top - min(values)) / top if top else None


def strays_below(loads: Curve, goodput: Curve, theirs: Curve, ours: Curve) -> float | None:
    """The relative difference of two delays that is farthest from none, at loads up to 0.7 of the peak."""
    found = (ours[place] / theirs[place] - 1 for place in _low(loads, goodput) if theirs[place])
    return max(found, key=abs, default=None)


def most_above(loads: Curve, goodput: Curve, theirs: Curve, ours: Curve) -> float | None:
    """The greatest relative difference at loads above the peak."""
    pairs = zip(loads, theirs, ours, strict=True)
    return max((b / a - 1 for load, a, b in pairs if load > peak(goodput) and a), default=None)


def peak_at(loads: Curve, goodput: Curve) -> float | None:
    """The load at which most arrives."""
    return loads[list(goodput).index(max(goodput))]


def smaller_fall(loads: Curve, theirs: Curve, ours: Curve) -> float | None:
    """The fall of the second curve less that of the first."""
    a, b = fall(loads, theirs), fall(loads, ours)
    return None if a is None or b is None else b - a


def best_rate(size: int) -> Callable[[Curve, Curve, Curve], float | None]:
    """Packets of that size a second at the peak times the true four-hop delay there: 1 if R_max = 1 / FHD."""

    def read(_: Curve, goodput: Curve, delay: Curve) -> float | None:
        best = max(goodput)
        return best / (8 * size) * delay[list(goodput).index(best)]

    return read


def correlated(_: Curve, ours: Curve, theirs: Curve) -> float | None:
    """Pearson's correlation of two curves; None where one side is constant, or one number is all there is."""
    if len(set(ours)) < 2 or len(set(theirs)) < 2:
        return None
    return statistics.correlation(ours, theirs)
