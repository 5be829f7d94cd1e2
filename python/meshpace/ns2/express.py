"""Turns a resolved scenario into what ns-2.35 can run, or says which key it cannot express and why."""

from __future__ import annotations

from typing import Any

from meshpace.ns2.model import App, Flow, MeshNode, NotExpressibleError, Ns2Scenario, Radio, Routing, WiredLink
from meshpace.ns2.routes import minimum_hop_route, within_range

_AGENTS = {
    "newreno": ("Agent/TCP/Newreno", False),
    "newreno-delack": ("Agent/TCP/Newreno", True),
    "tahoe": ("Agent/TCP", False),
}
"""Sending agent, and whether the sink delays its ACKs, of the schemes that ns-2.35 has."""
_DSSS_RATES = (1e6, 2e6, 5.5e6, 11e6)
_MAC_OVERHEAD = 34

Resolved = dict[str, Any]
"""A scenario as ``meshpace.engine.resolve`` returns it."""


def express(resolved: Resolved) -> Ns2Scenario:
    """The scenario in ns-2's terms.

    Raises:
        NotExpressibleError: names the first key that has no counterpart in ns-2.35, and the reason.
    """
    _check_static_parts(resolved)
    nodes = tuple(MeshNode(node["id"], node["x"], node["y"]) for node in resolved["mesh"])
    radio = _radio(resolved["radio"])
    routing = _routing(resolved["routing"])
    links = tuple(
        WiredLink(link["a"], link["b"], link["rate_bps"], link["delay_s"], link["queue"]) for link in resolved["links"]
    )
    gateway = _gateway(resolved, links)
    names = {node.name for node in nodes}
    flows = tuple(_flow(i, flow, names, resolved["scheme_settings"]) for i, flow in enumerate(resolved["flows"]))
    static = routing is Routing.STATIC
    measure = resolved["measure"]
    return Ns2Scenario(
        name=resolved["name"],
        nodes=nodes,
        links=links,
        gateway=gateway,
        flows=flows,
        radio=radio,
        routing=routing,
        routes=_static_routes(flows, nodes, gateway, radio.tx_range_m) if static else (),
        duration_s=measure["duration_s"],
        warmup_s=measure["warmup_s"],
    )


def _check_static_parts(resolved: Resolved) -> None:
    if resolved["measure"]["kind"] != "time":
        raise NotExpressibleError("measure.packets", "its scripts stop at a time; set measure.duration and warmup")
    if resolved["mobility"]["model"] != "static":
        raise NotExpressibleError("mobility.model", "its random waypoints are other draws, so the paths would differ")


def _radio(radio: Resolved) -> Radio:
    def need(key: str, wanted: object, reason: str) -> None:
        if radio[key] != wanted:
            raise NotExpressibleError(f"radio.{key}", f"{radio[key]!r} is not {wanted!r}: {reason}")

    if radio["standard"] not in ("802.11b", "802.11g-ns2"):
        raise NotExpressibleError("radio.standard", "its Mac/802_11 knows DSSS timing only (802.11b, 802.11g-ns2)")
    if radio["standard"] == "802.11b" and radio["rate_bps"] not in _DSSS_RATES:
        raise NotExpressibleError("radio.rate", "not a DSSS rate")
    need("propagation", "two-ray", "only the two-ray model draws nothing")
    need("reception", "ns2-capture", "it never sums interference")
    need("backoff_range", "ns2", "it draws from 0..cw-1")
    need("mac_overhead", _MAC_OVERHEAD, "ns-2.35 adds 34 bytes to a data frame")
    if radio["link_rates"]:
        raise NotExpressibleError("radio.link_rates", "one data rate a MAC")
    rts = radio["rts"]
    if radio["retry_short"] == 0 or radio["retry_long"] == 0:
        key = "retry_short" if radio["retry_short"] == 0 else "retry_long"
        raise NotExpressibleError(f"radio.{key}", "its retry counters act from 1 on")
    return Radio(
        rate_bps=radio["rate_bps"],
        basic_rate_bps=radio["basic_rate_bps"],
        short_preamble=radio["preamble"] == "short",
        rts_bytes=0 if rts == "always" else None if rts == "never" else rts,
        retry_short=radio["retry_short"],
        retry_long=radio["retry_long"],
        queue=radio["queue"],
        tx_range_m=radio["tx_range_m"],
        cs_range_m=radio["cs_range_m"],
        capture_db=radio["threshold_db"],
    )


