"""What a resolved scenario looks like, for drawings and films."""

from __future__ import annotations

from typing import Any

from meshpace.report.model import MeshNode, Topology

Resolved = dict[str, Any]
"""As :func:`meshpace.engine.resolve` gives it."""


def topology(resolved: Resolved, caption: str) -> Topology:
    """The mesh with its wired part and its flows."""
    return Topology(
        caption=caption,
        nodes=tuple(MeshNode(node["id"], node["x"], node["y"], node["gateway"]) for node in resolved["mesh"]),
        tx_range=resolved["radio"]["tx_range_m"],
        cs_range=resolved["radio"]["cs_range_m"],
        links=tuple((link["a"], link["b"]) for link in resolved["links"]),
        flows=tuple((flow["from"], flow["to"]) for flow in resolved["flows"]),
    )


def ends(resolved: Resolved) -> list[int]:
    """The index of the mesh node where each flow leaves the mesh: its end, or a gateway on the way to that."""
    index = {node["id"]: number for number, node in enumerate(resolved["mesh"])}
    gateway = next((number for number, node in enumerate(resolved["mesh"]) if node["gateway"]), 0)
    return [index.get(flow["to"], gateway) for flow in resolved["flows"]]
