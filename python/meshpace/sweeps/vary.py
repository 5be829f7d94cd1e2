"""What varies: one key, or several that move together, and their values."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from meshpace.sweeps.errors import SweepError

_FORM = "KEY.PATH=V1,V2,..., or keys that move together: KEY1,KEY2=V1:W1,V2:W2,..."
_T = TypeVar("_T")
_OPENING = {"[": "]", "{": "}", "(": ")"}


@dataclass(frozen=True, slots=True)
class Vary:
    """Keys and the values that they have together at each place."""

    keys: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        return f"{','.join(self.keys)}={','.join(':'.join(place) for place in self.values)}"


Settings = tuple[tuple[str, str], ...]
"""Pairs of a key path and its value."""


def parse(text: str) -> Vary:
    """What ``--vary`` says.

    Commas and colons inside quotes and brackets belong to their value; with one key colons do anyhow.

    Raises:
        SweepError: it is not of that form, or says something twice.
    """
    left, equals, right = text.partition("=")
    keys = tuple(key.strip() for key in left.split(","))
    if not equals or not all(keys) or not right.strip():
        raise SweepError(f"--vary {text}: found no keys with values; allowed: {_FORM}")
    if twice := _repeated(keys):
        raise SweepError(f"--vary {text}: the key {twice} stands there twice")
    values = []
    for place in _split(right, ","):
        parts = tuple(part.strip() for part in _split(place, ":")) if len(keys) > 1 else (place.strip(),)
        if len(parts) != len(keys) or not all(parts):
            raise SweepError(
                f"--vary {text}: found {place.strip()!r}; allowed: {len(keys)} value{'s' * (len(keys) > 1)} "
                f"with a colon between, for {', '.join(keys)}"
                if len(keys) > 1
                else f"--vary {text}: found an empty value; allowed: {_FORM}"
            )
        values.append(parts)
    if again := _repeated(values):
        raise SweepError(f"--vary {text}: {':'.join(again)} stands there twice")
    return Vary(keys, tuple(values))


def combinations(varies: Sequence[Vary]) -> list[Settings]:
    """Every combination of the places, the last ``Vary`` moving fastest; one empty setting if nothing varies.

    Raises:
        SweepError: two of them vary the same key.
    """
    if twice := _repeated([key for vary in varies for key in vary.keys]):
        raise SweepError(f"--vary: two of them vary {twice}; keys that move together stand in one --vary, with commas")
    pairs = [[tuple(zip(vary.keys, place, strict=True)) for place in vary.values] for vary in varies]
    return [tuple(pair for group in groups for pair in group) for groups in itertools.product(*pairs)]


def _repeated(items: Iterable[_T]) -> _T | None:
    seen = set()
    for item in items:
        if item in seen:
            return item
        seen.add(item)
    return None


def _split(text: str, at: str) -> list[str]:
    """Parts of ``text``; what stands in quotes or brackets is not split."""
    parts, begin, closers, quote = [], 0, "", ""
    for index, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in _OPENING:
            closers += _OPENING[letter]
        elif closers and letter == closers[-1]:
            closers = closers[:-1]
        elif letter == at and not closers:
            parts.append(text[begin:index])
            begin = index + 1
    return [*parts, text[begin:]]
