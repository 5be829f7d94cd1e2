"""Gains as they were simulated, and in the building (docs/experiments/thesis.md, section 4, X.j).

The same schemes on the same chain of 4 or 9 hops twice: as their authors simulated them (802.11b at 2 Mbit/s, ns-2's
ranges, MAC retries and TCP, RTS/CTS, long transfers, AODV or static routes), over NewReno; and as the thesis measured
them, over WiFu's Tahoe. The first does not hang on the study's conditions: its points bring their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from meshpace.experiments.byu.measures import claim, relative
from meshpace.experiments.byu.schemes import AD, AP, DA, FEW, hops, of_scheme, wifu
from meshpace.experiments.byu.study import FULL_SEEDS, SEEDS, THESIS, many
from meshpace.experiments.byu.topologies import C4, C9, CONDITIONS, Topology, flows
from meshpace.study.claims import Ask, Claim, Role
from meshpace.study.model import Axis, Plan, Point, Settings, Study
from meshpace.study.quantities import FLOW_GOODPUT, JAIN, LOG_UTILITY, TIMEOUTS
from meshpace.study.rules import NO_GAIN, Rule
from meshpace.study.words import percent

CONTROL = "newreno"
"""In the building WiFu's Tahoe."""
FIXED_ACKS = tuple(f"delack-{d}" for d in (2, 3, 4))
"""Delayed acknowledgements of so many segments."""
SCHEMES = (CONTROL, AP, AD, FEW, DA, *FIXED_ACKS)
COUNTS = (1, 5)
NS2: Settings = (
    ("radio.standard", "802.11b"),
    ("radio.rate", "2Mbps"),
    ("radio.rts", "always"),
    ("radio.retry_short", "7"),
    ("radio.retry_long", "4"),
    ("radio.arp", "true"),
    ("radio.tx_range", "250m"),
    ("radio.cs_range", "550m"),
    ("topology.spacing", "200m"),
    ("defaults.window", "64"),
    ("measure.duration", "110s"),
    ("measure.warmup", "10s"),
)
"""Chains as the literature simulates them; power falls with ``d^-4``, as ns-2's does from 86 m on."""
WAYS = {"AODV": "aodv", "static": "static"}


def simulated(way: str, count: int) -> str:
    """The label of a number of flows in ns-2's set-up."""
    return f"ns-2, {way}, {many(count)}"


def measured(count: int) -> str:
    """The label of a number of flows in the building."""
    return f"building, {many(count)}"


def _ends(topology: Topology) -> tuple[str, str]:
    return topology.paths[0][0], topology.paths[0][-1]


def _literature(topology: Topology, count: int) -> Settings:
    begin, end = _ends(topology)
    return (*NS2, ("flow", f'[{{from = "{begin}", to = "{end}", app = "ftp", count = {count}}}]'))


def _building(topology: Topology, count: int) -> Settings:
    """WiFu's TCP and the ways of the drawing, which minimum hops would not find where two hops decode."""
    path = ", ".join(f'"{node}"' for node in topology.paths[0])
    schemes = tuple(scheme for scheme in SCHEMES if scheme not in {CONTROL, *FIXED_ACKS})
    others = (("tcp_profile", "wifu"), ("congestion", "tahoe"))
    return (
        ("flow.0.to", _ends(topology)[1]),
        ("flow.0.path", f"[{path}]"),
        *flows(count),
        *wifu(*schemes),
        *hops(AP, AD, n=4),
        *(setting for scheme in (CONTROL, *FIXED_ACKS) for setting in of_scheme(scheme, *others)),
    )


def _fixed_acks() -> Settings:
    return tuple(
        setting
        for scheme in FIXED_ACKS
        for setting in of_scheme(
            scheme, ("base", "newreno"), ("ack_policy", "delayed"), ("ack_segments", scheme.rpartition("-")[2])
        )
    )


def _study(topology: Topology) -> Study:
    literature = (
        Point(simulated(way, count), _literature(topology, count), None, protocol, "ns2-capture")
        for way, protocol in WAYS.items()
        for count in COUNTS
    )
    building = (Point(measured(count), _building(topology, count)) for count in COUNTS)
    return Study(
        name=f"byu-meta-{topology.name.lower()}",
        paper="thesis",
        title=f"Simulated and measured, {topology.title}",
        figures=(),
        source=f"{THESIS}, chapters 1, 2 and 6",
        shows=f"Gains over NewReno as simulated by the schemes' authors, and over Tahoe as measured, {topology.title}.",
        scenario="byu-meta.toml",
        axis=Axis("set-up, flows", "", (*literature, *building)),
        schemes=SCHEMES,
        conditions=CONDITIONS,
        settings=(("topology.hops", str(len(topology.paths[0]) - 1)), *_fixed_acks()),
        receptions=topology.profiles,
        quick=Plan(SEEDS, (), core_s=0.1),
        full=Plan(FULL_SEEDS, (), core_s=0.1),
        quantities=(FLOW_GOODPUT, JAIN, LOG_UTILITY, TIMEOUTS),
        notes="delack-2, -3, -4: so many segments an ACK, or 100 ms. In the building NewReno stands for WiFu's Tahoe, "
        "and FeW has a = 0.01, as in ns-2.",
    )


