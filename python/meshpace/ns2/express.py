"""Turns a scenario into what ns-2.35 can run, or says which key it cannot express and why."""

from __future__ import annotations

from meshpace.engine import Job
from meshpace.judges.express import expressed_by
from meshpace.judges.network import (
    App,
    Resolved,
    check_ends,
    check_measure,
    check_mobility,
    gateway_of,
    mesh_nodes,
    shortest_ways,
    wired_links,
)
from meshpace.judges.refusals import Refusal, Refusals, as_written
from meshpace.judges.schemes import Parameters, check_scheme, parameters_of
from meshpace.ns2.keys import EXPRESSED
from meshpace.ns2.model import Flow, Ns2Scenario, Radio, Routing

_AGENTS = {"newreno": "Agent/TCP/Newreno", "tahoe": "Agent/TCP", "cubic": "Agent/TCP/Linux"}
"""The sending agent of a congestion control: of a scheme of that name, with its parameters."""
_SINKS = {"every": "newreno", "delayed": "newreno-delack"}
"""The scheme whose parameters of the receiver (``ack_...``) ns-2's sinks have, by acknowledgement policy."""
_DSSS_RATES = (1e6, 2e6, 5.5e6, 11e6)
_MAC_OVERHEAD = 34
_LONG_PREAMBLE_BPS = 1e6
"""Frames at this rate have the long preamble, whatever the network's (IEEE 802.11-2020, 16.2.2.3)."""

Schemes = dict[str, Parameters]


def express(job: Job) -> Ns2Scenario:
    """The scenario of a job in ns-2's terms: all of it.

    Raises:
        ScenarioError: the scenario cannot be run here.
        NotExpressibleError: names every key that has no counterpart in ns-2.35, and the reasons.
    """
    return expressed_by("ns-2.35", _express, EXPRESSED, job)


def _express(resolved: Resolved, found: Refusals) -> Ns2Scenario | None:
    found.of(check_measure, resolved)
    found.of(check_mobility, resolved)
    nodes = mesh_nodes(resolved)
    radio = _radio(resolved["radio"], found)
    routing = found.of(_routing, resolved["routing"])
    links = wired_links(resolved)
    gateway = found.of(gateway_of, resolved, links)
    names = {node.name for node in nodes}
    made = [found.of(_flow, i, flow, names, resolved["schemes"]) for i, flow in enumerate(resolved["flows"])]
    if found.refused or routing is None:
        return None
    flows = tuple(flow for flow in made if flow is not None)
    ends = [(flow.id, flow.source, flow.target) for flow in flows]
    routes = found.of(shortest_ways, ends, nodes, gateway, radio.tx_range_m) if routing is Routing.STATIC else ()
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


def _radio(radio: Resolved, found: Refusals) -> Radio:
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


def _flow(index: int, flow: Resolved, mesh: set[str], schemes: Schemes) -> Flow:
    key = f"flow[{index}]"
    check_ends(key, flow, mesh)
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
    agent = parameters["congestion"] if parameters["congestion"] in _AGENTS else "newreno"
    sink = "cubic" if agent == "cubic" else _SINKS.get(parameters["ack_policy"], "newreno")
    wanted = {k: v for k, v in parameters_of(agent).items() if not _of_receiver(k)}
    wanted |= {k: v for k, v in parameters_of(sink).items() if _of_receiver(k)}
    check_scheme(key, name, parameters, wanted, '"newreno", "newreno-delack", "tahoe", "cubic"')
    return _AGENTS[agent], parameters["ack_policy"] == "delayed"


def _of_receiver(parameter: str) -> bool:
    return parameter.startswith("ack_")
