"""JSON of other programs, read key by key, so that a mistake is reported with file, line, key, found and allowed."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from meshpace.meshes.model import MeshFileError

Key = str | int
_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Entry:
    """A value and where it stands. A null counts as missing."""

    file: Path
    text: str
    """The whole file's, for the line of what is wrong."""
    value: Any
    path: tuple[Key, ...] = ()

    def fail(self, allowed: str) -> NoReturn:
        """Ends with a message about this value.

        Raises:
            MeshFileError: always.
        """
        found = "nothing" if self.value is None else json.dumps(self.value, ensure_ascii=True, default=str)
        found = found if len(found) <= _SHOWN else f"{found[:_SHOWN]}..."
        place = f" {self.where}:" if self.path else ""
        raise MeshFileError(f"{self.file}:{_line(self.text, self.path)}:{place} found {found}; allowed: {allowed}")

    @property
    def where(self) -> str:
        """As a reader would write it: ``nodes[3].location.latitude``."""
        words = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        return "".join(words).removeprefix(".")

    def __contains__(self, key: str) -> bool:
        return isinstance(self.value, dict) and self.value.get(key) is not None

    def __getitem__(self, key: Key) -> Entry:
        """What stands there, perhaps nothing."""
        found = self.object().value.get(key) if isinstance(key, str) else self.value[key]
        return Entry(self.file, self.text, found, (*self.path, key))

    def first(self, *keys: str) -> Entry:
        """The value of the first key that is there; of the last key if none is."""
        return self[next((key for key in keys if key in self), keys[-1])]

    def object(self) -> Entry:
        """The same, which has to have keys."""
        return self if isinstance(self.value, dict) else self.fail("an object")

    def part(self, key: str) -> Entry:
        """An object within, empty if it is not there."""
        found = self[key]
        return found.object() if found.value is not None else Entry(self.file, self.text, {}, found.path)

    def rows(self, allowed: str = "a list") -> Iterator[Entry]:
        """The entries of a list; none if it is missing."""
        if self.value is None:
            return
        if not isinstance(self.value, list):
            self.fail(allowed)
        for at in range(len(self.value)):
            yield self[at]

    def members(self) -> Iterator[Entry]:
        """The entries of a list, or the values of an object."""
        if isinstance(self.value, dict):
            yield from (self[key] for key in self.value)
        else:
            yield from self.rows("a list or an object")

    def words(self) -> str:
        """A text that is not empty; a whole number counts as one."""
        if isinstance(self.value, bool) or not isinstance(self.value, (str, int)) or not str(self.value).strip():
            self.fail("a text that is not empty")
        return str(self.value)

    def label(self) -> str:
        """A text, empty if it is not there."""
        return "" if self.value in (None, "") else self.words()

    def flag(self) -> bool:
        """Whether it is there and true."""
        if self.value is not None and not isinstance(self.value, (bool, int)):
            self.fail("true or false")
        return bool(self.value)

    def index(self, count: int) -> int:
        """The place of one of so many."""
        if isinstance(self.value, bool) or not isinstance(self.value, int) or not 0 <= self.value < count:
            self.fail(f"a whole number from 0 to {count - 1}")
        return self.value

    def number(self, low: float = -math.inf, high: float = math.inf) -> float:
        """A number, or a text that is one."""
        try:
            found = math.nan if isinstance(self.value, bool) else float(self.value)
        except (TypeError, ValueError, OverflowError):
            found = math.nan
        if math.isfinite(found) and low <= found <= high:
            return found
        return self.fail(_range(low, high))

    def maybe(self, low: float = -math.inf, high: float = math.inf) -> float | None:
        """The same, None if it is not there."""
        return None if self.value is None else self.number(low, high)


def load(path: Path, text: str, allowed: str) -> Entry:
    """A file that is JSON, with an object.

    Raises:
        MeshFileError: it is not.
    """
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise MeshFileError(f"{path}:{error.lineno}: found what is no JSON ({error.msg}); allowed: {allowed}") from None
    except (RecursionError, ValueError) as error:
        raise MeshFileError(f"{path}:1: found JSON that nobody writes ({error}); allowed: {allowed}") from None
    if not isinstance(value, dict):
        raise MeshFileError(f"{path}:1: found no object; allowed: {allowed}")
    return Entry(path, text, value)


def _range(low: float, high: float) -> str:
    if high < math.inf:
        return f"a number from {low:g} to {high:g}"
    return "a number" if low == -math.inf else f"a number, {low:g} or more"


def _line(text: str, wanted: tuple[Key, ...]) -> int:
    """Of the value at a path, or, where there is none, of the last one on the way to it."""
    found, line, seen = 1, 1, 0
    paths: list[tuple[Key, ...]] = []
    steps: list[Any] = []  # within each of them; None where a key comes next
    for token in _TOKEN.finditer(text):
        line, seen = line + text.count("\n", seen, token.start()), token.start()
        match token[0]:
            case ":":
                continue
            case ",":
                steps[-1] = steps[-1] + 1 if isinstance(steps[-1], int) else None
                continue
            case "]" | "}":
                paths.pop()
                steps.pop()
                continue
            case word if steps and steps[-1] is None:
                steps[-1] = json.loads(word)
                continue
            case word:
                path = (*paths[-1], steps[-1]) if paths else ()
        if path == wanted[: len(path)]:
            found = line
            if path == wanted:
                break
        if word in ("[", "{"):
            paths.append(path)
            steps.append(0 if word == "[" else None)
    return found
