"""An interval for one number of all seeds: a pseudo-value of each seed, by leaving it out (Tukey 1958)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Rows = Sequence[Sequence[float]]
"""By seed the values that the number is made of."""


def pseudo_values(rows: Rows, statistic: Callable[[Rows], float]) -> list[float | None]:
    """By seed n times the number of all less n - 1 times that without the seed; nothing of fewer than two seeds."""
    if len(rows) < 2:
        return [None for _ in rows]
    n, whole = len(rows), statistic(rows)
    without = (statistic([*rows[:i], *rows[i + 1 :]]) for i in range(n))
    return [n * whole - (n - 1) * rest for rest in without]
