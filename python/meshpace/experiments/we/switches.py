"""What the WE TCP-AP paper leaves open, changed one at a time (docs/experiments/we-tcp-ap.md, section 5)."""

from __future__ import annotations

from meshpace.experiments.we.adhoc import point as adhoc
from meshpace.experiments.we.chains import PAPER, TCP_AP, WCP, WCPCAP, WE, WINF, XCP_B, XCP_WINF
from meshpace.experiments.we.mesh import point as mesh
from meshpace.experiments.we.moving import RECONSTRUCTED
from meshpace.experiments.we.quantities import FLOW_DELAY, LOSS, PACE, PACKET_DELAY, RECEIVED
from meshpace.study.model import AS_IS, DSDV, STATIC, Axis, Condition, Plan, Point, Settings, Study, timed
from meshpace.study.quantities import GOODPUT, JAIN


def _of(schemes: tuple[str, ...], *pairs: tuple[str, str]) -> Settings:
    return tuple((f"scheme.{scheme}.{key}", value) for key, value in pairs for scheme in schemes)


_BOTH, _ALL = (WINF, WE), (TCP_AP, WINF, WE)
QUICK_SEEDS = 6
"""Bonferroni's intervals for so many changes are of no use with fewer."""
_RATED = (TCP_AP, XCP_B, XCP_WINF, WCP, WCPCAP)
_FACTOR = (
    Point("R literal (B)", _of((WE,), ("we_factor", "B"))),
    Point("R by unused bandwidth (C)", _of((WE,), ("we_factor", "C"))),
    Point("R the other way round (inverse)", _of((WE,), ("we_factor", "inverse"))),
    Point("without R", _of((WE,), ("we_factor", "off"))),
)
_COUNTED = (
    Point("R by the contention count", _of((WE,), ("we_np", "contention"))),
    Point("R from four hops on", _of((WE,), ("we_from", "4"))),
)
_SCOPE = (
    Point("C and AB of the whole path in both", _of(_BOTH, ("we_scope", "path"))),
    Point("C and AB of the first hop in both", _of(_BOTH, ("we_scope", "first-hop"))),
)
_WARM = Point("measured from 50 s on", (("measure.warmup", "50s"),))
_BACKS_OFF = Point("a timeout doubles the next", _of(_ALL, ("ap_rto_backoff", "true")))
_ESTIMATE = (
    Point("without the collision term", _of(_BOTH, ("we_collision", "off"))),
    Point("collision term added", _of(_BOTH, ("we_collision", "add"))),
    Point("backoff of retries only", _of(_BOTH, ("we_backoff", "retries"))),
    Point("busy time since the start", _of(_BOTH, ("rtwinf_window", '"inf"'))),
    Point("busy time of 5 s", _of(_BOTH, ("rtwinf_window", "5s"))),
    Point("all frames give C", _of(_BOTH, ("rtwinf_min_bytes", "0B"))),
)
_READ_OTHERWISE = (
    Point("equation 3 with minus", _of(_BOTH, ("we_eq3", "literal"))),
    Point("busy time by role", _of(_BOTH, ("rtwinf_busy", "role"))),
    Point("three SIFS at the receiver", _of(_BOTH, ("rtwinf_receiver_sifs", "3"))),
)
_SHORT_PATHS = (
    Point("interval of one hop below 4 hops", _of(_ALL, ("ap_short_path", "one-hop"))),
    Point("interval of 4 hops below 4 hops", _of(_ALL, ("ap_short_path", "n-hop"))),
)
_WINDOWS = (
    Point("window 20", (("defaults.window", "20"),)),
    Point("window 8", (("defaults.window", "8"),)),
)
_ENDS = (
    Point("segment 1500", (("defaults.segment", "1500"),)),
    Point("TCP by the RFCs", _of(_ALL, ("tcp_profile", "rfc"))),
    Point("over Tahoe", _of(_ALL, ("congestion", "tahoe"))),
)
_QUEUES = (
    Point("queue 20", (("radio.queue", "20"),)),
    Point("queue 100", (("radio.queue", "100"),)),
)
_AIR = (Point("sense range 550 m", (("radio.cs_range", "550m"),)), *_QUEUES)
_MOVING = (
    Point("AODV as in ns-2", routing="aodv"),
    Point("AODV after RFC 3561", routing="rfc3561"),
    Point("DSDV from a cold start", (("routing.dsdv_start", "cold"),)),
    Point("DSDV with the MAC's reports", (("routing.dsdv_mac_reports", "true"),)),
    Point("first speed uniform", (("mobility.first_speed", "uniform"),)),
    Point("1 to 2 m/s", (("mobility.speed_min", "1"), ("mobility.speed_max", "2"))),
    Point("pause 10 s", (("mobility.pause", "10s"),)),
)
_TRAFFIC = (
    Point("from the grid to mobile nodes", (("flow.0.from", "random"), ("flow.0.to", "m{}"))),
    Point("all to a corner", (("flow.0.to", "g0_0"),)),
)
_GRID = (
    Point("spacing 250 m", (("topology.spacing", "250m"), ("topology.margin", "125m"))),
    Point("mobile nodes over the grid only", (("topology.margin", "0m"),)),
)
_ROWS = (
    Point("rows 200 m apart, linked", (("topology.gap", "200m"),)),
    Point("rows 600 m apart, deaf to each other", (("topology.gap", "600m"),)),
)
_SCHEMES = (*_FACTOR, _COUNTED[0], *_ESTIMATE, *_SHORT_PATHS, *_WINDOWS, _BACKS_OFF)
"""What quick plans change of the schemes: what could turn a verdict (marked "!" in the catalogue), NP, the timeout."""
_REST = (_COUNTED[1], *_SCOPE, *_READ_OTHERWISE, *_ENDS, *_AIR, _WARM)
"""What the full plans change besides."""


