"""A mesh as a scenario file, which says what it was made of."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from meshpace.meshes.model import Link, Mesh, MeshFileError, Node

RATE = "11Mbps"
"""Of the radio where the file tells none."""
ROUTING = "static"
_ROUTES = {
    "static": (
        "# Routes are the shortest paths and stay (--routing aodv: AODV after RFC 3561).",
        ('protocol = "static"',),
    ),
    "aodv": (
        "# Routes are AODV's after RFC 3561 (--routing static: the shortest paths, which stay).",
        ('protocol = "aodv"', 'profile = "rfc3561"'),
    ),
}
"""By what ``--routing`` allows: what the file says of it, and its table."""
_FLOWS = 3
_LEAST_DELIVERED = 0.05
"""Links that lose more carry nothing: they are left out, and said so."""
_USUAL_US, _REACH_M = 4, 600.0
"""Where the file does not tell how long links are: ``ack_timeout`` as the schema has it, and how far that reaches."""
_LIGHT, _EARTH_M = 299_792_458.0, 6_371_000.0


def scenario(
    mesh: Mesh, name: str, *, gateway: str | None = None, rate: str = RATE, routing: str = ROUTING
) -> str:  # fmt: skip
    """A file that runs: today's radio, routes, flows from the nodes farthest from the gateway.

    Raises:
        MeshFileError: it has no two nodes that reach each other, there is no such gateway, or no such routing.
    """
    if routing not in _ROUTES:
        raise MeshFileError(f"--routing: found {routing!r}; allowed: {', '.join(_ROUTES)}")
    said, routes = _ROUTES[routing]
    usable = tuple(filter(_usable, mesh.links))
    thinned = replace(mesh, links=usable)
    chosen = _gateway(thinned, gateway)
    hops = thinned.hops_from(chosen)
    reached = {node.id for node in mesh.nodes if node.id in hops} if usable else {node.id for node in mesh.nodes}
    ends = sorted((n for n in reached if n != chosen), key=lambda n: (-hops.get(n, 0), n))[:_FLOWS]
    if not ends:
        raise MeshFileError(
            f"{mesh.origin}: found no node that {_shown(chosen)} reaches, and is reached from; allowed: a mesh of two "
            "nodes with a link both ways, or with places"
        )
    names = {node.id: _id(node) for node in mesh.nodes}
    if len(set(names.values())) < len(names):
        names = {node.id: _text(node.id) for node in mesh.nodes}
    nodes = [node for node in mesh.nodes if node.id in reached]
    links = [link for link in usable if link.source in reached and link.target in reached]
    lines = [*_head(mesh, links, name, rate, len(nodes), names[chosen], said)]
    for node in nodes:
        if not links and node.place is None and node.metres is None:
            raise MeshFileError(
                f"{mesh.origin}: found the node {_shown(names[node.id])} without a place, in a mesh without links; "
                "allowed: latitude and longitude, x and y, or links"
            )
        lines += _node(node, names[node.id], chosen, placed=not links)
    wired = next(word for word in ("internet", "wired-host", "outside") if word not in names.values())
    lines += ["", "[[node]]", f"id = {_quoted(wired)}", 'role = "wired"', "", "[[link]]"]
    lines += [f"a = {_quoted(names[chosen])}", f"b = {_quoted(wired)}", 'rate = "100Mbps"', 'delay = "10ms"']
    for link in _pairs(links):
        lines += _link(link, names)
    lines += ["", "[routing]", *routes, "", "[defaults]", 'scheme = "newreno"']
    for end in ends:
        lines += ["", "[[flow]]", f"from = {_quoted(names[end])}", f"to = {_quoted(wired)}"]
    return "\n".join([*lines, ""])


def _usable(link: Link) -> bool:
    return link.delivered is None or link.delivered >= _LEAST_DELIVERED


def _gateway(mesh: Mesh, wanted: str | None) -> str:
    """The one wanted, the first that the file marks, or the node with most neighbours."""
    if wanted is not None:
        for node in mesh.nodes:
            if wanted in (node.id, node.label):
                return node.id
        raise MeshFileError(f"--gateway {wanted}: no such node; allowed: {', '.join(_id(n) for n in mesh.nodes[:20])}")
    marked = [node.id for node in mesh.nodes if node.gateway]
    neighbours = mesh.neighbours()
    if not mesh.nodes:
        raise MeshFileError(f"{mesh.origin}: found no nodes; allowed: two and more")
    return marked[0] if marked else max(mesh.nodes, key=lambda node: len(neighbours[node.id])).id


def _head(
    mesh: Mesh, links: Sequence[Link], name: str, rate: str, count: int, gateway: str, routes: str
) -> Iterator[str]:  # fmt: skip
    yield f"# Made of {mesh.form} by `meshpace import`: {count} of {len(mesh.nodes)} nodes reach {gateway}."
    if mesh.quality:
        thin = sum(not _usable(link) for link in mesh.links)
        yield f"# {mesh.quality}; {thin} links that deliver less than {_LEAST_DELIVERED:.0%} are left out."
    if mesh.links:
        yield "# Who hears whom is what the file says: nodes have no places, and nobody else disturbs them."
    for reason in mesh.skipped[:20]:
        yield f"# Left out: {_text(reason)}."
    if len(mesh.skipped) > 20:
        yield f"# Left out: {len(mesh.skipped) - 20} more."
    yield routes
    yield "# Radio, wired part and flows (from the nodes farthest from the gateway) are assumed: change them."
    yield from ("", "[scenario]", f"name = {_quoted(name)}", "", "[measure]", 'duration = "60s"', 'warmup = "10s"', "")
    yield "[radio]"
    if mesh.standard is not None:
        yield f"standard = {_quoted(mesh.standard)}"
    if mesh.standard in (None, "802.11b") or rate != RATE:
        yield f"rate = {_quoted(rate)}"
    yield 'rts = "never"'
    yield _ack_timeout(mesh, links)


def _ack_timeout(mesh: Mesh, links: Sequence[Link]) -> str:
    """By the longest link; never less than usual."""
    longest = _longest(mesh, links)
    if longest is None:
        why = "how long links are is not known" if links else f"enough for {_REACH_M:.0f} m"
        return f'ack_timeout = "{_USUAL_US}us"  # as usual: {why}'
    micros = max(_USUAL_US, math.ceil(2e6 * longest / _LIGHT))
    return f'ack_timeout = "{micros}us"  # the longest link, {longest:,.0f} m, and back'


def _longest(mesh: Mesh, links: Sequence[Link]) -> float | None:
    """Metres between the ends that are farthest apart, of those with places; None without."""
    nodes = {node.id: node for node in mesh.nodes}
    apart = (_apart(nodes[link.source], nodes[link.target]) for link in links)
    return max((metres for metres in apart if metres is not None), default=None)


def _apart(one: Node, other: Node) -> float | None:
    if one.place is not None and other.place is not None:
        return _distance(one.place, other.place)
    return None if one.metres is None or other.metres is None else math.dist(one.metres, other.metres)


def _distance(a: tuple[float, float], b: tuple[float, float]) -> float:
    """The haversine formula."""
    (south, west), (north, east) = (tuple(map(math.radians, place)) for place in (a, b))
    chord = math.sin((north - south) / 2) ** 2 + math.cos(south) * math.cos(north) * math.sin((east - west) / 2) ** 2
    return 2 * _EARTH_M * math.asin(min(1.0, math.sqrt(chord)))


def _node(node: Node, name: str, gateway: str, *, placed: bool) -> Iterator[str]:
    yield from ("", "[[node]]", f"id = {_quoted(name)}")
    mark = "" if placed else "# "
    if node.place is not None:
        yield f"{mark}lat = {node.place[0]!r}"
        yield f"{mark}lon = {node.place[1]!r}"
        if node.height is not None:
            yield f"{mark}height = {float(node.height)!r}"
    elif node.metres is not None:
        yield f"{mark}x = {node.metres[0]!r}"
        yield f"{mark}y = {node.metres[1]!r}"
    if node.id == gateway:
        yield 'role = "gateway"'


def _pairs(links: Sequence[Link]) -> Iterator[tuple[Link, Link | None]]:
    """Both directions together where they are equal."""
    by_ends = {(link.source, link.target): link for link in links}
    done = set()
    for link in links:
        if (link.source, link.target) in done:
            continue
        back = by_ends.get((link.target, link.source))
        same = back is not None and (back.delivered, back.rate) == (link.delivered, link.rate)
        if same:
            done.add((link.target, link.source))
        yield link, back if same else None


def _link(pair: tuple[Link, Link | None], names: dict[str, str]) -> Iterator[str]:
    link, back = pair
    yield from ("", "[[radio_link]]", f"from = {_quoted(names[link.source])}", f"to = {_quoted(names[link.target])}")
    if link.delivered is not None:
        yield f"loss = {round(1 - link.delivered, 6)!r}"
    if link.rate is not None:
        yield f"rate = {_quoted(link.rate)}"
    if back is None:
        yield "symmetric = false"


def _id(node: Node) -> str:
    return _text(node.label or node.id)


def _text(text: str) -> str:
    """On one line, without what no name may have."""
    return re.sub(r"[\x00-\x1f\x7f]", " ", text)[:255]


def _shown(name: str) -> str:
    return json.dumps(name)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
