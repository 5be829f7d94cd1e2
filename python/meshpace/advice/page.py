"""Advice as a report: the answer, the patterns of traffic as charts and numbers, the mesh drawn."""

from __future__ import annotations

from meshpace import engine
from meshpace.advice.make import Advice
from meshpace.advice.show import OVER_ALL, OVERALL_HEADS, PATTERN_HEADS, overall_rows, pattern_rows, told, unknown
from meshpace.advice.where import shown
from meshpace.report.model import Chart, Report, Section, Series, Table, View
from meshpace.study.quantities import GOODPUT, JAIN, Quantity
from meshpace.study.record import running
from meshpace.sweeps.delays import DELAYS
from meshpace.sweeps.page import drawn, film

_FILMED = 3
"""Schemes that are filmed: side by side they still fit a screen."""


def report(advice: Advice) -> Report:
    """The page."""
    answer, *rest = told(advice)
    question = advice.question
    runs = [
        run for swept in (advice.schemes, *advice.instead.values()) for group in swept.runs.values() for run in group
    ]
    commands = [advice.schemes.command(cell) for cell in advice.schemes.runs]
    commands += [swept.command(cell) for swept in advice.instead.values() for cell in swept.runs]
    return Report(
        title=f"Advice on {advice.resolved['name']}",
        lead=" ".join([*unknown(advice), answer]),
        facts=(
            ("engine", str(running())),
            ("gateway", advice.gateway),
            ("compared with", shown(question.baseline)),
            ("patterns of traffic", str(len(advice.patterns))),
            ("seeds", str(advice.seeds)),
            ("runs", f"{len(runs):,}"),
            ("simulated", f"{sum(run['simulated_s'] for run in runs) / 3600:,.1f} hours"),
        ),
        claims=(),
        sections=(
            Section(
                title="What it comes to",
                lead=" ".join(rest[:-1]),
                tables=(_overall(advice), _patterns(advice)),
                views=tuple(_view(advice, quantity) for quantity in (GOODPUT, JAIN, *DELAYS)),
                commands=tuple(commands),
                notes=(rest[-1],),
            ),
            _network(advice),
        ),
        notes=("Charts by plotly.js (MIT licence), which this page carries; nothing is fetched.",),
        interactive=True,
    )


def _overall(advice: Advice) -> Table:
    return Table(OVER_ALL, OVERALL_HEADS, tuple(overall_rows(advice)))


def _patterns(advice: Advice) -> Table:
    return Table("By pattern of traffic", PATTERN_HEADS, tuple(pattern_rows(advice)), keys=4)


def _view(advice: Advice, quantity: Quantity) -> View:
    schemes = (advice.question.baseline, *advice.question.schemes)
    shared = [p for p in advice.patterns if quantity is not JAIN or len(p.flows) > 1]
    series = tuple(
        Series(
            shown(scheme),
            tuple(advice.schemes.estimate(advice.cell(pattern, scheme), quantity) for pattern in shared),
            tuple(advice.schemes.command(advice.cell(pattern, scheme)) for pattern in shared),
        )
        for scheme in schemes
    )
    name = quantity.title[:1].upper() + quantity.title[1:]
    axis = tuple(pattern.name for pattern in shared)
    chart = Chart(
        name, axis, "", quantity.unit, series, quantity.factor, quantity.decimals, bars=True, top=quantity.top
    )
    return View(name, (chart,))


def _network(advice: Advice) -> Section:
    """The mesh with the pattern that has most flows, the last one."""
    pattern = advice.patterns[-1]
    schemes = (advice.question.baseline, *advice.question.schemes)[:_FILMED]
    job = advice.schemes.sweep.job(advice.cell(pattern, schemes[0]), 1)
    return Section(
        title="The mesh",
        lead=f"With the traffic called {pattern.name}; below, a quarter of a second of what is on the air.",
        topology=drawn(engine.resolve(job)),
        films=tuple(film(advice.schemes, advice.cell(pattern, scheme)) for scheme in schemes),
    )
