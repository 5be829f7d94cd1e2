"""Which keys of a scenario have a counterpart in ns-2.35: a table, so that what nobody has thought of is refused."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

from meshpace.engine import Job
from meshpace.ns2.model import Refusal

_NAMES = "names and texts, which no run depends on"
_PLACES = "resolved: the script has the places of the nodes and the wired links"
_REPLACED = "only where measure.duration replaces it"
_REAL = "of an emulation: no simulated run looks at it"
_TIMES = "resolved: the script has when each flow starts and stops"

EXPRESSED = {
    "scenario.name": _NAMES,
    "scenario.description": _NAMES,
    "scenario.source": _NAMES,
    "measure.duration": "when the script stops",
    "measure.warmup": "when its counters begin",
    "measure.packets": _REPLACED,
    "measure.batches": _REPLACED,
    "measure.limit": _REPLACED,
    "measure.windows": "our own index of fairness; 1, 10 and 100 s are compared",
    "radio.standard": "802.11b, 802.11g-ns2",
    "radio.rate": "dataRate_",
    "radio.basic_rate": "basicRate_",
    "radio.preamble": "PreambleLength_",
    "radio.rts": "RTSThreshold_",
    "radio.retry_short": "ShortRetryLimit_",
    "radio.retry_long": "LongRetryLimit_",
    "radio.queue": "-ifqLen",
    "radio.mac_overhead": "34",
    "radio.reception": "ns2-capture",
    "radio.capture_threshold_db": "CPThresh_",
    "radio.propagation": "two-ray",
    "radio.tx_range": "RXThresh_",
    "radio.cs_range": "CSThresh_",
    "radio.backoff_range": "ns2",
    "radio.arp": "true",
    "topology.kind": _PLACES,
    "topology.hops": _PLACES,
    "topology.hops_short": _PLACES,
    "topology.rows": _PLACES,
    "topology.cols": _PLACES,
    "topology.nodes": _PLACES,
    "topology.mobile": _PLACES,
    "topology.spacing": _PLACES,
    "topology.gap": _PLACES,
    "topology.width": _PLACES,
    "topology.height": _PLACES,
    "topology.gateway": _PLACES,
    "topology.connected": _PLACES,
    "topology.min_hops": _PLACES,
    "topology.repeat_ends": _PLACES,
    "topology.placement_seed": _PLACES,
    "topology.wired": _PLACES,
    "topology.wired_hops": _PLACES,
    "topology.wired_hosts": _PLACES,
    "topology.wired_rate": _PLACES,
    "topology.wired_delay": _PLACES,
    "topology.wired_queue": _PLACES,
    "node[].id": _NAMES,
    "node[].address": _NAMES,
    "node[].x": _PLACES,
    "node[].y": _PLACES,
    "node[].lat": _PLACES,
    "node[].lon": _PLACES,
    "node[].role": _PLACES,
    "link[].a": _PLACES,
    "link[].b": _PLACES,
    "link[].rate": "a DelayLink's bandwidth_",
    "link[].delay": "a DelayLink's delay_",
    "link[].queue": "a DropTail queue's limit_",
    "emulate.host[].node": _REAL,
    "emulate.host[].run": _REAL,
    "emulate.host[].start": _REAL,
    "emulate.host[].collect": _REAL,
    "routing.protocol": "AODV, DSDV; static: DSDV's tables filled with our routes",
    "routing.profile": "ns2",
    "routing.metric": "hops",
    "mobility.model": "static",
    "mesh.scheme": "one that does nothing at queues and gateways",
    "defaults.scheme": "a flow's",
    "defaults.segment": "packetSize_",
    "defaults.window": "window_",
    "defaults.start_jitter": _TIMES,
    "flow[].id": _NAMES,
    "flow[].from": "the node that the source is attached to",
    "flow[].to": "the node that the sink is attached to",
    "flow[].count": "as many flows",
    "flow[].app": "ftp, cbr",
    "flow[].scheme": "newreno, newreno-delack, tahoe, and schemes with their parameters",
    "flow[].segment": "packetSize_",
    "flow[].window": "window_",
    "flow[].start": _TIMES,
    "flow[].stop": _TIMES,
    "flow[].start_jitter": _TIMES,
    "flow[].rate": "rate_ of CBR",
    "flow[].packet": "packetSize_ of CBR",
    "flow[].udp_header": "part of packetSize_ of CBR",
}
"""Keys that a scenario may give, and where they are in the script or which of their values are.

Parameters of schemes are held against the schemes that ns-2.35 has, each with all of its parameters (``express.py``).
"""

_SCHEMES = "scheme."


def unknown(job: Job) -> list[Refusal]:
    """Keys, in the file or in an override, that are not in the table."""
    return [
        Refusal(key, value, "not to give it", "it has no counterpart there")
        for key, pattern, value in given(job)
        if pattern not in EXPRESSED and not key.startswith(_SCHEMES)
    ]


def given(job: Job) -> Iterator[tuple[str, str, object]]:
    """Every key that a job gives: as a user finds it (``flow[0].x``), as the table has it (``flow[].x``), its value.

    The text has been resolved, so it is TOML.
    """
    yield from _flattened(tomllib.loads(job.text.decode()), "", "")
    for assignment in job.overrides:
        path, _, value = assignment.partition("=")
        key = pattern = ""
        for word in path.strip().split("."):
            if word.isdigit():
                key, pattern = f"{key}[{word}]", f"{pattern}[]"
            else:
                key, pattern = (f"{part}.{word}" if part else word for part in (key, pattern))
        yield key, pattern, value.strip()


def _flattened(value: Any, key: str, pattern: str) -> Iterator[tuple[str, str, object]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            parts = (f"{part}.{name}" if part else name for part in (key, pattern))
            yield from _flattened(inner, *parts)
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for index, item in enumerate(value):
            yield from _flattened(item, f"{key}[{index}]", f"{pattern}[]")
    else:
        yield key, pattern, value
