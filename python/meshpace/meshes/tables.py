"""Meshes out of CSV: ``id`` with places, ``from,to`` with loss, rate and channel, or a file of each."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from meshpace.meshes import channels, rates
from meshpace.meshes.model import Link, Mesh, MeshFileError, Node, both_ways, mesh_of

_LONG = 120
_YES, _NO = ("1", "true", "yes"), ("", "0", "false", "no")


@dataclass(frozen=True, slots=True)
class Row:
    """A row by its head's names, without spaces around."""

    file: Path
    line: int
    cells: dict[str, str]

    def fail(self, column: str, allowed: str) -> NoReturn:
        """Ends with a message about a cell.

        Raises:
            MeshFileError: always.
        """
        cell = self.cells.get(column, "")
        found = repr(cell) if cell else "nothing"
        raise MeshFileError(f"{self.file}:{self.line}: {column}: found {found}; allowed: {allowed}")

    def text(self, column: str) -> str:
        """The cell's text, which must not be empty."""
        return self.cells.get(column) or self.fail(column, "a text that is not empty")

    def number(self, column: str, low: float = -math.inf, high: float = math.inf) -> float | None:
        """A number; None where nothing stands."""
        cell = self.cells.get(column)
        if not cell:
            return None
        try:
            found = float(cell)
        except ValueError:
            found = math.nan
        if not (math.isfinite(found) and low <= found <= high):
            self.fail(column, "a number" if low == -math.inf else f"a number from {low:g} to {high:g}")
        return found

    def rate(self, column: str) -> rates.Rate | None:
        """As scenarios, people or iw write it; None where nothing stands."""
        cell = self.cells.get(column)
        if not cell:
            return None
        return rates.read(cell) or self.fail(
            column, 'a rate with its unit, such as "11Mbps", or "MCS 7", "VHT-MCS 8 80MHz NSS 2"'
        )

    def channel(self, column: str) -> int | None:
        """The centre in MHz of a channel; None where nothing stands."""
        cell = self.cells.get(column)
        return channels.centre(cell) or self.fail(column, channels.ALLOWED) if cell else None

    def pair(self, one: str, other: str, high: tuple[float, float]) -> tuple[float, float] | None:
        """Two numbers as far to each side of zero; None where neither stands."""
        first, second = (self.number(name, -top, top) for name, top in zip((one, other), high, strict=True))
        if first is None and second is None:
            return None
        if first is None or second is None:
            self.fail(one if first is None else other, f"a number, since {other if first is None else one} is given")
        return first, second

    def flag(self, column: str) -> bool:
        """Yes or no; no where nothing stands."""
        word = self.cells.get(column, "").lower()
        if word not in (*_YES, *_NO):
            self.fail(column, f"{', '.join(_YES)}, {', '.join(word for word in _NO if word)}, or nothing")
        return word in _YES


def rows(path: Path, text: str) -> list[Row]:
    """A file's rows.

    Raises:
        MeshFileError: it is no CSV.
    """
    reader = csv.DictReader(io.StringIO(text), restkey="", restval="")
    try:
        found = [
            Row(path, reader.line_num, {name.strip(): str(cell).strip() for name, cell in row.items() if name})
            for row in reader
        ]
    except csv.Error as error:
        raise MeshFileError(
            f"{path}:{reader.line_num}: found what is no CSV ({error}); allowed: columns with commas between"
        ) from None
    head = {name.strip() for name in reader.fieldnames or ()}
    if "id" not in head and not {"from", "to"} <= head:
        raise MeshFileError(
            f"{path}:1: found the columns {_shown(sorted(head))}; allowed: id with lat,lon or x,y, or "
            "from,to with loss, rate, channel"
        )
    return found


def _shown(names: Sequence[str]) -> str:
    text = json.dumps(", ".join(names), ensure_ascii=False)[1:-1] or "none"
    return text if len(text) <= _LONG else f"{text[:_LONG]}..."


def mesh(files: Sequence[Sequence[Row]]) -> Mesh:
    """Of files of nodes, of links, or both.

    Raises:
        MeshFileError: a cell says what it cannot.
    """
    nodes: dict[str, Node] = {}
    links: list[Link] = []
    said: list[tuple[Row, int | None, rates.Rate | None]] = []
    for row in (row for file in files for row in file):
        if "id" in row.cells:
            node = _node(row)
            if node.id in nodes:
                raise MeshFileError(f"{row.file}:{row.line}: id: found the node {node.id!r} again; allowed: each once")
            nodes[node.id] = node
        else:
            loss = row.number("loss", 0.0, 1.0)
            delivered = None if loss is None else 1 - loss
            mhz, rate = row.channel("channel"), row.rate("rate")
            links.append(Link(row.text("from"), row.text("to"), delivered, mhz=mhz))
            said.append((row, mhz, rate))
    radios = rates.radios_of([(mhz, rate) for _, mhz, rate in said])
    for row, mhz, rate in said:
        radio = radios.alone[mhz]
        if rate is not None and not radio.has(rate.mbps):
            allowed = ", ".join(map(rates.shown, radio.rates))
            row.fail("rate", f"{allowed} for {radio.standard}, which the fastest link has")
    told = [rate for _, _, rate in said if rate is not None]
    links = [
        replace(link, rate=None if rate is None else radios.on[mhz].of(rate.mbps))
        for link, (_, mhz, rate) in zip(links, said, strict=True)
    ]
    links = both_ways([(link, link.delivered) for link in links])
    if not nodes:
        nodes = {
            name: Node(name) for name in dict.fromkeys(end for link in links for end in (link.source, link.target))
        }
    found = mesh_of("CSV", list(nodes.values()), links, "loss as given" if links else "")
    # Fewest hops do not tell a channel from another.
    found = replace(found, metric="ett") if len({mhz for _, mhz, _ in said}) > 1 else found
    if not told:
        return found
    return replace(
        found, standard=radios.standard, radio=radios.lines, widths=radios.widths,
        quality=found.quality + radios.rounded,
    )  # fmt: skip


def _node(row: Row) -> Node:
    place, metres = row.pair("lat", "lon", (90.0, 180.0)), row.pair("x", "y", (math.inf, math.inf))
    return Node(row.text("id"), row.cells.get("label", ""), place, row.number("height"), metres, row.flag("gateway"))
