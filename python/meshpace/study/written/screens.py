"""Screens as they are written: ``[[screen]]``, the points of a study of switches tried together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from meshpace.keyed import REQUIRED, Keys
from meshpace.study.model import AS_IS, ONLY_POINT, Effort, Plan, Point, Study
from meshpace.study.screening import MOST, axis, clash
from meshpace.study.written.studies import plan
from meshpace.study.written.vocabulary import labelled


def screen(table: Keys, known: Mapping[str, Study]) -> Study:
    """What a table ``[[screen]]`` says: a study's set-up, and the points of it that are tried together.

    Raises:
        KeyedFileError: it names what is not there, or readings that exclude each other.
    """
    study = known[table.choice("study", list(known), REQUIRED)]
    labels = [point.label for point in study.axis.points if point.label != AS_IS]
    table.texts("factors", REQUIRED)
    base = next((point for point in study.axis.points if point.label == AS_IS), ONLY_POINT)
    factors = [_beyond(base, study.point(one)) for one in labelled(table, "factors", labels)]
    if not 1 <= len(factors) <= MOST:
        table.fail("factors", f"{len(factors)} of them", f"1 to {MOST}")
    if both := clash(factors):
        table.fail("factors", f"{both[0]!r} and {both[1]!r}, which both set {both[2]}", "readings that go together")
    combined = axis(table.text("title", "what is turned"), factors)
    named = {condition.short: condition for condition in study.conditions}
    conditions = tuple(named[one] for one in table.choices("conditions", list(named))) or study.conditions
    plans: dict[Effort, Plan] = {}
    for effort in Effort:
        before = study.plan(effort)
        plans[effort] = plan(
            table.table(effort.value), combined, conditions, replace(before, points=None, conditions=None)
        )
    found = replace(
        study,
        name=table.text("name", REQUIRED),
        title=f"{study.title}, together",
        figures=(),
        shows=f"{study.shows.removesuffix('.')}, many at a time.",
        axis=combined,
        settings=(*study.settings, *base.settings),
        schemes=table.choices("schemes", study.schemes) or study.schemes,
        conditions=conditions,
        quick=plans[Effort.QUICK],
        full=plans[Effort.FULL],
        decisions=tuple(dict.fromkeys([*study.decisions, *(one for factor in factors for one in factor.decisions)])),
        again_of=study.name,
    )
    table.done()
    return found


def _beyond(base: Point, point: Point) -> Point:
    """A point with what it sets other than another one alone."""
    return replace(point, settings=tuple(pair for pair in point.settings if pair not in base.settings))
