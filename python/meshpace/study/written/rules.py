"""Rules of asks by their words; numbers are in the results' own unit, gains as parts of 1."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from meshpace.keyed import REQUIRED, Keys
from meshpace.study import words
from meshpace.study.quantities import Quantity
from meshpace.study.rules import EQUAL, NEARLY, NO_FAIRNESS, NO_GAIN, STARVES, Rule, Show, order, up_to
from meshpace.study.words import written
from meshpace.study.written.vocabulary import Asked

_MARGINS = {"goodput": NO_GAIN, "flow_goodput": NO_GAIN, "jain": NO_FAIRNESS}
"""The size that counts as no effect, where most claims have such a margin (rules.py)."""
_TREND = 0.2
"""A rank correlation nearer to zero is none (docs/studies.md, TREND)."""
_TOLERANCE = 0.10
"""Of UP-TO: 10 points."""
_RELATIVE = ("gain", "relative")

_Make = Callable[[Keys, float, "float | None"], Rule]


def rule(table: Keys, asked: Asked, printed: float | None) -> Rule:
    """The rule of an ask.

    Raises:
        KeyedFileError: there is no such word, or it lacks a number.
    """
    word = table.choice("rule", list(_RULES), REQUIRED)
    if word == "TREND" and not asked.measure.once:
        table.fail("rule", word, 'ORDER, or measure = "rank"')
    return _RULES[word](table, _margin(asked), printed)


def _margin(asked: Asked) -> float:
    """What is no effect unless a margin says so."""
    if asked.kind == "rank" or asked.along == "rank":
        return _TREND
    if asked.quantity is None:
        return 0.0
    relative = _MARGINS.get(asked.quantity.name, 0.0)
    return relative if (asked.kind in _RELATIVE) is (asked.quantity.name != "jain") else 0.0


def _band(word: str) -> _Make:
    def make(table: Keys, _: float, __: float | None) -> Rule:
        low, high = table.number("low", -math.inf), table.number("high", math.inf)
        if math.isinf(low) and math.isinf(high):
            table.fail("rule", f"{word} without an end", "low, high or both")
        if low > high or (low == high and word != "EQUALITY"):
            table.fail("low", f"{low:g} with high = {high:g}", "low below high")
        neutral = table.number("neutral")
        if neutral is not None and low < neutral < high:
            table.fail("neutral", f"{neutral:g}", "what would be no effect: at or outside the band")
        return Rule(word, low, high, neutral, table.number("margin", 0.0))

    return make


def _order(*, rises: bool) -> _Make:
    def make(table: Keys, margin: float, _: float | None) -> Rule:
        return order(table.number("margin", margin), rises=rises)

    return make


def _trend(table: Keys, margin: float, _: float | None) -> Rule:
    if "way" not in table and ("low" in table or "high" in table):
        return _band("TREND")(table, margin, None)
    found = order(table.number("margin", margin), rises=table.choice("way", ("rises", "falls"), REQUIRED) == "rises")
    return replace(found, word="TREND")


def _up_to(table: Keys, margin: float, printed: float | None) -> Rule:
    if "low" in table or "high" in table:
        return _band("UP-TO")(table, margin, None)
    if printed is None:
        table.fail("rule", "UP-TO in a claim without a value", "value = 0.4 in its claim")
    return up_to(printed, table.number("tolerance", _TOLERANCE))


def _about(table: Keys, margin: float, printed: float | None) -> Rule:
    """A printed value within a part of it (``tolerance``) or a number (``within``)."""
    if "tolerance" not in table and "within" not in table:
        return _band("VALUE")(table, margin, None)
    if printed is None:
        table.fail("rule", "VALUE within a tolerance in a claim without a value", "value = 0.4 in its claim")
    part, width = table.number("tolerance"), table.number("within")
    low, high = (printed * (1 - part), printed * (1 + part)) if part is not None else (printed - width, printed + width)
    return Rule("VALUE", low, high, table.number("neutral"), table.number("margin", 0.0))


def _fixed(name: str, found: Rule) -> _Make:
    def make(table: Keys, margin: float, printed: float | None) -> Rule:
        return _band(name)(table, margin, printed) if "low" in table or "high" in table else found

    return make


_RULES: dict[str, _Make] = {
    "MORE": _order(rises=True),
    "LESS": _order(rises=False),
    "ORDER": _band("ORDER"),
    "VALUE": _about,
    "EQUALITY": _band("EQUALITY"),
    "MUCH": _band("MUCH"),
    "SLIGHTLY": _band("SLIGHTLY"),
    "BOUND": _band("BOUND"),
    "FAIR": _band("FAIR"),
    "UP-TO": _up_to,
    "TREND": _trend,
    "EQUAL": _fixed("EQUAL", EQUAL),
    "NEARLY": _fixed("NEARLY", NEARLY),
    "STARVES": _fixed("STARVES", STARVES),
    "TOLD": lambda *_: Rule("BOUND"),
}
"""By word. TOLD asks nothing: the number is only shown."""

SHOWS: dict[str, Show] = {
    "percent": words.percent,
    "share": words.share,
    "number": words.number,
    "signed": words.difference,
    "count": words.count,
    "kilobits": words.kilobits,
    "megabits": words.megabits,
    "most": words.most,
}
"""The forms of numbers, by their words."""


def show(table: Keys, asked: Asked) -> Show:
    """The form of an ask's number: as the ask says, else as the rule has it."""
    if isinstance(table.raw("show"), dict):
        inner = table.table("show")
        found = written(
            inner.number("factor", 1.0), inner.count("decimals", 1, 9) if inner.raw("decimals") else 0,
            inner.text("unit", ""), signed=inner.flag("signed"),
        )  # fmt: skip
        inner.done()
        return found
    word = table.choice("show", list(SHOWS))
    return SHOWS[word] if word is not None else _suited(asked)


def _suited(asked: Asked) -> Show:
    if asked.kind in _RELATIVE:
        return words.percent
    if asked.kind == "rank" or asked.along == "rank" or asked.quantity is None:
        return words.number
    quantity: Quantity = asked.quantity
    unit = f" {quantity.unit}".rstrip()
    return written(quantity.factor, quantity.decimals, unit, signed=asked.kind == "difference")
