"""The ingredients behind what does not hold: what each switch does to a claim's number."""

from __future__ import annotations

from dataclasses import dataclass

from meshpace.stats import Estimate, estimate
from meshpace.study.claims import Ask, Judgement
from meshpace.study.model import AS_IS, Cell, Condition, Point, scheme_name
from meshpace.study.outcome import Outcome
from meshpace.study.rules import bounds


@dataclass(frozen=True, slots=True)
class Move:
    """What a switch does to a number: the value with it, and the change, paired by seed."""

    point: Point
    value: Estimate
    change: Estimate

    @property
    def certain(self) -> bool:
        """Whether the interval of the change leaves out zero; a single run is no change for certain."""
        low, high = bounds(self.change)
        return self.change.half_width is not None and (low > 0 or high < 0)


def moves(ask: Ask, outcome: Outcome, condition: Condition) -> tuple[Estimate, list[Move]] | None:
    """The number as it is, and what each switch that changes something does to it.

    Intervals of changes are Bonferroni's for their number: the greatest of many changes is partly luck.
    """
    before = ask.measure.take(outcome, condition, AS_IS)
    as_is = estimate([value for value in before if value is not None])
    if as_is is None:
        return None
    points = [
        point
        for point in outcome.study.points(outcome.effort)
        if point.label != AS_IS and (point.settings or point.condition(condition) != condition)
    ]
    found = []
    for point in points:
        after = ask.measure.take(outcome, condition, point.label)
        pairs = [(a, b) for a, b in zip(before, after, strict=False) if a is not None and b is not None]
        value = estimate([b for _, b in pairs])
        change = estimate([b - a for a, b in pairs], 1 - 0.05 / len(points))
        if value is not None and change is not None:
            found.append(Move(point, value, change))
    return as_is, found


def analysis(judgement: Judgement, outcome: Outcome) -> str | None:
    """Which ingredient makes the difference, in words; None if the switches were not run under this condition."""
    ask, condition = judgement.claim.asks[0], judgement.condition
    measured = moves(ask, outcome, condition)
    if measured is None or not measured[1]:
        return None
    as_is, found = measured
    show, misses = ask.show, ask.rule.misses

    def told(label: str, value: Estimate) -> str:
        return f"{show(value)}{_absolute(ask, outcome, condition, label)}"

    here = f"{condition.name}: {told(AS_IS, as_is)} as it is ({outcome.study.title.split(': ')[-1]})"
    here += f", {ask.rule.asks(show)} asked"
    if misses(as_is.mean) == 0:
        return f"{here}: here it is as asked, so no ingredient explains where it is not."
    ranked = sorted(found, key=lambda move: (misses(move.value.mean), -abs(move.change.mean)))
    nearer = [move for move in ranked if move.certain and misses(move.value.mean) < misses(as_is.mean)]
    if not nearer:
        text = f"{here}. None of {len(found)} changes moves it there for certain"
        nearest = ranked[0]
        if misses(nearest.value.mean) < misses(as_is.mean):
            text += f"; nearest comes {nearest.point.label} with {told(nearest.point.label, nearest.value)}"
        return text + "."
    best, *others = nearer
    covered = 1 - misses(best.value.mean) / misses(as_is.mean)
    text = f"{here}. Of {len(found)} changes, {best.point.label} moves it most: {told(best.point.label, best.value)}"
    text += ", all the way" if covered == 1 else f", {100 * covered:.0f} % of the way"
    if others:
        rest = (f"{move.point.label} ({told(move.point.label, move.value)})" for move in others[:2])
        text += "; then " + ", ".join(rest)
    return text + "."


def _absolute(ask: Ask, outcome: Outcome, condition: Condition, point: str) -> str:
    """What the schemes have by themselves: a difference alone does not tell who moved."""
    quantity = ask.measure.quantity
    if quantity is None or len(ask.measure.schemes) < 2:
        return ""
    parts = []
    for scheme in ask.measure.schemes:
        value = outcome.estimate(Cell(condition, scheme, point), quantity)
        if value is not None:
            parts.append(f"{scheme_name(scheme)} {value.mean * quantity.factor:.{quantity.decimals}f}")
    return f" [{', '.join(parts)}{f' {quantity.unit}' if quantity.unit else ''}]"
