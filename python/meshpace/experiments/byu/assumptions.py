"""The seven assumptions for which the thesis blames simulators, each dropped by itself on top of ``ideal``, then all.

Numbers as in docs/experiments/thesis.md, section 5: K1 to K6 after Kotz et al. (MSWiM 2004), K7 after Reineck. A point
is settings, so that any study of these topologies can take them. What an assumption is worth shows in how a scheme's
number moves from the point :data:`AS_IS`, seed by seed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping

from meshpace.experiments.byu.schemes import AP, DA, TAHOE, hops
from meshpace.experiments.byu.study import COUNTS, on
from meshpace.experiments.byu.topologies import ASL, C4, C9, IDEAL, IDEAL_RETRIES, PAR, Topology, flows, losses
from meshpace.study.model import AS_IS, Point, Settings, Study
from meshpace.study.quantities import FLOW_GOODPUT, JAIN, LOG_UTILITY, RESENT, TIMEOUTS, UNFINISHED

DOCUMENT = "docs/experiments/thesis.md, section 5"
SCHEMES = (TAHOE, AP, DA)
"""The control, pacing by four hops and dynamic acknowledgements, all of them WiFu's."""

STOREY: Settings = (("radio.ceiling_db", "15"), ("radio.storey", "4m"))
SHADOWING: Settings = (
    ("radio.path_loss_exponent", "3.5"),
    ("radio.shadowing_db", "6"),
    ("radio.link_margin_db", "3"),
)
UNEQUAL: Settings = (("radio.gain_spread_db", "2"), ("radio.link_margin_db", "0"))
ASYMMETRIC: Settings = (("radio.asymmetry_db", "3"), ("radio.link_margin_db", "0"))
FADING: Settings = (("radio.fading_db", "2"), ("radio.fading_time", "10s"))
DECAY: Settings = (("radio.reception", "sinr"), ("radio.path_loss_exponent", "2.5"))
POWERS: Mapping[str, tuple[int, int, int]] = {"24": (6, 54, 112), "PAR": (10, 123, 163), "12": (8, 103, 135)}
"""By Mbit/s: dBm, and how far 10 dB over the standard's minimum and -92 dBm reach with exponent 2.5 (section 2)."""


def upstairs(topology: Topology) -> Settings:
    """The second half of the first path on the next floor, above where the first half ends; PAR's second floor 4 m up.

    A ceiling that a link of 20 m had to cross would cut it: the way up is short. Nodes stand in the scenario's file in
    the order of that path, and PAR's second path after its first.
    """
    ends = len(topology.paths[0])
    if topology is PAR:
        moved = {ends + i: 20.0 * i for i in range(ends)}
    else:
        begin = -20.0 if topology is ASL else 0.0
        moved = {i: begin + 20.0 * (i - 1) for i in range((ends + 1) // 2, ends)}
    places = ((f"node.{i}.{key}", value) for i, x in moved.items() for key, value in _above(x))
    return (*STOREY, *places)


def _above(x: float) -> Settings:
    return (("x", f"{x:g}"), ("y", "0"), ("height", "4m"))


def worse(topology: Topology, *, data: float, answers: float) -> Settings:
    """The uneven table with the links of the flows' data and those of their acknowledgements made worse by factors."""
    there = {link for path in topology.paths for link in itertools.pairwise(path)}
    table = {link: loss * (data if link in there else answers) for link, loss in topology.uneven.items()}
    return losses(table)


def power(topology: Topology) -> Settings:
    """The transmitted power and the threshold of ``sinr`` that go with a topology's rate."""
    chain = topology.name.startswith("C")
    dbm, decoded, sensed = POWERS["24" if chain else "PAR" if topology is PAR else "12"]
    return (
        *DECAY,
        ("radio.tx_power", str(dbm)),
        ("radio.tx_range", f"{decoded}m"),
        ("radio.cs_range", f"{sensed}m"),
        ("radio.sinr_threshold_db", "16" if chain else "10"),
    )


def curve(topology: Topology) -> Settings:
    """The same with an error curve instead of the threshold."""
    settings = dict(power(topology))
    del settings["radio.sinr_threshold_db"]
    return (*settings.items(), ("radio.error_model", "curve"))


Assumption = tuple[str, Callable[[Topology], Settings]]

ASSUMPTIONS: Mapping[str, Assumption] = {
    "K1": ("two floors, 15 dB a ceiling", upstairs),
    "K2": ("shadowing of 6 dB, exponent 3.5", lambda _: SHADOWING),
    "K3": ("nodes that differ by 2 dB", lambda _: UNEQUAL),
    "K4": ("uneven losses", lambda topology: losses(topology.uneven)),
    "K4 data": ("uneven losses, five times for data", lambda topology: worse(topology, data=5, answers=1)),
    "K4 ACKs": ("uneven losses, five times for acknowledgements", lambda topology: worse(topology, data=1, answers=5)),
    "K4 3 dB": ("directions that differ by 3 dB", lambda _: ASYMMETRIC),
    "K5": ("error curve over the ratio to noise and interference", curve),
    "K5 loss": ("2e-3 of the frames lost everywhere", lambda topology: losses(topology.even(2e-3))),
    "K6": ("shadowing and slow fading of 2 dB, 10 s", lambda _: (*SHADOWING, *FADING)),
    "K7": ("log-distance 2.5, summed interference", power),
}
"""By number; a letter or word tells the catalogue's alternatives apart."""


def _all(topology: Topology) -> Settings:
    """K8: every one together, the error curve for what K5 and K7 have as alternatives."""
    together = dict(upstairs(topology))
    together.update((*SHADOWING, *UNEQUAL, *ASYMMETRIC, *losses(topology.uneven), *FADING, *curve(topology)))
    return (*together.items(), ("radio.link_margin_db", "3"))


def _study(topology: Topology) -> Study:
    points = tuple(Point(f"{number}: {what}", settings(topology)) for number, (what, settings) in ASSUMPTIONS.items())
    chain = topology.name.startswith("C")
    return on(
        topology,
        "assumptions",
        "Simulators' assumptions dropped",
        "How goodput and fairness move as each assumption that the thesis criticises is dropped by itself.",
        source=f"chapters 1 and 2; {DOCUMENT}",
        axis=("assumption dropped", ""),
        points=(Point(AS_IS), *points, Point("K8: all of them", _all(topology))),
        schemes=SCHEMES,
        conditions=(IDEAL, IDEAL_RETRIES),
        settings=(*hops(AP, n=4), *(flows(COUNTS[1]) if chain else ())),
        seeds=3,
        core_s=0.1,
        quantities=(FLOW_GOODPUT, JAIN, LOG_UTILITY, TIMEOUTS, RESENT, UNFINISHED),
        notes="Power falls with d^-4 where nothing else is said. Chains have two flows.",
    )


STUDIES = tuple(map(_study, (C9, C4, PAR, ASL)))
