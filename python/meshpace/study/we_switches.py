"""What the WE TCP-AP paper leaves open, changed one at a time (docs/experiments/we-tcp-ap.md, section 5)."""

from __future__ import annotations

from meshpace.study.gap import timed
from meshpace.study.model import AS_IS, DSDV, STATIC, Axis, Condition, Plan, Point, Settings, Study
from meshpace.study.quantities import GOODPUT, JAIN
from meshpace.study.we import PAPER, TCP_AP, WE, WINF
from meshpace.study.we_mesh import point as mesh
from meshpace.study.we_quantities import LOSS, PACE, PACKET_DELAY, RECEIVED


def _of(schemes: tuple[str, ...], *pairs: tuple[str, str]) -> Settings:
    return tuple((f"scheme.{scheme}.{key}", value) for key, value in pairs for scheme in schemes)


_BOTH, _ALL = (WINF, WE), (TCP_AP, WINF, WE)
_FACTOR = (
    Point("R literal (B)", _of((WE,), ("we_factor", "B"))),
    Point("R by unused bandwidth (C)", _of((WE,), ("we_factor", "C"))),
    Point("R the other way round (inverse)", _of((WE,), ("we_factor", "inverse"))),
    Point("without R", _of((WE,), ("we_factor", "off"))),
    Point("R from four hops on", _of((WE,), ("we_from", "4"))),
)
_SCOPE = (
    Point("C and AB of the whole path in both", _of(_BOTH, ("we_scope", "path"))),
    Point("C and AB of the first hop in both", _of(_BOTH, ("we_scope", "first-hop"))),
)
_BACKS_OFF = Point("a timeout doubles the next", _of(_ALL, ("ap_rto_backoff", "true")))
_LAW = (
    Point("without the collision term", _of(_BOTH, ("we_collision", "off"))),
    Point("collision term added", _of(_BOTH, ("we_collision", "add"))),
    Point("backoff of retries only", _of(_BOTH, ("we_backoff", "retries"))),
    Point("equation 3 with minus", _of(_BOTH, ("we_eq3", "literal"))),
    Point("busy time since the start", _of(_BOTH, ("rtwinf_window", '"inf"'))),
    Point("busy time of 5 s", _of(_BOTH, ("rtwinf_window", "5s"))),
    Point("all frames give C", _of(_BOTH, ("rtwinf_min_bytes", "0B"))),
    _BACKS_OFF,
    Point("interval of one hop below 4 hops", _of(_ALL, ("ap_short_path", "one-hop"))),
    Point("interval of 4 hops below 4 hops", _of(_ALL, ("ap_short_path", "n-hop"))),
)
_NETWORK = (
    Point("window 20", (("defaults.window", "20"),)),
    Point("window 8", (("defaults.window", "8"),)),
    Point("sense range 550 m", (("radio.cs_range", "550m"),)),
    Point("AODV as in ns-2", routing="aodv"),
    Point("AODV after RFC 3561", routing="rfc3561"),
    Point("first speed uniform", (("mobility.first_speed", "uniform"),)),
    Point("1 to 2 m/s", (("mobility.speed_min", "1"), ("mobility.speed_max", "2"))),
    Point("pause 10 s", (("mobility.pause", "10s"),)),
    Point("spacing 250 m", (("topology.spacing", "250m"), ("topology.margin", "125m"))),
    Point("mobile nodes over the grid only", (("topology.margin", "0m"),)),
)


def _study(name: str, title: str, scenario: str, condition: Condition, settings: Settings, *points: Point) -> Study:
    return Study(
        name=name,
        paper="we-tcp-ap",
        title=title,
        figures=(),
        source=f"{PAPER}; what it leaves open",
        shows="What each of the readings and silent choices does to TCP-AP, TCP-AP with rt-Winf and WE TCP-AP.",
        scenario=scenario,
        axis=Axis("what is switched", "", (Point(AS_IS), *points)),
        schemes=_ALL,
        conditions=(condition,),
        quick=Plan(2, timed(60, 0), (AS_IS, *(point.label for point in (*_FACTOR[:3], *_LAW[:1], _BACKS_OFF))), 0.5),
        full=Plan(10, timed(300, 0), core_s=2.5),
        quantities=(GOODPUT, PACKET_DELAY, RECEIVED, JAIN, LOSS, PACE),
        settings=settings,
    )


STUDIES = (
    _study(
        "we-switches-mesh",
        "Mesh, five mobile nodes: what the paper leaves open",
        "we-mesh.toml",
        DSDV,
        mesh(5).settings,
        *_FACTOR,
        *_SCOPE,
        *_LAW,
        *_NETWORK,
    ),
    _study(
        "we-switches-chain",
        "Four chains of eight relays: what the paper leaves open",
        "we-chain.toml",
        STATIC,
        (("topology.hops", "9"), ("flow.0.to", "f{}n9")),
        *_FACTOR,
        *_SCOPE,
        *_LAW,
        Point("rows 200 m apart, linked", (("topology.gap", "200m"),)),
        Point("rows 600 m apart, deaf to each other", (("topology.gap", "600m"),)),
    ),
)
