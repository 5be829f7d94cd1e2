"""The looks of series: a colour and a pattern by place, so that any number of schemes can be told apart.

Neighbours differ in both: lines have marks and dashes, bars a pattern, so that nobody has to go by colour alone.
People who cannot tell red from green can tell the colours apart; a test measures it. The style sheet
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
    """Which pattern: the first has none, its neighbour another, and no two of one colour the same."""
    return (place % COLOURS + row(place)) % PATTERNS


def row(place: int) -> int:
    """How often all colours have been used before."""
    return place // COLOURS % PATTERNS


def style(place: int) -> str:
    """The classes of the style sheet."""
    return f"s{colour(place)}" + (f" p{pattern(place)}" if pattern(place) else "")


def dash(place: int) -> int:
    """Which of six kinds of lines; no two of one colour have the same."""
    return (place + row(place)) % COLOURS
