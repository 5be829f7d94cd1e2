"""A mesh as other tools describe it, before it becomes a scenario."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from meshpace.errors import MendableError


class MeshFileError(MendableError):
    """A file cannot be imported; one message that names the file, what was found and what is allowed."""


class NodeTwiceError(Exception):
    """A file lists a node twice; which."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node; ``place`` is latitude and longitude in degrees, ``metres`` x and y."""

    id: str
    label: str = ""
    place: tuple[float, float] | None = None
    height: float | None = None
    metres: tuple[float, float] | None = None
    gateway: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A directed radio link; ``delivered`` is the part of frames that arrives, None where nothing was measured."""

    source: str
    target: str
    delivered: float | None = None
    rate: str | None = None
    mhz: int | None = None
    """The centre of its channel, where the file tells it."""

    @property
    def way(self) -> tuple[str, str, int | None]:
        """What tells it from all others."""
        return self.source, self.target, self.mhz

    @property
    def back(self) -> tuple[str, str, int | None]:
        """The way of its other direction."""
        return self.target, self.source, self.mhz


def both_ways(said: Sequence[tuple[Link, float | None]]) -> list[Link]:
    """The links, and each one's other direction where it was not said, with what this end says arrives there."""
    known = {link.way for link, _ in said}
    back = [
        Link(link.target, link.source, delivered, link.rate, link.mhz)
        for link, delivered in said
        if link.back not in known
    ]
    return [*(link for link, _ in said), *back]


@dataclass(frozen=True, slots=True)
class Mesh:
    """Nodes and links in the order of the file."""

    form: str
    """What the file is: ``NetJSON NetworkGraph``."""
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    quality: str = ""
    """How ``delivered`` was made of what the file says."""
    skipped: tuple[str, ...] = ()
    """What was left out, and why."""
    standard: str | None = None
    """Whose rates the links' are, where the file tells rates."""
    radio: tuple[str, ...] = ()
    """Lines of ``[radio]`` that go with it."""
    widths: Mapping[int, str] = field(default_factory=dict)
    """Of several channels, by their centres: the line of ``[[node.radio]]`` that says how wide each is."""
    metric: str = "hops"
    """By what its daemon finds ways: a word of ``routing.metric``."""

    origin: str = ""
    """The files that it was read from."""

    def neighbours(self) -> Mapping[str, list[str]]:
        """By node: those that it has a link to."""
        found: dict[str, list[str]] = {node.id: [] for node in self.nodes}
        for link in self.links:
            found[link.source].append(link.target)
        return found

    def hops_from(self, starts: Sequence[str]) -> dict[str, int]:
        """Hops from the nearest of ``starts`` over links both ways: over others no acknowledgement comes back."""
        neighbours, hops, ahead = self.neighbours(), dict.fromkeys(starts, 0), deque(starts)
        ways = {link.way for link in self.links}
        both = {(link.source, link.target) for link in self.links if link.back in ways}
        while ahead:
            here = ahead.popleft()
            for there in neighbours[here]:
                if there not in hops and (here, there) in both:
                    hops[there] = hops[here] + 1
                    ahead.append(there)
        return hops


def mesh_of(
    form: str, nodes: list[Node], links: list[Link], quality: str, skipped: Sequence[str] = (),
    metric: str = "hops",
) -> Mesh:  # fmt: skip
    """Links between known nodes, each direction once, or once a channel: of several the best.

    Raises:
        NodeTwiceError: a node is listed twice.
    """
    known: set[str] = set()
    for node in nodes:
        if node.id in known:
            raise NodeTwiceError(repr(node.id))
        known.add(node.id)
    left_out = list(skipped)
    best: dict[tuple[str, str, int | None], Link] = {}
    for link in links:
        if link.source == link.target:
            left_out.append(f"{link.source} - {link.target}: a link from a node to itself")
            continue
        if not {link.source, link.target} <= known:
            left_out.append(f"{link.source} - {link.target}: a node that is not listed, or offline")
            continue
        old = best.get(link.way)
        if old is not None and old != link:
            left_out.append(f"{link.source} - {link.target}: all but the best of several links")
        if old is None or (link.delivered or 0.0) > (old.delivered or 0.0):
            best[link.way] = link
    told = quality if links else ""
    return Mesh(form, tuple(nodes), tuple(best.values()), told, tuple(dict.fromkeys(left_out)), metric=metric)
