"""Sizes beside orders: the printed one, else what is plausible at all (docs/studies.md, "Sizes")."""

from __future__ import annotations

import math
from dataclasses import replace

from meshpace.keyed import Keys
from meshpace.study.rules import Rule, Size
from meshpace.study.written.vocabulary import Asked

FACTOR = 1.5
"""A printed size holds within it, up and down; or within the error of what is read off a figure, if that is more."""

CARRIED = 3.0
"""From one scheme to another, a mesh's goodput changes by no larger a factor, up or down.

The largest factor that the five papers print is 2.57 (LLAP, Table 2). Beyond it something has locked up.
"""
ELSE = 10.0
"""Delays, estimates, losses and counts of what is rare may vanish, but grow by no larger a factor: the papers print
up to ten times less (LLAP, Table 2, timeouts)."""

_CARRIED = (
    "goodput", "flow_goodput", "received", "g_paper", "sent", "pace", "use", "goodput_1", "goodput_2",
)  # fmt: skip
"""Quantities by name."""
_UTILITY = 5 * math.log(ELSE)
"""Of a sum of logarithms: five flows, each by a factor of ten."""


def sized(table: Keys, asked: Asked, rule: Rule, *, change: bool) -> Rule:
    """A rule with the sizes with which its order holds.

    ``size`` is what is printed, ``size_error`` what it may be misread by, ``plausible`` the ends of what can be, all
    in the number's own unit. ``change``: the number is a part of what it is compared with.

    Raises:
        KeyedFileError: they do not fit each other or the rule.
    """
    printed, error = table.number("size"), table.number("size_error")
    ends = table.raw("plausible")
    if "size_error" in table and printed is None:
        table.fail("size_error", "an error without a size", "size = 0.4 beside it")
    if printed is not None and ends is not None:
        table.fail("plausible", "plausible beside size", "one of them: a printed size is plausible")
    if printed is None and ends is None:
        return _plausible(asked, rule, change=change)
    key = "size" if ends is None else "plausible"
    if not _without_end(rule):
        table.fail(key, f"a size of {rule.word} with two ends", "a rule with one end: MORE, LESS, ORDER, MUCH")
    if printed is not None:
        low, high = sorted((printed / FACTOR, printed * FACTOR))
        width = 0.0 if error is None else error
        size = Size(min(low, printed - width), max(high, printed + width), printed=True)
    else:
        size = _ends(table, ends)
    if max(size.low, rule.low) >= min(size.high, rule.high):
        table.fail(key, f"{size.low:g} to {size.high:g}", f"what the rule leaves: {rule.low:g} to {rule.high:g}")
    return replace(rule, size=size)


def _ends(table: Keys, ends: object) -> Size:
    if not isinstance(ends, list) or len(ends) != 2 or not all(isinstance(end, int | float) for end in ends):
        table.fail("plausible", repr(ends), "two numbers: plausible = [-0.9, 3.0]")
    return Size(float(ends[0]), float(ends[1]), printed=False)


def _without_end(rule: Rule) -> bool:
    return math.isinf(rule.low) is not math.isinf(rule.high)


def _plausible(asked: Asked, rule: Rule, *, change: bool) -> Rule:
    """The bounds of changes and ratios. Shares, indices, ranks and falls are bounded by what they are."""
    if not _without_end(rule) or asked.along in ("rank", "part") or asked.kind == "rank":
        return rule
    name = "" if asked.quantity is None else asked.quantity.name
    if name == "log_utility" and asked.along != "part":
        low, high = -_UTILITY, _UTILITY
    elif change and asked.kind != "curves":
        low, high = (1 / CARRIED - 1, CARRIED - 1) if name in _CARRIED else (-math.inf, ELSE - 1)
    else:
        return rule
    if math.isinf(rule.low):
        high = math.inf
    else:
        low = -math.inf
    # A band that begins beyond says itself what is plausible.
    there = max(low, rule.low) < min(high, rule.high) and not (math.isinf(low) and math.isinf(high))
    return replace(rule, size=Size(low, high, printed=False)) if there else rule
