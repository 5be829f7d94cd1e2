"""A mesh as a scenario file, which says what it was made of."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace

from meshpace.meshes import near
from meshpace.meshes.model import Link, Mesh, MeshFileError, Node
from meshpace.meshes.routes import ROUTING, routes

STANDARD = "802.11b"
"""Of the radio where the file tells none; its rate is the standard's highest, unless somebody says another."""
_FLOWS = 3
_LEAST_DELIVERED = 0.05
"""Links that lose more carry nothing: they are left out, and said so."""
_USUAL_US, _REACH_M = 4, 600.0
"""Where the file does not tell how long links are: ``ack_timeout`` as the schema has it, and how far that reaches."""
_LIGHT = 299_792_458.0


def scenario(
    mesh: Mesh, name: str, *, gateway: str | None = None, standard: str | None = None, rate: str | None = None,
    routing: str = ROUTING,
) -> str:  # fmt: skip
    """A file that runs: a radio, routes, flows from the nodes farthest from the gateways.

    Raises:
        MeshFileError: it has no two nodes that reach each other, there is no such gateway, or no such routing; or a
            standard is given where the file's links have rates of another.
    """
    if standard is not None and mesh.standard not in (None, standard):
        raise MeshFileError(
            f"--standard {standard}: {mesh.origin} has links with rates of {mesh.standard}; allowed: that, or not to "
            "give it"
        )
    chosen_routes = routes(mesh, routing)
    usable = tuple(filter(_usable, mesh.links))
    thinned = replace(mesh, links=usable)
    chosen = _gateway(thinned, gateway)
    hops = thinned.hops_from(chosen)
    reached = {node.id for node in mesh.nodes if node.id in hops} if usable else {node.id for node in mesh.nodes}
    ends = sorted((n for n in reached if n not in chosen), key=lambda n: (-hops.get(n, 0), n))[:_FLOWS]
    if not ends:
        raise MeshFileError(
            f"{mesh.origin}: found no node that {', '.join(map(_shown, chosen))} reaches, and is reached from; "
            "allowed: "
            "a mesh of two nodes with a link both ways, or with places"
        )
    names = {node.id: _id(node) for node in mesh.nodes}
    if len(set(names.values())) < len(names):
        names = {node.id: _text(node.id) for node in mesh.nodes}
    nodes = [node for node in mesh.nodes if node.id in reached]
    links = [link for link in usable if link.source in reached and link.target in reached]
    sensed = near.sensed(nodes, links, [link for link in mesh.links if link not in usable])
    told = [*_told(mesh, usable, chosen, gateway, names, reached, links, sensed), chosen_routes.said]
    radio = tuple(_radio(mesh, links, standard, rate))
    assumed = _assumed(mesh, links, standard, rate, chosen_routes.warmup_s, [names[end] for end in ends])
    told.append(f"# Assumed: {'; '.join(assumed)}.")
    lines = [
        *told,
        "",
        "[scenario]",
        f"name = {_quoted(name)}",
        "",
        *_measure(chosen_routes.warmup_s),
        "",
        "[radio]",
        *radio,
    ]
    for node in nodes:
        if not links and node.place is None and node.metres is None:
            raise MeshFileError(
                f"{mesh.origin}: found the node {_shown(names[node.id])} without a place, in a mesh without links; "
                "allowed: latitude and longitude, x and y, or links"
            )
        lines += _node(node, names[node.id], chosen, placed=not links)
    wired = next(word for word in ("internet", "wired-host", "outside") if word not in names.values())
    lines += ["", "[[node]]", f"id = {_quoted(wired)}", 'role = "wired"']
    for one in chosen:
        lines += ["", "[[link]]", f"a = {_quoted(names[one])}", f"b = {_quoted(wired)}", *_WIRE]
    for link in _pairs(links):
        lines += _link(link, names)
    for pair in _both(sensed):
        lines += _sensed(pair, names)
    lines += ["", "[routing]", *chosen_routes.table, "", "[defaults]", 'scheme = "newreno"']
    for end in ends:
        lines += ["", "[[flow]]", f"from = {_quoted(names[end])}", f"to = {_quoted(wired)}"]
    return "\n".join([*lines, ""])


def _usable(link: Link) -> bool:
    return link.delivered is None or link.delivered >= _LEAST_DELIVERED


def _gateway(mesh: Mesh, wanted: str | None) -> tuple[str, ...]:
    """Those wanted (names with commas between), all that the file marks, or the node with most neighbours."""
    if not mesh.nodes:
        raise MeshFileError(f"{mesh.origin}: found no nodes; allowed: two and more")
    if wanted is not None:
        # A label may have a comma in it.
        words = [wanted] if _named(mesh, wanted) else [word.strip() for word in wanted.split(",")]
        found = [_named(mesh, word) for word in words]
        for word, node in zip(words, found, strict=True):
            if node is None:
                nodes = ", ".join(_id(n) for n in mesh.nodes[:20])
                raise MeshFileError(f"--gateway {word}: no such node; allowed: {nodes}")
        return tuple(dict.fromkeys(node.id for node in found if node is not None))
    marked = tuple(node.id for node in mesh.nodes if node.gateway)
    neighbours = mesh.neighbours()
    return marked or (max(mesh.nodes, key=lambda node: len(neighbours[node.id])).id,)


