"""What a resolved scenario looks like, for drawings and films."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from meshpace.report.model import MeshNode, Topology

Resolved = dict[str, Any]
"""As :func:`meshpace.engine.resolve` gives it."""

_NAMED = 12
"""More nodes on a channel are counted instead."""


def topology(resolved: Resolved, caption: str) -> Topology:
    """The mesh with its wired part and its flows."""
    return Topology(
        caption=caption,
        nodes=tuple(
            MeshNode(node["id"], node["x"], node["y"], node["gateway"], node["placed"]) for node in resolved["mesh"]
        ),
        tx_range=resolved["radio"]["tx_range_m"],
        cs_range=resolved["radio"]["cs_range_m"],
        links=tuple((link["a"], link["b"]) for link in resolved["links"]),
        flows=tuple((flow["from"], flow["to"]) for flow in resolved["flows"]),
        heard=tuple((link["from"], link["to"]) for link in resolved["radio_links"]),
    )


def ranges(resolved: Resolved) -> dict[str, float]:
    """How far around a sender a drawing shows it to be heard, in metres: nowhere where no node has a place."""
    placed = any(node["placed"] for node in resolved["mesh"])
    radio = resolved["radio"]
    return {"decode": radio["tx_range_m"] if placed else 0.0, "sense": radio["cs_range_m"] if placed else 0.0}


def reach_in_words(resolved: Resolved) -> str:
    """Who hears whom, for a caption."""
    radio = resolved["radio"]
    if not any(node["placed"] for node in resolved["mesh"]):
        heard = "lines are the radio links that the scenario lists; nodes have no places and are drawn in a circle"
    else:
        decoded, sensed = radio["tx_range_m"], radio["cs_range_m"]
        heard = f"frames are decoded within {decoded:g} m (inner circle) and sensed within {sensed:g} m"
    return "; ".join([heard, *_channels(resolved)])


def _channels(resolved: Resolved) -> Iterator[str]:
    """Who is on which of several channels."""
    for channel in resolved["channels"]:
        nodes = [radio["node"] for radio in channel["radios"]]
        shown = ", ".join(nodes) if len(nodes) <= _NAMED else f"{len(nodes)} nodes"
        yield f"{channel_name(channel)}: {shown}"


def channel_name(channel: dict[str, Any]) -> str:
    """Its number, or its centre where no number has that."""
    return f"{channel['mhz']} MHz" if channel["number"] is None else f"channel {channel['number']}"


def ends(resolved: Resolved) -> list[int]:
    """The index of the mesh node where each flow leaves the mesh: its end, or a gateway on the way to that."""
    index = {node["id"]: number for number, node in enumerate(resolved["mesh"])}
    gateway = next((number for number, node in enumerate(resolved["mesh"]) if node["gateway"]), 0)
    return [index.get(flow["to"], gateway) for flow in resolved["flows"]]
