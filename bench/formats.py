"""Writes a case as our scenario file and as the plain list that the ns-2 and ns-3 programs read."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

from cases import Case


def write_toml(case: Case, folder: Path) -> Path:
    """The scenario file of our engine (docs/contract.md, section 3), with explicit nodes, links and start times."""
    lines = [
        "[scenario]",
        f'name = "{case.name}"',
        f'description = "speed benchmark: {case.title}"',
        "",
        "[measure]",
        f'duration = "{case.duration_s:g}s"',
        f'warmup = "{case.warmup_s:g}s"',
        "",
        "[radio]",
        'standard = "802.11b"',
        'rate = "11Mbps"',
        'basic_rate = "1Mbps"',
        'preamble = "long"',
        'rts = "always"',
        "queue = 50",
        'reception = "ns2-capture"',
        'propagation = "two-ray"',
        "",
        "[routing]",
        f'protocol = "{case.routing}"',
        "",
        "[defaults]",
        'scheme = "newreno"',
        "segment = 1460",
        "window = 64",
    ]
    for node in case.nodes:
        lines += ["", "[[node]]", f'id = "{node.name}"']
        lines += ['role = "wired"'] if node.x is None else [f"x = {node.x}", f"y = {node.y}"]
    for link in case.links:
        lines += ["", "[[link]]", f'a = "{case.nodes[link.a].name}"', f'b = "{case.nodes[link.b].name}"']
        lines += [f'rate = "{link.rate_mbps}Mbps"', f'delay = "{link.delay_ms}ms"', f"queue = {link.queue}"]
    for flow in case.flows:
        lines += [
            "",
            "[[flow]]",
            f'from = "{case.nodes[flow.source].name}"',
            f'to = "{case.nodes[flow.sink].name}"',
        ]
        lines += ['app = "ftp"', f'start = "{flow.start_s}s"', 'start_jitter = "0s"']
    return _write(folder / f"{case.name}.toml", lines)


def write_random(nodes: int, folder: Path) -> Path:
    """A random mesh whose places and flows the engine draws: a node for every square of 120 m, a flow for every ten."""
    side = f"{120 * math.sqrt(nodes):.0f}m"
    lines = [
        "[topology]",
        'kind = "random"',
        f"nodes = {nodes}",
        f'width = "{side}"',
        f'height = "{side}"',
        "",
        "[measure]",
        'warmup = "0s"',
        "",
        "[routing]",
        'protocol = "static"',
        "",
        "[defaults]",
        'scheme = "newreno"',
        "segment = 1460",
        "window = 64",
        "",
        "[[flow]]",
        'from = "random"',
        'to = "random"',
        f"count = {nodes // 10}",
    ]
    return _write(folder / f"random-{nodes}.toml", lines)


def write_net(case: Case, folder: Path) -> Path:
    """The same network, one fact a line.

    node INDEX X Y | wired INDEX | link A B MBPS MS QUEUE | flow SOURCE SINK START | route AT TO NEXT
    """
    lines = [f"node {i} {n.x} {n.y}" if n.x is not None else f"wired {i}" for i, n in enumerate(case.nodes)]
    lines += [f"link {k.a} {k.b} {k.rate_mbps} {k.delay_ms} {k.queue}" for k in case.links]
    lines += [f"flow {f.source} {f.sink} {f.start_s}" for f in case.flows]
    routes = {}
    for path in case.paths():
        for way in (path, path[::-1]):
            routes.update({(at, way[-1]): following for at, following in itertools.pairwise(way)})
    lines += [f"route {at} {to} {following}" for (at, to), following in sorted(routes.items())]
    return _write(folder / f"{case.name}.net", lines)


def _write(path: Path, lines: list[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
