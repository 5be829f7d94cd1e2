"""Stand-ins for the building of the thesis: topologies, reach and link losses (docs/experiments/thesis.md, section 2).

The thesis prints no place, distance or loss. Every length and every loss here is the catalogue's own; which reach and
which losses come nearest to its nine means of Tahoe is asked by the study ``byu-cal``.

The catalogue has plain discs as its base. Here power falls as ``d^-4`` (ns-2's beyond its crossover, at which its
ranges lie): in plain discs nothing is ever captured, and the catalogue's 10 dB of capture between the floors of PAR
(35.6 m for links of 20 m) are this exponent's.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from meshpace.study.model import Condition, Settings

IDEAL = Condition("static", "ideal")
"""What the thesis says that simulators assume: only neighbours hear each other, collisions alone lose frames."""
MESH = Condition("static", "mesh")
"""The catalogue's stand-in for the building: one attempt a frame, as the thesis says."""
RETRIES = Condition("static", "mesh, 4 attempts")
"""The same with four attempts, as it takes to come near what the thesis measured (``byu-cal``)."""
IDEAL_RETRIES = Condition("static", "ideal, 4 attempts")
"""What ``ideal`` is to ``mesh``."""
CONDITIONS = (IDEAL, MESH, RETRIES)

REACHES: Mapping[str, tuple[int, int]] = {"edge": (25, 55), "margin": (50, 105), "one": (500, 500)}
"""How far frames are decoded and sensed, m: ns-2's proportions, 10 dB in hand, everybody senses everybody."""

MPDU = 1536
"""The length that the losses are said of: a full segment with its headers."""

Link = tuple[str, str]
Losses = Mapping[Link, float]
"""Loss of an MPDU of full length on a directed link."""


@dataclass(frozen=True, slots=True)
class Topology:
    """A drawing of the thesis, and what stands in for it."""

    name: str
    """As the catalogue calls it: ``C9``."""
    title: str
    scenario: str
    """File name in ``scenarios/``."""
    paths: tuple[tuple[str, ...], ...]
    """The ways of its flows."""
    uneven: Losses
    """The losses of the profile ``mesh``."""
    reach: str
    """The reach of the profile ``mesh``."""
    retried: str
    """The reach of the profile ``mesh, 4 attempts``."""

    @property
    def links(self) -> tuple[Link, ...]:
        """Every directed link that a flow's data or acknowledgements take, each once: data's first."""
        there = [link for path in self.paths for link in itertools.pairwise(path)]
        return tuple(dict.fromkeys([*there, *((b, a) for a, b in there)]))

    def even(self, loss: float) -> Losses:
        """The same loss on every link: the catalogue's L1 (2e-4), L3 (2e-3)."""
        return dict.fromkeys(self.links, loss)

    @property
    def profiles(self) -> tuple[tuple[str, Settings], ...]:
        """What the receptions of the conditions above are here, for ``Study.receptions``."""
        return (
            (IDEAL.reception, (*CAPTURE, *reach("edge"))),
            (IDEAL_RETRIES.reception, (*CAPTURE, *reach("edge"), *attempts(4))),
            (MESH.reception, (*CAPTURE, *reach(self.reach), *losses(self.uneven))),
            (RETRIES.reception, (*CAPTURE, *reach(self.retried), *losses(self.uneven), *attempts(4))),
        )


CAPTURE: Settings = (("radio.reception", "ns2-capture"),)


def reach(name: str) -> Settings:
    """How far frames are decoded and sensed."""
    decoded, sensed = REACHES[name]
    return (("radio.tx_range", f"{decoded}m"), ("radio.cs_range", f"{sensed}m"))


def losses(table: Losses, burst: int | None = None) -> Settings:
    """The links that lose frames, MAC acknowledgements included, the longer the more; none if none loses any.

    With ``burst`` in periods that last so many full data frames in the mean, whatever their lengths.
    """
    kind = f"loss_length = {MPDU}" if burst is None else f"burst = {burst}"
    entries = [
        f'{{from = "{a}", to = "{b}", symmetric = false, loss = {loss!r}, {kind}}}'
        for (a, b), loss in table.items()
        if loss > 0
    ]
    return (("radio_link", f"[{', '.join(entries)}]"),) if entries else ()


def attempts(count: int) -> Settings:
    """Transmissions of a frame, the first included; the thesis says one."""
    return (("radio.retry_short", str(count)),)


