"""Minimum-hop routes as the engine's static routing chooses them."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

Neighbours = Sequence[Sequence[int]]
"""Of each node, by index, the nodes that it reaches in one hop, ascending."""


@dataclass(frozen=True, slots=True)
class Route:
    """The nodes from source to sink, both included; ``unique`` if no other route is as short."""

    nodes: tuple[int, ...]
    unique: bool


def within_range(places: Sequence[tuple[float, float]], reach: float) -> list[list[int]]:
    """Who is at most ``reach`` metres from whom."""
    return [
        [j for j, (xj, yj) in enumerate(places) if i != j and (xi - xj) ** 2 + (yi - yj) ** 2 <= reach * reach]
        for i, (xi, yi) in enumerate(places)
    ]


def minimum_hop_route(neighbours: Neighbours, source: int, sink: int) -> Route | None:
    """The route by minimum hops, at each node over the lowest index where several neighbours are as near to the sink.

    So every node has one next hop to each sink, for every source; the way back may be another. None: no route.
    """
    distance, ways = {sink: 0}, {sink: 1}
    queue = deque([sink])
    while queue:
        here = queue.popleft()
        for near in neighbours[here]:
            if near not in distance:
                distance[near], ways[near] = distance[here] + 1, 0
                queue.append(near)
            if distance[near] == distance[here] + 1:
                ways[near] += ways[here]
    if source not in distance:
        return None
    nodes = [source]
    while nodes[-1] != sink:
        left = distance[nodes[-1]]
        nodes.append(min(near for near in neighbours[nodes[-1]] if distance[near] == left - 1))
    return Route(tuple(nodes), ways[source] == 1)
