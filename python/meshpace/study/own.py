"""A study of one's own: a TOML file that says what the built-in ones say in Python (docs/studies.md)."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from meshpace import engine
from meshpace.bounds import MAX_SEEDS
from meshpace.keyed import REQUIRED, KeyedFileError, Keys, near, read
from meshpace.study import quantities
from meshpace.study.model import (
    AS_WRITTEN,
    CONDITIONS,
    Axis,
    Condition,
    Effort,
    Plan,
    Point,
    ReplacedSchemeError,
    Settings,
    Study,
)
from meshpace.study.own_claims import read_claims
from meshpace.sweeps.errors import SweepError, naming
from meshpace.sweeps.vary import parse

_CONDITIONS = {condition.short: condition for condition in (AS_WRITTEN, *CONDITIONS)}
_QUANTITIES = {quantity.name: quantity for quantity in quantities.ALL}
_SHOWN = ("goodput", "jain", "delay", "resent", "timeouts", "given_up")


def read_study(path: Path) -> Study:
    """The study of a file, with its claims.

    Raises:
        KeyedFileError: it says something that no study can.
        OSError: the file or its scenario cannot be read.
    """
    file = read(path)
    study = file.table("study")
    name = study.text("name", REQUIRED)
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", name):
        study.fail("name", repr(name), "small letters, digits and hyphens")
    scenario = _scenario(study)
    settings = study.settings("set")
    schemes = _schemes(study, scenario, settings)
    axis = _axis(file)
    own = [_condition(table) for table in file.tables("condition")]
    conditions = _conditions(study, own)
    quick = _plan(file, Effort.QUICK, axis, _plan(None, Effort.QUICK, axis, None))
    found = Study(
        name=name,
        title=study.text("title", name),
        figures=study.texts("figures"),
        source=study.text("source", ""),
        shows=study.text("shows", ""),
        scenario=str(scenario),
        axis=axis,
        schemes=schemes,
        conditions=conditions,
        quick=quick,
        full=_plan(file, Effort.FULL, axis, quick),
        quantities=tuple(_QUANTITIES[one] for one in study.choices("quantities", list(_QUANTITIES), list(_SHOWN))),
        settings=settings,
        level=study.choices("level", schemes),
        replaces_schemes=study.flag("replaces_schemes"),
        notes=study.text("notes", ""),
        receptions=tuple((condition.reception, settings) for condition, settings in own),
        claims=read_claims(file, name, schemes, tuple(point.label for point in axis.points)),
    )
    study.done()
    file.done()
    try:
        _check(found, path)
    except ReplacedSchemeError as error:
        study.fail("schemes", error.found, f"set = {{ {error.key} = ... }}, or replaces_schemes = true")
    return found


def _scenario(study: Keys) -> Path:
    """Beside the study's file."""
    name = study.text("scenario", REQUIRED)
    path: Path = (study.file.parent / name).resolve()
    if not path.is_file():
        study.fail("scenario", repr(name), f"a scenario file, named as seen from {study.file.parent.resolve()}")
    return path


def _schemes(study: Keys, scenario: Path, settings: Settings) -> tuple[str, ...]:
    """The engine's, the scenario's, and those that the study makes itself by ``scheme.NAME...``."""
    try:
        own = tomllib.loads(scenario.read_text(encoding="utf-8", errors="replace")).get("scheme", {})
    except tomllib.TOMLDecodeError:
        own = {}  # the engine says so, with its line
    made = [key.split(".")[1] for key, _ in settings if key.startswith("scheme.") and key.count(".") > 1]
    known = list(dict.fromkeys([*(row["name"] for row in engine.schemes()), *own, *made]))
    found = study.choices("schemes", known, REQUIRED)
    return found or study.fail("schemes", "none", near("", known))


def _axis(file: Keys) -> Axis:
    table = file.table("axis")
    points: tuple[Point, ...] = tuple(_point(one) for one in table.tables("point"))
    vary = table.text("vary")
    if vary is not None and points:
        table.fail("vary", repr(vary), "either vary or [[axis.point]]")
    keys = ""
    if vary is not None:
        try:
            found = parse(vary)
        except SweepError as error:
            table.fail("vary", repr(vary), str(error).rpartition("allowed: ")[2])
        keys = found.keys[0]
        points = tuple(
            Point(place[0].strip("\"'"), tuple(zip(found.keys, place, strict=True)), _value(place[0]))
            for place in found.values
        )
    labels = [point.label for point in points]
    if twice := next((label for label in labels if labels.count(label) > 1), None):
        table.fail("point", f"two points {twice!r}", "labels that differ")
    axis = Axis(table.text("title", keys), table.text("unit", ""), points or (Point(""),), table.flag("logarithmic"))
    table.done()
    return axis


def _point(table: Keys) -> Point:
    label = table.text("label", REQUIRED)
    point = Point(label, table.settings("set"), table.number("value", _value(label)))
    table.done()
    return point


def _value(label: str) -> float | None:
    """Where a label lies on the axis, if it is a number."""
    try:
        return float(label)
    except ValueError:
        return None


def _condition(table: Keys) -> tuple[Condition, Settings]:
    name = table.text("name", REQUIRED)
    if name in _CONDITIONS:
        table.fail("name", repr(name), f"a name other than {', '.join(_CONDITIONS)}")
    settings = table.settings("set") or table.fail("set", "nothing", "what it sets in the scenario")
    table.done()
    return Condition(AS_WRITTEN.routing, name), settings


def _conditions(study: Keys, own: list[tuple[Condition, Settings]]) -> tuple[Condition, ...]:
    """Those that it names, else its own, else the scenario as it is."""
    known = {**_CONDITIONS, **{condition.reception: condition for condition, _ in own}}
    named = study.choices("conditions", list(known))
    return tuple(known[name] for name in named) or tuple(condition for condition, _ in own) or (AS_WRITTEN,)


def _plan(file: Keys | None, effort: Effort, axis: Axis, otherwise: Plan | None) -> Plan:
    """``[quick]`` or ``[full]``; what it does not say is as in ``otherwise``."""
    if file is None or otherwise is None:
        return Plan(5, ())
    table = file.table(effort.value)
    labels = [point.label for point in axis.points]
    points = table.choices("points", labels)
    chosen = tuple(label for label in labels if label in points) or otherwise.points
    plan = Plan(
        table.count("seeds", otherwise.seeds, MAX_SEEDS), table.settings("set") or otherwise.measure, chosen,
        otherwise.core_s,
    )  # fmt: skip
    table.done()
    return plan


def _check(study: Study, file: Path) -> None:
    """Every point can be run under every condition; said before anything is.

    Raises:
        KeyedFileError: one cannot.
        ReplacedSchemeError: it does not say what becomes of a flow's own scheme.
    """
    jobs = {study.job(cell, 1, effort): None for effort in Effort for cell in study.cells(effort)}
    given = {"study.set": study.settings}
    given |= {f"condition[{index}].set": settings for index, (_, settings) in enumerate(study.receptions)}
    given |= {"axis": tuple(setting for point in study.axis.points for setting in point.settings)}
    given |= {f"{effort.value}.set": study.plan(effort).measure for effort in Effort}
    places = {key: f"{where}, {key}" for where, settings in given.items() for key, _ in settings}
    for job in jobs:
        try:
            with naming(places):
                engine.schemes_in_use(job)
        except engine.ScenarioError as error:
            raise KeyedFileError(f"{file}: {error}") from None
