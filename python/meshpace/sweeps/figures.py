"""A sweep as charts: one quantity over what varies first, a chart a combination of the rest, a line a scheme."""

from __future__ import annotations

from collections.abc import Sequence

from meshpace.report.model import Chart, Series, View
from meshpace.results import RunResult
from meshpace.study import quantities
from meshpace.study.model import scheme_name
from meshpace.study.quantities import Quantity
from meshpace.sweeps import delays, fairness
from meshpace.sweeps.make import Swept
from meshpace.sweeps.model import AS_WRITTEN, Cell, Source
from meshpace.sweeps.vary import Settings, Vary, combinations


def shown(swept: Swept) -> tuple[Quantity, ...]:
    """What tables and figures show of these runs: fairness only where several flows share."""
    return of_runs(list(swept.runs.values()))


def of_runs(groups: Sequence[Sequence[RunResult]]) -> tuple[Quantity, ...]:
    """Fairness only where several flows share, echoes only where the sweep has them."""
    flows = [runs[0]["flows"] for runs in groups if runs]
    fair = fairness.quantities_of(flows)
    echoes = delays.ECHOES if any(flow["app"] == "echo" for some in flows for flow in some) else ()
    one_way = delays.DELAYS if any(flow["app"] != "echo" for some in flows for flow in some) or not echoes else ()
    return (
        quantities.GOODPUT, *fair, *one_way, *echoes, delays.RTT, quantities.RESENT, quantities.TIMEOUTS,
        quantities.GIVEN_UP, quantities.ROUTE_FAILURES,
    )  # fmt: skip


def views(swept: Swept) -> tuple[View, ...]:
    """Latency under load first, where the sweep has echoes, then a view a quantity.

    Where nothing varies, mean and quantiles of delays stand side by side.
    """
    together = {}
    if not swept.sweep.varies:
        together = {delays.DELAY: ("One-way delay", delays.DELAYS), delays.ECHO: ("Latency under load", delays.ECHOES)}
    beside = {quantity for _, group in together.values() for quantity in group} - together.keys()
    ordered = sorted((q for q in shown(swept) if q not in beside), key=lambda q: q not in delays.ECHOES)
    return tuple(latency(swept, *together[q]) if q in together else _view(swept, q) for q in ordered)


def latency(swept: Swept, name: str, together: Sequence[Quantity]) -> View:
    """Mean and quantiles of delays side by side, a chart a scenario, a colour a scheme."""
    names = swept.scenario_names()
    charts = []
    for source in swept.sweep.sources:
        cells = [cell for cell in swept.runs if cell.source == source]
        commands = {cell: (swept.command(cell),) * len(together) for cell in cells}
        series = tuple(
            Series(written(cell.scheme), tuple(swept.estimate(cell, q) for q in together), commands[cell])
            for cell in cells
        )
        first, what = together[0], tuple(quantity.title.rpartition(", ")[2] for quantity in together)
        title = names[source] if len(names) > 1 else name
        charts.append(Chart(title, what, "", "ms", series, first.factor, first.decimals, bars=True))
    return View(name, tuple(charts), shared=True)


def point_name(point: Settings) -> str:
    """``topology.hops = 4, flow.0.to = n4``; empty where nothing varies."""
    return ", ".join(f"{key} = {value}" for key, value in point)


def place_name(swept: Swept, cell: Cell) -> str:
    """The cell's name among the others: scenario, varied values, scheme; empty if there is only one cell."""
    names = swept.scenario_names()
    where = [*([names[cell.source]] if len(names) > 1 else []), *([point_name(cell.point)] if cell.point else [])]
    return ", ".join([*where, *([written(cell.scheme)] if len(swept.sweep.schemes) > 1 else [])])


def written(scheme: str | None) -> str:
    """A scheme as readers know it."""
    return AS_WRITTEN if scheme is None else scheme_name(scheme)


def _view(swept: Swept, quantity: Quantity) -> View:
    sweep = swept.sweep
    axis = next((vary for vary in sweep.varies if len(vary.values) > 1 and _places(vary)), None)
    axis = axis or (sweep.varies[0] if sweep.varies else None)
    rest = [vary for vary in sweep.varies if vary is not axis]
    names = swept.scenario_names()
    charts = []
    for source in sweep.sources:
        for other in combinations(rest):
            where = [*([names[source]] if len(names) > 1 else []), *([point_name(other)] if other else [])]
            charts.append(_chart(swept, quantity, axis, source, other, ", ".join(where)))
    return View(quantity.title[:1].upper() + quantity.title[1:], tuple(charts), shared=True)


def _chart(
    swept: Swept, quantity: Quantity, axis: Vary | None, source: Source, other: Settings, title: str
) -> Chart:  # fmt: skip
    sweep = swept.sweep
    along: Sequence[Settings] = [()] if axis is None else combinations([axis])
    series = []
    for scheme in sweep.schemes:
        cells = [_cell(sweep.keys, source, scheme, (*other, *place)) for place in along]
        values = tuple(swept.estimate(cell, quantity) for cell in cells)
        series.append(Series(written(scheme), values, tuple(swept.command(cell) for cell in cells)))
    x = None if axis is None else _places(axis)
    return Chart(
        title=title or quantity.title,
        axis=(quantity.title,) if axis is None else tuple(place[0] for place in axis.values),
        axis_title="" if axis is None else ", ".join(axis.keys),
        unit=quantity.unit,
        series=tuple(series),
        factor=quantity.factor,
        decimals=quantity.decimals,
        bars=x is None,
        top=None if quantity.top is None else quantity.top * quantity.factor,
        x=x,
    )


def _cell(keys: Sequence[str], source: Source, scheme: str | None, values: Settings) -> Cell:
    """The cell of these values, in the order that the sweep's cells have."""
    by_key = dict(values)
    return Cell(source, scheme, tuple((key, by_key[key]) for key in keys))


def _places(vary: Vary) -> tuple[float, ...] | None:
    """Where the values of the first key lie, if they are numbers that ascend."""
    try:
        found = tuple(float(place[0]) for place in vary.values)
    except ValueError:
        return None
    return found if len(found) > 1 and list(found) == sorted(found) else None
