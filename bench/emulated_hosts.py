"""Tables of a scenario whose nodes are real hosts: what runs on them, and meshpaced on a gateway."""

from __future__ import annotations

import json
from pathlib import Path

DAEMON = """\
mode = "{mode}"
[mesh]
interfaces = ["mesh0"]
rate = "{rate}"
[hops]
sources = []
default = {hops}
[control]
socket = "{socket}"
"""


def host(node: str, command: str, start_s: float | None = None, *, forwards: bool = False) -> str:
    """A host that runs a command: from the beginning, or from a time on, and then its output is collected.

    Of one that forwards its own kernel does."""
    kind = "node" if forwards else "host"
    table = f'\n[[emulate.{kind}]]\nnode = "{node}"\nrun = {json.dumps(command)}\n'
    return table if start_s is None else f'{table}start = "{start_s}s"\ncollect = "output"\n'


def gateway(
    node: str, meshpaced: Path | str, folder: Path, mode: str, *, rate: str, hops: int, forwards: bool = False
) -> str:
    """A host that runs `meshpaced gateway` (a program, or a command that ends in it).

    Its configuration and its socket, `control`, are in the folder.
    """
    config = folder / "meshpaced.toml"
    config.write_text(DAEMON.format(mode=mode, rate=rate, hops=hops, socket=folder / "control"))
    return host(node, f"exec {meshpaced} gateway --config {config}", forwards=forwards)


EDGE = """\
[edge]
socket = "{socket}"
listen = "off"
bytes = {bytes}
"""


def edge(node: str, meshpaced: Path | str, folder: Path, segments: int) -> str:
    """A host that runs `meshpaced edge` towards the mesh, with an acknowledgement for so many segments.

    Its configuration and its socket are in the folder."""
    config = folder / f"{node}-edge.toml"
    config.write_text(EDGE.format(socket=folder / f"{node}-edge.sock", bytes=segments * 1460))
    return host(node, f"exec {meshpaced} edge --config {config} --interface mesh0")
