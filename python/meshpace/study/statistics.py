"""The numbers that claims are about, by seed, at a point of a study."""

from __future__ import annotations

from collections.abc import Callable

from meshpace.stats import estimate
from meshpace.study.claims import Statistic
from meshpace.study.model import Cell, Condition
from meshpace.study.outcome import Outcome
from meshpace.study.quantities import Quantity
from meshpace.study.rules import Labelled


def gain(quantity: Quantity, scheme: str = "tcp-gap", over: str = "newreno") -> Statistic:
    """Relative difference of a quantity between two schemes."""

    def by_seed(outcome: Outcome, condition: Condition, point: str) -> list[float | None]:
        return [
            a / b - 1 if a is not None and b else None
            for a, b in outcome.paired(condition, point, quantity, scheme, over)
        ]

    return by_seed


def difference(quantity: Quantity, scheme: str = "tcp-gap", over: str = "newreno") -> Statistic:
    """Absolute difference of a quantity between two schemes."""

    def by_seed(outcome: Outcome, condition: Condition, point: str) -> list[float | None]:
        return [
            a - b if a is not None and b is not None else None
            for a, b in outcome.paired(condition, point, quantity, scheme, over)
        ]

    return by_seed


def of(quantity: Quantity, scheme: str) -> Statistic:
    """A quantity of one scheme."""

    def by_seed(outcome: Outcome, condition: Condition, point: str) -> list[float | None]:
        return outcome.values(Cell(condition, scheme, point), quantity)

    return by_seed


def from_series(take: Callable[[dict[str, list[float]]], float | None], scheme: str) -> Statistic:
    """A number read off the time series of one scheme's runs."""

    def by_seed(outcome: Outcome, condition: Condition, point: str) -> list[float | None]:
        records = outcome.records.get(Cell(condition, scheme, point), [])
        return [None if record is None else take(record.goodput_series()) for record in records]

    return by_seed


def at_points(
    outcome: Outcome, condition: Condition, statistic: Statistic, points: tuple[str, ...] | None = None, unit: str = ""
) -> list[Labelled]:
    """The statistic with its confidence at each point that was run and is among ``points`` (all if None)."""
    found = []
    for point in outcome.study.points(outcome.effort):
        if points is not None and point.label not in points:
            continue
        value = estimate([v for v in statistic(outcome, condition, point.label) if v is not None])
        if value is not None:
            found.append((f"{point.label}{unit}", value))
    return found
