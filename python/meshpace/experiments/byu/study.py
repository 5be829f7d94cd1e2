"""How the thesis's studies are made: what all of those on one of its topologies share."""

from __future__ import annotations

from collections.abc import Iterable

from meshpace.experiments.byu.schemes import wifu
from meshpace.experiments.byu.topologies import CONDITIONS, Topology
from meshpace.study.model import Axis, Condition, Plan, Point, Settings, Study
from meshpace.study.quantities import Quantity

THESIS = "TCP in wireless mesh networks (R. L. Lee, BYU, 2012)"
"""As the studies cite it."""
COUNTS = (1, 2, 5)
"""Flows on a chain."""
SEEDS, FULL_SEEDS = 8, 30
LITERAL = "WiFu's TCP, literal parameters; what each condition is stands in docs/studies.md."


def many(count: int) -> str:
    """The label of a number of flows."""
    return f"{count} flow{'s' if count > 1 else ''}"


def on(
    topology: Topology,
    kind: str,
    title: str,
    shows: str,
    *,
    points: Iterable[Point],
    schemes: tuple[str, ...],
    quantities: tuple[Quantity, ...],
    source: str,
    figures: tuple[str, ...] = (),
    axis: tuple[str, str] = ("", ""),
    settings: Settings = (),
    conditions: tuple[Condition, ...] = CONDITIONS,
    seeds: int = SEEDS,
    quick: tuple[str, ...] | None = None,
    core_s: float = 0.06,
    notes: str = LITERAL,
) -> Study:
    """Schemes with WiFu's TCP at points of a topology, run until their transfers end."""
    return Study(
        name=f"byu-{kind}-{topology.name.lower()}",
        paper="thesis",
        title=f"{title}, {topology.title}",
        figures=figures,
        source=f"{THESIS}, {source}",
        shows=shows,
        scenario=topology.scenario,
        axis=Axis(*axis, tuple(points)),
        schemes=schemes,
        conditions=conditions,
        settings=(*wifu(*schemes), *settings),
        receptions=topology.profiles,
        quick=Plan(seeds, (), quick, core_s),
        full=Plan(FULL_SEEDS, (), core_s=core_s),
        quantities=quantities,
        notes=notes,
    )
