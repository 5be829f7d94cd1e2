"""A sender, or two, on one of the emulated meshes: the programs on its hosts, and what came of them."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import emulated_files
import emulated_flow
from emulated_files import SIZES, fetched
from emulated_flow import between, told
from emulated_hosts import edge, host
from emulated_places import PLACES
from emulated_runs import NICE, Result, emulate

# Daemons first. At the end what programs say has to be written.
BEFORE_S, AFTER_S = 2, 3
BULK_PORT, FILES_PORT = 5301, 5401
HEAD = """\
[measure]
duration = "{duration}s"
warmup = "{warmup}s"

[routing]
protocol = "static"
"""


THIN = {None: "own", 16: "thin"}
"""Names of what is as it ships."""


class Cell(NamedTuple):
    """What is compared."""

    place: str
    controls: tuple[str, ...]
    """Of each flow; of files the last one."""
    thin: int | None = None
    """Segments that one acknowledgement into the mesh answers; None: the receivers' own ones pass."""

    def name(self, seed: int) -> str:
        place = self.place.replace(" ", "-").replace(",", "")
        return f"{place}-{'-'.join(self.controls)}-{THIN.get(self.thin, f'thin{self.thin}')}-{seed}"


class Flow(NamedTuple):
    """What came of a bulk transfer."""

    goodput_bps: float
    delay_s: float
    """One way, from device to device; of two flows of the same ends that of both."""
    delay_p95_s: float
    resent: int


def scenario(cell: Cell, folder: Path, meshpaced: Path) -> str:
    place = PLACES[cell.place]
    warmup = BEFORE_S + place.warmup_s
    parts = [HEAD.format(duration=warmup + place.seconds + AFTER_S, warmup=warmup), place.mesh]
    ours = {node for end in place.ends for node in end} | set(place.edges)
    if cell.thin:
        parts += [edge(node, f"{NICE} {meshpaced}", folder, cell.thin) for node in place.edges]
        ours -= set(place.edges)
    parts += [f'\n[[emulate.host]]\nnode = "{node}"\n' for node in sorted(ours)]
    for number, ((source, sink), control) in enumerate(zip(place.ends, cell.controls, strict=False)):
        program = f"exec {NICE} {sys.executable} {emulated_flow.PROGRAM}"
        port = BULK_PORT + number
        parts.append(host(source, f"{program} serve {port} send {control}", BEFORE_S))
        parts.append(host(sink, f"{program} call {source} {port} take {control}", BEFORE_S))
    if cell.place.startswith("files"):
        program = f"exec {NICE} {sys.executable} {emulated_files.PROGRAM}"
        source, sink = "n0", place.edges[0]
        parts.append(host(source, f"{program} serve {FILES_PORT} {cell.controls[-1]}", BEFORE_S))
        parts.append(host(sink, f"{program} fetch {source} {FILES_PORT} {cell.controls[-1]}", BEFORE_S))
    return "".join(parts)


def emulated(cell: Cell, seed: int, meshpaced: Path, more: str = "") -> Result | str:
    """The result, or why there is none; of the place with more tables, if wanted."""
    with tempfile.TemporaryDirectory(prefix="mp-") as name:
        file = Path(name) / "mesh.toml"
        file.write_text(scenario(cell, Path(name), meshpaced) + more)
        return emulate(file, seed, Path(name).name)


def output(result: Result, words: str) -> str:
    """What the one program with these words in its command has said."""
    (said,) = (run["output"] for run in result["runs"] if words in run["run"] and run["collect"] == "output")
    return str(said)


def flows(cell: Cell, result: Result) -> list[Flow]:
    """Of each bulk transfer, in the places' order.

    Raises:
        ValueError: an end was late to begin, or nothing came.
    """
    place = PLACES[cell.place]
    found = []
    for number, (source, sink) in enumerate(place.ends):
        port = BULK_PORT + number
        took, sent = told(output(result, f" {port} take ")), told(output(result, f" {port} send "))
        first, last = place.warmup_s, place.warmup_s + place.seconds
        (way,) = (row for row in result["traffic"] if (row["from"], row["to"]) == (source, sink))
        if way["delay_mean_s"] is None:
            raise ValueError(f"no packet from {source} came to {sink}")
        bps = between(took, first, last) * 8 / place.seconds
        found.append(Flow(bps, way["delay_mean_s"], way["delay_p95_s"], between(sent, first, last)))
    return found


def files(result: Result) -> dict[int, list[float]]:
    """How long each file of a size took; those of the first 10 s, in which bulk begins, are left out."""
    all_ = fetched(output(result, "emulated_files.py fetch "))
    return {size: [file.took_s for file in all_ if file.size == size and file.began_s >= 10] for size in set(SIZES)}


def shown(cell: Cell, result: Result) -> str:
    said = [f"{flow.goodput_bps / 1e3:.0f} @ {flow.delay_s * 1e3:.0f}" for flow in flows(cell, result)]
    if cell.place.startswith("files"):
        said += [f"{size // 1000} kB: {len(took)}" for size, took in sorted(files(result).items())]
    return ", ".join(said)
