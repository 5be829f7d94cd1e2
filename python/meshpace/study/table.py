"""``meshpace study table``: what the quantities of a study came to, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from meshpace.cli.failure import InputError
from meshpace.study import registry
from meshpace.study.decide import noted
from meshpace.study.model import Cell, Condition, Effort, scheme_name
from meshpace.study.outcome import Outcome, load
from meshpace.study.quantities import Quantity
from meshpace.study.record import running
from meshpace.study.store import Store


def print_tables(names: list[str], effort: Effort, directory: Path, profile: str | None = None) -> None:
    """A table a study and condition, of the runs that the store holds.

    Raises:
        InputError: a study has none, or not all of its plan.
        UnknownStudyError: a name stands for none.
        OSError: the store is damaged.
    """
    studies = registry.find(names, profile)
    more, _ = noted(directory, effort, running())
    outcomes = load(Store(directory), studies, effort, more=more)
    for outcome in outcomes:
        if outcome.missing:
            raise InputError(
                f"{outcome.study.name}: {outcome.missing} runs are not in {directory}; "
                f"make them: meshpace study run {outcome.study.name} --{effort} --store {directory}"
            )
    for outcome in outcomes:
        if outcome.records:
            print("\n".join(lines(outcome)))


def lines(outcome: Outcome) -> Iterator[str]:
    """The tables of one study: a row a point and scheme, a column a quantity, means with 95 % intervals."""
    study = outcome.study
    yield f"## {study.title} ({study.name}, {outcome.effort}, {outcome.plan_seeds} seeds)"
    for condition in dict.fromkeys(cell.condition for cell in outcome.records):
        yield ""
        yield f"{condition.name}:"
        yield ""
        columns = [quantity for quantity in study.quantities if _applies(outcome, condition, quantity)]
        heads = (f"{quantity.title}{f' ({quantity.unit})' if quantity.unit else ''}" for quantity in columns)
        yield f"| {study.axis.title or 'point'} | scheme | {' | '.join(heads)} |"
        yield f"|---|---|{'--:|' * len(columns)}"
        for point in study.points(outcome.effort):
            for scheme in study.schemes:
                cell = Cell(condition, scheme, point.label)
                numbers = (_shown(outcome, cell, quantity) for quantity in columns)
                yield f"| {point.label} | {scheme_name(scheme)} | {' | '.join(numbers)} |"
    yield ""


def _applies(outcome: Outcome, condition: Condition, quantity: Quantity) -> bool:
    cells = (cell for cell in outcome.records if cell.condition == condition)
    return any(value is not None for cell in cells for value in outcome.values(cell, quantity))


def _shown(outcome: Outcome, cell: Cell, quantity: Quantity) -> str:
    value = outcome.estimate(cell, quantity)
    if value is None:
        return "-"
    width = "" if value.half_width is None else f" ± {value.half_width * quantity.factor:.{quantity.decimals}f}"
    return f"{value.mean * quantity.factor:.{quantity.decimals}f}{width}"
