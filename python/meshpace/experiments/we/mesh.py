"""The mesh of the WE TCP-AP paper: 16 nodes that stand and some that move (docs/experiments/we-tcp-ap.md, T2)."""

from __future__ import annotations

from meshpace.experiments.we.chains import TCP_AP, WCP, WE, WINF, XCP_WINF
from meshpace.experiments.we.moving import moving
from meshpace.study.model import Axis, Point, Study

MOBILE = (3, 4, 5, 6, 7)


def point(mobile: int) -> Point:
    """So many mobile nodes, a flow each."""
    return Point(str(mobile), (("topology.mobile", str(mobile)), ("flow.0.count", str(mobile))), float(mobile))


_AXIS = Axis("mobile nodes, a flow each", "", tuple(map(point, MOBILE)))
_QUICK = ("3", "5", "7")


def _study(name: str, title: str, figures: tuple[str, ...], shows: str, *schemes: str) -> Study:
    notes = (
        "Numbers of nodes, speeds, packets and RTS/CTS as printed; channel and ranges are those of the ad hoc network. "
        "Grid, routing, ends and pause are the catalogue's."
    )
    costs = (0.5, 2.5)
    return moving(
        name, title, shows, "we-mesh.toml", _AXIS, *schemes, core_s=costs, figures=figures, quick=_QUICK, notes=notes
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
