"""Axes as they are written: values, keys that vary, points one by one, sets of points that several studies have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from meshpace.keyed import REQUIRED, Keys, near
from meshpace.study.model import ONLY_POINT, Axis, Point, Settings
from meshpace.study.written.families import Rows, members
from meshpace.study.written.vocabulary import labelled
from meshpace.sweeps.errors import SweepError
from meshpace.sweeps.vary import parse


@dataclass(frozen=True, slots=True)
class Sets:
    """Points that several studies share, by the name of the set: the table that has them as a list of that name."""

    tables: Mapping[str, Keys]
    rows: Rows
    _read: dict[str, list[Point]] = field(default_factory=dict)

    def points(self, name: str) -> list[Point]:
        """Those of a set, read when they are first asked for."""
        if name not in self._read:
            self._read[name] = _points(self.tables[name], name, self, None)
        return self._read[name]


def axis(table: Keys, sets: Sets, schemes: Sequence[str]) -> Axis:
    """The axis of a study; one point if there is none.

    Raises:
        KeyedFileError: its points cannot be told.
    """
    found = _points(table, "point", sets, schemes)
    vary = table.text("vary")
    if vary is not None and found:
        table.fail("vary", repr(vary), "either vary or [[axis.point]]")
    title = ""
    if vary is not None:
        try:
            varied = parse(vary)
        except SweepError as error:
            table.fail("vary", repr(vary), str(error).rpartition("allowed: ")[2])
        title = varied.keys[0]
        found = [
            Point(place[0].strip("\"'"), tuple(zip(varied.keys, place, strict=True)), value_of(place[0]))
            for place in varied.values
        ]
    labels = [point.label for point in found]
    if twice := next((label for label in labels if labels.count(label) > 1), None):
        table.fail("point", f"two points {twice!r}", "labels that differ")
    whole = Axis(
        table.text("title", title), table.text("unit", ""), tuple(found) or (ONLY_POINT,), table.flag("logarithmic")
    )
    table.done()
    return whole


def readings(table: Keys, key: str, sets: Sets) -> tuple[Point, ...]:
    """Points that are taken together, each another reading of something that a paper leaves open.

    Raises:
        KeyedFileError: two of them set the same key to different values.
    """
    found = _points(table, key, sets, None)
    chosen: dict[str, tuple[str, str]] = {}
    for point in found:
        for name, value in point.settings:
            label, before = chosen.setdefault(name, (point.label, value))
            if before != value:
                table.fail(key, f"{label!r} and {point.label!r}, which both set {name}", "readings that go together")
    return tuple(found)


def _points(table: Keys, key: str, sets: Sets, schemes: Sequence[str] | None) -> list[Point]:
    """Tables of points, and names of sets of them, in their order; ``"SET: LABEL"`` stands for some of a set.

    What a set says of schemes other than ``schemes`` is left out, if any are given.
    """
    listed = table.raw(key)
    if not isinstance(listed, list) or all(isinstance(one, dict) for one in listed):
        return [_point(one) for family in table.tables(key) for one in members(family, sets.rows)]
    found: list[Point] = []
    for index, one in enumerate(listed):
        if isinstance(one, str):
            name, _, part = one.partition(": ")
            if name not in sets.tables:
                table.fail(key, repr(one), f"points, or the name of a set: {near(name, list(sets.tables))}")
            points = sets.points(name)
            labels = [point.label for point in points]
            wanted = labelled(table.but({key: [part]}), key, labels) if part else labels
            # What a set says of schemes that are not run here concerns no run.
            chosen = (point for point in points if point.label in wanted)
            found += chosen if schemes is None else [concerning(point, schemes) for point in chosen]
        else:
            family = table.but({key: [one]}).tables(key)[0]
            found += [
                _point(point)
                for point in members(family.but(family.everything(), f"{table.path}.{key}[{index}]"), sets.rows)
            ]
    return found


def concerning(point: Point, schemes: Sequence[str]) -> Point:
    """The point without what it sets of schemes other than these."""
    kept = tuple(
        (key, value) for key, value in point.settings if not key.startswith("scheme.") or key.split(".")[1] in schemes
    )
    return replace(point, settings=kept)


def _point(table: Keys) -> Point:
    label = written_label(table)
    settings: Settings = table.settings("set")
    value = table.number("value", value_of(label))
    found = Point(
        label, settings, value, table.text("routing"), table.text("reception"), table.texts("decisions")
    )  # fmt: skip
    table.done()
    return found


def written_label(table: Keys) -> str:
    """A point's label, a number too."""
    value: Any = table.raw("label")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"{value:g}"
    label: str = table.text("label", REQUIRED)
    return label


def value_of(label: str) -> float | None:
    """Where a label lies on the axis, if it is a number."""
    try:
        return float(label)
    except ValueError:
        return None
