"""Reads what other tools write: NetJSON, meshviewer, batadv-vis, OLSR's jsoninfo, CSV; text is for ``dumps``.

| form | schema after which it is read |
|---|---|
| NetJSON NetworkGraph | netjson.org, "NetworkGraph": ``nodes`` and ``links`` with ``cost`` |
| meshviewer.json | Freifunk's meshviewer, version 2 of its data: ``nodes`` with ``location``, ``links`` with ``source_tq``, ``target_tq`` |
| nodes.json with graph.json | Freifunk's ffmap backend: ``nodeinfo``, and ``batadv`` with ``tq`` as 1 / quality |
| batadv-vis | ``batadv-vis -f jsondoc``: ``vis`` with ``primary`` and ``neighbors`` of ``metric`` 1 / quality |
| OLSR jsoninfo | ``/topology`` or ``/all`` of olsrd's jsoninfo plugin: ``lastHopIP``, ``destinationIP``, ``linkQuality``; ``hna``, ``mid`` |
| CSV | ``id`` with ``lat,lon`` or ``x,y``, ``height``, ``gateway``; or ``from,to`` with ``loss``, ``rate`` |
"""  # noqa: E501 (a table)

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from meshpace.meshes import dumps
from meshpace.meshes.model import Link, Mesh, MeshFileError, Node, both_ways

FORMS = (
    "NetJSON NetworkGraph, meshviewer.json, nodes.json and graph.json, batadv-vis, OLSR jsoninfo /topology, "
    "OLSR txtinfo, babeld's dumps, iw's station and mpath dumps, CSV"
)


def read(paths: Sequence[Path]) -> Mesh:
    """The mesh of one file, or of those that belong together (nodes and graph, nodes and links as CSV, a dump a node).

    Raises:
        MeshFileError: a file is of no form that is known, or says something impossible.
        OSError: a file cannot be read.
    """
    documents = [(path, _document(path)) for path in paths]
    if texts := [(path, document) for path, document in documents if isinstance(document, str)]:
        return _texts(texts, len(documents))
    if all(isinstance(document, list) for _, document in documents):
        return _csv(documents)
    by_kind: dict[str, tuple[Path, Any]] = {}
    for path, document in documents:
        for kind, fits in _KINDS.items():
            if isinstance(document, dict) and fits(document):
                by_kind[kind] = (path, document)
                break
        else:
            raise MeshFileError(f"{path}: found neither of the forms that are known; allowed: {FORMS}")
    if set(by_kind) == {"nodes", "graph"}:
        return _guarded(by_kind["graph"][0], _FIELDS["ffmap"], lambda: _ffmap(by_kind["nodes"][1], by_kind["graph"][1]))
    if len(documents) > 1 or set(by_kind) & {"nodes", "graph"}:
        found = ", ".join(map(str, paths))
        raise MeshFileError(f"{found}: allowed together: nodes.json and graph.json, or CSV of nodes and of links")
    (kind, (path, document)) = next(iter(by_kind.items()))
    return _guarded(path, _FIELDS[kind], lambda: _READERS[kind](document))


def _document(path: Path) -> Any:
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix.lower() == ".csv":
        return list(csv.DictReader(io.StringIO(text)))
    if dumps.kind_of(text) is not None:
        return text
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise MeshFileError(f"{path}:{error.lineno}: found what is no JSON ({error.msg}); allowed: {FORMS}") from None
    if not isinstance(found, dict):
        raise MeshFileError(f"{path}: found no object; allowed: {FORMS}")
    return found


def _texts(texts: dumps.Dumps, count: int) -> Mesh:
    kinds = {dumps.kind_of(text) for _, text in texts}
    if len(kinds) > 1 or len(texts) < count:
        found = ", ".join(str(path) for path, _ in texts)
        raise MeshFileError(f"{found}: allowed together: dumps of one kind, one of each node")
    said = dumps.READERS[str(kinds.pop())](texts)
    mesh = _mesh(said.form, list(said.nodes), list(said.links), said.quality, said.skipped)
    return replace(mesh, standard=said.standard)


def _guarded(path: Path, fields: str, make: Callable[[], Mesh]) -> Mesh:
    try:
        return make()
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        what = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise MeshFileError(f"{path}: found {what}; allowed: {fields}") from None


_KINDS: dict[str, Callable[[Mapping[str, Any]], bool]] = {
    "netjson": lambda d: d.get("type") == "NetworkGraph",
    "graph": lambda d: "batadv" in d,
    "batadv-vis": lambda d: "vis" in d,
    "olsr": lambda d: isinstance(d.get("topology"), list),
    "meshviewer": lambda d: "nodes" in d and "links" in d,
    "nodes": lambda d: "nodes" in d,
}
"""The first that fits."""


