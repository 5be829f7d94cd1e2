"""Experiments behind statements of the TCP-GAP paper's text that belong to no figure."""

from __future__ import annotations

from itertools import product

from meshpace.experiments.gap.figures import CASES, CROSS, DOWN, FULL, PARALLEL, SHARED, UP, hops, of_the_paper
from meshpace.experiments.gap.web import CONNECTIONS
from meshpace.study.model import Axis, Plan, Point, Study, timed
from meshpace.study.quantities import CONTROL, DELAY, FLOWS, GOODPUT, JAIN, QUEUE_MAX, RESENT, TIMEOUTS

OVERALL = of_the_paper(
    name="gap-overall",
    title="Over all experiments",
    figures=("abstract", "section 4.4", "section 5.2.2.1"),
    shows="What the paper says of all its experiments together, judged by the runs of the others.",
    scenario=PARALLEL["up"],
    schemes=(),
    quick=Plan(1, ()),
    full=Plan(1, ()),
    quantities=(GOODPUT, JAIN),
    reads=(
        "gap-chain-up", "gap-chain-down", "gap-parallel-up", "gap-parallel-down", "gap-parallel-mix",
        "gap-responsiveness", "gap-responsiveness-alone", "gap-54mbps-ofdm", "gap-54mbps-dsss", "gap-cross-up",
        "gap-cross-down", "gap-cross-mix", "gap-random", *(f"gap-http-parallel{kind}" for kind in CONNECTIONS),
        *(f"gap-http-random{kind}" for kind in CONNECTIONS),
    ),
)  # fmt: skip

SHAPES = {"parallel": PARALLEL, "cross": CROSS}


def _short(shape: str, case: str) -> Study:
    return of_the_paper(
        name=f"gap-short-multiflow-{shape}-{case}",
        title=f"Several flows over short paths, {'parallel chains' if shape == 'parallel' else 'cross'}, {CASES[case]}",
        figures=("section 5.2.1",),
        shows=f"How flows over 1 to 3 hops, where nothing is hidden, share a gateway; {CASES[case]}.",
        scenario=SHAPES[shape][case],
        axis=hops(1, 2, 3),
        quick=Plan(4, timed(30, 5), core_s=0.04),
        full=Plan(5, FULL, core_s=0.7),
        quantities=SHARED,
        notes="The set-up is not printed: the topologies of Figs. 5 and 17 with fewer hops are an assumption.",
    )


def _delayed(direction: str, way: str) -> Study:
    return of_the_paper(
        name=f"gap-delack-{direction}",
        title=f"Delayed acknowledgements, {way}",
        figures=("section 4.3",),
        shows=f"What a receiver that acknowledges every second packet does to TCP-GAP on a chain, {way}.",
        scenario=f"gap-delack-{direction}.toml",
        axis=hops(*range(4, 11)),
        schemes=("tcp-gap", "tcp-gap-delack"),
        quick=Plan(4, timed(40, 10), ("4", "6", "8", "10"), core_s=0.04),
        full=Plan(5, FULL, core_s=1.5),
        quantities=(GOODPUT, DELAY, RESENT, TIMEOUTS),
        notes="The statement is made of TCP-AP in pure ad hoc networks; a chain with a wired part is an assumption.",
    )


INTERVALS, THRESHOLDS = ("1", "2", "5", "10", "20"), ("1.05", "1.1", "1.2", "1.5")


def setting(interval: str, threshold: str) -> str:
    """The label of a setting of goodput control."""
    return f"{interval} s, {threshold}"


CHOSEN = setting("5", "1.1")
"""The paper's."""

_CONTROL = of_the_paper(
    name="gap-gc-settings",
    title="Goodput control: interval and threshold",
    figures=("section 4.4",),
    shows="Fairness and aggregate of two parallel chains, one flow each way, over goodput control's settings.",
    scenario=PARALLEL["mix"],
    axis=Axis(
        "interval and threshold",
        "",
        tuple(
            Point(
                setting(interval, threshold),
                (("scheme.tcp-gap.gc_interval", f"{interval}s"), ("scheme.tcp-gap.gc_threshold", threshold)),
            )
            for interval, threshold in product(INTERVALS, THRESHOLDS)
        ),
    ),
    schemes=("tcp-gap",),
    quick=Plan(
        4,
        timed(110, 10),
        tuple(setting(*pair) for pair in (("1", "1.1"), ("5", "1.05"), ("5", "1.1"), ("5", "1.2"), ("20", "1.1"))),
        core_s=0.13,
    ),
    full=Plan(5, FULL, core_s=1.3),
    quantities=SHARED,
)

_CONTROL_TIME = of_the_paper(
    name="gap-gc-time",
    title="Goodput control over time",
    figures=("section 4.4",),
    shows="How far the faster of two flows on parallel chains, one each way, exceeds their mean, second by second.",
    scenario=PARALLEL["mix"],
    schemes=("tcp-gap",),
    quick=Plan(4, timed(130, 10), core_s=0.16),
    full=Plan(5, timed(1000, 20), core_s=1.3),
    quantities=(*FLOWS[:2], GOODPUT, JAIN),
    series=True,
)

_SEPARATE = of_the_paper(
    name="gap-gc-separate",
    title="No common bottleneck",
    figures=("section 4.4",),
    shows="Two parallel chains, wired to wireless, whose hosts hang on wired links of 10 Mbit/s and 100 kbit/s.",
    scenario="gap-separate-bottlenecks.toml",
    schemes=("tcp-gap-nogc", "tcp-gap"),
    quick=Plan(6, timed(110, 10), core_s=0.1),
    full=Plan(10, timed(1000, 20), core_s=1.0),
    quantities=(*FLOWS[:2], *SHARED),
    notes="How slow the slow link is, is an assumption: less than half of what the mesh carries.",
)

_PLAIN = of_the_paper(
    name="gap-gateway-plain",
    title="A sender that does not pace behind the gateway",
    figures=("section 4.2",),
    shows="NewReno from the mesh through TCP-GAP's gateway, beside NewReno through a plain one.",
    scenario="gap-plain-sender.toml",
    schemes=("newreno", "newreno-behind-gap", "tcp-gap"),
    quick=Plan(8, timed(110, 10), core_s=0.1),
    full=Plan(10, FULL, core_s=1.3),
    quantities=(GOODPUT, DELAY, RESENT, TIMEOUTS, CONTROL),
)

_BUFFER = of_the_paper(
    name="gap-gateway-buffer",
    title="What the gateway's pacing queues hold",
    figures=("section 4.3",),
    shows="The most packets that wait at the gateway for two flows from wired to wireless, each with a window of 64.",
    scenario=PARALLEL["down"],
    quick=Plan(4, timed(110, 10), core_s=0.13),
    full=Plan(5, FULL, core_s=1.3),
    quantities=(QUEUE_MAX, DELAY, GOODPUT, CONTROL),
)

STUDIES = (
    *(_short(shape, case) for shape in SHAPES for case in CASES),
    _delayed("up", UP),
    _delayed("down", DOWN),
    _CONTROL,
    _CONTROL_TIME,
    _SEPARATE,
    _PLAIN,
    _BUFFER,
    OVERALL,
)
