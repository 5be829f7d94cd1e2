"""A study's outcome as a section of the report."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyarrow import csv as arrow_csv

from meshpace import engine
from meshpace.cli.tables import show
from meshpace.report.figures import command, views
from meshpace.report.model import Claim, Download, Section, Table, Topology
from meshpace.report.places import reach_in_words, topology
from meshpace.study.model import ROUTING_NAMES, scheme_name
from meshpace.study.outcome import Outcome, to_table
from meshpace.study.telling import decisions
from meshpace.study.words import at


def study_section(outcome: Outcome, claims: tuple[Claim, ...], order: Sequence[str]) -> Section:
    """The topology, the claims, the figures, the numbers, the commands, the data.

    Schemes look by their place in ``order``.
    """
    study, plan = outcome.study, outcome.study.plan(outcome.effort)
    length = ", ".join(f"{key.removeprefix('measure.')} {value}" for key, value in plan.measure)
    notes = [
        f"{study.name} ({outcome.effort}): seeds 1 to {plan.seeds} of each point"
        + (f", {length}." if length else ", measured as the scenario says.")
    ]
    if study.notes:
        notes.append(f"Assumptions: {study.notes}")
    if turned := decisions(study):
        notes.append(f"Open decisions that it turns: {turned}.")
    if outcome.missing:
        total = sum(map(len, outcome.records.values()))
        notes.insert(0, f"Incomplete: {outcome.missing:,} of {total:,} runs are not in the store.")
    return Section(
        title=_title(outcome),
        lead=study.shows,
        views=views(outcome, order) if outcome.records else (),
        tables=(_numbers(outcome),) if outcome.records else (),
        commands=tuple(dict.fromkeys(command(outcome, cell) for cell in outcome.records)),
        claims=claims,
        topology=drawn(outcome) if outcome.records else None,
        downloads=downloads(outcome) if outcome.records else (),
        notes=tuple(notes),
    )


def downloads(outcome: Outcome) -> tuple[Download, ...]:
    """Its numbers as files that the page holds."""
    name = outcome.study.name
    return (
        Download(f"{name}-means.csv", "Means with confidence intervals as CSV", _means(outcome)),
        Download(f"{name}-runs.csv", "Every run as CSV", _runs(outcome)),
    )


def _title(outcome: Outcome) -> str:
    figures = ", ".join(outcome.study.figures)
    return f"{outcome.study.title} ({figures})" if figures else outcome.study.title


def drawn(outcome: Outcome) -> Topology:
    """The study's topology: at the middle of an axis of numbers, else at its first point, with the first seed."""
    cells = list(outcome.records)
    points = outcome.study.points(outcome.effort)
    point = points[len(points) // 2 if points[0].value is not None else 0]
    cell = next(cell for cell in cells if cell.point == point.label)
    resolved = engine.resolve(outcome.study.job(cell, 1, outcome.effort))
    varies = point.value is not None and any(key.startswith("topology.") for key, _ in point.settings)
    where = f", drawn at {at(point.label, f' {outcome.study.axis.title}')}" if varies and len(points) > 1 else ""
    wired = ", ".join(
        sorted({f"{link['rate_bps'] / 1e6:g} Mbit/s and {link['delay_s'] * 1e3:g} ms" for link in resolved["links"]})
    )
    caption = (
        f"{len(resolved['mesh'])} mesh nodes{where}; {reach_in_words(resolved)}"
        + (f"; wired links of {wired}" if wired else "")
        + "; arrows are flows."
    )
    return topology(resolved, caption)


def _numbers(outcome: Outcome) -> Table:
    study = outcome.study
    along = len(study.axis.points) > 1
    heads = [f"{q.title}\n{q.unit}".strip() for q in study.quantities]
    keys = ["routing", "reception", *([study.axis.title] if along else []), "scheme"]
    rows = []
    for cell in outcome.records:
        place = [cell.point] if along else []
        values = (show(outcome.estimate(cell, q), (q.factor, q.decimals)) for q in study.quantities)
        condition = [ROUTING_NAMES[cell.condition.routing], cell.condition.reception]
        rows.append((*condition, *place, scheme_name(cell.scheme), *values))
    return Table("Numbers", (*keys, *heads), tuple(rows), keys=len(keys), folded=True)


def _means(outcome: Outcome) -> str:
    """In the units of the results, a row a cell and quantity."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ["study", "routing", "reception", "scheme", "point", "quantity", "mean", "half_width_95", "runs", "command"]
    )
    writer.writerows(_mean_rows(outcome))
    return text.getvalue()


def _mean_rows(outcome: Outcome) -> Iterator[list[object]]:
    for cell in outcome.records:
        for quantity in outcome.study.quantities:
            value = outcome.estimate(cell, quantity)
            if value is not None:
                where = [cell.condition.routing, cell.condition.reception, cell.scheme, cell.point]
                numbers = [value.mean, "" if value.half_width is None else value.half_width, value.count]
                yield [outcome.study.name, *where, quantity.name, *numbers, command(outcome, cell)]


def _runs(outcome: Outcome) -> str:
    table = to_table(outcome)
    # What repeats a run is in its key, and in the other file.
    sink = pa.BufferOutputStream()
    arrow_csv.write_csv(table.drop_columns(["command"]), sink)
    return str(sink.getvalue().to_pybytes(), "utf-8")