def _netjson(document: Mapping[str, Any]) -> Mesh:
    nodes = []
    for row in document["nodes"]:
        properties = row.get("properties") or {}
        place = properties.get("location") or row.get("location") or {}
        nodes.append(
            Node(
                row["id"], row.get("label") or "", _place(place.get("lat"), place.get("lng", place.get("lon"))),
                gateway=bool(properties.get("gateway")),
            )
        )  # fmt: skip
    links, etx = [], str(document.get("metric", "")).upper() == "ETX"
    for row in document["links"]:
        cost = row.get("cost")
        # ETX is 1 over the product of what arrives each way: taken to be the same both ways.
        delivered = 1 / math.sqrt(float(cost)) if etx and cost else None
        links += [Link(row["source"], row["target"], delivered), Link(row["target"], row["source"], delivered)]
    quality = "loss = 1 - 1 / sqrt(ETX), taken to be the same both ways" if etx else ""
    return _mesh("NetJSON NetworkGraph", nodes, links, quality)


def _meshviewer(document: Mapping[str, Any]) -> Mesh:
    nodes, skipped = [], []
    for row in document["nodes"]:
        if row.get("is_online") is False:
            skipped.append(f"{row['node_id']} is offline")
            continue
        place = row.get("location") or {}
        where = _place(place.get("latitude"), place.get("longitude"))
        nodes.append(Node(row["node_id"], row.get("hostname") or "", where, gateway=bool(row.get("is_gateway"))))
    links = []
    for row in document["links"]:
        if row.get("type", "wifi") not in ("wifi", "other"):
            skipped.append(f"{row['source']} - {row['target']} is {row['type']}, no radio")
            continue
        links += [
            Link(row["source"], row["target"], _part(row.get("source_tq"))),
            Link(row["target"], row["source"], _part(row.get("target_tq"))),
        ]
    return _mesh("meshviewer.json", nodes, links, _TQ, skipped)


def _ffmap(nodes_file: Mapping[str, Any], graph_file: Mapping[str, Any]) -> Mesh:
    rows = nodes_file["nodes"]
    nodes, skipped = [], []
    for row in rows.values() if isinstance(rows, dict) else rows:
        info, flags = row["nodeinfo"], row.get("flags") or {}
        if flags.get("online") is False:
            skipped.append(f"{info['node_id']} is offline")
            continue
        place = info.get("location") or {}
        where = _place(place.get("latitude"), place.get("longitude"))
        nodes.append(Node(info["node_id"], info.get("hostname") or "", where, place.get("altitude"),
                          gateway=bool(flags.get("gateway"))))  # fmt: skip
    graph = graph_file["batadv"]
    names = [row.get("node_id") or row["id"] for row in graph["nodes"]]
    links = []
    for row in graph["links"]:
        source, target = names[row["source"]], names[row["target"]]
        if row.get("vpn") or row.get("type") in ("tunnel", "vpn"):
            skipped.append(f"{source} - {target} is a tunnel, no radio")
            continue
        delivered = 1 / float(row["tq"]) if row.get("tq") else None
        links.append(Link(source, target, _part(delivered)))
        if row.get("bidirect", True):
            links.append(Link(target, source, _part(delivered)))
    return _mesh("nodes.json and graph.json", nodes, links, _TQ, skipped)


def _batadv_vis(document: Mapping[str, Any]) -> Mesh:
    links, names = [], {}
    for row in document["vis"]:
        for address in [row["primary"], *(row.get("secondary") or [])]:
            names[address] = row["primary"]
    for row in document["vis"]:
        for other in row.get("neighbors") or []:
            target = names.setdefault(other["neighbor"], other["neighbor"])
            links.append(Link(row["primary"], target, _part(1 / float(other["metric"]))))
    return _mesh("batadv-vis", [Node(name) for name in dict.fromkeys(names.values())], links, _TQ)


def _olsr(document: Mapping[str, Any]) -> Mesh:
    # An address of another interface is the same node. `main` came between olsrd 0.9.0 and 0.9.5.
    names: dict[str, str] = {
        alias["ipAddress"]: row.get("main", row)["ipAddress"]
        for row in document.get("mid") or []
        for alias in row["aliases"]
    }

    def name(address: str) -> str:
        return names.get(address, address)

    # LQ is what the last hop gets from the destination, NLQ the way there.
    links = both_ways(
        [
            (
                Link(name(row["destinationIP"]), name(row["lastHopIP"]), _part(row.get("linkQuality"))),
                _part(row.get("neighborLinkQuality", row.get("linkQuality"))),
            )
            for row in document["topology"]
        ]
    )
    found = dict.fromkeys(end for link in links for end in (link.source, link.target))
    gateways = {name(row["gateway"]) for row in document.get("hna") or [] if _everywhere(row)}
    nodes = [Node(node, gateway=node in gateways) for node in found]
    return _mesh("OLSR jsoninfo", nodes, links, dumps.LQ_OF_OLSR)


