"""Emulated meshes on which this kernel's senders are compared, and the programs that run on their hosts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import emulated_files
import emulated_flow
from emulated_hosts import edge, host
from emulated_runs import NICE

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
CHAIN = """
[topology]
kind = "chain"
hops = {hops}
spacing = "{spacing}"
"""
B = """
[radio]
rate = "11Mbps"
rts = "always"
"""
# The ground of validation/points/n-chain.toml, with Linux's queues.
N = """
[radio]
standard = "802.11n"
mcs = 4
rts = "never"
reception = "sinr"
error_model = "curve"
propagation = "log-distance"
path_loss_exponent = 3
tx_power = "16dBm"
sensitivity = "-82dBm"
cs_sensitivity = "-82dBm"
arp = false
"""
# The TCP-GAP paper's Figs. 10 to 12: its chains, its three wired links.
PAIR = """
[topology]
kind = "parallel-chains"
hops = 5
spacing = "200m"
gap = "400m"
"""
WIRED = """
[[node]]
id = "{there}"
role = "wired"

[[link]]
a = "{here}"
b = "{there}"
rate = "10Mbps"
delay = "40ms"
"""
LINKS = (("IG", "RT1"), ("RT1", "RT2"), ("RT2", "B"))


class Place(NamedTuple):
    """A mesh, whose flows go from where to where, and where acknowledgements set out into it."""

    mesh: str
    ends: tuple[tuple[str, str], ...]
    edges: tuple[str, ...]
    warmup_s: int
    seconds: int


def chain(hops: int, radio: str = B, flows: int = 1, warmup_s: int = 6, seconds: int = 15) -> Place:
    spacing = "200m" if radio is B else "20.45m"
    mesh = CHAIN.format(hops=hops, spacing=spacing) + radio
    return Place(mesh, (("n0", f"n{hops}"),) * flows, (f"n{hops}",), warmup_s, seconds)


def pair(*ends: tuple[str, str]) -> Place:
    mesh = PAIR + B + "".join(WIRED.format(here=here, there=there) for here, there in LINKS)
    return Place(mesh, ends, ("A1", "A2", "IG"), warmup_s=10, seconds=25)


UP = (("A1", "B"), ("A2", "B"))
PLACES = {
    **{f"{hops} hops" if hops > 1 else "1 hop": chain(hops) for hops in (1, 4, 8)},
    **{f"802.11n, {hops} hops" if hops > 1 else "802.11n, 1 hop": chain(hops, N) for hops in (1, 4, 8)},
    "two chains, up": pair(*UP),
    "two chains, down": pair(("B", "A1"), ("B", "A2")),
    "two chains, one each way": pair(("A1", "B"), ("B", "A2")),
    "one queue, 4 hops": chain(4, flows=2, warmup_s=10, seconds=25),
    "files over 4 hops": chain(4, flows=0, warmup_s=0, seconds=60),
    "files beside bulk": chain(4, warmup_s=0, seconds=80),
}


class Cell(NamedTuple):
    """What is compared."""

    place: str
    controls: tuple[str, ...]
    """Of each flow; of files the last one."""
    thin: bool

    def name(self, seed: int) -> str:
        place = self.place.replace(" ", "-").replace(",", "")
        return f"{place}-{'-'.join(self.controls)}-{'thin' if self.thin else 'own'}-{seed}"


def scenario(cell: Cell, folder: Path, meshpaced: Path) -> str:
    place = PLACES[cell.place]
    warmup = BEFORE_S + place.warmup_s
    parts = [HEAD.format(duration=warmup + place.seconds + AFTER_S, warmup=warmup), place.mesh]
    ours = {node for end in place.ends for node in end} | set(place.edges)
    if cell.thin:
        parts += [edge(node, f"{NICE} {meshpaced}", folder) for node in place.edges]
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
