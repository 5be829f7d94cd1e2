"""The words in which numbers are asked for: measures, quantities and functions by name, with arguments as keys.

A word is a function with annotations, so what its keys are and what they may be follows from it. The shared words
stand in ``study.measures``, ``places`` and ``pooled`` (measures), ``quantities``, ``flows`` and ``hops`` (quantities),
``curves`` and ``seconds`` (what measures read); a paper's own in one file.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, NoneType
from typing import Any, get_args, get_type_hints

from meshpace.keyed import REQUIRED, KeyedFileError, Keys, near
from meshpace.study import curves, flows, hops, measures, places, pooled, quantities, seconds
from meshpace.study.measures import Measure
from meshpace.study.quantities import Quantity

_SCHEMES = ("scheme", "over")
"""Arguments that are schemes of the study."""
_POINTS = ("here", "there")
"""Arguments that are labels of its points."""


@dataclass(frozen=True, slots=True)
class Words:
    """All that a file may name."""

    measures: Mapping[str, Callable[..., Measure]]
    quantities: Mapping[str, Quantity]
    makers: Mapping[str, Callable[..., Quantity]]
    """Quantities that have arguments."""
    functions: Mapping[str, Callable[..., Any]]


_MEASURES = (
    measures.of, measures.gain, measures.difference, measures.relative, measures.ratio, measures.rank, measures.wins,
    measures.from_the_mean, measures.series, measures.curves, measures.compared, places.contrast, places.against,
    places.over_mean_at, places.best_over_worst, pooled.pooled, pooled.pooled_points,
)  # fmt: skip


def _added(module: ModuleType) -> Words:
    """The contents of a module: functions by their type of result, quantities by name."""
    own = {name: value for name, value in vars(module).items() if not name.startswith("_")}
    made = {
        name: value for name, value in own.items() if inspect.isfunction(value) and value.__module__ == module.__name__
    }
    returned = {name: value.__annotations__.get("return") for name, value in made.items()}
    found = [one for value in own.values() for one in (value if isinstance(value, tuple) else (value,))]
    return Words(
        {name: made[name] for name, what in returned.items() if what in ("Measure", Measure)},
        {one.name: one for one in found if isinstance(one, Quantity)},
        {name: made[name] for name, what in returned.items() if what in ("Quantity", Quantity)},
        made,
    )


def _and(words: Words, more: Words) -> Words:
    """Both; of two words that are called alike the second's."""
    return Words(
        {**words.measures, **more.measures}, {**words.quantities, **more.quantities}, {**words.makers, **more.makers},
        {**words.functions, **more.functions},
    )  # fmt: skip


_SHARED = functools.reduce(
    _and, map(_added, (hops, flows, curves, seconds)),
    Words(
        {word.__name__: word for word in _MEASURES}, {one.name: one for one in (*quantities.ALL, quantities.LEAD)}, {},
        {word.__name__: word for word in (places.less, places.ratio, places.gain)},
    ),
)  # fmt: skip


def shared() -> Words:
    """Those of every file."""
    return _SHARED


@functools.cache
def words_of(file: Path) -> Words:
    """The shared ones and those that a Python file adds: its functions by what they return, its quantities by name.

    Raises:
        KeyedFileError: it cannot be read.
    """
    return _and(_SHARED, _added(functions_of(file)))


@functools.cache
def functions_of(file: Path) -> ModuleType:
    """A Python file of a paper.

    Raises:
        KeyedFileError: it cannot be read.
    """
    name = f"meshpace_words_{re.sub(r'[^a-zA-Z0-9]', '_', str(file.resolve()))}"
    found = importlib.util.spec_from_file_location(name, file)
    if found is None or found.loader is None or not file.is_file():
        raise KeyedFileError(f"{file}: found no such file; allowed: a Python file with functions")
    module = importlib.util.module_from_spec(found)
    try:
        found.loader.exec_module(module)
    except Exception as error:
        raise KeyedFileError(f"{file}: found {type(error).__name__}: {error}; allowed: Python that runs") from error
    return module


