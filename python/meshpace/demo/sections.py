"""The demo's figures and tables."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict

from meshpace.cli.tables import show
from meshpace.demo.plan import CASES, CONDITIONS, SCHEMES
from meshpace.report.figures import command
from meshpace.report.model import Chart, Claim, Download, Section, Series, Table, View
from meshpace.report.sections import downloads, drawn
from meshpace.stats import estimate
from meshpace.study.measures import gain
from meshpace.study.model import AODV, ROUTING_NAMES, STATIC, Cell, Condition, scheme_name
from meshpace.study.outcome import Outcome
from meshpace.study.quantities import DELAY, FLOWS, GOODPUT, JAIN_1S, JAIN_10S, JAIN_100S, Quantity
from meshpace.study.words import written
from meshpace.words import in_hops


class _Parts(TypedDict):
    claims: tuple[Claim, ...]
    downloads: tuple[Download, ...]
    commands: tuple[str, ...]


_CHAINS, _PARALLEL = ("up", "down"), ("up", "down", "mix")
_ROUTINGS = {AODV: 2, STATIC: 3}
"""What their lines look like: AODV's as TCP-GAP's, neither as NewReno's."""
_WINDOWS = {"1 s": JAIN_1S, "10 s": JAIN_10S, "100 s": JAIN_100S}
_FLOWS = {"flow 1": FLOWS[0], "flow 2": FLOWS[1], "both": GOODPUT}


def gain_section(outcomes: Mapping[str, Outcome]) -> Section:
    """The main result: what TCP-GAP makes of NewReno's goodput, by the length of the way."""
    chosen = {way: outcomes[f"demo-chain-{way}"] for way in _CHAINS}
    charts = tuple(_gains(outcome, way) for way, outcome in chosen.items())
    return Section(
        title="What pacing gives over a chain",
        lead="TCP-GAP's goodput against NewReno's, paired by seed: above the line pacing gives, below it costs. A "
        "backlogged flow between a wireless host and a host in the Internet.",
        views=(View("Gain", charts, shared=True),),
        tables=(_gain_table(charts),),
        topology=drawn(chosen["up"]),
        commands=tuple(dict.fromkeys(line for chart in charts for series in chart.series for line in series.commands)),
    )


def _gain_table(charts: Sequence[Chart]) -> Table:
    """The same in numbers."""
    rows = []
    for chart in charts:
        way, told = chart.title.partition(", ")[2], written(chart.factor, 1, "", signed=True)
        for series in chart.series:
            changes = ("-" if value is None else told(value) for value in series.values)
            rows.append((way, series.name, *changes))
    heads = (in_hops(int(hops)) for hops in charts[0].axis)
    return Table("In per cent of NewReno's goodput", ("direction", "routing", *heads), tuple(rows), keys=2)


def _gains(outcome: Outcome, way: str) -> Chart:
    """A line a routing, over what all of the hops but one have to share."""
    points = [point for point in outcome.study.points(outcome.effort) if (point.value or 0.0) > 1]
    measure = gain(GOODPUT)

    def series(condition: Condition) -> Series:
        values = (measure.take(outcome, condition, point.label) for point in points)
        return Series(
            ROUTING_NAMES[condition.routing],
            tuple(estimate([value for value in of_seeds if value is not None]) for of_seeds in values),
            tuple(_compared(outcome, condition, point.label, measure.schemes) for point in points),
            place=_ROUTINGS[condition],
        )

    return Chart(
        f"TCP-GAP's goodput against NewReno's, {CASES[way]}",
        tuple(point.label for point in points),
        "wireless hops",
        "%",
        tuple(map(series, CONDITIONS)),
        factor=100.0,
        x=tuple(point.value or 0.0 for point in points),
    )


def _compared(outcome: Outcome, condition: Condition, point: str, schemes: Sequence[str]) -> str:
    """What repeats a point: both schemes with the same seeds."""
    job = outcome.study.job(Cell(condition, schemes[0], point), 1, outcome.effort)
    settings = [word for assignment in job.overrides for word in ("--set", assignment)]
    seeds = outcome.study.plan(outcome.effort).seeds
    return shlex.join(
        ["meshpace", "compare", job.name, *settings, "--scheme", ",".join(schemes), "--seeds", str(seeds)]
    )


def chain_section(outcomes: Mapping[str, Outcome], claims: Mapping[str, Sequence[Claim]]) -> Section:
    """One flow over 1 to 8 hops and the wired part."""
    chosen = {way: outcomes[f"demo-chain-{way}"] for way in _CHAINS}
    charts = [
        _over_hops(outcome, condition, way, quantity)
        for quantity in (GOODPUT, DELAY)
        for condition in CONDITIONS
        for way, outcome in chosen.items()
    ]
    return Section(
        title="One flow over a chain",
        lead="A backlogged flow between a wireless host and a host in the Internet, 1 to 8 wireless hops and three "
        "wired links of 10 Mbit/s and 40 ms each; 120 s measured. Bands, whiskers and ± are 95 % confidence intervals "
        "over the seeds.",
        views=(View("", tuple(charts)),),
        tables=(_table("Chains", chosen, ("hops",)),),
        **_of(chosen.values(), claims),
    )


