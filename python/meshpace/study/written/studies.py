"""Studies as they are written: ``[study]``, or several ``[study.NAME]`` in one file (docs/studies.md)."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from meshpace import engine
from meshpace.bounds import MAX_SEEDS
from meshpace.keyed import REQUIRED, KeyedFileError, Keys, near, several
from meshpace.project import scenario_directory
from meshpace.study.model import (
    AS_WRITTEN,
    CONDITIONS,
    ROUTING_NAMES,
    Axis,
    Condition,
    Effort,
    Plan,
    Settings,
    Study,
)
from meshpace.study.written.axes import Sets, axis
from meshpace.study.written.families import Rows, members, named, within
from meshpace.study.written.parsed import parsed
from meshpace.study.written.vocabulary import Words, arguments, labelled

_CONDITIONS = {condition.short: condition for condition in (AS_WRITTEN, *CONDITIONS)}
_SHOWN = ("goodput", "jain", "delay", "resent", "timeouts", "given_up")
_OF_THE_FILE = ("axis", "condition", "quick", "full")
"""What stands beside a single ``[study]`` and in each of several."""
_EVERY = "all"
"""In place of a list of points: every one."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """What studies are read beside: where scenarios lie, shared points and rows, words, how the paper is cited."""

    scenario: Callable[[Keys, str], str]
    """Of a scenario's name in a study: the path that the study keeps."""
    words: Words
    sets: Sets
    rows: Rows
    cite: str = ""
    catalogue: str = ""
    receptions: Mapping[str, Keys] = field(default_factory=dict)
    """Words for whole radios that several studies share, by the name of the set."""


def studies(file: Keys, defaults: Keys, shelf: Shelf) -> tuple[Study, ...]:
    """The studies of a file.

    Raises:
        KeyedFileError: one says something that no study can.
    """
    general = defaults.raw("study") or {}
    if (several_ones := named(file, "study", "name")) is not None:
        ones = (one for table in several_ones for one in members(table, shelf.rows))
        return tuple(_study(one.but(_with(general, one.everything())), shelf) for one in ones)
    if "study" not in file:
        return ()
    single = file.table("study")
    beside = {key: value for key in _OF_THE_FILE if (value := file.raw(key)) is not None}
    data = within(general, {**single.everything(), **beside})
    return (_study(single.but(data), shelf, beside=file),)


