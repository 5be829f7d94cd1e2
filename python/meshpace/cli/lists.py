"""``meshpace schemes`` and ``meshpace scenarios``."""

from __future__ import annotations

import tomllib

from rich import box
from rich.table import Table

from meshpace import engine
from meshpace.cli.terminal import console
from meshpace.project import scenario_directory, shown


def print_schemes() -> None:
    """One row a scheme, one column a place."""
    rows = engine.schemes()
    table = Table(box=box.SIMPLE_HEAD)
    columns = list(rows[0])
    for column in columns:
        table.add_column(column.replace("_", " "))
    for row in rows:
        table.add_row(*(_cell(row[column]) for column in columns))
    console().print(table)


def _cell(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


def print_scenarios() -> None:
    """One row a file: path, description, source."""
    table = Table("file", "what it shows", "source", box=box.SIMPLE_HEAD)
    for path in sorted(scenario_directory().glob("*.toml")):
        head = tomllib.loads(path.read_text()).get("scenario", {})
        table.add_row(shown(path), head.get("description", ""), head.get("source", ""))
    console().print(table)