def _routing(routing: Resolved) -> Routing:
    protocol = Routing(routing["protocol"])
    if protocol is Routing.AODV and routing["profile"] != "ns2":
        raise NotExpressibleError("routing.profile", f'its AODV is "ns2", not {routing["profile"]!r}')
    return protocol


def _static_routes(
    flows: tuple[Flow, ...], nodes: tuple[MeshNode, ...], gateway: str | None, tx_range: float
) -> tuple[tuple[int, ...], ...]:
    """The route of every flow within the mesh and that of the way back, each once; a wired end is at the gateway."""
    index = {node.name: i for i, node in enumerate(nodes)}
    neighbours = within_range([(node.x, node.y) for node in nodes], tx_range)
    routes = set()
    for flow in flows:
        a, b = (index[end if end in index else str(gateway)] for end in (flow.source, flow.target))
        for source, sink in ((a, b), (b, a)):
            route = minimum_hop_route(neighbours, source, sink)
            if route is None:
                raise AssertionError(f"a scenario whose flow {flow.id} has no route was resolved")
            if source != sink:
                routes.add(route.nodes)
    return tuple(sorted(routes))


def _gateway(resolved: Resolved, links: tuple[WiredLink, ...]) -> str | None:
    gateways = [str(node["id"]) for node in resolved["mesh"] if node["gateway"]]
    if len(gateways) > 1:
        raise NotExpressibleError(
            "link", f"{len(gateways)} gateways ({', '.join(gateways)}); wired hosts share one gateway's address here"
        )
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
        raise NotExpressibleError("node", f"wired node {apart[0]!r} has no path to the gateway")
    assert reached & mesh == {gateways[0]}, (reached, mesh)
    return gateways[0]


def _flow(index: int, flow: Resolved, mesh: set[str], settings: list[Resolved]) -> Flow:
    key = f"flow[{index}]"
    if flow["from"] not in mesh and flow["to"] not in mesh:
        raise NotExpressibleError(f"{key}.to", "both ends are wired; nothing would pass the mesh")
    if flow["app"] == "cbr":
        return Flow(
            id=flow["id"],
            source=flow["from"],
            target=flow["to"],
            app=App.CBR,
            packet=flow["packet"],
            start_s=flow["start_s"],
            stop_s=flow["stop_s"],
            scheme=flow["scheme"],
            rate_bps=flow["rate_bps"],
            udp_header=flow["udp_header"],
        )
    if flow["app"] != "ftp":
        raise NotExpressibleError(f"{key}.app", f'{flow["app"]!r}: only "ftp" and "cbr" have the same meaning there')
    agent, delayed = _agent(key, flow["scheme"], settings)
    return Flow(
        id=flow["id"],
        source=flow["from"],
        target=flow["to"],
        app=App.FTP,
        packet=flow["segment"],
        start_s=flow["start_s"],
        stop_s=flow["stop_s"],
        scheme=flow["scheme"],
        agent=agent,
        window=flow["window"],
        delayed_ack=delayed,
    )


def _agent(key: str, scheme: str, settings: list[Resolved]) -> tuple[str, bool]:
    """The class of the sending agent, and whether the sink delays its ACKs."""
    if scheme not in _AGENTS:
        allowed = ", ".join(sorted(_AGENTS))
        raise NotExpressibleError(f"{key}.scheme", f"{scheme!r}: ns-2.35 has {allowed}; try --scheme newreno")
    agent, delayed = _AGENTS[scheme]
    for setting in settings:
        if setting["scheme"] != scheme:
            continue
        if setting["key"] == "ack_policy" and setting["value"] in ("every", "delayed"):
            delayed = setting["value"] == "delayed"
        else:
            raise NotExpressibleError(f"scheme.{scheme}.{setting['key']}", "no counterpart in its TCP agents")
    return agent, delayed
