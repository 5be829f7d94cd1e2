"""Chains of 802.11n, links of 802.11ac and 802.11ax: which settings, and what ns-3.37 gave there.

``validation/points/ns3.toml`` lists them, ``validation/points/measure_ns3.py`` runs them with ``bench/ns3/chain.cc``,
and ``validation/reference/ns3_chain.csv`` holds what came out, a row a point and quantity.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

from meshpace.project import points_directory
from meshpace.validation.measured import of_seeds
from meshpace.validation.model import Check, Quantity, Relative, Setup, aggregate_kbps

CHAINS = of_seeds("ns3_chain")
"""What ns-3.37 gave."""
GOODPUT = "goodput"
_ONE_LINK, _CHAIN = Relative(0.03), Relative(0.10)


@dataclass(frozen=True, slots=True)
class ChainPoint:
    """One set-up that both simulators run; ``options`` are those of ``chain.cc``."""

    name: str
    hops: int
    options: tuple[str, ...]
    own: tuple[str, ...]
    scheme: str
    seeds: int
    opposite: bool
    """A second flow comes the other way."""

    @property
    def scenario(self) -> str:
        """The file in validation/points."""
        return "n-opposite.toml" if self.opposite else "n-chain.toml"

    @property
    def settings(self) -> tuple[str, ...]:
        """The scenario's settings: the point's own, and the chain's length with the path along all of it."""
        path = [f"n{node}" for node in range(self.hops + 1)]
        ends = [f"topology.hops={self.hops}", f"flow.0.to=n{self.hops}", f"flow.0.path={json.dumps(path)}"]
        if self.opposite:
            ends += [f"flow.1.from=n{self.hops}", f"flow.1.path={json.dumps(path[::-1])}"]
        return (*ends, *self.own)


def chain_points() -> list[ChainPoint]:
    """All points, in the order of the file."""
    with (points_directory() / "ns3.toml").open("rb") as file:
        listed = tomllib.load(file)["point"]
    return [
        ChainPoint(
            p["name"], p["hops"], tuple(p["ns3"]), tuple(p["settings"]), p["scheme"], p["seeds"],
            p.get("opposite", False),
        )
        for p in listed
    ]  # fmt: skip


_QUANTITIES: dict[str, tuple[str, Quantity]] = {GOODPUT: ("kbit/s", aggregate_kbps)}


def ns3_chain() -> Iterator[Setup]:
    """802.11n over chains of neighbours at -70 dBm, 802.11ac and 802.11ax over one link, against ns-3.37.

    It is Debian's libns3-dev, driven by bench/ns3/chain.cc.

    Datagrams beyond what the chain carries, and TCP with selective acknowledgements, a flow or the sum of two
    opposite ones: 3 % on one link, 10 % beyond.
    """
    known = CHAINS.read()
    for point in chain_points():
        checks = tuple(
            Check(
                point.name, quantity, unit, scatter.mean, _ONE_LINK if point.hops == 1 else _CHAIN, take, "ns-3.37",
                deviation=scatter.deviation, seeds=scatter.count,
            )
            for quantity, (unit, take) in _QUANTITIES.items()
            if (scatter := known[point.name].get(quantity)) is not None
        )  # fmt: skip
        yield Setup("ns3_chain", point.scenario, point.settings, point.scheme, point.seeds, checks, points_directory)