@dataclass(frozen=True, slots=True)
class Asked:
    """A measure as it is written, and what it is of: for the words and the way of writing that are not said."""

    measure: Measure
    kind: str
    quantity: Quantity | None = None
    scheme: str = ""
    over: str | None = None
    along: str = ""


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a number is asked for: the words that are known there, the schemes and points of its studies."""

    words: Words
    schemes: Sequence[str]
    labels: Sequence[str]

    def measure(self, table: Keys) -> Asked:
        """The measure of a table, which may have other keys besides.

        Raises:
            KeyedFileError: there is none of that name, or its arguments are not as it takes them.
        """
        kind = table.choice("measure", list(self.words.measures), REQUIRED)
        arguments = self._arguments(table, self.words.measures[kind])
        over = arguments.get("over")
        if over is not None and over == arguments.get("scheme"):
            table.fail("over", repr(over), "another scheme")
        found = self.words.measures[kind](**arguments)
        along = table.text("along", "")
        if along:
            found = self._along(table, along, found)
        if table.flag("median"):
            found = measures.median(found)
        if table.flag("greatest"):
            found = measures.greatest(found)
        quantity = arguments.get("quantity")
        return Asked(found, kind, quantity, arguments.get("scheme", ""), over, along)

    def _along(self, table: Keys, along: str, measure: Measure) -> Measure:
        if along == "part":
            sum_up = measures.part_that(_holds(table))
        else:
            own = {name: one for name, one in self.words.functions.items() if _sums_up(one)}
            known = {**measures.ALONG, **own}
            sum_up = known[table.choice("along", ["part", *known], REQUIRED)]
        return measures.along(measure, sum_up, self.points(table) or ())

    def points(self, table: Keys) -> tuple[str, ...] | None:
        """Those that a table names, in the order of the axis; None if it names none."""
        if "points" not in table:
            return None
        if not any(self.labels):
            table.fail("points", "points", "none, since there is no [axis]")
        return labelled(table, "points", self.labels)

    def _arguments(self, table: Keys, word: Callable[..., Any], skip: Sequence[str] = ()) -> dict[str, Any]:
        """What a function is called with, read off the keys that are called as its parameters."""
        hints = _hints(word)
        found = {}
        for name, parameter in _parameters(word).items():
            if name in skip:
                continue
            required = parameter.default is inspect.Parameter.empty
            if not required and name not in table:
                continue
            found[name] = self._argument(table, name, hints.get(name), required)
        return found

    def _argument(self, table: Keys, name: str, kind: Any, required: bool) -> Any:  # noqa: PLR0911
        default = REQUIRED if required else None
        kind = next((one for one in get_args(kind) if one is not type(None)), kind) if _optional(kind) else kind
        if name in _SCHEMES:
            return table.choice(name, self.schemes, default)
        if name in _POINTS:
            return table.choice(name, self.labels, default)
        if name == "points":
            found = self.points(table)
            return tuple(self.labels) if found is None else found
        if kind is Quantity:
            return self._quantity(table, name)
        if kind is Measure:
            return self._nested(table, name)
        if kind == tuple[Measure, ...]:
            return tuple(self._whole(one) for one in table.tables(name))
        if kind is str:
            return table.text(name, default)
        if kind in (int, float):
            return kind(table.number(name, default))
        if kind is bool:
            return table.flag(name)
        if kind == tuple[str, ...]:
            single = isinstance(table.raw(name), str)
            return (table.text(name),) if single else table.texts(name, default)
        if kind == tuple[int, ...]:
            return tuple(table.raw(name) or ())
        return self._function(table, name)

    def _nested(self, table: Keys, name: str) -> Measure:
        if not isinstance(table.raw(name), dict):
            table.fail(name, repr(table.raw(name)), "a table with a measure")
        return self._whole(table.table(name))

    def _whole(self, table: Keys) -> Measure:
        found = self.measure(table).measure
        table.done()
        return found

    def _quantity(self, table: Keys, name: str) -> Quantity:
        value = table.raw(name)
        if isinstance(value, dict):
            inner = table.table(name)
            maker = self.words.makers[inner.choice("name", list(self.words.makers), REQUIRED)]
            found = maker(**self._arguments(inner, maker))
            inner.done()
            return found
        return self.words.quantities[table.choice(name, list(self.words.quantities), REQUIRED)]

    def _function(self, table: Keys, name: str) -> Callable[..., Any]:
        """A function by name, or one that a function by name makes of arguments."""
        known = list(self.words.functions)
        if not isinstance(table.raw(name), dict):
            return self.words.functions[table.choice(name, known, REQUIRED)]
        inner = table.table(name)
        maker = self.words.functions[inner.choice("name", known, REQUIRED)]
        found: Callable[..., Any] = maker(**self._arguments(inner, maker))
        inner.done()
        return found


def labelled(table: Keys, key: str, labels: Sequence[str]) -> tuple[str, ...]:
    """Those of some labels that a list names, itself or by a pattern with ``*``, in the order of the axis."""
    named: set[str] = set()
    for one in table.texts(key):
        if one in labels:
            named.add(one)
            continue
        pattern = re.compile(".*".join(map(re.escape, one.split("*"))))
        fitting = [label for label in labels if pattern.fullmatch(label)]
        named.update(fitting or table.fail(key, json.dumps(one, ensure_ascii=False), near(one, labels)))
    return tuple(label for label in labels if label in named)


def arguments(table: Keys, word: Callable[..., Any], words: Words, skip: Sequence[str]) -> dict[str, Any]:
    """What a function that is no measure is called with, but for the parameters ``skip``."""
    return Scope(words, (), ())._arguments(table, word, skip)


@functools.cache
def _parameters(word: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(word).parameters


@functools.cache
def _hints(word: Callable[..., Any]) -> dict[str, Any]:
    return get_type_hints(word)


def _optional(kind: Any) -> bool:
    return NoneType in get_args(kind)


def _sums_up(word: Callable[..., Any]) -> bool:
    """Whether a function makes one number of those at several points."""
    return list(word.__annotations__.values()) in (["list[float]", "float"], [list[float], float])


_HOLDS = {
    ">": lambda bound: lambda value: value > bound,
    ">=": lambda bound: lambda value: value >= bound,
    "<": lambda bound: lambda value: value < bound,
    "<=": lambda bound: lambda value: value <= bound,
}  # fmt: skip


def _holds(table: Keys) -> Callable[[float], bool]:
    """``>= 0.2``: what is asked of a number."""
    return holds(table.text("holds", REQUIRED)) or table.fail(
        "holds", repr(table.text("holds")), ">, >=, < or <= and a number"
    )


def holds(text: str) -> Callable[[float], bool] | None:
    """``>= 0.2`` as a function; None if it is nothing of that kind."""
    found = re.fullmatch(r"(>=|<=|>|<) *(-?[0-9.]+(?:e-?[0-9]+)?)", text)
    return _HOLDS[found[1]](float(found[2])) if found else None
