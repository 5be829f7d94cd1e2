"""The part of a scenario that is the same in every judge: places, wired links, the gateway, routes over the mesh."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from meshpace import engine
from meshpace.engine import Job
from meshpace.judges.keys import given
from meshpace.judges.refusals import Refusal
from meshpace.judges.routes import minimum_hop_route, within_range

Resolved = dict[str, Any]
"""A scenario as ``meshpace.engine.resolve`` returns it."""


class App(StrEnum):
    """What drives a flow."""

    FTP = "ftp"
    CBR = "cbr"


@dataclass(frozen=True, slots=True)
class MeshNode:
    """A station with an 802.11 interface; metres."""

    name: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class WiredLink:
    """A full-duplex link; bit/s, seconds, packets a direction (the one being sent included)."""

    a: str
    b: str
    rate_bps: float
    delay_s: float
    queue: int


def mesh_nodes(resolved: Resolved) -> tuple[MeshNode, ...]:
    """The stations, in the order of the file."""
    return tuple(MeshNode(node["id"], node["x"], node["y"]) for node in resolved["mesh"])


def wired_links(resolved: Resolved) -> tuple[WiredLink, ...]:
    """The wired links, in the order of the file."""
    return tuple(
        WiredLink(link["a"], link["b"], link["rate_bps"], link["delay_s"], link["queue"]) for link in resolved["links"]
    )


def check_measure(resolved: Resolved) -> None:
    """Runs end at a time. Raises Refusal."""
    if resolved["measure"]["kind"] != "time":
        packets = resolved["measure"]["packets"]
        raise Refusal("measure.packets", packets, "measure.duration, measure.warmup", "its runs stop at a time")


def check_mobility(resolved: Resolved) -> None:
    """Nodes stand still. Raises Refusal."""
    if resolved["mobility"]["model"] != "static":
        model = resolved["mobility"]["model"]
        raise Refusal(
            "mobility.model", model, '"static"', "its random waypoints are other draws: the paths would differ"
        )


def check_mesh(resolved: Resolved, job: Job) -> None:
    """Its nodes have drop-tail queues and its gateways forward: a scheme of the mesh may do nothing else.

    Raises:
        Refusal: the mesh's scheme has another part at one of these places.
    """
    name = resolved["network_scheme"]
    plain = next(row["parameters"] for row in engine.schemes() if row["name"] == "newreno")
    places = ("relay", "gateway") if any(node["gateway"] for node in resolved["mesh"]) else ("relay",)
    for place in places:
        if resolved["schemes"][name][place] != plain[place]:
            there = {key for key, _, _ in given(job)}
            key = next((key for key in ("mesh.scheme", "defaults.scheme") if key in there), "flow[0].scheme")
            raise Refusal(
                key, name, f'a scheme with {place} = "{plain[place]}"',
                f"the mesh's nodes would have {place} = {resolved['schemes'][name][place]!r}",
            )  # fmt: skip


def check_ends(key: str, flow: Resolved, mesh: set[str]) -> None:
    """A flow passes the mesh. Raises Refusal."""
    if flow["from"] not in mesh and flow["to"] not in mesh:
        raise Refusal(f"{key}.to", flow["to"], "an end in the mesh", "nothing would pass the mesh")


def gateway_of(resolved: Resolved, links: tuple[WiredLink, ...]) -> str | None:
    """The one mesh node that the wired links hang on, if there are any.

    Raises:
        Refusal: there are several, or a wired node is not joined to it.
    """
    gateways = [str(node["id"]) for node in resolved["mesh"] if node["gateway"]]
    if len(gateways) > 1:
        raise Refusal("link", ", ".join(gateways), "links at one gateway", "wired hosts share one gateway's address")
    if not gateways:
        return None
    mesh = {node["id"] for node in resolved["mesh"]}
    reached, grown = {gateways[0]}, True
    while grown:
        ends = {end for link in links if {link.a, link.b} & reached for end in (link.a, link.b)}
        grown = not ends <= reached
        reached |= ends
    apart = [node["id"] for node in resolved["wired"] if node["id"] not in reached]
    if apart:
        raise Refusal("node", apart[0], "wired nodes that links join to the gateway", "the script begins there")
    assert reached & mesh == {gateways[0]}, (reached, mesh)
    return gateways[0]


def shortest_ways(
    flows: Sequence[tuple[str, str, str]], nodes: tuple[MeshNode, ...], gateway: str | None, tx_range: float
) -> tuple[tuple[int, ...], ...]:
    """The way of every flow within the mesh and that of what comes back, each once; a wired end is at the gateway.

    ``flows`` have a name and two ends each; ways are of indices of nodes.

    Raises:
        Refusal: ends cannot reach each other.
    """
    index = {node.name: i for i, node in enumerate(nodes)}
    neighbours = within_range([(node.x, node.y) for node in nodes], tx_range)
    routes = set()
    for name, *ends in flows:
        a, b = (index[end if end in index else str(gateway)] for end in ends)
        for source, sink in ((a, b), (b, a)):
            route = minimum_hop_route(neighbours, source, sink)
            if route is None:
                raise Refusal(
                    "flow", f"flow {name}, whose ends cannot reach each other", "ends within reach", "no route"
                )
            if source != sink:
                routes.add(route.nodes)
    return tuple(sorted(routes))


def wired_path(links: Sequence[WiredLink], gateway: str | None, host: str) -> list[str]:
    """The wired nodes from the gateway to ``host``, both included; fewest links, first in file order."""
    if gateway is None:
        raise AssertionError(f"{host} is wired, yet there is no gateway")
    parent: dict[str, str] = {gateway: gateway}
    queue = deque([gateway])
    while queue:
        here = queue.popleft()
        for link in links:
            for a, b in ((link.a, link.b), (link.b, link.a)):
                if a == here and b not in parent:
                    parent[b] = a
                    queue.append(b)
    path = [host]
    while path[-1] != gateway:
        path.append(parent[path[-1]])
    return path[::-1]
