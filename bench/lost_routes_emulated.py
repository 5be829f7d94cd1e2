"""Downloads by this kernel's TCP over a chain whose kernels forward, by the routes of a routing daemon."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import emulated_flow
import lost_routes_flood
from emulated_flow import between, told
from emulated_hosts import gateway, host
from emulated_runs import NICE, Result, emulate
from lost_routes_places import (
    AFTER_S,
    BEGIN_S,
    BEGINS_S,
    FLOOD_BPS,
    QUEUES,
    RATE,
    RECEIVER,
    SERVER,
    SETTLES_S,
    Outcome,
    is_flood,
    longest,
    mesh,
)
from meshpace.emulation.routes import Change, NextHops

PORT = 5301
HEADERS = 28
"""Of IPv4 and UDP."""
HEAD = """\
[measure]
duration = "{duration}s"
warmup = "{warmup}s"

"""


class Cell(NamedTuple):
    """What is compared."""

    daemon: str
    sender: str
    hops: int
    seconds: int
    """For so long it is measured."""

    @property
    def end_s(self) -> int:
        return BEGIN_S + self.seconds

    def name(self, seed: int) -> str:
        return f"{self.daemon}-{self.sender}-{self.hops}-{self.seconds}-{seed}"


def scenario(cell: Cell, folder: Path, meshpaced: Path) -> str:
    border = f"n{cell.hops}"
    control = "calm" if cell.sender == "calm" else "cubic"
    program = f"exec {NICE} {sys.executable} {emulated_flow.PROGRAM}"
    parts = [HEAD.format(duration=cell.end_s + AFTER_S, warmup=BEGIN_S), mesh(cell.hops)]
    if cell.sender == "gap":
        daemon = f"{NICE} {meshpaced}"
        parts.append(gateway(border, daemon, folder, "pace", rate=RATE, hops=cell.hops, forwards=True))
    if is_flood(cell.sender):
        parts.append(QUEUES if cell.sender == "flood-fq" else "")
        program = f"exec {NICE} {sys.executable} {lost_routes_flood.PROGRAM}"
        parts.append(host(SERVER, f"{program} send {RECEIVER} {PORT} {FLOOD_BPS}", BEGINS_S))
        parts.append(host(RECEIVER, f"{program} take {PORT}", forwards=True))
        return "".join(parts)
    parts.append(host(SERVER, f"{program} serve {PORT} send {control}", BEGINS_S))
    parts.append(host(RECEIVER, f"{program} call {SERVER} {PORT} take {control}", BEGINS_S, forwards=True))
    return "".join(parts)


def emulated(cell: Cell, seed: int, meshpaced: Path) -> Result | str:
    """The result, or why there is none."""
    with tempfile.TemporaryDirectory(prefix="mp-") as name:
        file = Path(name) / "chain.toml"
        file.write_text(scenario(cell, Path(name), meshpaced))
        return emulate(file, seed, Path(name).name, "--daemon", cell.daemon)


def outcome(cell: Cell, result: Result) -> Outcome:
    """What came of it.

    Raises:
        ValueError: the routes stood too late, so that the transfer's end does not tell of the last second.
    """
    (way,) = (row for row in result["traffic"] if (row["from"], row["to"]) == (SERVER, RECEIVER))
    lost = len(list(breaks(cell, result)))
    if is_flood(cell.sender):
        payload = way["delivered_bytes"] - HEADERS * way["delivered"]
        return Outcome(payload * 8 / (cell.seconds + AFTER_S), lost, way["longest_gap_s"])
    (said,) = (run["output"] for run in result["runs"] if f" {PORT} take " in run["run"])
    came = told(said)
    bps = between(came, SETTLES_S, SETTLES_S + cell.seconds) * 8 / cell.seconds
    seconds = [came[second + 1] == came[second] for second in range(SETTLES_S, SETTLES_S + cell.seconds)]
    # Of a flow that never came back the gap has no end.
    return Outcome(bps, lost, max(way["longest_gap_s"] or 0.0, longest(seconds)))


def breaks(cell: Cell, result: Result) -> Iterator[tuple[float, float]]:
    """When a node of the way had no route to one of its ends, from when to when, within the measured time."""
    nodes = [f"n{number}" for number in range(cell.hops + 1)]
    needed = {*((node, SERVER) for node in nodes[:-1]), *((node, RECEIVER) for node in nodes[1:])}
    there = NextHops()
    since = BEGIN_S if needed else None
    for row in result["daemon"]["changes"]:
        change = Change(row["at_s"], row["node"], row["to"], row["via"], row["gone"])
        was_whole = needed <= there.keys()
        there.apply(change)
        is_whole = needed <= there.keys()
        if was_whole and not is_whole:
            since = change.at
        elif is_whole and not was_whole and since is not None and change.at > BEGIN_S and since < cell.end_s:
            yield max(since, BEGIN_S), min(change.at, cell.end_s)
            since = None
    if not needed <= there.keys() and since is not None and since < cell.end_s:
        yield max(since, BEGIN_S), cell.end_s


def hellos(hops: int, result: Result) -> float:
    """The share of frames for all that neighbours had; of the Hellos among them, as nearly all are."""
    rows = result["ethernet"]
    ends = {"n0", f"n{hops}"}
    meant = sum(row["sent_to_all"] * (1 if row["node"] in ends else 2) for row in rows)
    return sum(row["received_to_all"] for row in rows) / meant
