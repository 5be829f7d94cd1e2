"""Turns a scenario into what ns-2.35 can run, or says which key it cannot express and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from meshpace import engine
from meshpace.engine import Job
from meshpace.ns2.keys import given, unknown
from meshpace.ns2.model import (
    App,
    Flow,
    MeshNode,
    NotExpressibleError,
    Ns2Scenario,
    Radio,
    Refusal,
    Routing,
    WiredLink,
    as_written,
)  # fmt: skip
from meshpace.ns2.routes import minimum_hop_route, within_range

_AGENTS = {"newreno": "Agent/TCP/Newreno", "tahoe": "Agent/TCP", "cubic": "Agent/TCP/Linux"}
"""The sending agent of a congestion control: of a scheme of that name, with its parameters."""
_SINKS = {"every": "newreno", "delayed": "newreno-delack"}
"""The scheme whose parameters of the receiver (``ack_...``) ns-2's sinks have, by acknowledgement policy."""
_CHOICES = ("congestion", "recovery", "tcp_profile", "pacing", "ack_policy", "relay", "gateway")
"""Parameters that choose a part: named before those of the part."""
_DSSS_RATES = (1e6, 2e6, 5.5e6, 11e6)
_MAC_OVERHEAD = 34
_LONG_PREAMBLE_BPS = 1e6
"""Frames at this rate have the long preamble, whatever the network's (IEEE 802.11-2016, 16.2.2.3)."""

_P = ParamSpec("_P")
_T = TypeVar("_T")
Resolved = dict[str, Any]
"""A scenario as ``meshpace.engine.resolve`` returns it."""
Parameters = dict[str, Any]
"""Of a scheme, as they act."""
Schemes = dict[str, Parameters]


def express(job: Job) -> Ns2Scenario:
    """The scenario of a job in ns-2's terms: all of it.

    Raises:
        ScenarioError: the scenario cannot be run here.
        NotExpressibleError: names every key that has no counterpart in ns-2.35, and the reasons.
    """
    resolved = engine.resolve(job)
    found = _Refusals()
    expressed = _express(resolved, found)
    found.of(_check_mesh, resolved, job)
    found.refused += unknown(job)
    if found.refused:
        raise NotExpressibleError(job.name, found.refused)
    assert expressed is not None, "what is missing was refused"
    return expressed


class _Refusals:
    """What has been refused so far: everything is looked at before any of it is told."""

    def __init__(self) -> None:
        self.refused: list[Refusal] = []

    def of(self, part: Callable[_P, _T], *given: _P.args, **named: _P.kwargs) -> _T | None:
        """What a part comes to; None if it is refused."""
        try:
            return part(*given, **named)
        except Refusal as refusal:
            self.refused.append(refusal)
            return None


def _express(resolved: Resolved, found: _Refusals) -> Ns2Scenario | None:
    found.of(_check_measure, resolved)
    found.of(_check_mobility, resolved)
    nodes = tuple(MeshNode(node["id"], node["x"], node["y"]) for node in resolved["mesh"])
    radio = _radio(resolved["radio"], found)
    routing = found.of(_routing, resolved["routing"])
    links = tuple(
        WiredLink(link["a"], link["b"], link["rate_bps"], link["delay_s"], link["queue"]) for link in resolved["links"]
    )
    gateway = found.of(_gateway, resolved, links)
    names = {node.name for node in nodes}
    made = [found.of(_flow, i, flow, names, resolved["schemes"]) for i, flow in enumerate(resolved["flows"])]
    if found.refused or routing is None:
        return None
    flows = tuple(flow for flow in made if flow is not None)
    routes = found.of(_static_routes, flows, nodes, gateway, radio.tx_range_m) if routing is Routing.STATIC else ()
    if routes is None:
        return None
    measure = resolved["measure"]
    return Ns2Scenario(
        name=resolved["name"],
        nodes=nodes,
        links=links,
        gateway=gateway,
        flows=flows,
        radio=radio,
        routing=routing,
        routes=routes,
        duration_s=measure["duration_s"],
        warmup_s=measure["warmup_s"],
    )


def _check_measure(resolved: Resolved) -> None:
    if resolved["measure"]["kind"] != "time":
        packets = resolved["measure"]["packets"]
        raise Refusal("measure.packets", packets, "measure.duration, measure.warmup", "its scripts stop at a time")


def _check_mobility(resolved: Resolved) -> None:
    if resolved["mobility"]["model"] != "static":
        model = resolved["mobility"]["model"]
        raise Refusal(
            "mobility.model", model, '"static"', "its random waypoints are other draws: the paths would differ"
        )


