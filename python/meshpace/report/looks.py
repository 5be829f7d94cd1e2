"""What tells series apart: a colour and a pattern by place, so that any number of schemes has a look of its own.

The first six are plain colours; the next six are the same colours with a pattern, and so on. The style sheet
(``style.css``), the plotting script (``plots.js``) and the figures for papers have the same colours and patterns.
"""

from __future__ import annotations

COLOURS = 6
PATTERNS = 5
"""None, then lines that lie, lines that stand, both, dots. After 30 series looks begin anew."""


def colour(place: int) -> int:
    """Which colour."""
    return place % COLOURS


def pattern(place: int) -> int:
    """Which pattern."""
    return place // COLOURS % PATTERNS


def style(place: int) -> str:
    """The classes of the style sheet."""
    return f"s{colour(place)}" + (f" p{pattern(place)}" if pattern(place) else "")


def dash(place: int) -> int:
    """Which of six kinds of lines; no two of one colour have the same."""
    return (place + pattern(place)) % COLOURS
