"""The terminal."""

from __future__ import annotations

from rich.console import Console

_WIDEST_TABLE = 132


class _Plain(Console):
    def on_broken_pipe(self) -> None:
        """Rich would end with exit status 1; the reader has seen enough, which is no failure."""
        raise BrokenPipeError


def console() -> Console:
    """A console wide enough for the tables: a narrow terminal wraps lines, which reads better than cut columns."""
    plain = _Plain()
    return plain if plain.is_terminal and plain.width >= _WIDEST_TABLE else _Plain(width=_WIDEST_TABLE)
