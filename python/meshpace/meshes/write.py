"""A mesh as a scenario file, which says what it was made of."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace

from meshpace.meshes import channels, near
from meshpace.meshes.model import Link, Mesh, MeshFileError, Node
from meshpace.meshes.routes import ROUTING, routes

STANDARD = "802.11b"
"""Of the radio where the file tells none; its rate is the standard's highest, unless another is given."""
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
    if standard is not None:
        channels.check(standard, [link.mhz for link in mesh.links if link.mhz is not None])
    chosen_routes = routes(mesh, routing)
    usable = tuple(filter(_usable, mesh.links))
    thinned = replace(mesh, links=usable)
    chosen = _gateway(thinned, gateway)
    hops = thinned.hops_from(chosen)
    reached = {node.id for node in mesh.nodes if node.id in hops} if usable else {node.id for node in mesh.nodes}
    ends = sorted((n for n in reached if n not in chosen), key=lambda n: (-hops.get(n, 0), n))[:_FLOWS]
    if not ends:
        raise MeshFileError(
            f"{mesh.origin}: found no node that reaches {', '.join(map(_shown, chosen))} and is reached from there; "
            "allowed: a mesh of two nodes with a link both ways, or with places"
        )
    names = {node.id: _id(node) for node in mesh.nodes}
    if len(set(names.values())) < len(names):
        names = {node.id: _text(node.id) for node in mesh.nodes}
    nodes = [node for node in mesh.nodes if node.id in reached]
    links = [link for link in usable if link.source in reached and link.target in reached]
    on = channels.of_links(mesh, links)
    sensed = list(_sensed_on(on, nodes, links, [link for link in mesh.links if link not in usable]))
    own = channels.of_nodes(links) if len(on) > 1 else {}
    told = [*_told(mesh, usable, chosen, gateway, names, reached, links, on, sensed), chosen_routes.said]
    radio = tuple(_radio(mesh, links, standard, rate, on))
    assumed = _assumed(mesh, links, standard, rate, on, chosen_routes.warmup_s, [names[end] for end in ends])
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
        lines += _radios(own.get(node.id, ()), mesh.widths)
    wired = next(word for word in ("internet", "wired-host", "outside") if word not in names.values())
    lines += ["", "[[node]]", f"id = {_quoted(wired)}", 'role = "wired"']
    for one in chosen:
        lines += ["", "[[link]]", f"a = {_quoted(names[one])}", f"b = {_quoted(wired)}", *_WIRE]
    for link in _pairs(links):
        lines += _link(link, names, several=len(on) > 1)
    for pair in _both(sensed):
        lines += _sensed(pair, names, several=len(on) > 1)
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
    reached: Container[str], links: Sequence[Link], on: Sequence[int], sensed: Sequence[Link],
) -> Iterator[str]:  # fmt: skip
    """What the file was made of, and everything that was left out of it."""
    ends = ", ".join(names[one] for one in chosen)
    count = sum(node.id in reached for node in mesh.nodes)
    yield f"# Made of {mesh.form} by `meshpace import`: {count} of {len(mesh.nodes)} nodes reach {_text(ends)}."
    if mesh.quality:
        yield f"# {mesh.quality}."
    if mesh.links:
        yield "# Who hears whom is what the file says: nodes have no places, and nobody else disturbs them."
    if len(on) > 1:
        words = ", ".join(channels.said(mhz).partition(" = ")[2] for mhz in on)
        yield f"# Each node has a radio on every channel of its links; there are {words}."
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
    mesh: Mesh, links: Sequence[Link], standard: str | None, rate: str | None, on: Sequence[int], warmup_s: int,
    ends: Sequence[str],
) -> Iterator[str]:  # fmt: skip
    """The assumptions, in the order of the file."""
    yield f"{warmup_s + _MEASURED_S} s, of which {warmup_s} are not measured"
    if standard is None and mesh.standard is None:
        yield f"the standard, {channels.standard_on(STANDARD, on)} (--standard)"
    if rate is None and not all(link.rate is not None for link in links):
        yield "its highest rate (--rate)"
    yield "no RTS/CTS, and with it all of the radio that [radio] does not say"
    if links and _longest(mesh, links) is None:
        yield f"links of {_REACH_M:.0f} m at the most"
    if links and any(link.delivered is None for link in links):
        yield "no loss on links without one"
    yield "100 Mbit/s and 10 ms from gateway to Internet"
    yield f"flows from the nodes farthest from a gateway, {_text(', '.join(ends))}, under NewReno"


def _radio(
    mesh: Mesh, links: Sequence[Link], standard: str | None, rate: str | None, on: Sequence[int]
) -> Iterator[str]:
    """The table's lines; without a rate it is the standard's highest."""
    yield f"standard = {_quoted(standard or mesh.standard or channels.standard_on(STANDARD, on))}"
    if len(on) == 1:
        # Of several that the file tells, one may be left.
        yield from (channels.said(on[0]), *([mesh.widths[on[0]]] if on[0] in mesh.widths else []))
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


def _radios(on: Sequence[int], widths: Mapping[int, str]) -> Iterator[str]:
    """The radios of a node on several channels, or one of several."""
    for mhz in on:
        yield from ("[[node.radio]]", channels.said(mhz), *([widths[mhz]] if mhz in widths else []))


def _sensed_on(on: Sequence[int], nodes: Sequence[Node], links: Sequence[Link], weak: Sequence[Link]) -> Iterator[Link]:
    """Which nodes sense each other, on each channel by its own links."""
    for mhz in on or (None,):
        own, faint = ([link for link in some if link.mhz == mhz] for some in (links, weak))
        there = channels.of_nodes(own)
        among = nodes if mhz is None else [node for node in nodes if node.id in there]
        yield from (Link(one, other, mhz=mhz) for one, other in near.sensed(among, own, faint))


def _measure(warmup_s: int) -> tuple[str, ...]:
    return "[measure]", f'duration = "{warmup_s + _MEASURED_S}s"', f'warmup = "{warmup_s}s"'


def _both(directed: Sequence[Link]) -> Iterator[tuple[Link, bool]]:
    """Each pair once a channel, and whether both directions are there."""
    known = {link.way for link in directed}
    for link in directed:
        back = link.back in known
        if not back or link.source < link.target:
            yield link, back


def _sensed(pair: tuple[Link, bool], names: Mapping[str, str], *, several: bool) -> Iterator[str]:
    link, back = pair
    yield from _ends(link, names, several=several)
    yield "decoded = false"
    if not back:
        yield "symmetric = false"


def _pairs(links: Sequence[Link]) -> Iterator[tuple[Link, Link | None]]:
    """Both directions together where they are equal."""
    by_way = {link.way: link for link in links}
    done = set()
    for link in links:
        if link.way in done:
            continue
        back = by_way.get(link.back)
        same = back is not None and (back.delivered, back.rate) == (link.delivered, link.rate)
        if same:
            done.add(link.back)
        yield link, back if same else None


def _ends(link: Link, names: Mapping[str, str], *, several: bool) -> Iterator[str]:
    yield from ("", "[[radio_link]]", f"from = {_quoted(names[link.source])}", f"to = {_quoted(names[link.target])}")
    if several and link.mhz is not None:
        yield channels.said(link.mhz)


def _link(pair: tuple[Link, Link | None], names: Mapping[str, str], *, several: bool) -> Iterator[str]:
    link, back = pair
    yield from _ends(link, names, several=several)
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
