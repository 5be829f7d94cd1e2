"""The longest time of a transfer in which its packets took one way there and one back, and the same way simulated."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator
from typing import NamedTuple

from daemon_meshes import MESHES
from daemon_runs import SIMULATED, TRANSFER_S, Cell, measured
from emulated_runs import Result
from meshpace import engine
from meshpace.emulation.routes import Change, NextHops, way
from meshpace.engine import Job

CONNECTS_S = 60
"""Before a simulated transfer is measured: over a link that loses most frames a connection takes some tries."""
SETTLES_S, SHORTEST_S = 2, 5
"""After a change the sender takes some time to find its pace; what is left must be so long."""
Ways = tuple[list[str], list[str]]
"""There and back."""


class Stretch(NamedTuple):
    """A part of a transfer."""

    ways: Ways
    kbps: list[float]
    """What came in each of its seconds, but for those after the change before."""


def ways_over_time(cell: Cell, result: Result) -> Iterator[tuple[float, Ways | None]]:
    """Since when packets take which ways; None: they do not arrive."""
    here, there = MESHES[cell.mesh].ends
    following, before = NextHops(), None
    for row in result["daemon"]["changes"]:
        following.apply(Change(row["at_s"], row["node"], row["to"], row["via"], row["gone"]))
        out, back = way(following, here, there), way(following, there, here)
        now = None if out is None or back is None else (out, back)
        if now != before:
            yield row["at_s"], now
        before = now


def longest_stretch(cell: Cell, result: Result) -> Stretch | None:
    """The longest of a transfer; None: there is none of some seconds."""
    begin = result["begins_s"]
    end = begin + len(result["seconds"])
    moments = [*ways_over_time(cell, result), (float(end), None)]
    found = None
    for (since, ways), (until, _) in itertools.pairwise(moments):
        if ways is None:
            continue
        # A second less at the end: the transfer's clock and that of the changes differ by how long it took to begin.
        first = 0 if since < begin - SETTLES_S else int(since - begin) + 1 + SETTLES_S
        last = len(result["seconds"]) if until >= end else int(until - begin) - 1
        kbps = result["seconds"][max(first, 0) : max(last, 0)]
        if len(kbps) >= SHORTEST_S and (found is None or len(kbps) > len(found.kbps)):
            found = Stretch(ways, kbps)
    return found


def changes_of_ways(cell: Cell, result: Result) -> int:
    """How often they were others while the transfer was measured; gone for a moment in between counts not."""
    begin = result["begins_s"]
    known = [(at, ways) for at, ways in ways_over_time(cell, result) if ways and at < begin + len(result["seconds"])]
    return sum(at >= begin and ways != before for (_, before), (at, ways) in itertools.pairwise(known))


def simulated(cell: Cell, ways: Ways, runs: int) -> float:
    """What the transfer carries over these ways, in kbit/s: the median of some runs; in some it may never begin."""
    here, there = MESHES[cell.mesh].ends
    flow = SIMULATED.format(here=here, there=there, begin=0)
    paths = "".join(f"{key} = {nodes}\n" for key, nodes in zip(("path", "path_back"), ways, strict=True))
    text = flow.replace("[scheme.", f"{paths}[scheme.")
    head = measured(CONNECTS_S + TRANSFER_S, CONNECTS_S) + MESHES[cell.mesh].tables
    whole = f'{head}[routing]\nprotocol = "static"\n{text}'.encode()
    results = engine.run_many([Job(cell.mesh, whole, seed=seed) for seed in range(1, runs + 1)])
    return statistics.median(result["flows"][0]["goodput_bps"] for result in results) / 1e3
