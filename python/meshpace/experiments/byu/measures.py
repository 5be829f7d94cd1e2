"""Numbers that the thesis's claims are about, and the words of its catalogue (docs/experiments/thesis.md, 1 and 3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from meshpace.experiments.byu.study import THESIS
from meshpace.study.claims import Ask, Claim, Role
from meshpace.study.measures import Measure, Values, difference, of
from meshpace.study.model import Cell, Condition
from meshpace.study.outcome import Outcome
from meshpace.study.quantities import FLOW_GOODPUT, JAIN, LOG_UTILITY, Quantity
from meshpace.study.rules import NO_FAIRNESS, NO_GAIN, Rule, Show, equality, order
from meshpace.study.words import difference as signed
from meshpace.study.words import percent, share

LOWER, HIGHER = order(NO_GAIN, rises=False), order(NO_GAIN)
FAR_LOWER = -0.2
"""Of r - 1: the catalogue's "far lower"."""
SIGNIFICANT = Rule("MUCH", low=0.1, neutral=0.0, margin=NO_GAIN)
CLOSE = equality(-0.1, 0.1)
FAIRER, LESS_FAIR = order(NO_FAIRNESS), order(NO_FAIRNESS, rises=False)
DRAMATICALLY_FAIRER = Rule("MUCH", low=0.1, neutral=0.0, margin=NO_FAIRNESS)
COMPARABLE = equality(-0.05, 0.05)
MORE_USE, LESS_USE = order(), order(rises=False)
MOSTLY = Rule("ORDER", low=2 / 3)
""" "Generally", "tends": at two thirds of the cells, run by run."""
USEFUL = 0.1
"""A significant gain of utility, a flow."""


def claim(number: str, statement: str, figure: str, printed: str, *asks: Ask, value: float | None = None) -> Claim:
    """A claim of the thesis. Its ids carry its name, since papers count figures alike."""
    cause = _switches(asks[0])
    return Claim(f"byu {number}", statement, figure, f"{THESIS}, {figure}", printed, asks, value, cause)


def _switches(ask: Ask) -> str | None:
    """The study of switches for a number that is read at each of its points, one with two flows among them."""
    study = ask.studies[0]
    apart = len(ask.studies) > 1 or ask.measure.along is not None or ask.measure.once or ask.against is not None
    if apart or study.split("-")[1] not in {"ap", "few", "da", "ad"} or "table" in study:
        return None
    single = [label for label in ask.points or () if label.startswith(("1 flow", "5 flows"))]
    return None if ask.points and len(single) == len(ask.points) else f"byu-switches-{study.split('-')[2]}"


def relative(quantity: Quantity, scheme: str, over: str = "tahoe") -> Measure:
    """R - 1 of the catalogue, r the ratio of two means: by seed the paired difference over the mean of ``over``.

    A mean of ratios would let single runs in which the control collapsed speak for all.
    """

    def take(outcome: Outcome, condition: Condition, point: str) -> Values:
        ours, theirs = (outcome.values(Cell(condition, name, point), quantity) for name in (scheme, over))
        middle = _mean(theirs)
        if not middle:
            return [None] * len(ours)
        pairs = zip(ours, theirs, strict=False)
        return [None if a is None or b is None else (a - b) / middle for a, b in pairs]

    return Measure((over, scheme), take, quantity)


def _mean(values: Values) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def along(measure: Measure, points: Sequence[str], sum_up: Callable[[list[float]], float | None]) -> Measure:
    """By seed one number of those at several points of the plan."""

    def take(outcome: Outcome, condition: Condition, _: str) -> Values:
        run = {point.label for point in outcome.study.points(outcome.effort)}
        columns = [measure.take(outcome, condition, point) for point in points if point in run]
        rows = (list(row) for row in zip(*columns, strict=False))
        return [None if None in row else sum_up([value for value in row if value is not None]) for row in rows]

    return Measure(measure.schemes, take, measure.quantity, along=tuple(points), once=True, beside=measure.beside)


def part(measure: Measure, points: Sequence[str], holds: Callable[[float], bool]) -> Measure:
    """By seed the part of the points at which something holds."""
    return along(measure, points, lambda values: sum(map(holds, values)) / len(values))


def width(measure: Measure, points: Sequence[str]) -> Measure:
    """By seed the greatest number of several points less the least."""
    return along(measure, points, lambda values: max(values) - min(values))


def beside(measure: Measure, point: Callable[[str], str]) -> Measure:
    """A number at a point over the same number at ``point`` of that, less 1."""

    def take(outcome: Outcome, condition: Condition, label: str) -> Values:
        here, there = measure.take(outcome, condition, label), measure.take(outcome, condition, point(label))
        middle = _mean(there)
        if not middle:
            return [None] * len(here)
        pairs = zip(here, there, strict=False)
        return [None if a is None or b is None else (a - b) / middle for a, b in pairs]

    return Measure(measure.schemes, take, measure.quantity, along=())


def goodput(
    scheme: str,
    rule: Rule,
    study: str,
    points: Sequence[str],
    over: str = "tahoe",
    what: str = "Goodput against Tahoe",
    role: Role = Role.CLAIM,
) -> Ask:
    """R - 1 at points."""
    return Ask(relative(FLOW_GOODPUT, scheme, over), rule, percent, what, (study,), tuple(points), role=role)


def fairness(scheme: str, rule: Rule, study: str, points: Sequence[str], over: str = "tahoe") -> Ask:
    """Jain's index less another scheme's at points."""
    what = "Jain's index less Tahoe's" if over == "tahoe" else "Difference of Jain's index"
    return Ask(difference(JAIN, scheme, over), rule, signed, what, (study,), tuple(points))


def utility(scheme: str, rule: Rule, study: str, points: Sequence[str]) -> Ask:
    """Log utility less Tahoe's at points."""
    return Ask(difference(LOG_UTILITY, scheme, "tahoe"), rule, signed, "Utility less Tahoe's", (study,), tuple(points))


def value(quantity: Quantity, scheme: str, rule: Rule, show: Show, study: str, points: Sequence[str]) -> Ask:
    """A quantity of a scheme at points."""
    return Ask(of(quantity, scheme), rule, show, quantity.title.capitalize(), (study,), tuple(points))


def at_most_of(measure: Measure, study: str, points: Sequence[str], holds: Callable[[float], bool], what: str) -> Ask:
    """That something holds at two thirds of the points."""
    return Ask(part(measure, points, holds), MOSTLY, share, what, (study,))


def above(value: float) -> bool:
    """Of a difference."""
    return value > 0


def below(value: float) -> bool:
    """Of a difference."""
    return value < 0


def far_below(value: float) -> bool:
    """Of r - 1."""
    return value <= FAR_LOWER
