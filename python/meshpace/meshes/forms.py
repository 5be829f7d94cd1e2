"""Meshes out of JSON: NetJSON, meshviewer, ffmap, batadv-vis, OLSR's jsoninfo (the table is in ``read``)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from meshpace.meshes import dumps, tq
from meshpace.meshes.entries import Entry
from meshpace.meshes.model import Link, Mesh, Node, both_ways, mesh_of

_ROUNDED = 1.1
"""To which a part of what was sent may exceed 1: batman-adv's does by rounding."""


def netjson(document: Entry) -> Mesh:
    """NetworkGraph; loss from ETX, 1 over the product of what arrives each way: taken to be the same both ways."""
    nodes = []
    for row in document["nodes"].rows():
        properties = row.part("properties")
        at = properties.part("location") if "location" in properties else row.part("location")
        gateway = properties["gateway"].flag()
        nodes.append(
            Node(row["id"].words(), row["label"].label(), _place(at["lat"], at.first("lng", "lon")), gateway=gateway)
        )
    links, etx = [], document["metric"].label().upper() == "ETX"
    for row in document["links"].rows():
        source, target = row["source"].words(), row["target"].words()
        cost = row["cost"].maybe(0.0) if etx else None
        delivered = _most(1 / math.sqrt(cost)) if cost else None
        links += [Link(source, target, delivered), Link(target, source, delivered)]
    quality = "loss = 1 - 1 / sqrt(ETX), taken to be the same both ways" if etx else ""
    return mesh_of("NetJSON NetworkGraph", nodes, links, quality, metric="etx" if etx else "hops")


def meshviewer(document: Entry) -> Mesh:
    """Freifunk's meshviewer, version 2."""
    nodes, skipped = [], []
    for row in document["nodes"].rows():
        name = row["node_id"].words()
        if row["is_online"].value is False:
            skipped.append(f"{name} is offline")
            continue
        at = row.part("location")
        where, gateway = _place(at["latitude"], at["longitude"]), row["is_gateway"].flag()
        nodes.append(Node(name, row["hostname"].label(), where, gateway=gateway))
    links = []
    for row in document["links"].rows():
        source, target = row["source"].words(), row["target"].words()
        kind = row["type"].label() or "wifi"
        if kind not in ("wifi", "other"):
            skipped.append(f"{source} - {target} is {kind}, no radio")
            continue
        links += [Link(source, target, _part(row["source_tq"])), Link(target, source, _part(row["target_tq"]))]
    return mesh_of("meshviewer.json", nodes, tq.broadcasts(links), tq.QUALITY, skipped, "etx")


def ffmap(nodes_file: Entry, graph_file: Entry) -> Mesh:
    """Freifunk's ffmap backend: nodes.json and graph.json."""
    nodes, skipped = [], []
    for row in nodes_file["nodes"].members():
        info, flags = row["nodeinfo"].object(), row.part("flags")
        name = info["node_id"].words()
        if flags["online"].value is False:
            skipped.append(f"{name} is offline")
            continue
        at = info.part("location")
        where, height = _place(at["latitude"], at["longitude"]), at["altitude"].maybe()
        nodes.append(Node(name, info["hostname"].label(), where, height, gateway=flags["gateway"].flag()))
    graph = graph_file["batadv"].object()
    names = [row.first("node_id", "id").words() for row in graph["nodes"].rows()]
    links = []
    for row in graph["links"].rows():
        source, target = (names[row[end].index(len(names))] for end in ("source", "target"))
        if row["vpn"].flag() or row["type"].label() in ("tunnel", "vpn"):
            skipped.append(f"{source} - {target} is a tunnel, no radio")
            continue
        delivered = _of_metric(row["tq"])
        links.append(Link(source, target, delivered))
        if row["bidirect"].value is not False:
            links.append(Link(target, source, delivered))
    return mesh_of("nodes.json and graph.json", nodes, tq.broadcasts(links), tq.QUALITY, skipped, "etx")


def batadv_vis(document: Entry) -> Mesh:
    """``batadv-vis -f jsondoc``; addresses of several interfaces are one node."""
    rows = list(document["vis"].rows())
    names: dict[str, str] = {}
    for row in rows:
        primary = row["primary"].words()
        names[primary] = primary
        names |= {address.words(): primary for address in row["secondary"].rows()}
    links = []
    for row in rows:
        for other in row["neighbors"].rows():
            address = other["neighbor"].words()
            target = names.setdefault(address, address)
            links.append(Link(row["primary"].words(), target, _of_metric(other["metric"])))
    return mesh_of(
        "batadv-vis",
        [Node(name) for name in dict.fromkeys(names.values())],
        tq.broadcasts(links),
        tq.QUALITY,
        metric="etx",
    )


def olsr(document: Entry) -> Mesh:
    """Jsoninfo of olsrd. An address of another interface is the same node."""
    names: dict[str, str] = {}
    for row in document["mid"].rows():
        # `main` came between olsrd 0.9.0 and 0.9.5.
        main = row["main"].object() if "main" in row else row
        for alias in row["aliases"].rows():
            names[alias["ipAddress"].words()] = main["ipAddress"].words()

    def name(address: Entry) -> str:
        return names.get(address.words(), address.words())

    # LQ is what the last hop gets from the destination, NLQ the way there.
    links = both_ways(
        [
            (
                Link(name(row["destinationIP"]), name(row["lastHopIP"]), _part(row["linkQuality"])),
                _part(row.first("neighborLinkQuality", "linkQuality")),
            )
            for row in document["topology"].rows()
        ]
    )
    found = dict.fromkeys(end for link in links for end in (link.source, link.target))
    gateways = {name(row["gateway"]) for row in document["hna"].rows() if _everywhere(row)}
    nodes = [Node(node, gateway=node in gateways) for node in found]
    return mesh_of("OLSR jsoninfo", nodes, links, dumps.LQ_OF_OLSR, metric="etx")


def _everywhere(network: Entry) -> bool:
    return f"{network['destination'].value}/{network['genmask'].value}" in dumps.DEFAULT


def _place(latitude: Entry, longitude: Entry) -> tuple[float, float] | None:
    if latitude.value is None or longitude.value is None:
        return None
    return latitude.number(-90.0, 90.0), longitude.number(-180.0, 180.0)


def _part(entry: Entry) -> float | None:
    """A part of what was sent."""
    found = entry.maybe(0.0, _ROUNDED)
    return None if found is None else _most(found)


def _of_metric(entry: Entry) -> float | None:
    """Of 1 over such a part."""
    metric = entry.maybe(0.0)
    return _most(1 / metric) if metric else None


def _most(part: float) -> float:
    return min(part, 1.0)


KINDS: dict[str, Callable[[Mapping[str, object]], bool]] = {
    "netjson": lambda d: d.get("type") == "NetworkGraph",
    "graph": lambda d: "batadv" in d,
    "batadv-vis": lambda d: "vis" in d,
    "olsr": lambda d: isinstance(d.get("topology"), list),
    "meshviewer": lambda d: "nodes" in d and "links" in d,
    "nodes": lambda d: "nodes" in d,
}
"""Which form it is: the first that fits. ``nodes`` and ``graph`` are the two files of ffmap."""
READERS: dict[str, Callable[[Entry], Mesh]] = {
    "netjson": netjson, "meshviewer": meshviewer, "batadv-vis": batadv_vis, "olsr": olsr,
}  # fmt: skip