def _radio(radio: Resolved, found: _Refusals) -> Radio:
    def refuse(key: str, value: object, allowed: str, reason: str) -> None:
        found.refused.append(Refusal(f"radio.{key}", value, allowed, reason))

    def need(key: str, wanted: object, reason: str) -> None:
        if radio[key] != wanted:
            refuse(key, radio[key], as_written(wanted), reason)

    if radio["standard"] not in ("802.11b", "802.11g-ns2"):
        allowed = '"802.11b", "802.11g-ns2"'
        refuse("standard", radio["standard"], allowed, "its Mac/802_11 knows DSSS timing only")
    if radio["standard"] == "802.11b" and radio["rate_bps"] not in _DSSS_RATES:
        allowed = ", ".join(f"{rate / 1e6:g} Mbit/s" for rate in _DSSS_RATES)
        refuse("rate", radio["rate_bps"], allowed, "it has no such DSSS rate")
    need("propagation", "two-ray", "only the two-ray model draws nothing")
    need("reception", "ns2-capture", "it never sums interference")
    need("backoff_range", "ns2", "it draws from 0..cw-1")
    need("arp", True, "its nodes ask for every address")
    need("mac_overhead", _MAC_OVERHEAD, "ns-2.35 adds 34 bytes to a data frame")
    if radio["link_rates"]:
        refuse("link_rates", f"{len(radio['link_rates'])} rates", "none", "a MAC has one data rate")
    if radio["preamble"] == "short" and min(radio["rate_bps"], radio["basic_rate_bps"]) <= _LONG_PREAMBLE_BPS:
        allowed = '"long", or rate and basic_rate above 1 Mbit/s'
        reason = "it would shorten frames at 1 Mbit/s too, which keep the long one"
        refuse("preamble", "short", allowed, reason)
    rts = radio["rts"]
    if radio["retry_short"] == 0 or radio["retry_long"] == 0:
        key = "retry_short" if radio["retry_short"] == 0 else "retry_long"
        refuse(key, 0, "1 and more", "its retry counters act from 1 on")
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
    if routing["protocol"] not in set(Routing):
        words = ", ".join(f'"{word}"' for word in Routing)
        raise Refusal(
            "routing.protocol", routing["protocol"], words, "it has no such protocol, or another of that name"
        )
    protocol = Routing(routing["protocol"])
    if routing.get("metric", "hops") != "hops":
        raise Refusal("routing.metric", routing["metric"], '"hops"', "its routes count hops")
    if protocol is Routing.AODV and routing["profile"] != "ns2":
        raise Refusal("routing.profile", routing["profile"], '"ns2"', "its AODV is its own")
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
                raise Refusal(
                    "flow", f"flow {flow.id}, whose ends cannot reach each other", "ends within reach", "no route"
                )
            if source != sink:
                routes.add(route.nodes)
    return tuple(sorted(routes))


def _gateway(resolved: Resolved, links: tuple[WiredLink, ...]) -> str | None:
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


def _flow(index: int, flow: Resolved, mesh: set[str], schemes: Schemes) -> Flow:
    key = f"flow[{index}]"
    if flow["from"] not in mesh and flow["to"] not in mesh:
        raise Refusal(f"{key}.to", flow["to"], "an end in the mesh", "nothing would pass the mesh")
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
        raise Refusal(f"{key}.app", flow["app"], '"ftp", "cbr"', "only these mean the same there")
    agent, delayed = _agent(f"{key}.scheme", flow["scheme"], schemes[flow["scheme"]])
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


def _agent(key: str, name: str, parameters: Parameters) -> tuple[str, bool]:
    """The class of the sending agent, and whether the sink delays its ACKs, of a scheme with these parameters.

    The agents and sinks have the parameters of the schemes that are called after them, all of them.
    """
    table = {row["name"]: row["parameters"] for row in engine.schemes()}
    agent = parameters["congestion"] if parameters["congestion"] in _AGENTS else "newreno"
    sink = "cubic" if agent == "cubic" else _SINKS.get(parameters["ack_policy"], "newreno")
    wanted = {k: v for k, v in table[agent].items() if not _of_receiver(k)}
    wanted |= {k: v for k, v in table[sink].items() if _of_receiver(k)}
    differing = [k for k in {**wanted, **parameters} if parameters.get(k) != wanted.get(k)]
    if not differing:
        return _AGENTS[agent], parameters["ack_policy"] == "delayed"
    if parameters == table.get(name):
        raise Refusal(
            key, name, '"newreno", "newreno-delack", "tahoe", "cubic"', "it has no such agent; try --scheme newreno"
        )
    first = next((choice for choice in _CHOICES if choice in differing), differing[0])
    allowed = as_written(wanted[first]) if first in wanted else "not to give it"
    raise Refusal(f"scheme.{name}.{first}", parameters.get(first), allowed, "its TCP agents do otherwise")


def _of_receiver(parameter: str) -> bool:
    return parameter.startswith("ack_")


def _check_mesh(resolved: Resolved, job: Job) -> None:
    """Its nodes have drop-tail queues and its gateways forward: a scheme of the mesh may do nothing else."""
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
