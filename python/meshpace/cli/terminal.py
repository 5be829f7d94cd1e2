"""The terminal."""

from __future__ import annotations

from rich.console import Console

_WIDEST_TABLE = 132


def console() -> Console:
    """A console wide enough for the tables: a narrow terminal wraps lines, which reads better than cut columns."""
    plain = Console()
    return plain if plain.is_terminal and plain.width >= _WIDEST_TABLE else Console(width=_WIDEST_TABLE)
