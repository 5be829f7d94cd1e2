"""Tables in plain text, for commands that take a moment: rich takes four times as long to load as Python itself."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from textwrap import wrap
from typing import NamedTuple

_NARROWEST, _GAP = 132, "  "


class Column(NamedTuple):
    """A head, of several lines perhaps, and where the cells stand. ``flows`` wraps what does not fit."""

    head: str
    right: bool = False
    flows: bool = False


def table(columns: Sequence[Column], rows: Sequence[Sequence[str]], *, width: int | None = None) -> str:
    """Heads, a line, the rows; as wide as the terminal, but at least wide enough to read."""
    widths = [max(map(len, [*column.head.split("\n"), *(row[i] for row in rows)])) for i, column in enumerate(columns)]
    flowing = [i for i, column in enumerate(columns) if column.flows]
    if flowing:
        left = (width or _width()) - 1 - sum(widths) - len(_GAP) * (len(widths) - 1) + sum(widths[i] for i in flowing)
        widths = _shared(widths, flowing, left)
    heads = [column.head.split("\n") for column in columns]
    lines = _lines(columns, heads, widths)
    lines.append(" " + "─" * (sum(widths) + len(_GAP) * (len(widths) - 1)))
    for row in rows:
        cells = [_wrapped(cell, widths[i]) if columns[i].flows else [cell] for i, cell in enumerate(row)]
        lines += _lines(columns, cells, widths)
    return "\n".join(lines)


def _wrapped(cell: str, width: int) -> list[str]:
    # Most cells fit, and finding that out as `wrap` does takes a list of studies as long as an empty Python's start.
    return [cell] if len(cell) <= width and cell.isprintable() else wrap(cell, width) or [""]


def _width() -> int:
    if not sys.stdout.isatty():
        return _NARROWEST
    from shutil import get_terminal_size

    return max(_NARROWEST, get_terminal_size().columns)


def _shared(widths: list[int], flowing: Sequence[int], left: int) -> list[int]:
    """Shares the remaining width among the columns that wrap.

    Each gets the width that it needs, or an equal part of the rest.
    """
    found = list(widths)
    for nth, i in enumerate(sorted(flowing, key=lambda i: widths[i])):
        found[i] = max(1, min(widths[i], left // (len(flowing) - nth)))
        left -= found[i]
    return found


def _lines(columns: Sequence[Column], cells: Sequence[Sequence[str]], widths: Sequence[int]) -> list[str]:
    lines = []
    for n in range(max(map(len, cells))):
        words = (cell[n] if n < len(cell) else "" for cell in cells)
        placed = (
            word.rjust(size) if column.right else word.ljust(size)
            for word, column, size in zip(words, columns, widths, strict=True)
        )
        lines.append(f" {_GAP.join(placed)}".rstrip())
    return lines
