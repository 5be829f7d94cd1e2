"""Reads what other tools write: NetJSON, meshviewer, batadv-vis, OLSR's jsoninfo, CSV; text is for ``dumps``.

| form | schema after which it is read |
|---|---|
| NetJSON NetworkGraph | netjson.org, "NetworkGraph": ``nodes`` and ``links`` with ``cost`` |
| meshviewer.json | Freifunk's meshviewer, version 2 of its data: ``nodes`` with ``location``, ``links`` with ``source_tq``, ``target_tq`` |
| nodes.json with graph.json | Freifunk's ffmap backend: ``nodeinfo``, and ``batadv`` with ``tq`` as 1 / quality |
| batadv-vis | ``batadv-vis -f jsondoc``: ``vis`` with ``primary`` and ``neighbors`` of ``metric`` 1 / quality |
| OLSR jsoninfo | ``/topology`` or ``/all`` of olsrd's jsoninfo plugin: ``lastHopIP``, ``destinationIP``, ``linkQuality``; ``hna``, ``mid`` |
| CSV | ``id`` with ``lat,lon`` or ``x,y``, ``height``, ``gateway``; or ``from,to`` with ``loss``, ``rate``, ``channel`` |
"""  # noqa: E501 (a table)

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from meshpace.meshes import dumps, forms, tables
from meshpace.meshes.entries import Entry, load
from meshpace.meshes.model import Mesh, MeshFileError, NodeTwiceError, mesh_of

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
    origin = ", ".join(map(str, paths))
    try:
        return replace(_read(paths), origin=origin)
    except NodeTwiceError as error:
        raise MeshFileError(f"{origin}: found the node {error} twice; allowed: each once") from None


def _read(paths: Sequence[Path]) -> Mesh:
    documents = [(path, _document(path)) for path in paths]
    if texts := [(path, document) for path, document in documents if isinstance(document, str)]:
        return _texts(texts, len(documents))
    entries = [document for _, document in documents if isinstance(document, Entry)]
    if not entries:
        return tables.mesh([document for _, document in documents if isinstance(document, list)])
    by_kind = {_kind(entry): entry for entry in entries}
    if set(by_kind) == {"nodes", "graph"} and len(documents) == len(by_kind):
        return forms.ffmap(by_kind["nodes"], by_kind["graph"])
    if len(documents) > 1:
        found = ", ".join(map(str, paths))
        raise MeshFileError(
            f"{found}: found files that do not belong together; allowed: nodes.json and graph.json, CSV of nodes and "
            "of links, or a dump of each node"
        )
    ((kind, entry),) = by_kind.items()
    if kind not in forms.READERS:
        other = "graph" if kind == "nodes" else "nodes"
        raise MeshFileError(f"{entry.file}: found {kind}.json alone; allowed: with it {other}.json")
    return forms.READERS[kind](entry)


def _kind(entry: Entry) -> str:
    kind = next((kind for kind, fits in forms.KINDS.items() if fits(entry.value)), None)
    if kind is None:
        raise MeshFileError(f"{entry.file}:1: found none of the forms that are known; allowed: {FORMS}")
    return kind


def _document(path: Path) -> Entry | str | list[tables.Row]:
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    if path.suffix.lower() == ".csv":
        return tables.rows(path, text)
    return text if dumps.kind_of(text) is not None else load(path, text, FORMS)


def _texts(texts: dumps.Dumps, count: int) -> Mesh:
    kinds = {dumps.kind_of(text) for _, text in texts}
    if len(kinds) > 1 or len(texts) < count:
        found = ", ".join(str(path) for path, _ in texts)
        raise MeshFileError(f"{found}: found several forms; allowed together: dumps of one kind, one of each node")
    said = dumps.READERS[str(kinds.pop())](texts)
    mesh = mesh_of(said.form, list(said.nodes), list(said.links), said.quality, said.skipped, said.metric)
    return replace(mesh, standard=said.standard, radio=said.radio, widths=said.widths)
