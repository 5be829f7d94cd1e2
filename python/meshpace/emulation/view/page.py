"""The page of a live view: one file, nothing fetched but the engine's lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from meshpace.emulation.record import Host
from meshpace.report.places import ranges, topology
from meshpace.report.templates import render
from meshpace.report.topology import depths

Resolved = dict[str, Any]


def page(resolved: Resolved, hosts: Sequence[Host], name: str, dilation: float) -> str:
    """The page for an emulation."""
    return render("live.html", name=name, scene=scene(resolved, {host.node for host in hosts}, dilation))


def scene(resolved: Resolved, hosts: set[str], dilation: float) -> dict[str, Any]:
    """The parts of the drawing that do not change."""
    depth = depths(topology(resolved, ""))
    return {
        "dilation": dilation,
        "nodes": [
            {"id": node["id"], "x": node["x"], "y": node["y"], "gateway": node["gateway"], "host": node["id"] in hosts}
            for node in resolved["mesh"]
        ],
        # Who is connected to no gateway stands with those that are one link from it.
        "wired": [
            {"id": node["id"], "depth": depth.get(node["id"], 1), "host": node["id"] in hosts}
            for node in resolved["wired"]
        ],
        "wires": [[link["a"], link["b"]] for link in resolved["links"]],
        "ranges": ranges(resolved),
    }
