"""A study's outcome as charts: one form for what varies along an axis, one for a single point, one for time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from meshpace.report.model import Chart, Series, View
from meshpace.stats import Estimate, estimate
from meshpace.study import quantities
from meshpace.study.model import Cell, Condition, scheme_name
from meshpace.study.outcome import Outcome
from meshpace.study.quantities import Quantity

_JAIN = (quantities.JAIN, quantities.JAIN_1S, quantities.JAIN_10S, quantities.JAIN_100S)
_KBPS = 1e-3


def appearance(outcomes: Iterable[Outcome]) -> list[str]:
    """The schemes of several studies in the order in which they appear: a scheme looks the same in all of them."""
    return list(dict.fromkeys(scheme for outcome in outcomes for scheme in outcome.study.schemes))


def views(outcome: Outcome, order: Sequence[str] | None = None) -> tuple[View, ...]:
    """What the study shows, the most important first; schemes look by their place in ``order``, else in the study."""
    study = outcome.study
    order = study.schemes if order is None else order
    if len(study.axis.points) > 1:
        return tuple(_over_axis(outcome, quantity, order) for quantity in study.quantities)
    flows = [quantity for quantity in study.quantities if quantity in quantities.FLOWS]
    jain = [quantity for quantity in study.quantities if quantity in _JAIN]
    rest = [quantity for quantity in study.quantities if quantity not in flows and quantity not in jain]
    found = [View(_capital(q.title), (_over_conditions(outcome, q, order),)) for q in rest]
    if jain:
        found.insert(
            0, _beside(outcome, "Jain's index", jain, [q.title.removeprefix("Jain's index ") for q in jain], order)
        )
    if flows:
        names = [f"flow {index + 1}" for index in range(len(flows))]
        found.insert(0, _beside(outcome, "Goodput of each flow", flows, names, order))
    return (*_over_time(outcome), *found)


def conditions(outcome: Outcome) -> list[Condition]:
    """What the outcome was run under, in the study's order."""
    return list(dict.fromkeys(cell.condition for cell in outcome.records))


def command(outcome: Outcome, cell: Cell) -> str:
    """What repeats the runs of a cell."""
    return outcome.study.job(cell, 1, outcome.effort).command(seeds=outcome.study.plan(outcome.effort).seeds)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _top(quantity: Quantity) -> float | None:
    return None if quantity.top is None else quantity.top * quantity.factor


def _over_axis(outcome: Outcome, quantity: Quantity, order: Sequence[str]) -> View:
    """A chart a condition: the quantity over the axis."""
    axis, points = outcome.study.axis, outcome.study.points(outcome.effort)
    places = [point.value for point in points if point.value is not None]
    x = tuple(places) if len(places) == len(points) else None

    def chart(condition: Condition) -> Chart:
        series = tuple(
            _series(outcome, scheme, [(Cell(condition, scheme, point.label), quantity) for point in points], order)
            for scheme in outcome.study.schemes
        )
        return Chart(
            title=condition.name,
            axis=tuple(point.label for point in points),
            axis_title=f"{axis.title} ({axis.unit})" if axis.unit else axis.title,
            unit=quantity.unit,
            series=series,
            factor=quantity.factor,
            decimals=quantity.decimals,
            bars=x is None,
            top=_top(quantity),
            x=x,
            log=axis.logarithmic,
        )

    return View(_capital(quantity.title), tuple(map(chart, conditions(outcome))), shared=True)


def _beside(
    outcome: Outcome, name: str, beside: Sequence[Quantity], labels: Sequence[str], order: Sequence[str]
) -> View:
    """A chart a condition: several quantities of one kind side by side."""
    first, point = beside[0], outcome.study.axis.points[0].label

    def chart(condition: Condition) -> Chart:
        series = tuple(
            _series(outcome, scheme, [(Cell(condition, scheme, point), quantity) for quantity in beside], order)
            for scheme in outcome.study.schemes
        )
        return Chart(
            condition.name, tuple(labels), "", first.unit, series, first.factor, first.decimals, bars=True,
            top=_top(first),
        )  # fmt: skip

    return View(name, tuple(map(chart, conditions(outcome))), shared=True)


def _over_conditions(outcome: Outcome, quantity: Quantity, order: Sequence[str]) -> Chart:
    """The quantity under each condition."""
    point, under = outcome.study.axis.points[0].label, conditions(outcome)
    series = tuple(
        _series(outcome, scheme, [(Cell(condition, scheme, point), quantity) for condition in under], order)
        for scheme in outcome.study.schemes
    )
    axis = tuple(condition.name.replace(", ", "\n") for condition in under)
    return Chart(
        _capital(quantity.title), axis, "", quantity.unit, series, quantity.factor, quantity.decimals, bars=True,
        top=_top(quantity),
    )  # fmt: skip


def _series(outcome: Outcome, scheme: str, values: Sequence[tuple[Cell, Quantity]], order: Sequence[str]) -> Series:
    return Series(
        scheme_name(scheme),
        tuple(outcome.estimate(cell, quantity) for cell, quantity in values),
        tuple(command(outcome, cell) for cell, _ in values),
        place=order.index(scheme),
    )


def _over_time(outcome: Outcome) -> tuple[View, ...]:
    """A view a condition with a chart a scheme: the goodput of every flow second by second, if it was kept."""
    if not outcome.study.series:
        return ()
    point = outcome.study.axis.points[0].label
    return tuple(
        View(
            f"Goodput over time: {condition.name}",
            tuple(
                _seconds(outcome, Cell(condition, scheme, point), scheme_name(scheme))
                for scheme in outcome.study.schemes
            ),
            shared=True,
        )
        for condition in conditions(outcome)
    )


def _seconds(outcome: Outcome, cell: Cell, title: str) -> Chart:
    kept = [record.goodput_series() for record in outcome.records[cell] if record is not None]
    length = max((len(bins) for flows in kept for bins in flows.values()), default=0)
    repeat = command(outcome, cell)

    def second(flow: str, index: int) -> Estimate | None:
        return estimate([flows[flow][index] for flows in kept if index < len(flows.get(flow, ()))])

    names = dict.fromkeys(name for flows in kept for name in flows)
    return Chart(
        title=title,
        axis=tuple(f"{index + 1} s" for index in range(length)),
        axis_title="time (s)",
        unit="kbit/s",
        series=tuple(
            Series(f"flow {name}", tuple(second(name, index) for index in range(length)), (repeat,)) for name in names
        ),
        factor=_KBPS,
        decimals=0,
        x=tuple(float(index + 1) for index in range(length)),
    )
