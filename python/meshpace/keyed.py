"""TOML files that the engine does not read: keys with their lines, so that an error names file, line and key."""

from __future__ import annotations

import difflib
import functools
import itertools
import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from meshpace.errors import MendableError

_T = TypeVar("_T")
_KEY = re.compile(
    r"""\s*(?P<key>(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"\n]*"))*)\s*="""
)
_SEVERAL = re.compile(r"\d-\d|,")
_TABLE = re.compile(r"\s*(?P<open>\[\[?)\s*(?P<path>[^\[\]#]+?)\s*\]\]?\s*(?:#.*)?$")


class KeyedFileError(MendableError):
    """A file says something that it cannot; one message with file, line, key, what was found and what is allowed."""


def written(value: object) -> str:
    """A value as ``--set`` reads it back: as TOML, and a text that would be read as something else in quotes."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(inline, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{bare(key)} = {inline(one)}' for key, one in value.items())}}}"
    return _plain(value) if isinstance(value, str) else str(value)


@functools.cache
def _plain(text: str) -> str:
    """A text, in quotes if TOML would read it as something else."""
    try:
        tomllib.loads(f"x = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return json.dumps(text)


def bare(key: str) -> str:
    """A key as TOML has it: in quotes where it has to be."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key)


def inline(value: object) -> str:
    """A value as TOML has it behind a key, on one line."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else written(value)


class Keys:
    """A table of a file. What is not asked for until :meth:`done` is an unknown key."""

    def __init__(self, data: dict[str, Any], path: str, file: Path, lines: Mapping[str, int]) -> None:
        self.path, self.file = path, file
        self._data, self._lines = data, lines
        self._asked: dict[str, None] = {}

    def __contains__(self, key: str) -> bool:
        self._asked[key] = None
        return key in self._data

    def names(self) -> tuple[str, ...]:
        """All of them, in their order."""
        return tuple(self._data)

    def raw(self, key: str) -> Any:
        """What stands there, of whatever kind; None if nothing does."""
        return self._data[key] if key in self else None

    def but(self, data: dict[str, Any], path: str | None = None) -> Keys:
        """The same place of the file with other values: of a family's member, or with what is said for several."""
        return Keys(data, self.path if path is None else path, self.file, self._lines)

    def everything(self) -> dict[str, Any]:
        """All keys with their values, as they stand there."""
        return self._data

    def fail(self, key: str, found: object, allowed: str) -> NoReturn:
        """Ends with a message about one of its keys.

        Raises:
            KeyedFileError: always.
        """
        place = self._place(key)
        line = next((self._lines[path] for path in _outwards(place) if path in self._lines), 1)
        raise KeyedFileError(f"{self.file}:{line}: {place}: found {found}; allowed: {allowed}")

    def _place(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def _take(self, key: str, kind: type[_T] | tuple[type, ...], allowed: str, default: Any) -> Any:
        if key not in self:
            return default if default is not REQUIRED else self.fail(key, self._instead(key), allowed)
        value = self._data[key]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            self.fail(key, _shown(value), allowed)
        return value

    def _instead(self, key: str) -> str:
        """Of a key that has to be there and is not: nothing, or one that is nearly it."""
        close = difflib.get_close_matches(key, self._data, n=1, cutoff=0.6)
        return f"{close[0]} instead" if close else "nothing"

    def text(self, key: str, default: Any = None) -> Any:
        """A text; none has the character NUL, with which no file can be asked for."""
        value = self._take(key, str, "a text", default)
        return self.fail(key, _shown(value), "a text") if "\0" in (value or "") else value

    def flag(self, key: str) -> bool:
        """True or false; false if it does not stand there."""
        return bool(self._take(key, bool, "true or false", False))

    def number(self, key: str, default: Any = None) -> Any:
        """A number."""
        value = self._take(key, (int, float), "a number", default)
        try:
            value = float(value) if isinstance(value, int) else value
        except OverflowError:  # TOML's whole numbers have no end here
            value = math.nan
        return self.fail(key, _shown(self._data[key]), "a number") if value is not None and math.isnan(value) else value

    def count(self, key: str, default: Any, most: int) -> int:
        """A whole number from 1 on."""
        allowed = f"a whole number, 1 to {most:,}"
        value: int = self._take(key, int, allowed, default)
        return value if 1 <= value <= most else self.fail(key, value, allowed)

    def texts(self, key: str, default: Any = ()) -> tuple[str, ...]:
        """A list of different texts."""
        allowed = "a list of texts, each once"
        value = self._take(key, list, allowed, default)
        if any(not isinstance(one, str) for one in value) or len(set(value)) < len(value):
            self.fail(key, _shown(value), allowed)
        return tuple(value)

    def choice(self, key: str, among: Sequence[str], default: Any = None) -> Any:
        """One of several words."""
        value = self.text(key, default)
        return self.fail(key, _shown(value), near(value, among)) if value != default and value not in among else value

    def choices(self, key: str, among: Sequence[str], default: Any = ()) -> tuple[str, ...]:
        """Several of several words."""
        found = self.texts(key, default)
        for one in found:
            if one not in among:
                self.fail(key, _shown(one), near(one, among))
        return found

    def settings(self, key: str) -> tuple[tuple[str, str], ...]:
        """Keys of a scenario with values: ``{ "topology.hops" = 4, radio.rate = "2Mbps" }``, or several such tables.

        One key may stand for several: ``flow.0-3.rate``, ``scheme.newreno,tcp-ap.rto_min``. Of tables in a list a later
        one replaces what an earlier one has.
        """
        allowed = 'keys of the scenario with values: { "topology.hops" = 4 }'
        value = self._take(key, (dict, list), allowed, {})
        if isinstance(value, dict):
            return _settings(value)
        if not all(isinstance(one, dict) for one in value):
            self.fail(key, _shown(value), f"{allowed}, or a list of such tables")
        return tuple(dict(pair for one in value for pair in _settings(one)).items())

    def table(self, key: str) -> Keys:
        """A table, empty if it does not stand there."""
        return Keys(self._take(key, dict, "a table", {}), self._place(key), self.file, self._lines)

    def tables(self, key: str) -> list[Keys]:
        """An array of tables."""
        value = self._take(key, list, f"tables [[{self._place(key)}]]", [])
        if any(not isinstance(one, dict) for one in value):
            self.fail(key, _shown(value), f"tables [[{self._place(key)}]]")
        return [Keys(one, f"{self._place(key)}[{at}]", self.file, self._lines) for at, one in enumerate(value)]

    def used(self, key: str) -> bool:
        """Whether it stands there and was asked for."""
        return key in self._data and key in self._asked

    def known(self) -> list[str]:
        """The keys asked for so far, whether the file has them or not."""
        return list(self._asked)

    def done(self, besides: Sequence[str] = ()) -> None:
        """Nothing else may stand there but ``besides``.

        Raises:
            KeyedFileError: something does.
        """
        for key in self._data:
            if key not in self._asked and key not in besides:
                self.fail(key, "an unknown key", near(key, list(self._asked)))


REQUIRED = object()
"""As a default: the key has to be there."""


def read(path: Path) -> Keys:
    """The whole file as a table.

    Raises:
        KeyedFileError: it is no TOML.
        OSError: it cannot be read.
    """
    try:
        text = path.read_bytes().decode("utf-8")
        data = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise KeyedFileError(f"{path}:1: found bytes that are no UTF-8 at {error.start}; allowed: TOML") from None
    except tomllib.TOMLDecodeError as error:
        line = found[1] if (found := re.search(r"at line (\d+)", str(error))) else "1"
        raise KeyedFileError(f"{path}:{line}: found what is no TOML: {error}; allowed: TOML") from None
    return Keys(data, "", path, lines_of(text))


def near(word: str, among: Sequence[str]) -> str:
    """The allowed words; of many, the nearest ones first."""
    close = difflib.get_close_matches(word, among, n=3, cutoff=0.6)
    listed = ", ".join(among)
    return f"{listed} (did you mean {close[0]}?)" if close else listed


def lines_of(text: str) -> dict[str, int]:
    """Where keys and tables stand, by path. A line of a multi-line value that looks like a key adds a path too many."""
    found: dict[str, int] = {}
    counts: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if head := _TABLE.match(line):
            table = ""
            parts = _parts(head["path"])
            for at, part in enumerate(parts):
                table = f"{table}.{part}" if table else part
                if head["open"] == "[[" and at == len(parts) - 1:
                    counts[table] = counts.get(table, -1) + 1
                if table in counts:
                    table = f"{table}[{counts[table]}]"
            found.setdefault(table, number)
        elif key := _KEY.match(line):
            path = ".".join(_parts(key["key"]))
            found.setdefault(f"{table}.{path}" if table else path, number)
    return found


def _parts(path: str) -> list[str]:
    return [part.strip().strip("\"'") for part in re.findall(r""""[^"]*"|'[^']*'|[^.]+""", path) if part.strip()]


def _outwards(place: str) -> Iterator[str]:
    """A path, then those of the tables around it."""
    yield place
    while place:
        place = place[: max(place.rfind("."), 0)] if not place.endswith("]") else place[: place.rfind("[")]
        yield place


def _settings(value: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((each, one) for path, one in _flat(value) for each in several(path))


def _flat(value: dict[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for key, one in value.items():
        path = f"{before}.{key}" if before else key
        if isinstance(one, dict) and one:
            yield from _flat(one, path)
        else:
            yield path, written(one)


def several(path: str) -> Iterator[str]:
    """The keys that one stands for: each number of a range, each name of a list."""
    if not _SEVERAL.search(path):
        return iter((path,))
    parts = []
    for part in path.split("."):
        if numbers := re.fullmatch(r"(\d+)-(\d+)", part):
            parts.append([str(number) for number in range(int(numbers[1]), int(numbers[2]) + 1)])
        else:
            parts.append(part.split(","))
    return (".".join(each) for each in itertools.product(*parts))


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
