"""How the studies of Osipov and Tschudin 2005 are made: what all of them share."""

from __future__ import annotations

from meshpace.study.model import STATIC, STATIC_SINR, Axis, Condition, Plan, Point, Settings, Study
from meshpace.study.quantities import Quantity

PAPER = "Ingress throttling (Osipov, Tschudin, Univ. Basel CS-2005-003, 2005)"
"""As the studies cite it."""
CONDITIONS = (STATIC, STATIC_SINR)
QUICK: Settings = (("measure.duration", "72s"), ("measure.warmup", "12s"))
FULL: Settings = (("measure.duration", "132s"), ("measure.warmup", "12s"))
"""The paper's: 12 s of warm-up, 120 s measured."""
_FULL_SEEDS = 30


def study(
    name: str,
    title: str,
    source: str,
    shows: str,
    *,
    scenario: str,
    axis: tuple[str, str],
    points: tuple[Point, ...],
    schemes: tuple[str, ...],
    quantities: tuple[Quantity, ...],
    quick: Plan,
    full_core_s: float,
    full: Settings = FULL,
    figures: tuple[str, ...] = (),
    settings: Settings = (),
    conditions: tuple[Condition, ...] = CONDITIONS,
    reads: tuple[str, ...] = (),
    notes: str = "",
) -> Study:
    """Schemes at points of one of the paper's networks, cited as standing there in the paper."""
    return Study(
        name=f"throttle-{name}",
        paper="ingress-throttling",
        title=title,
        figures=figures,
        source=f"{PAPER}, {source}",
        shows=shows,
        scenario=scenario,
        axis=Axis(*axis, points),
        schemes=schemes,
        conditions=conditions,
        quick=quick,
        full=Plan(_FULL_SEEDS, full, core_s=full_core_s),
        quantities=quantities,
        settings=settings,
        reads=reads,
        notes=notes,
    )
