"""Turns a scenario into what ns-3.37 can run, or says which key it cannot express and why."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from meshpace.engine import Job
from meshpace.judges.express import expressed_by
from meshpace.judges.network import (
    App,
    MeshNode,
    Resolved,
    WiredLink,
    check_ends,
    check_measure,
    check_mobility,
    gateway_of,
    mesh_nodes,
    shortest_ways,
    wired_links,
    wired_path,
)
from meshpace.judges.refusals import Refusal, Refusals
from meshpace.judges.schemes import Parameters
from meshpace.ns3.keys import EXPRESSED
from meshpace.ns3.model import Flow, Ns3Scenario
from meshpace.ns3.radio import radio_of
from meshpace.ns3.tcp import tcp_of

NAME = "ns-3.37"
_UDP_HEADER = 8
_LEAST_QUEUE = 2
"""Of a wired link: the packet on its way, and ns-3's queue of at least one."""


def express(job: Job) -> Ns3Scenario:
    """The scenario of a job in ns-3's terms: all of it.

    Raises:
        ScenarioError: the scenario cannot be run here.
        NotExpressibleError: names every key that has no counterpart in ns-3.37, and the reasons.
    """
    return expressed_by(NAME, _express, EXPRESSED, job)


def _express(resolved: Resolved, found: Refusals) -> Ns3Scenario | None:
    found.of(check_measure, resolved)
    found.of(check_mobility, resolved)
    found.of(_check_routing, resolved["routing"])
    nodes, links = mesh_nodes(resolved), wired_links(resolved)
    found.of(_check_links, links)
    radio = radio_of(resolved["radio"], found)
    gateway = found.of(gateway_of, resolved, links)
    mesh = {node.name for node in nodes}
    made = [found.of(_flow, f"flow[{i}]", flow, mesh, resolved["schemes"]) for i, flow in enumerate(resolved["flows"])]
    if found.refused or radio is None:
        return None
    flows = tuple(flow for flow in made if flow is not None)
    routes = found.of(_routes, resolved, nodes, links, gateway)
    if routes is None:
        return None
    return Ns3Scenario(
        name=resolved["name"],
        nodes=nodes,
        wired=tuple(str(node["id"]) for node in resolved["wired"]),
        links=links,
        flows=flows,
        radio=radio,
        routes=routes,
        duration_s=resolved["measure"]["duration_s"],
        warmup_s=resolved["measure"]["warmup_s"],
    )


def _check_routing(routing: Resolved) -> None:
    if routing["protocol"] != "static":
        reason = "its protocols of these names have timers and messages of their own"
        raise Refusal("routing.protocol", routing["protocol"], '"static"', reason)


def _check_links(links: tuple[WiredLink, ...]) -> None:
    for i, link in enumerate(links):
        if link.queue < _LEAST_QUEUE:
            reason = "its queue holds one packet beside the one on its way"
            raise Refusal(f"link[{i}].queue", link.queue, f"{_LEAST_QUEUE} and more", reason)


def _flow(key: str, flow: Resolved, mesh: set[str], schemes: dict[str, Parameters]) -> Flow:
    check_ends(key, flow, mesh)
    cbr = flow["app"] == App.CBR
    if not cbr and flow["app"] != App.FTP:
        raise Refusal(f"{key}.app", flow["app"], '"ftp", "cbr"', "only these mean the same there")
    if cbr and flow["udp_header"] != _UDP_HEADER:
        raise Refusal(f"{key}.udp_header", flow["udp_header"], str(_UDP_HEADER), "it has UDP's own")
    scheme = flow["scheme"]
    return Flow(
        id=flow["id"],
        source=flow["from"],
        target=flow["to"],
        packet=flow["packet"] if cbr else flow["segment"],
        start_s=flow["start_s"],
        stop_s=flow["stop_s"],
        tcp=None if cbr else tcp_of(f"{key}.scheme", scheme, schemes[scheme], flow["segment"], flow["window"]),
        rate_bps=flow["rate_bps"] if cbr else 0.0,
    )


def _routes(
    resolved: Resolved, nodes: tuple[MeshNode, ...], links: tuple[WiredLink, ...], gateway: str | None
) -> tuple[tuple[str, str, str], ...]:
    """Next nodes by node and destination, of all flows and of what comes back to them.

    Raises:
        Refusal: two flows with the same end take different ways from a node.
    """
    following: dict[tuple[str, str], str] = {}
    for i, flow in enumerate(resolved["flows"]):
        for way in _ways(resolved, flow, nodes, links, gateway):
            for at, following_node in itertools.pairwise(way):
                taken = following.setdefault((at, way[-1]), following_node)
                if taken != following_node:
                    told = f"{at} -> {following_node}"
                    reason = f"its host routes go by destination, and another flow goes {at} -> {taken} to {way[-1]}"
                    raise Refusal(f"flow[{i}].path", told, "one way from a node to a destination", reason)
    return tuple((at, to, following_node) for (at, to), following_node in sorted(following.items()))


def _ways(
    resolved: Resolved, flow: Resolved, nodes: tuple[MeshNode, ...], links: tuple[WiredLink, ...], gateway: str | None
) -> Iterator[list[str]]:
    """The way of a flow from end to end, and that of what comes back."""
    mesh = {node.name for node in nodes}
    source, target = str(flow["from"]), str(flow["to"])
    wired = [[] if end in mesh else wired_path(links, gateway, end)[1:] for end in (source, target)]
    if flow["path"]:
        there = [str(node) for node in flow["path"]]
        ways = [there, [str(node) for node in flow["path_back"] or there[::-1]]]
    else:
        found = shortest_ways([(flow["id"], source, target)], nodes, gateway, resolved["radio"]["tx_range_m"])
        ways = [[nodes[k].name for k in way] for way in found]
        begin = source if source in mesh else gateway
        if ways and ways[0][0] != begin:
            ways.reverse()
        if not ways:
            ways = [[str(gateway)], [str(gateway)]]
    yield [*wired[0][::-1], *ways[0], *wired[1]]
    yield [*wired[1][::-1], *ways[1], *wired[0]]
