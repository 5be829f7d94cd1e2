"""Waits until all nodes have routes, and reports how long that took."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from meshpace.emulation.daemons import Daemon, Running
from meshpace.emulation.engine import Engine
from meshpace.emulation.record import Host
from meshpace.emulation.routes import Change, NextHops, Route, Watch, read, way, ways

HOLDS_S = 5.0
"""Routes that lead from every node to every other one for so long stand: longer than from one Hello to the next
(babeld's are 4 s apart). They may turn meanwhile, as those of a grid do among ways that are as good."""
QUIET_S = 20.0
"""Routes stand, too, where some nodes have no way to others, when none has changed for so long: longer than from one
full update to the next (babeld's are 16 s apart)."""
_LOOK_S = 0.25
_SLIPS = 2
"""Looks in a row at which a route may be missing: one that turns is gone for a moment."""


@dataclass(frozen=True, slots=True)
class Convergence:
    """What came of a daemon at every node."""

    daemon: str
    began: float
    """When the daemons began, by the clock; so is the next."""
    still: float | None
    """Since when routes stood; None: they never did."""
    routes: tuple[Route, ...]
    """As they were then."""
    watch: Watch
    running: Running

    def complaints(self) -> list[str]:
        """What went wrong until now."""
        never = f"{self.daemon}: its routes never stood; a longer --duration may help"
        return [*([never] if self.still is None else []), *self.running.ended()]

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


class Standing:
    """Follows the changes of routes, and says when they stand."""

    def __init__(self, nodes: Sequence[str]) -> None:
        self._nodes = nodes
        self._next = NextHops()
        self._latest: float | None = None
        self._leads = False
        self._since: float | None = None
        self._slips = 0

    def look(self, now: float, changes: Iterable[Change]) -> float | None:
        """Takes in what has changed since the look before; since when the routes stand, None if they do not yet."""
        news = list(changes)
        for change in news:
            self._next.apply(change)
            self._latest = change.at
        if news:
            self._leads = self._all_lead()
        if self._leads:
            self._slips = 0
            self._since = self._latest if self._since is None else self._since
        else:
            self._slips += 1
            if self._slips >= _SLIPS:
                self._since = None
        if self._since is not None and now - self._since >= HOLDS_S:
            return self._since
        is_quiet = self._latest is not None and now - self._latest >= QUIET_S
        return self._latest if is_quiet and self._next else None

    def _all_lead(self) -> bool:
        """True if from every node there is a way to every other one."""
        pairs = itertools.permutations(self._nodes, 2)
        return all(way(self._next, here, there) is not None for here, there in pairs)


def converge(
    daemon: Daemon, running: Running, hosts: Sequence[Host], names: Mapping[str, str], watch: Watch, engine: Engine
) -> Convergence:
    """Starts the daemons and returns when routes stand, or when time has come to its end before.

    Raises:
        EmulationError: a daemon cannot be had, or has ended; the engine has failed.
    """
    routers = [host for host in hosts if host.radios]
    began = time.monotonic()
    running.begin()
    standing, taken = Standing([host.node for host in routers]), 0
    while not engine.is_over(time.monotonic() + _LOOK_S):
        running.check()
        changes = watch.changes[taken:]
        taken += len(changes)
        since = standing.look(time.monotonic(), changes)
        if since is not None:
            routes = tuple(route for host in routers for route in read(host, names))
            return Convergence(daemon.name, began, since, routes, watch, running)
    return Convergence(daemon.name, began, None, (), watch, running)
