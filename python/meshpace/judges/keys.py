"""Which keys a scenario gives, held against a judge's table: a key without a row is refused."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from meshpace.engine import Job
from meshpace.judges.refusals import Refusal

_NAMES = "names and texts, which no run depends on"
_PLACES = "resolved: the judge has the places of the nodes and the wired links"
_REPLACED = "only where measure.duration replaces it"
_REAL = "of an emulation: no simulated run looks at it"
TIMES = "resolved: the judge has when each flow starts and stops"

COMMON = {
    "scenario.name": _NAMES,
    "scenario.description": _NAMES,
    "scenario.source": _NAMES,
    "measure.duration": "when the run ends",
    "measure.warmup": "when its counters begin",
    "measure.packets": _REPLACED,
    "measure.batches": _REPLACED,
    "measure.limit": _REPLACED,
    "measure.windows": "our own index of fairness; 1, 10 and 100 s are compared",
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
    "emulate.host[].node": _REAL,
    "emulate.host[].run": _REAL,
    "emulate.host[].start": _REAL,
    "emulate.host[].collect": _REAL,
    "mobility.model": "static",
    "mesh.scheme": "one that does nothing at queues and gateways",
    "defaults.scheme": "a flow's",
    "defaults.start_jitter": TIMES,
    "flow[].id": _NAMES,
    "flow[].from": "the node that the source is attached to",
    "flow[].to": "the node that the sink is attached to",
    "flow[].count": "as many flows",
    "flow[].app": "ftp, cbr",
    "flow[].start": TIMES,
    "flow[].stop": TIMES,
    "flow[].start_jitter": TIMES,
}
"""Keys that every judge can express, and where they are in its input or which of their values are."""

_SCHEMES = "scheme."


def unknown(job: Job, expressed: Mapping[str, str]) -> list[Refusal]:
    """Keys, in the file or in an override, that are not in a judge's table.

    Parameters of schemes are held against the schemes that a judge has, each with all of its parameters.
    """
    return [
        Refusal(key, value, "not to give it", "it has no counterpart there")
        for key, pattern, value in given(job)
        if pattern not in expressed and not key.startswith(_SCHEMES)
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
