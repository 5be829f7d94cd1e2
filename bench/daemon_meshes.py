"""Meshes on which routing daemons are measured, and which ways are best there, by hand."""

from __future__ import annotations

import heapq
import itertools
import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

HOPS, SIDE = 6, 4
VILLAGE = Path(__file__).resolve().parents[1] / "scenarios" / "mesh-village.toml"
"""Made of a map by `meshpace import`."""
RING = {"n0": (0, 0), "n1": (200, 60), "n2": (400, 0), "a": (130, -190), "b": (270, -190)}
"""Its shorter way is n0, n1, n2; the longer one n0, a, b, n2."""
Costs = Mapping[tuple[str, str], float]
"""Of the links, by their ends."""


class Mesh(NamedTuple):
    """A mesh and a transfer over it."""

    title: str
    tables: str
    """Of the scenario file, but for [measure] and what runs."""
    ends: tuple[str, str]
    """Of the transfer."""
    costs: Callable[[], Costs]
    """What its links cost by hand: hops, or transmissions that are expected (ETX)."""


def by_names(names: list[str]) -> Costs:
    """Of a chain or a grid, whose diagonals are out of reach, by the numbers in the names."""
    places = {name: [int(number) for number in re.findall(r"\d+", name)] for name in names}

    def apart(a: str, b: str) -> int:
        return sum(abs(one - other) for one, other in zip(places[a], places[b], strict=True))

    return {(a, b): 1.0 for a, b in itertools.permutations(names, 2) if apart(a, b) == 1}


@cache
def village() -> str:
    """The map's tables without the parts that are given here."""
    text = VILLAGE.read_text(encoding="utf-8")
    return "".join(table for table in re.split(r"(?m)^(?=\[)", text)[1:] if not table.startswith(OTHERS))


OTHERS = ("[scenario]", "[measure]", "[routing]", "[defaults]", "[[flow]]")


def expected_transmissions() -> Costs:
    """ETX (De Couto et al. 2003, section 3.1) of the map's links."""
    links = tomllib.loads(village())["radio_link"]
    loss = {}
    for link in links:
        loss[link["from"], link["to"]] = link.get("loss", 0.0)
        if link.get("symmetric", True):
            loss[link["to"], link["from"]] = link.get("loss", 0.0)
    return {(a, b): 1 / ((1 - there) * (1 - loss[b, a])) for (a, b), there in loss.items() if (b, a) in loss}


MESHES = {
    "chain": Mesh(
        f"chain of {HOPS} hops",
        f'[topology]\nkind = "chain"\nhops = {HOPS}\n',
        ("n0", f"n{HOPS}"),
        lambda: by_names([f"n{number}" for number in range(HOPS + 1)]),
    ),
    "grid": Mesh(
        f"grid of {SIDE} x {SIDE}",
        f'[topology]\nkind = "grid"\nrows = {SIDE}\ncols = {SIDE}\n',
        ("g0_0", f"g{SIDE - 1}_{SIDE - 1}"),
        lambda: by_names([f"g{row}_{column}" for row in range(SIDE) for column in range(SIDE)]),
    ),
    "village": Mesh("village of 14, imported", village(), ("church", "school"), expected_transmissions),
}


FIELD = (5, 6)
"""Rows and columns of a grid of many nodes."""
FIELD_ENDS = tuple((f"g{row}_0", f"g{row}_{FIELD[1] - 1}") for row in (0, FIELD[0] - 1))
"""Of its transfers, along its first and its last row."""


def field() -> str:
    return f'[topology]\nkind = "grid"\nrows = {FIELD[0]}\ncols = {FIELD[1]}\n'


def ring() -> str:
    return "".join(f'[[node]]\nid = "{name}"\nx = {x}\ny = {y}\n' for name, (x, y) in RING.items())


def least(costs: Costs) -> dict[tuple[str, str], float]:
    """The least cost of a way between each two nodes (Dijkstra's algorithm)."""
    beside: dict[str, list[tuple[str, float]]] = {}
    for (a, b), cost in costs.items():
        beside.setdefault(a, []).append((b, cost))
    found: dict[tuple[str, str], float] = {}
    for start in beside:
        waiting = [(0.0, start)]
        while waiting:
            cost, node = heapq.heappop(waiting)
            if (start, node) in found:
                continue
            found[start, node] = cost
            for other, more in beside[node]:
                heapq.heappush(waiting, (cost + more, other))
    return found


def cost_of(way: list[str], costs: Costs) -> float:
    return sum(costs[pair] for pair in itertools.pairwise(way))
