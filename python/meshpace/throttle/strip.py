"""The networks of Osipov and Tschudin 2005 as settings of scenarios: chains alone, and side by side in a strip."""

from __future__ import annotations

import json

from meshpace.study.model import Settings

CHAIN = "osipov-critical.toml"
STRIP = "throttle-strip.toml"
HOPS = tuple(range(1, 10))
SEGMENTS = (200, 400, 600, 800, 1000)


def window(hops: int) -> int:
    """W(h): 3h/2 segments, no fewer than 2 (schemes.md 4: ``ot_window``)."""
    return max(2, 3 * hops // 2)


def chain(hops: int, limit: int | None = None) -> Settings:
    """One flow alone over so many hops; its window is W(h) unless given."""
    return (
        ("topology.hops", str(hops)),
        ("flow.0.to", f"n{hops}"),
        ("flow.0.window", str(window(hops) if limit is None else limit)),
    )


def strip(hops: int, flows: int, limit: int | None = None) -> Settings:
    """So many chains with a flow on each."""
    path = json.dumps([f"f{{}}n{node}" for node in range(hops + 1)])
    return (
        ("topology.hops", str(hops)),
        ("topology.rows", str(flows)),
        ("flow.0.count", str(flows)),
        ("flow.0.to", f"f{{}}n{hops}"),
        ("flow.0.path", path),
        ("flow.0.window", str(window(hops) if limit is None else limit)),
    )