def _named(mesh: Mesh, word: str) -> Node | None:
    return next((node for node in mesh.nodes if word in (node.id, node.label)), None)


_MEASURED_S = 50
_WIRE = ('rate = "100Mbps"', 'delay = "10ms"')


def _told(
    mesh: Mesh, usable: Sequence[Link], chosen: Sequence[str], wanted: str | None, names: Mapping[str, str],
    reached: Container[str], links: Sequence[Link], sensed: Sequence[tuple[str, str]],
) -> Iterator[str]:  # fmt: skip
    """What the file was made of, and everything that was left out of it."""
    ends = ", ".join(names[one] for one in chosen)
    count = sum(node.id in reached for node in mesh.nodes)
    yield f"# Made of {mesh.form} by `meshpace import`: {count} of {len(mesh.nodes)} nodes reach {_text(ends)}."
    if mesh.quality:
        yield f"# {mesh.quality}."
    if mesh.links:
        yield "# Who hears whom is what the file says: nodes have no places, and nobody else disturbs them."
    if sensed:
        pairs = len(list(_both(sensed)))
        yield (
            f"# Assumed: {pairs} pairs of nodes sense and do not decode each other: their link is left out, or they "
            "have none and are no farther apart than each one's longest link."
        )
    if wanted is None and not any(node.gateway for node in mesh.nodes):
        yield f"# Assumed: the gateway, {_text(ends)}, which has most neighbours; the file marks none (--gateway)."
    left_out = list(mesh.skipped)
    left_out += [
        f"{names[node.id]} as a gateway, which the file marks and --gateway does not name"
        for node in mesh.nodes
        if node.gateway and node.id not in chosen
    ]
    left_out += [
        f"{names[link.source]} - {names[link.target]}: delivers less than {_LEAST_DELIVERED:.0%}"
        for link in mesh.links
        if link not in usable
    ]
    left_out += [f"{names[node.id]}: no way both ways to a gateway" for node in mesh.nodes if node.id not in reached]
    if links and any(node.height is not None and node.place is None for node in mesh.nodes):
        left_out.append("heights of nodes without a place")
    yield from (f"# Left out: {_text(reason)}." for reason in left_out)


def _assumed(
    mesh: Mesh, links: Sequence[Link], standard: str | None, rate: str | None, warmup_s: int, ends: Sequence[str]
) -> Iterator[str]:  # fmt: skip
    """What nobody said, in the order of the file."""
    yield f"{warmup_s + _MEASURED_S} s, of which {warmup_s} are not measured"
    if standard is None and mesh.standard is None:
        yield f"the standard, {STANDARD} (--standard)"
    if rate is None and not all(link.rate is not None for link in links):
        yield "its highest rate (--rate)"
    yield "no RTS/CTS, and with it all of the radio that [radio] does not say"
    if links and _longest(mesh, links) is None:
        yield f"links of {_REACH_M:.0f} m at the most"
    if links and any(link.delivered is None for link in links):
        yield "no loss on links that tell none"
    yield "100 Mbit/s and 10 ms from gateway to Internet"
    yield f"flows from the nodes farthest from a gateway, {_text(', '.join(ends))}, under NewReno"


def _radio(mesh: Mesh, links: Sequence[Link], standard: str | None, rate: str | None) -> Iterator[str]:
    """The table's lines; without a rate it is the standard's highest."""
    yield f"standard = {_quoted(standard or mesh.standard or STANDARD)}"
    yield from mesh.radio
    if rate is not None:
        yield f"rate = {_quoted(rate)}"
    yield 'rts = "never"'
    longest = _longest(mesh, links)
    if longest is not None and (micros := math.ceil(2e6 * longest / _LIGHT)) > _USUAL_US:
        yield f'ack_timeout = "{micros}us"  # the longest link, {longest:,.0f} m, and back'


def _longest(mesh: Mesh, links: Sequence[Link]) -> float | None:
    return near.longest({node.id: node for node in mesh.nodes}, links)


def _node(node: Node, name: str, gateways: Container[str], *, placed: bool) -> Iterator[str]:
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
    if node.id in gateways:
        yield 'role = "gateway"'


def _measure(warmup_s: int) -> tuple[str, ...]:
    return "[measure]", f'duration = "{warmup_s + _MEASURED_S}s"', f'warmup = "{warmup_s}s"'


def _both(directed: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str, bool]]:
    """Each pair once, and whether both directions are there."""
    known = set(directed)
    for one, other in directed:
        back = (other, one) in known
        if not back or one < other:
            yield one, other, back


def _sensed(pair: tuple[str, str, bool], names: Mapping[str, str]) -> Iterator[str]:
    one, other, back = pair
    yield from ("", "[[radio_link]]", f"from = {_quoted(names[one])}", f"to = {_quoted(names[other])}")
    yield "decoded = false"
    if not back:
        yield "symmetric = false"


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