_COMPARATORS = (
    Point("without RTS/CTS", (("radio.rts", "never"),)),
    Point("alpha of WCP 0.05", _of((WCP,), ("wcp_alpha", "0.05"))),
    Point("alpha of WCP 1", _of((WCP,), ("wcp_alpha", "1"))),
    Point("xi of XCP-b 0.05", _of((XCP_B,), ("xcpb_xi", "0.05"))),
    Point("xi of XCP-b 0.2", _of((XCP_B,), ("xcpb_xi", "0.2"))),
    Point("kappa of XCP-b 4", _of((XCP_B,), ("xcpb_kappa", "4"))),
    Point("XCP-Winf by C - y", _of((XCP_WINF,), ("xcpwinf_S", "C_minus_y"))),
    Point("headers of 20 bytes", _of(_RATED[1:], ("explicit_header", "20"))),
)
_REPEATED = Point("ends with repetition", (("topology.repeat_ends", "true"),))


def _study(
    name: str, title: str, scenario: str, condition: Condition, settings: Settings, *points: Point,
    rest: tuple[Point, ...] = (), schemes: tuple[str, ...] = _ALL, core_s: tuple[float, float] = (0.5, 2.5),
) -> Study:  # fmt: skip
    """The quick plan changes ``points``, the full one ``rest`` as well."""
    return Study(
        name=name,
        paper="we-tcp-ap",
        title=title,
        figures=(),
        source=f"{PAPER}; what it leaves open",
        shows="What each of the readings and silent choices does to the schemes that it concerns.",
        scenario=scenario,
        axis=Axis("what is switched", "", (Point(AS_IS), *points, *rest)),
        schemes=schemes,
        conditions=(condition,),
        quick=Plan(QUICK_SEEDS, timed(60, 0), (AS_IS, *(point.label for point in points)), core_s[0]),
        full=Plan(10, timed(300, 0), core_s=core_s[1]),
        quantities=(GOODPUT, PACKET_DELAY, FLOW_DELAY, RECEIVED, JAIN, LOSS, PACE),
        settings=settings,
        notes=RECONSTRUCTED if XCP_B in schemes else "",
    )


STUDIES = (
    _study(
        "we-switches-mesh",
        "Mesh, five mobile nodes: what the paper leaves open",
        "we-mesh.toml",
        DSDV,
        mesh(5).settings,
        *_SCHEMES,
        *_MOVING,
        *_TRAFFIC,
        rest=(*_REST, *_GRID),
    ),
    _study(
        "we-switches-adhoc",
        "Ad hoc, 32 nodes: what the paper leaves open",
        "we-adhoc.toml",
        DSDV,
        adhoc(32).settings,
        *_SCHEMES,
        *_MOVING,
        _REPEATED,
        rest=_REST,
        core_s=(1.0, 5.0),
    ),
    _study(
        "we-switches-comparators",
        "Ad hoc, 32 nodes: constants of the comparators, and no RTS/CTS",
        "we-adhoc.toml",
        DSDV,
        adhoc(32).settings,
        *_COMPARATORS,
        rest=_QUEUES,
        schemes=_RATED,
        core_s=(1.0, 5.0),
    ),
    _study(
        "we-switches-chain",
        "Four chains of eight relays: what the paper leaves open",
        "we-chain.toml",
        STATIC,
        (("topology.hops", "9"), ("flow.0.to", "f{}n9")),
        *_SCHEMES,
        *_ROWS,
        rest=_REST,
    ),
    _study(
        "we-switches-shared",
        "Four pairs over one chain of eight relays",
        "we-chain-shared.toml",
        STATIC,
        (),
        *_FACTOR,
        *_COUNTED,
    ),
)
