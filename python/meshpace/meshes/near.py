"""Which nodes sense each other without decoding, in a mesh of which the file has only the links."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from meshpace.meshes.model import Link, Node

_EARTH_M = 6_371_000.0


def sensed(nodes: Sequence[Node], links: Sequence[Link], weak: Sequence[Link]) -> list[tuple[str, str]]:
    """Directed pairs without a link: ``weak`` are links that deliver too little to be ones.

    Two nodes are near if they are no farther apart than the longest link that each of them has: so far its frames are
    decoded elsewhere, and what does not get through a wall or a hill is mostly still energy. Without places nobody is
    near.
    """
    have = {(link.source, link.target) for link in links}
    among = {node.id for node in nodes}
    faint = {(link.source, link.target) for link in weak if {link.source, link.target} <= among}
    return sorted((faint | set(_near(nodes, links))) - have)


def _near(nodes: Sequence[Node], links: Sequence[Link]) -> Iterator[tuple[str, str]]:
    by_id = {node.id: node for node in nodes}
    reach: dict[str, float] = {}
    for link in links:
        metres = apart(by_id[link.source], by_id[link.target])
        if metres is not None:
            for end in (link.source, link.target):
                reach[end] = max(reach.get(end, 0.0), metres)
    for one in nodes:
        for other in nodes:
            if one.id == other.id or one.id not in reach or other.id not in reach:
                continue
            metres = apart(one, other)
            if metres is not None and metres <= min(reach[one.id], reach[other.id]):
                yield one.id, other.id


def longest(nodes: Mapping[str, Node], links: Sequence[Link]) -> float | None:
    """Metres between the ends that are farthest apart, of those with places; None without."""
    found = (apart(nodes[link.source], nodes[link.target]) for link in links)
    return max((metres for metres in found if metres is not None), default=None)


def apart(one: Node, other: Node) -> float | None:
    """Metres; None if one of them has no place."""
    if one.place is not None and other.place is not None:
        return _distance(one.place, other.place)
    return None if one.metres is None or other.metres is None else math.dist(one.metres, other.metres)


def _distance(a: tuple[float, float], b: tuple[float, float]) -> float:
    """The haversine formula."""
    (south, west), (north, east) = (tuple(map(math.radians, place)) for place in (a, b))
    chord = math.sin((north - south) / 2) ** 2 + math.cos(south) * math.cos(north) * math.sin((east - west) / 2) ** 2
    return 2 * _EARTH_M * math.asin(min(1.0, math.sqrt(chord)))
