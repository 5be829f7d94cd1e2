"""Screening designs: many open decisions tried together, each at two readings, in few combinations.

A fractional factorial of resolution IV (Box, Hunter and Hunter, Statistics for Experimenters, 2nd ed., chapter 6):
what a decision does by itself is clear of what any other does and of what any two do together; two together are not
told from other two.
"""

from __future__ import annotations

import itertools
import string
from collections.abc import Sequence
from dataclasses import dataclass

from meshpace.study.model import AS_IS, Axis, Point

MOST = 16
"""Decisions that a design has at most: 32 combinations."""
Row = tuple[bool, ...]
"""Which decisions are at their other reading."""


@dataclass(frozen=True, slots=True)
class Design:
    """Combinations of readings, the first with none turned and the last with all."""

    rows: tuple[Row, ...]
    generators: tuple[str, ...]
    """``f = abc``: what the decisions beyond the first follow from, each in the letters of these."""


def letters(count: int) -> str:
    """What decisions are called in combinations: ``a``, ``b`` and on."""
    return string.ascii_lowercase[:count]


def design(count: int) -> Design:
    """The smallest of resolution IV for so many decisions; all combinations where there are three at most.

    Decisions are columns: products of an odd number of basic ones. That of two of them is one of an even number, so it
    is no column, whichever two.

    Raises:
        ValueError: there are more than :data:`MOST`, or none.
    """
    if not 1 <= count <= MOST:
        raise ValueError(f"{count} decisions, 1 to {MOST} are possible")
    basic = 1
    while 2 ** (basic - 1) < count:
        basic += 1
    odd = [chosen for size in range(1, basic + 1, 2) for chosen in itertools.combinations(range(basic), size)]
    columns = odd[:count]
    rows = tuple(
        tuple(sum(row[at] for at in chosen) % 2 == 1 for chosen in columns)
        for row in itertools.product((False, True), repeat=basic)
    )
    named = letters(count)
    generators = tuple(
        f"{named[at]} = {''.join(named[one] for one in chosen)}" for at, chosen in enumerate(columns) if len(chosen) > 1
    )
    return Design(rows, generators)


def label(row: Row) -> str:
    """Yates's name of a combination: the letters of what is turned, ``acf``."""
    return "".join(letter for letter, turned in zip(letters(len(row)), row, strict=True) if turned) or AS_IS


def clash(factors: Sequence[Point]) -> tuple[str, str, str] | None:
    """Two readings that cannot be taken together, and what both set; None if all can."""
    said: dict[str, str] = {}
    for factor in factors:
        keys = [key for key, _ in factor.settings]
        keys += [name for name in ("routing", "reception") if getattr(factor, name) is not None]
        for key in keys:
            if key in said:
                return said[key], factor.label, key
            said[key] = factor.label
    return None


def axis(title: str, factors: Sequence[Point]) -> Axis:
    """The combinations of a design as points of an axis; ``as it is`` is that in which nothing is turned."""
    points = []
    for row in design(len(factors)).rows:
        turned = [factor for factor, here in zip(factors, row, strict=True) if here]
        points.append(
            Point(
                label(row),
                tuple(pair for factor in turned for pair in factor.settings),
                routing=next((factor.routing for factor in turned if factor.routing), None),
                reception=next((factor.reception for factor in turned if factor.reception), None),
            )
        )
    return Axis(title, "", tuple(points), factors=tuple(factors))
