"""Waiting until routes stand still, and what is told of it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from meshpace.emulation.daemons import Daemon, Running
from meshpace.emulation.engine import Engine
from meshpace.emulation.record import Host
from meshpace.emulation.routes import Change, Route, Watch, complete, read, ways

QUIET_S = 5.0
"""Routes from every node to every other one that have not changed for so long stand still: longer than from one Hello
to the next (babeld's are 4 s apart)."""
QUIET_IN_PART_S = 20.0
"""The same where some nodes have no way to others: longer than from one full update to the next (babeld's are 16 s
apart)."""
_LOOK_S = 0.25


@dataclass(frozen=True, slots=True)
class Convergence:
    """What came of a daemon at every node."""

    daemon: str
    began: float
    """When the daemons began, by the clock; so is the next."""
    still: float | None
    """When routes changed last before they stood still; None: they never did."""
    routes: tuple[Route, ...]
    """As they were then."""
    watch: Watch

    def row(self, zero: float, dilation: float) -> dict[str, Any]:
        """For the result, in simulated time."""

        def since_zero(at: float) -> float:
            return (at - zero) / dilation

        paths = ways(self.routes)
        return {
            "name": self.daemon,
            "converged_s": None if self.still is None else since_zero(self.still) - since_zero(self.began),
            "routes": [asdict(route) | _way(paths.get((route.node, route.to))) for route in self.routes],
            "changes": [_change(change, since_zero(change.at)) for change in self.watch.changes],
        }


def _way(path: list[str] | None) -> dict[str, Any]:
    return {"hops": None if path is None else len(path) - 1}


def _change(change: Change, at_s: float) -> dict[str, Any]:
    return {"at_s": at_s, "node": change.node, "to": change.to, "via": change.via, "gone": change.gone}


def converge(
    daemon: Daemon, running: Running, hosts: Sequence[Host], names: Mapping[str, str], watch: Watch, engine: Engine
) -> Convergence:
    """Starts the daemons and returns when routes stand still, or when time has come to its end before.

    Raises:
        EmulationError: a daemon cannot be had, or has ended; the engine has failed.
    """
    routers = [host for host in hosts if host.radios]
    began = time.monotonic()
    running.begin()
    looked: tuple[Route, ...] = ()
    looked_at: float | None = None
    while not engine.is_over(time.monotonic() + _LOOK_S):
        running.check()
        latest = watch.latest
        if latest is None or time.monotonic() - latest < QUIET_S:
            continue
        if looked_at != latest:
            looked, looked_at = tuple(route for host in routers for route in read(host, names)), latest
        quiet = QUIET_S if complete(looked, [host.node for host in routers]) else QUIET_IN_PART_S
        if time.monotonic() - latest >= quiet:
            return Convergence(daemon.name, began, latest, looked, watch)
    return Convergence(daemon.name, began, None, looked, watch)
