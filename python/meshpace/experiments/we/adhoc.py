"""The ad hoc network of the WE TCP-AP paper: moving nodes, half of them sources (docs/experiments/we-tcp-ap.md, T1)."""

from __future__ import annotations

from meshpace.experiments.we.chains import TCP_AP, WCP, WE, WINF, XCP_B, XCP_WINF
from meshpace.experiments.we.moving import moving
from meshpace.study.model import Axis, Point, Study

NODES = (8, 16, 32, 64, 128, 256)
STILL = "static nodes"
QUICK = ("4", "16", "64")
"""Flows of the quick plan: 8, 32 and 128 nodes."""


def point(nodes: int, *, moving: bool = True) -> Point:
    """Half as many flows as nodes, which name the place on the axis."""
    settings = (("topology.nodes", str(nodes)), ("flow.0.count", str(nodes // 2)))
    if moving:
        return Point(str(nodes // 2), settings, nodes / 2)
    return Point(f"{nodes // 2}, {STILL}", (*settings, ("mobility.model", "static")))


_AXIS = Axis("flows, half as many as nodes", "", tuple(map(point, NODES)), logarithmic=True)


def _study(name: str, title: str, figures: tuple[str, ...], shows: str, *schemes: str) -> Study:
    notes = "Nodes, flows, ranges, speeds and routing as printed; ends, pause and warm-up are the catalogue's."
    costs = (1.0, 20.0)
    return moving(
        name, title, shows, "we-adhoc.toml", _AXIS, *schemes, core_s=costs, figures=figures, quick=QUICK, notes=notes
    )


_BASE = _study(
    "we-adhoc-base",
    "Ad hoc: TCP-AP beside rate-based schemes",
    ("Fig. 3", "Fig. 4", "Fig. 5"),
    "How TCP-AP fares against XCP-b, XCP-Winf and WCP as an ad hoc network of moving nodes grows.",
    TCP_AP,
    XCP_B,
    XCP_WINF,
    WCP,
)
_WINF = _study(
    "we-adhoc-winf",
    "Ad hoc: TCP-AP with rt-Winf",
    ("Fig. 9", "Fig. 10", "Fig. 11"),
    "What measured capacity and available bandwidth give TCP-AP in an ad hoc network.",
    TCP_AP,
    WINF,
    WCP,
    XCP_WINF,
)
_WE = _study(
    "we-adhoc",
    "Ad hoc: WE TCP-AP",
    ("Fig. 15", "Fig. 16", "Fig. 17"),
    "What WE TCP-AP gives in an ad hoc network.",
    TCP_AP,
    WE,
    XCP_WINF,
    WCP,
)
_STILL = moving(
    "we-adhoc-static",
    "Ad hoc: nodes that move and nodes that do not",
    "What movement does to TCP-AP and XCP-b beside XCP-Winf.",
    "we-adhoc.toml",
    Axis("flows, half as many as nodes", "", tuple(point(n, moving=m) for n in (8, 64) for m in (False, True))),
    TCP_AP,
    XCP_B,
    XCP_WINF,
    core_s=(1.0, 5.0),
    source="section IV; the static twin is the catalogue's (F3.11, X11)",
)

STUDIES = (_BASE, _WINF, _WE, _STILL)
