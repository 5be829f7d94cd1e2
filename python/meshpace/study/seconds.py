"""Numbers of time series, for ``measure = "series"``: of goodput second by second, or of windows, by flow."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

Series = dict[str, list[float]]
"""By flow."""
Read = Callable[[Series], float | None]


def window_at_one(windows: dict[str, list[float]]) -> float | None:
    """Part of the time at a window below 2 segments."""
    samples = [value for flow in windows.values() for value in flow]
    return sum(value < 2 for value in samples) / len(samples) if samples else None


def unevenness(windows: dict[str, list[float]]) -> float | None:
    """Coefficient of variation of the first flow's window after 20 s, as far as 64 segments allow it to act."""
    samples = [min(value, 64.0) for value in next(iter(windows.values()))[80:]]
    middle = math.fsum(samples) / len(samples) if samples else 0.0
    return math.sqrt(math.fsum((x - middle) ** 2 for x in samples) / len(samples)) / middle if middle else None


def jain(goodputs: Sequence[float]) -> float | None:
    """Jain's index; None if nothing was delivered."""
    squares = math.fsum(x * x for x in goodputs)
    return math.fsum(goodputs) ** 2 / (len(goodputs) * squares) if squares else None


def between(series: Series, begin: int, end: int) -> list[float]:
    """Mean goodput of every flow from second ``begin`` to ``end``."""
    return [math.fsum(values[begin:end]) / (end - begin) for values in series.values()]


def share_of_first(begin: int, end: int) -> Read:
    """Of both flows' goodput from ``begin`` to ``end``, the first flow's part."""

    def read(series: Series) -> float | None:
        first, second = between(series, begin, end)
        return first / (first + second) if first + second else None

    return read


def jain_between(begin: int, end: int) -> Read:
    """Jain's index of the goodputs from ``begin`` to ``end``."""
    return lambda series: jain(between(series, begin, end))


def goodput_between(flow: int, begin: int, end: int) -> Read:
    """Goodput of a flow from ``begin`` to ``end``."""
    return lambda series: between(series, begin, end)[flow]


def reaction(start: int, end: int, window: int = 5) -> Read:
    """From ``start`` until the second from which on Jain's index over 5 s stays at 0.9 and above; ``end`` if never."""

    def read(series: Series) -> float | None:
        since = end
        for second in range(end - window, start - 1, -1):
            index = jain(between(series, second, second + window))
            if index is None or index < 0.9:
                break
            since = second
        return float(since - start)

    return read


WINDOW_S = 10
"""Of the windows over which goodput is taken for its variation."""


def variation(bins: dict[str, list[float]]) -> float | None:
    """CVT: standard deviation over mean of the aggregate goodput in windows of 10 s."""
    seconds = [math.fsum(at) for at in zip(*bins.values(), strict=False)]
    whole = range(0, len(seconds) - WINDOW_S + 1, WINDOW_S)
    windows = [math.fsum(seconds[begin : begin + WINDOW_S]) / WINDOW_S for begin in whole]
    if len(windows) < 2 or not any(windows):
        return None
    mean = math.fsum(windows) / len(windows)
    return math.sqrt(math.fsum((x - mean) ** 2 for x in windows) / (len(windows) - 1)) / mean
