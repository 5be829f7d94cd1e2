"""A sweep as a report: the network drawn, a film of it, charts with bands, the numbers, what repeats each point."""

from __future__ import annotations

from meshpace import engine
from meshpace.cli.tables import show
from meshpace.report.films import filmed
from meshpace.report.model import Download, Film, Report, Section, Table, Topology
from meshpace.report.places import reach_in_words, topology
from meshpace.study.record import running
from meshpace.sweeps import by_flow, delays, over_time
from meshpace.sweeps.figures import point_name, shown, views, written
from meshpace.sweeps.make import Swept
from meshpace.sweeps.model import Cell, Source
from meshpace.sweeps.show import told
from meshpace.sweeps.table import as_csv, table

_FILMS = 3
"""Schemes that are filmed: side by side they still fit a screen."""


def report(swept: Swept) -> Report:
    """The page of a sweep."""
    names = swept.scenario_names()
    return page(
        swept, f"Sweep of {', '.join(names.values())}",
        "Means over the seeds; bands, whiskers and ± are 95 % confidence intervals (Student's t).", section(swept),
    )  # fmt: skip


def page(swept: Swept, title: str, lead: str, first: Section) -> Report:
    """A page of a sweep's runs: ``first``, then the networks."""
    runs = [run for group in swept.runs.values() for run in group]
    names = swept.scenario_names()
    networks = (_network(swept, source, names[source]) for source in swept.sweep.sources)
    sections = [first, *_over_time(swept), *networks]
    return Report(
        title=title,
        lead=lead,
        facts=(
            ("engine", str(running())),
            ("made by", swept.sweep.command(None if swept.precision is None else str(swept.precision))),
            ("points", f"{len(swept.runs):,}"),
            ("runs", f"{len(runs):,}"),
            ("simulated", f"{sum(run['simulated_s'] for run in runs) / 3600:,.1f} hours"),
        ),
        claims=(),
        sections=tuple(sections),
        notes=(
            *told(swept),
            delays.READING,
            "Charts by plotly.js (MIT licence), which this page carries; nothing is fetched.",
        ),
        interactive=True,
    )


def section(swept: Swept) -> Section:
    """What the sweep came to."""
    varied = "; ".join(map(str, swept.sweep.varies))
    return Section(
        title="Results",
        lead=f"What varies: {varied}." if varied else "The schemes side by side.",
        views=views(swept),
        tables=(_numbers(swept), _flows(swept)),
        commands=tuple(swept.command(cell) for cell in swept.runs),
        downloads=(Download("sweep.csv", "Every run as CSV", as_csv(table(swept))),),
    )


def _over_time(swept: Swept) -> list[Section]:
    """Latency under load, where the sweep has echoes."""
    view = over_time.view(swept)
    if view is None:
        return []
    return [
        Section(
            title=over_time.NAME,
            lead="One run each, seed 1: what all bulk flows together get each way, second by second, and the latest "
            "round trip of echoes, every 0.25 s.",
            views=(view,),
            commands=tuple(dict.fromkeys(one.commands[0] for chart in view.charts for one in chart.series)),
        )
    ]


def _numbers(swept: Swept) -> Table:
    quantities, names = shown(swept), swept.scenario_names()
    keys = ("scenario", *swept.sweep.keys, "scheme")
    rows = []
    for cell, runs in swept.runs.items():
        values = (show(swept.estimate(cell, q), (q.factor, q.decimals)) for q in quantities)
        where = (names[cell.source], *(value for _, value in cell.point), written(cell.scheme))
        rows.append((*where, str(len(runs)), *values))
    heads = (f"{quantity.title}\n{quantity.unit}".strip() for quantity in quantities)
    return Table("Numbers", (*keys, "seeds", *heads), tuple(rows), keys=len(keys))


def _flows(swept: Swept) -> Table:
    names = swept.scenario_names()
    keys = ("scenario", *swept.sweep.keys, "scheme")
    rows = tuple(
        (names[cell.source], *(value for _, value in cell.point), written(cell.scheme), *row)
        for cell, runs in swept.runs.items()
        for row in by_flow.rows(runs)
    )
    return Table("By flow", (*keys, *by_flow.HEADS), rows, keys=len(keys) + 2, folded=True)


def _network(swept: Swept, source: Source, name: str) -> Section:
    """The scenario at the middle of what varies, with its films."""
    cells = [cell for cell in swept.runs if cell.source == source]
    points = list(dict.fromkeys(cell.point for cell in cells))
    point = points[len(points) // 2]
    here = [cell for cell in cells if cell.point == point][:_FILMS]
    where = f" at {point_name(point)}" if point else ""
    return Section(
        title=f"The network: {name}",
        lead=f"As drawn by seed 1{where}; below, a quarter of a second of what is on the air after the warm-up.",
        topology=drawn(engine.resolve(swept.sweep.job(here[0], 1))),
        films=tuple(film(swept, cell) for cell in here),
    )


def drawn(resolved: dict[str, object]) -> Topology:
    """A resolved scenario to be drawn, with its ranges told."""
    mesh = resolved["mesh"]
    assert isinstance(mesh, list)
    return topology(resolved, f"{len(mesh)} mesh nodes; {reach_in_words(resolved)}; arrows are flows.")


def film(swept: Swept, cell: Cell) -> Film:
    """A quarter of a second of a cell's first run."""
    return filmed(swept.sweep.job(cell, 1), written(cell.scheme))