def _with(general: Mapping[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """What is said of all studies of a file and of this one. Settings of schemes that are not run have no effect."""
    both = within(general, own)
    schemes = both.get("schemes", [])
    set_ = general.get("set") or {}
    kept = {
        key: value
        for one in (set_ if isinstance(set_, list) else [set_])
        for several_keys, value in one.items()
        for key in several(several_keys)
        if not key.startswith("scheme.") or key.split(".")[1] in schemes
    }
    if "set" not in both:
        return both
    set_ = own.get("set", {})
    return {**both, "set": within(kept, set_) if isinstance(set_, dict) else [kept, *set_]}


def _study(study: Keys, shelf: Shelf, beside: Keys | None = None) -> Study:
    """One; what stands ``beside`` a single ``[study]`` is named as it stands there."""
    around = study if beside is None else beside
    name = study.text("name", REQUIRED)
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", name):
        study.fail("name", repr(name), "small letters, digits and hyphens")
    scenario = shelf.scenario(study, study.text("scenario", REQUIRED))
    settings = study.settings("set")
    schemes = _schemes(study, scenario_directory() / scenario, settings)
    whole = axis(_part(study, around, "axis"), shelf.sets, schemes)
    own = [_condition(table) for table in _parts(study, around, "condition")]
    receptions = _receptions(study, shelf)
    conditions = _conditions(study, own, receptions)
    quick = _plan(study, around, Effort.QUICK, whole, conditions, Plan(5, ()))
    figures = study.texts("figures")
    found = Study(
        name=name,
        title=study.text("title", name),
        figures=figures,
        source=study.text("source", _source(shelf.cite, study.text("where", _printed(figures)))),
        shows=study.text("shows", ""),
        scenario=scenario,
        axis=whole,
        schemes=schemes,
        conditions=conditions,
        quick=quick,
        full=_plan(study, around, Effort.FULL, whole, conditions, quick),
        quantities=tuple(
            shelf.words.quantities[one]
            for one in study.choices("quantities", list(shelf.words.quantities), list(_SHOWN))
        ),
        settings=settings,
        level=study.choices("level", schemes),
        series=study.flag("series"),
        paper=shelf.catalogue,
        notes=study.text("notes", ""),
        receptions=(*receptions, *((condition.reception, set_) for condition, set_ in own)),
        reads=study.texts("reads"),
        replaces_schemes=study.flag("replaces_schemes"),
        hosts=_function(study, "hosts", shelf, ("scheme", "settings")),
        decisions=study.texts("decisions"),
        drawn=_function(study, "drawn", shelf, ("point", "seed")),
    )
    study.done()
    return found


def _source(cite: str, where: str) -> str:
    return ", ".join(filter(None, (cite, where)))


def _printed(figures: Sequence[str]) -> str:
    if len(figures) == 2 and all(figure.startswith("Fig. ") for figure in figures):
        return f"Figs. {' and '.join(figure.removeprefix('Fig. ') for figure in figures)}"
    return ", ".join(figures)


def _part(study: Keys, around: Keys, key: str) -> Keys:
    """A table of a study, under the name that it has in the file."""
    table = study.table(key)
    return table if around is study else table.but(table.everything(), key)


def _parts(study: Keys, around: Keys, key: str) -> list[Keys]:
    tables = study.tables(key)
    return tables if around is study else [one.but(one.everything(), f"{key}[{at}]") for at, one in enumerate(tables)]


def _schemes(study: Keys, scenario: Path, settings: Settings) -> tuple[str, ...]:
    """The engine's, the scenario's, and those that the study makes itself by ``scheme.NAME...``."""
    if study.raw("reads") and study.raw("schemes") == []:
        return ()
    own = _own_schemes(scenario)
    made = [key.split(".")[1] for key, _ in settings if key.startswith("scheme.") and key.count(".") > 1]
    hosted = study.texts("hosted")
    known = list(dict.fromkeys([*_known(), *own, *made, *hosted]))
    found = study.choices("schemes", known, REQUIRED)
    return found or study.fail("schemes", "none", near("", known))


@functools.cache
def _known() -> tuple[str, ...]:
    return tuple(row["name"] for row in engine.schemes())


@functools.cache
def _own_schemes(scenario: Path) -> tuple[str, ...]:
    """Those that a scenario makes itself."""
    try:
        return tuple(parsed(scenario).raw("scheme") or ())
    except KeyedFileError:
        return ()  # the engine says so, with its line


def _condition(table: Keys) -> tuple[Condition, Settings]:
    name = table.text("name", REQUIRED)
    if name in _CONDITIONS:
        table.fail("name", repr(name), f"a name other than {', '.join(_CONDITIONS)}")
    settings = table.settings("set") or table.fail("set", "nothing", "what it sets in the scenario")
    table.done()
    return Condition(AS_WRITTEN.routing, name), settings


def _receptions(study: Keys, shelf: Shelf) -> tuple[tuple[str, Settings], ...]:
    """Words for a whole radio, and what they set; or the names of sets of them."""
    value = study.raw("receptions")
    if isinstance(value, dict) or value is None:
        tables = [study.table("receptions")]
    elif isinstance(value, str):
        tables = [shelf.receptions[study.choice("receptions", list(shelf.receptions))]]
    else:
        tables = [shelf.receptions[name] for name in study.choices("receptions", list(shelf.receptions))]
    return tuple((name, table.settings(name)) for table in tables for name in table.names())


def _conditions(
    study: Keys, own: list[tuple[Condition, Settings]], receptions: Sequence[tuple[str, Settings]]
) -> tuple[Condition, ...]:
    """Those that it names, else its own, else the scenario as it is."""
    known = {**_CONDITIONS, **{condition.reception: condition for condition, _ in own}}
    for reception in ("ns2-capture", "sinr", *(name for name, _ in receptions)):
        for routing in ROUTING_NAMES:
            found = Condition(routing, reception)
            known.setdefault(found.short, found)
    named = study.choices("conditions", list(known))
    return tuple(known[name] for name in named) or tuple(condition for condition, _ in own) or (AS_WRITTEN,)


def _plan(
    study: Keys, around: Keys, effort: Effort, axis: Axis, conditions: Sequence[Condition], otherwise: Plan
) -> Plan:
    return plan(_part(study, around, effort.value), axis, conditions, otherwise)


def plan(table: Keys, axis: Axis, conditions: Sequence[Condition], otherwise: Plan) -> Plan:
    """``quick`` or ``full``; what it does not say is as in ``otherwise``."""
    labels = [point.label for point in axis.points]
    every = table.raw("points") == _EVERY
    chosen = None if every else labelled(table, "points", labels) or otherwise.points
    measure = table.settings("set") if "set" in table else otherwise.measure
    named = {condition.short: condition for condition in conditions}
    limited = tuple(named[name] for name in table.choices("conditions", list(named)))
    found = Plan(
        table.count("seeds", otherwise.seeds, MAX_SEEDS), measure, chosen, table.number("core_s", otherwise.core_s),
        limited or None,
    )  # fmt: skip
    table.done()
    return found


def _function(study: Keys, key: str, shelf: Shelf, left: Sequence[str]) -> Callable[..., Any] | None:
    """A function of the paper's by name, or a table with its name and arguments; ``left`` are given later."""
    value = study.raw(key)
    if value is None:
        return None
    known = list(shelf.words.functions)
    if not isinstance(value, dict):
        return shelf.words.functions[study.choice(key, known)]
    table = study.table(key)
    function = shelf.words.functions[table.choice("name", known, REQUIRED)]
    found = partial(function, **arguments(table, function, shelf.words, left))
    table.done()
    return found