def flows(count: int) -> Settings:
    """So many flows from the first node of a chain to its last."""
    return (("flow.0.count", str(count)),)


def _chain(hops: int) -> tuple[str, ...]:
    return tuple(f"n{i}" for i in range(hops + 1))


_FORWARDS = (0.5, 2, 0.2, 1, 0.1, 3, 0.5, 0.2, 1)
_BACKWARDS = (2, 0.5, 1, 0.2, 3, 0.1, 1, 0.5, 0.2)
"""The catalogue's L2, 1e-3, link by link of the longest chain."""


def _uneven(hops: int) -> Losses:
    chain = _chain(hops)
    links = list(itertools.pairwise(chain))
    there = {link: loss * 1e-3 for link, loss in zip(links, _FORWARDS, strict=False)}
    return there | {(b, a): loss * 1e-3 for (a, b), loss in zip(links, _BACKWARDS, strict=False)}


def _l2a(there: Mapping[Link, float], back: Mapping[Link, float]) -> Losses:
    table = {link: loss * 1e-3 for link, loss in there.items()}
    return table | {(b, a): loss * 1e-3 for (a, b), loss in back.items()}


C9 = Topology("C9", "chain of 9 hops", "byu-c9.toml", (_chain(9),), _uneven(9), "margin", "one")
C4 = Topology("C4", "chain of 4 hops", "byu-c4.toml", (_chain(4),), _uneven(4), "margin", "one")
C1 = Topology(
    "C1", "one hop", "byu-c1.toml", (_chain(1),), dict.fromkeys((("n0", "n1"), ("n1", "n0")), 2e-4), "margin", "one"
)
_FLOORS = tuple(tuple(f"{floor}{i}" for i in range(5)) for floor in "ab")
_FLOOR_LOSSES = {
    link: loss
    for floor, loss in zip(_FLOORS, (2e-3, 2e-4), strict=True)
    for a, b in itertools.pairwise(floor)
    for link in ((a, b), (b, a))
}
PAR = Topology("PAR", "parallel chains on two floors", "byu-par.toml", _FLOORS, _FLOOR_LOSSES, "margin", "margin")
_SHORT = ("mesh2", "mesh1", "mesh14")
_TO_1, _FROM_2, _TO_14 = ("mesh4", "mesh1"), ("mesh2", "mesh1"), ("mesh1", "mesh14")
ASL = Topology(
    "ASL",
    "asymmetric chains, 4 and 2 hops, a node shared",
    "byu-asl.toml",
    (("mesh4", "mesh1", "r1", "r2", "mesh11"), _SHORT),
    _l2a(
        {_TO_1: 1, ("mesh1", "r1"): 0.2, ("r1", "r2"): 2, ("r2", "mesh11"): 0.5, _FROM_2: 0.2, _TO_14: 0.5},
        {_TO_1: 0.2, ("mesh1", "r1"): 2, ("r1", "r2"): 0.5, ("r2", "mesh11"): 1, _FROM_2: 0.5, _TO_14: 0.2},
    ),
    "margin",
    "margin",
)
ASL_B = Topology(
    "ASL-B",
    "asymmetric chains, 4 and 2 hops, a link shared",
    "byu-asl-b.toml",
    (("mesh4", "mesh1", "mesh14", "r2", "mesh11"), _SHORT),
    _l2a(
        {_TO_1: 1, _TO_14: 0.2, ("mesh14", "r2"): 2, ("r2", "mesh11"): 0.5, _FROM_2: 0.2},
        {_TO_1: 0.2, _TO_14: 2, ("mesh14", "r2"): 0.5, ("r2", "mesh11"): 1, _FROM_2: 0.5},
    ),
    "margin",
    "margin",
)
"""With its first flow's losses on the link that the flows share."""
ASS = Topology(
    "ASS",
    "asymmetric chains, 1 and 2 hops",
    "byu-ass.toml",
    (("mesh4", "mesh1"), _SHORT),
    _l2a({_TO_1: 1, _FROM_2: 0.2, _TO_14: 0.5}, {_TO_1: 0.2, _FROM_2: 0.5, _TO_14: 0.2}),
    "margin",
    "margin",
)
TOPOLOGIES = (C9, C4, C1, PAR, ASL, ASL_B, ASS)
