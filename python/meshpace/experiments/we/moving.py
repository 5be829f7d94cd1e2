"""What the WE TCP-AP paper's experiments with moving nodes share: routing, plans, what is read."""

from __future__ import annotations

from meshpace.experiments.we.chains import PAPER
from meshpace.experiments.we.quantities import LOSS, PACE, PACKET_DELAY, QUEUES, RECEIVED, USE, WE_DROPS
from meshpace.study.model import DSDV, Axis, Plan, Settings, Study, timed
from meshpace.study.quantities import GOODPUT, JAIN, JAIN_10S

RECONSTRUCTED = (
    "Constants of XCP-b and WCP and the laws of XCP-Winf and RCP-Winf are not printed: reconstructed, parameters."
)
READ = (GOODPUT, PACKET_DELAY, RECEIVED, JAIN, JAIN_10S, LOSS, WE_DROPS, QUEUES, USE, PACE)


def moving(
    name: str, title: str, shows: str, scenario: str, axis: Axis, *schemes: str, core_s: tuple[float, float],
    figures: tuple[str, ...] = (), source: str | None = None, quick: tuple[str, ...] | None = None,
    settings: Settings = (), notes: str = "",
) -> Study:  # fmt: skip
    """A study under DSDV; ``quick`` names the points of the quick plan, ``core_s`` what a run of each plan costs.

    ``source`` is where the paper says it, if no figures do.
    """
    return Study(
        name=name,
        paper="we-tcp-ap",
        title=title,
        figures=figures,
        source=f"{PAPER}, {source or f'{figures[0]} to {figures[-1][5:]}'}",
        shows=shows,
        scenario=scenario,
        axis=axis,
        schemes=schemes,
        conditions=(DSDV,),
        quick=Plan(5, timed(60, 0), quick, core_s[0]),
        full=Plan(30, timed(300, 0), core_s=core_s[1]),
        quantities=READ,
        settings=(*settings, ("measure.queues", "true")),
        series=True,
        notes=f"{notes} {RECONSTRUCTED}".strip(),
    )