def _everywhere(network: Mapping[str, Any]) -> bool:
    return f"{network['destination']}/{network['genmask']}" in dumps.DEFAULT


_READERS: dict[str, Callable[[Mapping[str, Any]], Mesh]] = {
    "netjson": _netjson, "meshviewer": _meshviewer, "batadv-vis": _batadv_vis, "olsr": _olsr,
}  # fmt: skip
_FIELDS = {
    "netjson": "nodes with id, links with source, target and cost (netjson.org, NetworkGraph)",
    "meshviewer": "nodes with node_id, links with source, target, source_tq and target_tq (meshviewer, version 2)",
    "ffmap": "nodes with nodeinfo and its node_id; batadv's nodes with id, links with source, target and tq (ffmap)",
    "batadv-vis": "vis with primary, and neighbors with neighbor and metric (batadv-vis -f jsondoc)",
    "olsr": "topology with lastHopIP, destinationIP and linkQuality (olsrd's jsoninfo)",
}
"""What each form has, for messages."""
_TQ = "loss = 1 - TQ, batman-adv's transmit quality"


def _csv(documents: Sequence[tuple[Path, Any]]) -> Mesh:
    nodes: list[Node] = []
    links: list[Link] = []
    known: set[str] = set()
    for path, rows in documents:
        head = set(rows[0]) if rows else set()
        if "id" not in head and not {"from", "to"} <= head:
            raise MeshFileError(
                f"{path}:1: found the columns {', '.join(sorted(map(str, head))) or 'none'}; allowed: id with "
                "lat,lon or x,y, or from,to with loss, rate"
            )
        for line, row in enumerate(rows, start=2):
            try:
                if "id" in head:
                    node = _csv_node(row)
                    if node.id in known:
                        raise MeshFileError(f"{path}:{line}: found the node {node.id!r} again; allowed: each once")
                    known.add(node.id)
                    nodes.append(node)
                else:
                    loss = _number(row, "loss")
                    delivered = None if loss is None else 1 - loss
                    links.append(Link(row["from"], row["to"], delivered, row.get("rate") or None))
            except (ValueError, TypeError, AttributeError) as error:
                raise MeshFileError(
                    f"{path}:{line}: found {error}; allowed: numbers in metres, degrees, 0 to 1"
                ) from None
    links = both_ways([(link, link.delivered) for link in links])
    if not nodes:
        nodes = [Node(name) for name in dict.fromkeys(end for link in links for end in (link.source, link.target))]
    return _mesh("CSV", nodes, links, "loss as given" if links else "")


def _number(row: Mapping[str, str], name: str) -> float | None:
    if not row.get(name):
        return None
    try:
        return float(row[name])
    except ValueError:
        raise ValueError(f"{name} = {row[name]!r}") from None


def _csv_node(row: Mapping[str, str]) -> Node:
    x, y = _number(row, "x"), _number(row, "y")
    return Node(
        row["id"], row.get("label") or "", _place(_number(row, "lat"), _number(row, "lon")), _number(row, "height"),
        None if x is None or y is None else (x, y), (row.get("gateway") or "").lower() in ("1", "true", "yes"),
    )  # fmt: skip


def _place(latitude: Any, longitude: Any) -> tuple[float, float] | None:
    return None if latitude is None or longitude is None else (float(latitude), float(longitude))


def _part(value: Any) -> float | None:
    """A part of what was sent; batman-adv's can exceed 1 by rounding."""
    return None if value is None else min(max(float(value), 0.0), 1.0)


def _mesh(form: str, nodes: list[Node], links: list[Link], quality: str, skipped: Sequence[str] = ()) -> Mesh:
    """Links between known nodes, each direction once: of several interfaces the best."""
    known, left_out = {node.id for node in nodes}, list(skipped)
    best: dict[tuple[str, str], Link] = {}
    for link in links:
        if link.source == link.target:
            continue
        if not {link.source, link.target} <= known:
            left_out.append(f"{link.source} - {link.target}: a node that is not listed, or offline")
            continue
        old = best.get((link.source, link.target))
        if old is None or (link.delivered or 0.0) > (old.delivered or 0.0):
            best[link.source, link.target] = link
    if len(known) < len(nodes):
        raise ValueError("a node listed twice")
    return Mesh(form, tuple(nodes), tuple(best.values()), quality if links else "", tuple(dict.fromkeys(left_out)))
