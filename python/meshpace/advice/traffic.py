"""Traffic that a mesh is tried with: flows between its gateway and nodes that stand for the others."""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from meshpace.advice.errors import AdviceError
from meshpace.judges.routes import within_range

Resolved = Mapping[str, Any]
"""As :func:`meshpace.engine.resolve` gives it."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """Flows that run at a time."""

    name: str
    flows: tuple[tuple[str, str], ...]
    """From and to."""
    hops: tuple[int, ...]
    """Between node and gateway of each, by the shortest way."""

    @property
    def setting(self) -> str:
        """The value of the key ``flow`` that makes it."""
        rows = (f"{{from = {_quoted(source)}, to = {_quoted(sink)}}}" for source, sink in self.flows)
        return f"[{', '.join(rows)}]"


@dataclass(frozen=True, slots=True)
class Reach:
    """The mesh as a graph: gateways, and how far each node is from the nearest of them."""

    ids: tuple[str, ...]
    gateways: tuple[int, ...]
    neighbours: tuple[tuple[int, ...], ...]

    def hops(self, gateways: Sequence[int]) -> dict[int, int]:
        """By node that a gateway can be reached from."""
        found = dict.fromkeys(gateways, 0)
        ahead = deque(gateways)
        while ahead:
            here = ahead.popleft()
            for near in self.neighbours[here]:
                if near not in found:
                    found[near] = found[here] + 1
                    ahead.append(near)
        return found


def reach(resolved: Resolved) -> Reach:
    """Which nodes hear each other on a channel: by the file's links and, between places, by the radio's range.

    Raises:
        AdviceError: nothing joins the mesh with the Internet.
    """
    nodes = resolved["mesh"]
    index = {node["id"]: number for number, node in enumerate(nodes)}
    placed = [number for number, node in enumerate(nodes) if node["placed"]]
    near: list[set[int]] = [set() for _ in nodes]
    ranged = within_range([(nodes[n]["x"], nodes[n]["y"]) for n in placed], resolved["radio"]["tx_range_m"])
    for here, others in zip(placed, ranged, strict=True):
        near[here].update(placed[other] for other in others)
    for link in resolved["radio_links"]:
        near[index[link["from"]]].add(index[link["to"]])
    if resolved["channels"]:
        on_one = [{index[radio["node"]] for radio in channel["radios"]} for channel in resolved["channels"]]
        near = [
            others & set[int]().union(*(nodes for nodes in on_one if here in nodes)) for here, others in enumerate(near)
        ]
    gateways = tuple(number for number, node in enumerate(nodes) if node["gateway"])
    if not gateways or not resolved["wired"]:
        raise AdviceError(
            f"{resolved['name']}: found no gateway; allowed: a mesh with a [[link]] between one of its nodes and "
            'a wired one (role = "wired")'
        )
    return Reach(tuple(node["id"] for node in nodes), gateways, tuple(tuple(sorted(some)) for some in near))


def wired_end(resolved: Resolved) -> str:
    """The wired node that flows go to and come from: the one that the scenario's own name most, else the last."""
    wired: list[str] = [node["id"] for node in resolved["wired"]]
    named = [end for flow in resolved["flows"] for end in (flow["from"], flow["to"]) if end in wired]
    return max(dict.fromkeys(named), key=named.count, default=wired[-1])


def sample(mesh: Reach, count: int, but: Collection[str] = ()) -> list[tuple[str, int]]:
    """Nodes that stand for the others, the nearest first, with their hops: the last of each ``count``-th part by hops.

    So the farthest is among them, and where there is a choice nobody beside the gateway.

    Raises:
        AdviceError: no node reaches the gateway.
    """
    hops = mesh.hops(mesh.gateways)
    able = sorted((far, node) for node, far in hops.items() if far > 0 and mesh.ids[node] not in but)
    if not able:
        raise AdviceError(f"found no node that reaches {mesh.ids[mesh.gateways[0]]}; allowed: a mesh with one at least")
    count = min(count, len(able))
    places = [math.ceil((part + 1) * len(able) / count) - 1 for part in range(count)]
    return [(mesh.ids[node], far) for far, node in (able[place] for place in places)]


def chosen(mesh: Reach, names: Sequence[str]) -> list[tuple[str, int]]:
    """These nodes with their hops, in place of a sample.

    Raises:
        AdviceError: one is unknown or given twice, is the gateway, or does not reach it.
    """
    hops = mesh.hops(mesh.gateways)
    far = {mesh.ids[node]: count for node, count in hops.items() if count > 0}
    for name in names:
        if name not in far or names.count(name) > 1:
            raise AdviceError(
                f"--nodes: found {name!r}{' twice' if name in far else ''}; allowed: nodes that reach "
                f"{mesh.ids[mesh.gateways[0]]}, each once: {', '.join(sorted(far)[:20])}"
            )
    return [(name, far[name]) for name in names]


def patterns(nodes: Sequence[tuple[str, int]], wired: str) -> tuple[Pattern, ...]:
    """Each node alone, up and down; all at a time up, down and every other one each way, or both ways of one."""
    hops = tuple(far for _, far in nodes)
    found = [Pattern(f"{node} → {wired}", ((node, wired),), (far,)) for node, far in nodes]
    found += [Pattern(f"{wired} → {node}", ((wired, node),), (far,)) for node, far in nodes]
    if len(nodes) == 1:
        ((node, far),) = nodes
        return (*found, Pattern("both ways", ((node, wired), (wired, node)), (far, far)))
    up, down = (tuple((n, wired) for n, _ in nodes), tuple((wired, n) for n, _ in nodes))
    # The farthest goes up.
    mixed = tuple(up[at] if (len(nodes) - at) % 2 else down[at] for at in range(len(nodes)))
    return (
        *found,
        Pattern(f"{len(nodes)} nodes → {wired}", up, hops),
        Pattern(f"{wired} → {len(nodes)} nodes", down, hops),
        Pattern("oncoming", mixed, hops),
    )


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
