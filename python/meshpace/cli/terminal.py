"""The terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

_WIDEST_TABLE = 132


class _Plain(Console):
    def print(self, *objects: Any, **how: Any) -> None:
        """Prints; a table whose cells need more than the terminal's width gets the width that they need.

        Rich would cut the cells. A number without its interval, or a name without its end, is worse than a long line.
        """
        own = self._width
        needed = max((_width(self, table) for table in objects if isinstance(table, Table)), default=0)
        self.width = max(self.width, needed)
        try:
            super().print(*objects, **how)
        finally:
            self._width = own

    def on_broken_pipe(self) -> None:
        """Rich would end with exit status 1; the reader has seen enough, which is no failure."""
        raise BrokenPipeError


def _width(plain: Console, table: Table) -> int:
    """What a table needs: columns that may not wrap have their longest cell, others their longest word."""
    free = plain.options.update(width=10_000)
    for column in table.columns:
        if column.no_wrap:
            cells = (column.header, *column.cells)
            column.min_width = max(Measurement.get(plain, free, cell).maximum for cell in cells)
    return Measurement.get(plain, free, table).minimum


def console() -> Console:
    """A console wide enough for the tables: a narrow terminal wraps lines, which reads better than cut columns."""
    plain = _Plain()
    return plain if plain.is_terminal and plain.width >= _WIDEST_TABLE else _Plain(width=_WIDEST_TABLE)
