"""How numbers are written in verdicts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from meshpace.stats import Estimate


def _written(value: Estimate, factor: float, decimals: int, unit: str, signed: bool) -> str:
    width = "" if value.half_width is None else f" ± {value.half_width * factor:.{decimals}f}"
    return f"{value.mean * factor:{'+' if signed else ''}.{decimals}f}{width}{unit}"


def written(factor: float, decimals: int, unit: str, *, signed: bool = False) -> Callable[[Estimate], str]:
    """In a unit of its own."""
    return partial(_written, factor=factor, decimals=decimals, unit=unit, signed=signed)


percent = partial(_written, factor=100, decimals=1, unit=" %", signed=True)
"""``+12.3 ± 1.0 %``: of a difference."""
share = partial(_written, factor=100, decimals=1, unit=" %", signed=False)
"""``12.3 ± 1.0 %``: of a part."""
number = partial(_written, factor=1, decimals=3, unit="", signed=False)
"""``0.934 ± 0.010``."""
difference = partial(_written, factor=1, decimals=3, unit="", signed=True)
"""``+0.034 ± 0.010``."""
count = partial(_written, factor=1, decimals=1, unit="", signed=False)
"""``12.3 ± 1.0``."""
kilobits = partial(_written, factor=1e-3, decimals=1, unit=" kbit/s", signed=False)
"""Bit/s as ``1.5 ± 0.3 kbit/s``."""
megabits = partial(_written, factor=1e-6, decimals=2, unit=" Mbit/s", signed=False)
"""Bit/s as ``4.81 ± 0.05 Mbit/s``."""


def at(label: str, unit: str) -> str:
    """A point with its unit: ``4 hops``, ``1 hop``."""
    return f"{label}{unit.replace('hops', 'hop') if label == '1' else unit}"


def most(value: Estimate) -> str:
    """``149``: the greatest number of any run, which has no interval."""
    return f"{value.mean:.0f}"
