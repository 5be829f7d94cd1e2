"""The mesh of the WE TCP-AP paper: 16 nodes that stand and some that move (docs/experiments/we-tcp-ap.md, T2)."""

from __future__ import annotations

from meshpace.study.gap import timed
from meshpace.study.model import DSDV, Axis, Plan, Point, Study
from meshpace.study.we import PAPER, TCP_AP, WCP, WE, WINF, XCP_WINF
from meshpace.study.we_adhoc import READ

MOBILE = (3, 4, 5, 6, 7)


def point(mobile: int) -> Point:
    """So many mobile nodes, a flow each."""
    return Point(str(mobile), (("topology.mobile", str(mobile)), ("flow.0.count", str(mobile))), float(mobile))


def _study(name: str, title: str, figures: tuple[str, ...], shows: str, *schemes: str) -> Study:
    return Study(
        name=name,
        paper="we-tcp-ap",
        title=title,
        figures=figures,
        source=f"{PAPER}, {figures[0]} to {figures[-1][5:]}",
        shows=shows,
        scenario="we-mesh.toml",
        axis=Axis("mobile nodes, a flow each", "", tuple(map(point, MOBILE))),
        schemes=schemes,
        conditions=(DSDV,),
        quick=Plan(5, timed(60, 0), ("3", "5", "7"), 0.5),
        full=Plan(30, timed(300, 0), core_s=2.5),
        quantities=READ,
        series=True,
        notes="Numbers of nodes, ranges and speeds as printed; grid, ends and pause are the catalogue's.",
    )


_WINF = _study(
    "we-mesh-winf",
    "Mesh: TCP-AP with rt-Winf",
    ("Fig. 6", "Fig. 7", "Fig. 8"),
    "What measured capacity and available bandwidth give TCP-AP in a mesh with mobile senders.",
    TCP_AP,
    WINF,
    WCP,
    XCP_WINF,
)
_WE = _study(
    "we-mesh",
    "Mesh: WE TCP-AP",
    ("Fig. 12", "Fig. 13", "Fig. 14"),
    "What WE TCP-AP gives in a mesh: the only figures of the paper with printed values.",
    TCP_AP,
    WINF,
    WE,
    XCP_WINF,
    WCP,
)

STUDIES = (_WINF, _WE)