def parallel_section(outcomes: Mapping[str, Outcome], claims: Mapping[str, Sequence[Claim]]) -> Section:
    """Two chains that compete for the medium and the gateway."""
    chosen = {way: outcomes[f"demo-parallel-{way}"] for way in _PARALLEL}
    charts = [
        _beside(outcome, condition, way, *what)
        for what in (("Jain's index", "window", _WINDOWS), ("Goodput", "flow", _FLOWS))
        for condition in CONDITIONS
        for way, outcome in chosen.items()
    ]
    return Section(
        title="Two parallel chains",
        lead="Two 5-hop chains, 400 m apart, share one gateway; 200 s measured. Jain's index is 1 for equal shares and "
        "0.5 if one flow gets everything, averaged over consecutive windows of 1, 10 and 100 s: flows that take turns "
        "look unfair over seconds and fair over minutes.",
        views=(View("", tuple(charts)),),
        tables=(_table("Parallel chains", chosen, ()),),
        topology=drawn(chosen["up"]),
        **_of(chosen.values(), claims),
    )


def _place(condition: Condition, way: str) -> str:
    return f"{CASES[way]}, {ROUTING_NAMES[condition.routing]}"


def _over_hops(outcome: Outcome, condition: Condition, way: str, quantity: Quantity) -> Chart:
    points = [point.label for point in outcome.study.points(outcome.effort)]
    series = tuple(_series(outcome, s, [(Cell(condition, s, point), quantity) for point in points]) for s in SCHEMES)
    title = f"{quantity.title.capitalize()}, {_place(condition, way)}"
    return Chart(
        title,
        tuple(points),
        "wireless hops",
        quantity.unit,
        series,
        factor=quantity.factor,
        x=tuple(map(float, points)),
    )


def _beside(
    outcome: Outcome, condition: Condition, way: str, name: str, axis: str, quantities: Mapping[str, Quantity]
) -> Chart:
    point, first = outcome.study.axis.points[0].label, next(iter(quantities.values()))
    series = tuple(_series(outcome, s, [(Cell(condition, s, point), q) for q in quantities.values()]) for s in SCHEMES)
    return Chart(
        f"{name}, {_place(condition, way)}", tuple(quantities), axis, first.unit, series, first.factor, first.decimals,
        bars=True, top=first.top,
    )  # fmt: skip


def _series(outcome: Outcome, scheme: str, values: Sequence[tuple[Cell, Quantity]]) -> Series:
    estimates = tuple(outcome.estimate(cell, quantity) for cell, quantity in values)
    return Series(scheme_name(scheme), estimates, tuple(command(outcome, cell) for cell, _ in values))


def _table(title: str, outcomes: Mapping[str, Outcome], along: tuple[str, ...]) -> Table:
    quantities = next(iter(outcomes.values())).study.quantities
    rows = []
    for condition in CONDITIONS:
        for way, outcome in outcomes.items():
            for point in outcome.study.points(outcome.effort):
                for scheme in SCHEMES:
                    estimates = (outcome.estimate(Cell(condition, scheme, point.label), q) for q in quantities)
                    cells = (show(e, (q.factor, q.decimals)) for e, q in zip(estimates, quantities, strict=True))
                    key = (condition.short, way, *([point.label] if along else []))
                    rows.append((*key, scheme_name(scheme), *cells))
    head = ("routing", "direction", *along, "scheme", *(_head(quantity) for quantity in quantities))
    title = f"{title} (up: {CASES['up']}; down: {CASES['down']}{'; mix: ' + CASES['mix'] if 'mix' in outcomes else ''})"
    return Table(title, head, tuple(rows), keys=len(head) - len(quantities))


def _head(quantity: Quantity) -> str:
    title = quantity.title.replace("Jain's index over", "Jain").replace(" goodput", "\ngoodput").replace(" of ", " ")
    return f"{title}\n{quantity.unit}".strip()


def _of(outcomes: Iterable[Outcome], claims: Mapping[str, Sequence[Claim]]) -> _Parts:
    """What a section has of its studies."""
    outcomes = list(outcomes)
    return {
        "claims": tuple(claim for outcome in outcomes for claim in claims.get(outcome.study.name, ())),
        "downloads": tuple(
            dataclasses.replace(file, title=f"{outcome.study.title}: {file.title[0].lower()}{file.title[1:]}")
            for outcome in outcomes
            for file in downloads(outcome)
        ),
        "commands": tuple(dict.fromkeys(command(outcome, cell) for outcome in outcomes for cell in outcome.records)),
    }