MOVING = "byu-meta-moving"
SPEEDS = (10,)
"""m/s, at most."""


def moving(speed: int, count: int) -> str:
    """The label of a number of flows between nodes that move up to so fast, m/s."""
    return f"{speed} m/s, {many(count)}"


def _walking() -> Study:
    """FeW's own ground (R1): nodes that move. Its points bring their routing, as the other set-ups do."""
    points = tuple(
        Point(
            moving(speed, count),
            (("mobility.speed_max", str(speed)), ("flow.0.count", str(count))),
            None,
            "aodv",
            "ns2-capture",
        )
        for speed in SPEEDS
        for count in COUNTS
    )
    return Study(
        name=MOVING,
        paper="thesis",
        title="Simulated, nodes that move",
        figures=(),
        source=f"{THESIS}, chapters 1 and 6",
        shows="Gains over NewReno between random nodes of 50 that move, at 2 Mbit/s with RTS/CTS under ns-2's AODV.",
        scenario="byu-moving.toml",
        axis=Axis("speed, flows", "", points),
        schemes=(CONTROL, AP, FEW, DA),
        conditions=CONDITIONS,
        receptions=C4.profiles,
        quick=Plan(4, (("measure.duration", "60s"),), core_s=1.0),
        full=Plan(FULL_SEEDS, (), core_s=2.0),
        quantities=(FLOW_GOODPUT, JAIN, LOG_UTILITY, TIMEOUTS),
        notes="1,500 m x 300 m, random waypoint without pauses: the places and speeds of FeW's authors are not in the "
        "thesis. FeW has a = 0.01. It is simulated alike under every condition: there is no building to move in.",
    )


_CHAINS = tuple(map(_study, (C4, C9)))
STUDIES = (*_CHAINS, _walking())
_NAMES = tuple(study.name for study in _CHAINS)
_MOVING = tuple(moving(speed, count) for speed in SPEEDS for count in COUNTS)
_NS2 = tuple(simulated(way, count) for way in WAYS for count in COUNTS)
_HERE = tuple(map(measured, COUNTS))


def _gain(
    scheme: str, rule: Rule, where: str, points: Sequence[str], *, best: bool = True, role: Role = Role.CLAIM
) -> Ask:
    what = f"Goodput {where}" if role is Role.CLAIM else f"Goodput of {scheme} {where}"
    return Ask(
        relative(FLOW_GOODPUT, scheme, CONTROL), rule, percent, what, _NAMES, tuple(points), best=best, role=role
    )


MUCH = Rule("MUCH", low=0.2, neutral=0.0, margin=NO_GAIN)
"""What the thesis calls a gain that was promised."""


def _lost(scheme: str, name: str) -> Claim:
    return claim(
        f"X.j {name}",
        f"{name} gains much in simulations like its authors', and nothing in the building.",
        "chapters 1, 6",
        "much there, nothing here",
        _gain(scheme, MUCH, "in ns-2's set-up", _NS2),
        _gain(scheme, Rule("ORDER", high=NO_GAIN), "in the building", _HERE, best=False),
    )


CLAIMS: tuple[Claim, ...] = (
    _lost(AP, "TCP-AP"),
    _lost(AD, "TCP-AP with delayed ACKs"),
    _lost(FEW, "FeW"),
    claim(
        "X.j moving",
        "FeW gains much where nodes move, as its authors simulated it.",
        "chapters 1, 6; R1",
        "above 90 %",
        *(
            Ask(
                relative(FLOW_GOODPUT, scheme, CONTROL),
                MUCH,
                percent,
                f"Goodput of {scheme} where nodes move",
                (MOVING,),
                _MOVING,
                role=Role.CLAIM if scheme == FEW else Role.BESIDE,
            )
            for scheme in (FEW, AP, DA)
        ),
        value=0.9,
    ),
    claim(
        "X.j DA",
        "Delayed ACKs alone gain much in both.",
        "chapters 1, 6",
        "much in both",
        _gain(DA, MUCH, "in ns-2's set-up", _NS2),
        _gain(DA, MUCH, "in the building", _HERE),
        *(
            _gain(scheme, MUCH, where, points, role=Role.BESIDE)
            for scheme in FIXED_ACKS
            for where, points in (("in ns-2's set-up", _NS2), ("in the building", _HERE))
        ),
    ),
)
