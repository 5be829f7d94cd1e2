"""What the demo runs: cases x schemes x seeds."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from meshpace.engine import Job
from meshpace.project import scenario_directory, shown

SCHEMES = ("newreno", "tcp-ap", "tcp-gap")
NAMES = {"newreno": "NewReno", "tcp-ap": "TCP-AP", "tcp-gap": "TCP-GAP"}
HOPS = (1, 2, 3, 4, 6, 8, 10)
ROUTINGS = ("aodv", "static")
ROUTING_NAMES = {"aodv": "AODV as in ns-2", "static": "static routes"}
CHAIN_DIRECTIONS = ("up", "down")
PARALLEL_DIRECTIONS = ("up", "down", "mix")
DIRECTION_NAMES = {"up": "wireless to wired", "down": "wired to wireless", "mix": "one flow each way"}

_TURNED = {
    "chain": {"up": (), "down": ("flow.0.from=B", "flow.0.to=n0")},
    "parallel": {
        "up": (),
        "down": ("flow.0.from=B", "flow.0.to=A1", "flow.1.from=B", "flow.1.to=A2"),
        "mix": ("flow.0.from=B", "flow.0.to=A1"),
    },
}
"""What turns the flows of the scenario files, which go from wireless to wired."""


@dataclass(frozen=True, slots=True)
class Case:
    """One point of a figure; ``hops`` is None for the parallel chains."""

    routing: str
    direction: str
    hops: int | None = None

    def job(self, scheme: str, seed: int) -> Job:
        """The run of this case with one scheme and seed."""
        kind = "parallel" if self.hops is None else "chain"
        settings = [f"routing.protocol={self.routing}", *_TURNED[kind][self.direction]]
        if self.hops is not None:
            settings.append(f"topology.hops={self.hops}")
        path = scenario_directory() / f"demo-{kind}.toml"
        return Job(shown(path), _text(path), tuple(settings), scheme, seed)


def chain_cases() -> list[Case]:
    """One flow, hop by hop."""
    return [Case(r, d, h) for r in ROUTINGS for d in CHAIN_DIRECTIONS for h in HOPS]


def parallel_cases() -> list[Case]:
    """Two chains that share a gateway."""
    return [Case(r, d) for r in ROUTINGS for d in PARALLEL_DIRECTIONS]


@functools.cache
def _text(path: Path) -> bytes:
    return path.read_bytes()
