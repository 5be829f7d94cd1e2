"""What the demo runs: chains of 1 to 8 hops and two parallel chains, each for a fixed time.

From 9 hops on ns-2's AODV stalls in local repair, and gains scatter so much between seeds (at 10 hops by 0.20 upward
and 0.41 downward) that no demo could decide the headlines there: the studies of the paper go to 10.
"""

from __future__ import annotations

from meshpace.study.model import AODV, NO_AXIS, STATIC, Axis, Plan, Point, Settings, Study
from meshpace.study.quantities import (
    DELAY,
    FLOWS,
    GOODPUT,
    JAIN_1S,
    JAIN_10S,
    JAIN_100S,
    RESENT,
    TIMEOUTS,
)

CASES = {"up": "wireless to wired", "down": "wired to wireless", "mix": "each way"}
"""Directions of the flows, in words."""
SCHEMES = ("newreno", "tcp-ap", "tcp-gap", "linux-cubic", "linux-bbr", "calm")
CONDITIONS = (AODV, STATIC)
HOPS = (1, 2, 3, 4, 6, 8)
MOST_SEEDS = 40
"""That a headline gets where fewer do not decide it."""
_TURNED: dict[str, Settings] = {
    "chain-up": (),
    "chain-down": (("flow.0.from", "B"), ("flow.0.to", "n0")),
    "parallel-up": (),
    "parallel-down": (("flow.0.from", "B"), ("flow.0.to", "A1"), ("flow.1.from", "B"), ("flow.1.to", "A2")),
    "parallel-mix": (("flow.0.from", "B"), ("flow.0.to", "A1")),
}
"""What turns the flows of the scenario files, which go from wireless to wired."""


def studies(seeds: int, hops: tuple[int, ...] = HOPS, measure: Settings = ()) -> tuple[Study, ...]:
    """The demo's studies; ``measure`` replaces what the scenario files say."""
    return tuple(_study(name, turned, Plan(seeds, measure), hops) for name, turned in _TURNED.items())


def _study(name: str, turned: Settings, plan: Plan, hops: tuple[int, ...]) -> Study:
    kind, way = name.split("-")
    axis = Axis("wireless hops", "", tuple(Point(str(h), (("topology.hops", str(h)),), float(h)) for h in hops))
    chain = kind == "chain"
    return Study(
        name=f"demo-{name}",
        title=f"{'Chain' if chain else 'Parallel chains'}, {CASES[way]}",
        figures=(),
        source="ns-2.35, tables chain_wired and parallel; TCP-GAP (Computer Networks 2008), Figs. 8 to 12",
        shows="What pacing does to goodput, delay and fairness.",
        scenario=f"demo-{kind}.toml",
        axis=axis if chain else NO_AXIS,
        schemes=SCHEMES,
        conditions=CONDITIONS,
        quick=plan,
        full=plan,
        quantities=(GOODPUT, DELAY, RESENT, TIMEOUTS)
        if chain
        else (GOODPUT, *FLOWS[:2], JAIN_1S, JAIN_10S, JAIN_100S, DELAY, RESENT),
        settings=turned,
    )
