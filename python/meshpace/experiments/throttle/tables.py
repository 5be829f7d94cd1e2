"""What ``meshpace calibrate throttle`` made, as it ships with the engine: critical loads and correction factors."""

from __future__ import annotations

import csv
import functools
import math
from collections.abc import Callable, Sequence

from meshpace import engine

SEGMENT = 600
"""Of the paper's networks."""

Row = dict[str, float]


def _rows(text: str) -> list[Row]:
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return [{name: float(cell) for name, cell in row.items()} for row in csv.DictReader(lines)]


@functools.cache
def _tables() -> tuple[dict[int, Row], dict[tuple[int, int, int], Row]]:
    critical_loads, factors = map(_rows, engine.throttle_tables())
    loads = {int(row["hops"]): row for row in critical_loads if row["segment"] == SEGMENT}
    return loads, {(int(row["hops"]), int(row["flows"]), int(row["segment"])): row for row in factors}


def critical(hops: int) -> int:
    """L_TCP_crit of that path length, bit/s."""
    return int(_tables()[0][hops]["data_bps"])


def segments() -> tuple[int, ...]:
    """The segments of the factors that ship."""
    return tuple(sorted({segment for _, _, segment in _tables()[1]}))


def alpha(hops: int, flows: int, segment: int = SEGMENT) -> float:
    """The load correction factor of so many flows of that path length."""
    return _tables()[1][hops, flows, segment]["alpha"]


def load_ratio(hops: int, flows: int, segment: int = SEGMENT) -> float:
    """Their load with that factor over the critical one, on the seeds of the calibration."""
    return _tables()[1][hops, flows, segment]["load_ratio"]


Curve = Callable[[float], float]


def determination(actual: Sequence[float], fitted: Sequence[float]) -> float:
    """R^2: how much of the variance a fit explains."""
    middle = math.fsum(actual) / len(actual)
    rest = math.fsum((x - y) ** 2 for x, y in zip(actual, fitted, strict=True))
    return 1 - rest / math.fsum((x - middle) ** 2 for x in actual)


def exponential(places: Sequence[float], values: Sequence[float]) -> list[float]:
    """1 + a exp(-b n) with least squares: of each b the best a, and of the b the best of a fine grid."""
    return _best(values, [[math.exp(-b * n) for n in places] for b in (k / 1000 for k in range(1, 3001))])


def hyperbola(places: Sequence[float], values: Sequence[float]) -> list[float]:
    """1 + a / n with least squares."""
    return _best(values, [[1 / n for n in places]])


def line(places: Sequence[float], values: Sequence[float]) -> list[float]:
    """A straight line with least squares."""
    x, y = math.fsum(places) / len(places), math.fsum(values) / len(values)
    slope = math.fsum((p - x) * (v - y) for p, v in zip(places, values, strict=True))
    slope /= math.fsum((p - x) ** 2 for p in places)
    return [y + slope * (p - x) for p in places]


def _best(values: Sequence[float], shapes: Sequence[Sequence[float]]) -> list[float]:
    def fit(shape: Sequence[float]) -> list[float]:
        a = math.fsum(s * (v - 1) for s, v in zip(shape, values, strict=True)) / math.fsum(s * s for s in shape)
        return [1 + a * s for s in shape]

    return max(map(fit, shapes), key=lambda fitted: determination(values, fitted))
