"""TOML files of the project, parsed once: reading some thousand lines takes a third of a second.

The key of a kept result is the text's hash, so it never belongs to another text.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from meshpace.keyed import Keys, lines_of, read
from meshpace.study.kept import kept


def parsed(path: Path) -> Keys:
    """The whole file as a table.

    Raises:
        KeyedFileError: it is no TOML.
        OSError: it cannot be read.
    """
    text = path.read_bytes()
    data = kept("toml", hashlib.sha256(text).hexdigest(), lambda: read(path).everything())
    return Keys(data, "", path, Lines(text))


class Lines(Mapping[str, int]):
    """Where keys and tables of a text stand, found when it is asked: only errors do."""

    def __init__(self, text: bytes) -> None:
        self._text = text

    @functools.cached_property
    def _found(self) -> dict[str, int]:
        return lines_of(self._text.decode("utf-8", errors="replace"))

    def __getitem__(self, path: str) -> int:
        return self._found[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)
