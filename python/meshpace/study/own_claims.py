"""Claims of a study file: ``[[claim]]`` with ``[[claim.ask]]``, judged by the rules that the papers are judged by."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from meshpace.keyed import REQUIRED, Keys
from meshpace.study import quantities
from meshpace.study.claims import Ask, Claim, Role
from meshpace.study.measures import Measure, difference, gain, median, of, rank_along
from meshpace.study.model import scheme_name
from meshpace.study.quantities import Quantity
from meshpace.study.rules import EQUAL, NEARLY, NO_FAIRNESS, NO_GAIN, STARVES, Rule, Show, order, up_to
from meshpace.study.words import number, percent, written

_QUANTITIES = {quantity.name: quantity for quantity in quantities.ALL}
_KINDS = ("gain", "difference", "of", "rank")
_ROLES = {role.name.lower(): role for role in Role}
_MARGINS = {"goodput": NO_GAIN, "flow_goodput": NO_GAIN, "jain": NO_FAIRNESS}
"""What is no effect, where the papers' claims have such a margin (rules.py)."""
_TREND = 0.2
"""A rank correlation nearer to zero is none (docs/studies.md, TREND)."""
_TOLERANCE = 0.10
"""Of UP-TO: 10 points."""


def read_claims(file: Keys, study: str, schemes: Sequence[str], points: Sequence[str]) -> tuple[Claim, ...]:
    """The claims of a file about its study.

    Raises:
        KeyedFileError: one says something that no claim can.
    """
    found = [_claim(table, study, schemes, points) for table in file.tables("claim")]
    ids = [claim.id for claim in found]
    if twice := next((one for one in ids if ids.count(one) > 1), None):
        file.fail("claim", f"two claims {twice!r}", "ids that differ")
    return tuple(found)


def _claim(table: Keys, study: str, schemes: Sequence[str], points: Sequence[str]) -> Claim:
    value = table.number("value")
    asks = table.tables("ask")
    claim = Claim(
        id=table.text("id", REQUIRED),
        statement=table.text("statement", REQUIRED),
        figure=table.text("figure", ""),
        source=table.text("source", ""),
        printed=table.text("printed", ""),
        asks=tuple(_ask(one, study, schemes, points, value) for one in asks),
        value=value,
    )
    if not any(ask.role is Role.CLAIM for ask in claim.asks):
        table.fail(
            "ask", "none that is the claim itself", 'at least one [[claim.ask]] with role = "claim", the default'
        )
    table.done()
    return claim


def _ask(
    table: Keys, study: str, schemes: Sequence[str], points: Sequence[str], printed: float | None
) -> Ask:  # fmt: skip
    kind = table.choice("measure", _KINDS, REQUIRED)
    quantity = _QUANTITIES[table.choice("quantity", list(_QUANTITIES), REQUIRED)]
    scheme = table.choice("scheme", schemes, REQUIRED)
    over = None
    if kind in ("gain", "difference"):
        over = table.choice("over", schemes, REQUIRED)
        if over == scheme:
            table.fail("over", repr(over), "another scheme")
    if "points" in table and not any(points):
        table.fail("points", "points", "none, since there is no [axis]")
    wanted = table.choices("points", points)
    measure, show = _measure(kind, quantity, scheme, over, wanted)
    if table.flag("median"):
        measure = median(measure)
    ask = Ask(
        measure,
        _rule(table, kind, quantity, printed),
        show,
        table.text("what", _what(kind, quantity, scheme, over)),
        (study,),
        tuple(point for point in points if point in wanted) or None,
        best=table.flag("best"),
        role=_ROLES[table.choice("role", list(_ROLES), "claim")],
    )
    table.done()
    return replace(ask, points=None) if measure.once else ask


def _measure(
    kind: str, quantity: Quantity, scheme: str, over: str | None, points: tuple[str, ...]
) -> tuple[Measure, Show]:  # fmt: skip
    plain = written(quantity.factor, quantity.decimals, f" {quantity.unit}".rstrip())
    if kind == "gain" and over is not None:
        return gain(quantity, scheme, over), percent
    if kind == "difference" and over is not None:
        signed = written(quantity.factor, quantity.decimals, f" {quantity.unit}".rstrip(), signed=True)
        return difference(quantity, scheme, over), signed
    if kind == "rank":
        return rank_along(of(quantity, scheme), points), number
    return of(quantity, scheme), plain


def _what(kind: str, quantity: Quantity, scheme: str, over: str | None) -> str:
    if kind == "rank":
        return f"Rank correlation of {scheme_name(scheme)}'s {quantity.title} with the axis"
    if over is None:
        return f"{quantity.title[:1].upper()}{quantity.title[1:]} of {scheme_name(scheme)}"
    return f"{quantity.title[:1].upper()}{quantity.title[1:]} of {scheme_name(scheme)} against {scheme_name(over)}"


_Make = Callable[[Keys, float, float | None], Rule]


def _rule(table: Keys, kind: str, quantity: Quantity, printed: float | None) -> Rule:
    """By its word; the numbers are in the results' own unit, gains as parts of 1."""
    word = table.choice("rule", list(_RULES), REQUIRED)
    relative = _MARGINS.get(quantity.name, 0.0)
    margin = _TREND if kind == "rank" else relative if (kind == "gain") is (quantity.name != "jain") else 0.0
    if word == "TREND" and kind != "rank":
        table.fail("rule", word, 'ORDER, or measure = "rank"')
    return _RULES[word](table, margin, printed)


def _band(table: Keys, word: str) -> Rule:
    low, high = table.number("low", -math.inf), table.number("high", math.inf)
    if math.isinf(low) and math.isinf(high):
        table.fail("rule", f"{word} without an end", "low, high or both")
    if low >= high:
        table.fail("low", f"{low:g} with high = {high:g}", "low below high")
    neutral = table.number("neutral")
    if neutral is not None and low < neutral < high:
        table.fail("neutral", f"{neutral:g}", "what would be no effect: at or outside the band")
    return Rule(word, low, high, neutral, table.number("margin", 0.0))


def _order(word: str, *, rises: bool) -> _Make:
    def make(table: Keys, margin: float, _: float | None) -> Rule:
        found = order(table.number("margin", margin), rises=rises)
        return replace(found, word=word)

    return make


def _trend(table: Keys, margin: float, _: float | None) -> Rule:
    found = order(table.number("margin", margin), rises=table.choice("way", ("rises", "falls"), REQUIRED) == "rises")
    return replace(found, word="TREND")


def _up_to(table: Keys, _: float, printed: float | None) -> Rule:
    if printed is None:
        table.fail("rule", "UP-TO in a claim without a value", "value = 0.4 in its [[claim]]")
    return up_to(printed, table.number("tolerance", _TOLERANCE))


_RULES: dict[str, _Make] = {
    "MORE": _order("ORDER", rises=True),
    "LESS": _order("ORDER", rises=False),
    "VALUE": lambda table, _, __: _band(table, "VALUE"),
    "EQUALITY": lambda table, _, __: _band(table, "EQUALITY"),
    "MUCH": lambda table, _, __: _band(table, "MUCH"),
    "UP-TO": _up_to,
    "TREND": _trend,
    "EQUAL": lambda *_: EQUAL,
    "NEARLY": lambda *_: NEARLY,
    "STARVES": lambda *_: STARVES,
}
