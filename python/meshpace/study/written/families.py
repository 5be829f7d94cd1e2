"""Several of a kind by one table: ``each`` has a row for each, and ``{column}`` stands for what the row says there.

A column of rows that are written in place, and that stands nowhere, is a key with that value. ``{column.name}`` is how
the papers print a scheme's name.

A row is a table of columns. A plain value is a row with the one column ``value``; a name stands for rows of ``[rows]``;
lists in the list are multiplied, the last moving fastest.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from meshpace.keyed import Keys, near
from meshpace.study.model import scheme_name

_COLUMN = re.compile(r"\{([a-z][a-z0-9_]*)(\.name)?\}")
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


def named(file: Keys, key: str, name: str) -> list[Keys] | None:
    """Several of a kind: tables ``[key.NAME]``, whose names become their key ``name``, or ``[[key]]``.

    None where there is one alone, ``[key]``: it has more than tables in it.
    """
    found = file.raw(key)
    if isinstance(found, dict) and all(isinstance(one, dict) for one in found.values()):
        tables = file.table(key)
        return [(one := tables.table(each)).but({name: each, **one.everything()}) for each in found]
    return file.tables(key) if isinstance(found, list) else None


def parts(file: Keys, rows: Rows) -> list[Keys]:
    """A file, and its tables ``[each.NAME]``, which have studies and claims for each of their ``rows``.

    Raises:
        KeyedFileError: a table has no rows, or not these.
    """
    families = file.table("each")
    tables = [families.table(name) for name in families.names()]
    for table in tables:
        if "rows" not in table:
            table.fail("rows", "nothing", "a list of rows, or the name of some")
    return [file, *(member for table in tables for member in members(table, rows, "rows"))]


def shared(files: Iterable[Keys]) -> Rows:
    """The ``[rows]`` and ``[values]`` of files. A list in a value may have families, too."""
    files = tuple(files)
    rows = Rows({name: one for file in files for name, one in (file.raw("rows") or {}).items()})
    found = (file.table("values") for file in files if "values" in file)
    return Rows(rows.rows, {name: _spread(table.raw(name), table, rows) for table in found for name in table.names()})


def _spread(value: Any, table: Keys, rows: Rows) -> Any:
    if not isinstance(value, list):
        return value
    return [
        one
        for family in value
        for one in (
            (member.everything() for member in members(table.but(family), rows))
            if isinstance(family, dict)
            else (family,)
        )
    ]


def members(table: Keys, rows: Rows, key: str = "each") -> Iterator[Keys]:
    """A table a row of its ``each``, or of another ``key``; itself if it has none.

    Raises:
        KeyedFileError: ``each`` is no list of rows, or a column is missing in a row.
    """
    each = table.raw(key)
    if each is None:
        yield rows.named(table)
        return
    data = {name: value for name, value in table.everything().items() if name != key}
    found = _rows(table, key, each, rows)
    columns = {column for row in found for column in row}
    # A column of rows that stand here, and that stands nowhere else, is a key. Shared rows may have more columns.
    keys = set() if _shares(each, rows) else columns - _columns(data)
    for row in found:
        own = {column: value for column, value in row.items() if column in keys and column not in data}
        yield rows.named(table.but({**_put(data, row, columns - set(row)), **own}))


def _shares(each: Any, rows: Rows) -> bool:
    """Whether ``each`` has rows by name."""
    return (
        any(_shares(one, rows) for one in each)
        if isinstance(each, list)
        else isinstance(each, str) and each in rows.rows
    )


def _columns(value: Any) -> set[str]:
    """The columns that stand in a value."""
    if isinstance(value, str):
        return {found[1] for found in _COLUMN.finditer(value)}
    if isinstance(value, dict):
        return {column for pair in value.items() for each in pair for column in _columns(each)}
    return {column for one in value for column in _columns(one)} if isinstance(value, list) else set()


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

    A key or an entry of a list with such a text is left out where the row lacks the column.
    """
    if isinstance(value, str):
        if "{" not in value:
            return value
        if (whole := _COLUMN.fullmatch(value)) and whole[1] in row and not whole[2]:
            return row[whole[1]]
        return _COLUMN.sub(lambda found: _text(row, found), value)
    if isinstance(value, dict):
        return {
            _put(key, row, lacking): _put(one, row, lacking) for key, one in value.items() if not _lacks(one, lacking)
        }
    if isinstance(value, list):
        return [_put(one, row, lacking) for one in value if not _lacks(one, lacking)]
    return value


def _lacks(value: Any, lacking: set[str]) -> bool:
    return (
        bool(lacking)
        and isinstance(value, str)
        and (whole := _COLUMN.fullmatch(value)) is not None
        and whole[1] in lacking
    )


def _text(row: Row, found: re.Match[str]) -> str:
    value = row.get(found[1], found[0])
    if found[2] and found[1] in row:
        return scheme_name(str(value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def within(general: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Joins the general values with those of one study: tables key by key; other values are replaced."""
    both = dict(general)
    for key, value in own.items():
        before = both.get(key)
        both[key] = within(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return both
