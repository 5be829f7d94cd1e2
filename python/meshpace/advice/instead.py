"""What else could be done to a mesh: settings to be tried with the flows' scheme as it is."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from meshpace.advice.traffic import Reach, Resolved
from meshpace.advice.where import Where

_RATES: dict[str, tuple[str, ...]] = {
    "802.11b": ("1Mbps", "2Mbps", "5.5Mbps", "11Mbps"),
    "802.11a": ("6Mbps", "9Mbps", "12Mbps", "18Mbps", "24Mbps", "36Mbps", "48Mbps", "54Mbps"),
}
_RATES["802.11g"] = _RATES["802.11a"]
"""Of a standard, ascending (IEEE 802.11-2020, clauses 15.2 to 17.2)."""
_NARROW = 8
"""Segments: a window of a few segments is what spares a mesh the bursts without any pacing."""


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that could be changed."""

    what: str
    settings: tuple[str, ...]
    where: Where
    """Whose machines it takes."""
    caveat: str = ""
    """What the model does not know about it."""
    moves_to: tuple[str, ...] = ()
    """Nodes that have no way to go any more: they stand for no flow."""


def changes(
    resolved: Resolved, text: bytes, mesh: Reach, baseline: str, parts: Mapping[str, Any]
) -> tuple[Change, ...]:  # fmt: skip
    """The changes that can be tried on this mesh, whose baseline has these parts."""
    return (
        *_queues(baseline, parts), *_radio(resolved), *_routing(resolved), *_window(resolved), *_gateway(text, mesh)
    )  # fmt: skip


def _queues(baseline: str, parts: Mapping[str, Any]) -> Iterator[Change]:
    if parts["relay"] == "drop-tail":
        yield Change("FQ-CoDel at every queue", (f"scheme.{baseline}.relay=fq-codel",), Where.ROUTERS)
    elif parts["relay"] == "fq-codel":
        yield Change(
            "drop-tail queues instead of FQ-CoDel", (f"scheme.{baseline}.relay=drop-tail",), Where.ROUTERS,
            "what there is where routers have no FQ-CoDel",
        )  # fmt: skip


def _radio(resolved: Resolved) -> Iterator[Change]:
    radio = resolved["radio"]
    if radio["rts"] == "never":
        yield Change("RTS/CTS for every frame", ("radio.rts=always",), Where.ROUTERS)
    else:
        yield Change("no RTS/CTS", ("radio.rts=never",), Where.ROUTERS)
    rates = _RATES.get(radio["standard"], ())
    higher = [rate for rate in rates if float(rate.removesuffix("Mbps")) * 1e6 > radio["rate_bps"]]
    if higher and not radio["link_rates"]:
        yield Change(
            f"{higher[0]} instead of {radio['rate_bps'] / 1e6:g}Mbps", (f"radio.rate={higher[0]}",), Where.ROUTERS,
            "if every link still carries it: here reach and losses stay as they are",
        )  # fmt: skip


def _routing(resolved: Resolved) -> Iterator[Change]:
    if resolved["routing"]["protocol"] != "static":
        yield Change(
            "routes that outlive lost frames", ("routing.protocol=static",), Where.ROUTERS,
            "static routes stand for a protocol that does not take a lost frame for a broken link",
        )  # fmt: skip


def _window(resolved: Resolved) -> Iterator[Change]:
    if all(flow["window"] > _NARROW for flow in resolved["flows"]):
        yield Change(f"windows of {_NARROW} segments", (f"defaults.window={_NARROW}",), Where.HOSTS)


def best_gateway(mesh: Reach) -> int | None:
    """The node with the fewest hops to all that the gateway serves; None if it is the gateway, or there are two."""
    if len(mesh.gateways) != 1:
        return None
    served = mesh.hops(mesh.gateways)
    means = {}
    for node in served:
        hops = mesh.hops([node])
        if served.keys() <= hops.keys():
            means[node] = sum(hops[other] for other in served)
    (now,) = mesh.gateways
    best = min(means, key=lambda node: (means[node], node), default=now)
    return None if best == now or means[best] == means.get(now) else best


def _gateway(text: bytes, mesh: Reach) -> Iterator[Change]:
    """Where the file itself says what joins gateway and Internet."""
    best = best_gateway(mesh)
    if best is None:
        return
    file: dict[str, Any] = tomllib.loads(text.decode("utf-8"))
    now, wanted = mesh.ids[mesh.gateways[0]], mesh.ids[best]
    nodes = {node.get("id"): number for number, node in enumerate(file.get("node", []))}
    ends = [
        f"link.{number}.{end}={wanted}"
        for number, link in enumerate(file.get("link", []))
        for end in ("a", "b")
        if link.get(end) == now
    ]
    if not ends:
        return
    roles = [f"node.{nodes[now]}.role=mesh"] if now in nodes and "role" in file["node"][nodes[now]] else []
    yield Change(
        f"the gateway at {wanted} instead of {now}", (*ends, *roles), Where.GATEWAY, "if there is an uplink", (wanted,)
    )  # fmt: skip
