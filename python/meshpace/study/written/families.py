"""Several of a kind by one table: ``each`` has a row for each, and ``{column}`` stands for what the row says there.

A row is a table of columns. A plain value is a row with the one column ``value``; a name stands for rows of ``[rows]``;
lists in the list are multiplied, the last moving fastest.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from meshpace.keyed import Keys, near

_COLUMN = re.compile(r"\{([a-z][a-z0-9_]*)\}")
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rows:
    """What a paper's files share by name: rows of families, and values of keys."""

    rows: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    """``@name`` stands for one."""

    def named(self, table: Keys) -> Keys:
        """The table with values in place of their names.

        Raises:
            KeyedFileError: there is no value of that name.
        """
        if not self.values:
            return table
        return table.but({key: self._put(one, key, table) for key, one in table.everything().items()})

    def _put(self, value: Any, key: str, table: Keys) -> Any:
        if isinstance(value, str) and value.startswith("@") and "{" not in value:
            if (name := value[1:]) not in self.values:
                table.fail(key, repr(value), f"@ and one of {near(name, list(self.values))}")
            return self.values[name]
        if isinstance(value, dict):
            return {each: self._put(one, key, table) for each, one in value.items()}
        if isinstance(value, list):
            return [self._put(one, key, table) for one in value]
        return value


def members(table: Keys, rows: Rows) -> Iterator[Keys]:
    """A table a row of its ``each``; itself if it has none.

    Raises:
        KeyedFileError: ``each`` is no list of rows, or a column is missing in a row.
    """
    each = table.raw("each")
    if each is None:
        yield rows.named(table)
        return
    data = {key: value for key, value in table.everything().items() if key != "each"}
    found = _rows(table, "each", each, rows)
    columns = {column for row in found for column in row}
    for row in found:
        yield rows.named(table.but(_put(data, row, columns - set(row))))


def _rows(table: Keys, key: str, each: Any, rows: Rows) -> list[Row]:
    """What ``each`` stands for, every row whole."""
    if isinstance(each, str):
        if each not in rows.rows:
            table.fail(key, repr(each), f"rows, or the name of some: {near(each, list(rows.rows))}")
        return _rows(table, key, rows.rows[each], rows)
    if not isinstance(each, list) or not each:
        table.fail(key, repr(each), "a list of rows")
    if any(isinstance(one, list) for one in each):
        factors = [_rows(table, key, one, rows) for one in each]
        return [{key: value for row in found for key, value in row.items()} for found in itertools.product(*factors)]
    found: list[Row] = []
    for one in each:
        if isinstance(one, str) and one in rows.rows:
            found += _rows(table, key, one, rows)
        else:
            found.append(one if isinstance(one, dict) else {"value": one})
    return found


def _put(value: Any, row: Row, lacking: set[str]) -> Any:
    """A value with the row's columns in it. A text that is one column and nothing else has its value, whatever kind.

    A key with such a text is left out where the row lacks the column.
    """
    if isinstance(value, str):
        if (whole := _COLUMN.fullmatch(value)) and whole[1] in row:
            return row[whole[1]]
        return _COLUMN.sub(lambda found: _text(row, found), value)
    if isinstance(value, dict):
        return {
            _put(key, row, lacking): _put(one, row, lacking) for key, one in value.items() if not _lacks(one, lacking)
        }
    if isinstance(value, list):
        return [_put(one, row, lacking) for one in value]
    return value


def _lacks(value: Any, lacking: set[str]) -> bool:
    return isinstance(value, str) and (whole := _COLUMN.fullmatch(value)) is not None and whole[1] in lacking


def _text(row: Row, found: re.Match[str]) -> str:
    value = row.get(found[1], found[0])
    return f"{value:g}" if isinstance(value, float) else str(value)


def within(general: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """What is said in general with what is said of one: tables key by key, all else replaced."""
    both = dict(general)
    for key, value in own.items():
        before = both.get(key)
        both[key] = within(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return both
