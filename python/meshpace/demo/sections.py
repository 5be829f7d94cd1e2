"""The demo's figures and tables."""

from __future__ import annotations

from collections.abc import Sequence

from meshpace.cli.tables import show
from meshpace.demo.outcome import Outcome, Quantity, delay, flow_goodput, goodput, jain, retransmissions, timeouts
from meshpace.demo.plan import (
    CHAIN_DIRECTIONS,
    DIRECTION_NAMES,
    HOPS,
    NAMES,
    PARALLEL_DIRECTIONS,
    ROUTING_NAMES,
    ROUTINGS,
    SCHEMES,
    Case,
)
from meshpace.report.model import Chart, Section, Series, Table, View

_WINDOWS = (1, 10, 100)
_KBPS = (1e-3, 0)
_MS = (1e3, 0)
_RATIO = (1.0, 3)
_COUNT = (1.0, 1)


def chain_section(outcome: Outcome) -> Section:
    """One flow over 1 to 10 hops and the wired part."""
    charts = [
        _over_hops(outcome, routing, direction, *what)
        for what in (("Goodput", goodput, "kbit/s", 1e-3), ("One-way delay", delay, "ms", 1e3))
        for routing in ROUTINGS
        for direction in CHAIN_DIRECTIONS
    ]
    cases = [Case(r, d, h) for r in ROUTINGS for d in CHAIN_DIRECTIONS for h in HOPS]
    columns = (
        ("goodput\nkbit/s", goodput, _KBPS),
        ("delay\nms", delay, _MS),
        ("resent\nper 1,000", retransmissions, _COUNT),
        ("timeouts", timeouts, _COUNT),
    )
    return Section(
        title="One flow over a chain",
        lead="A backlogged flow between a wireless host and a host in the Internet, 1 to 10 wireless hops and three "
        "wired links of 10 Mbit/s and 40 ms each; 120 s measured. Whiskers and ± are 95 % confidence intervals over "
        "the seeds.",
        views=(View("", tuple(charts)),),
        tables=(_table(outcome, "Chains", cases, columns),),
        commands=_commands(outcome, cases),
    )


def parallel_section(outcome: Outcome) -> Section:
    """Two chains that compete for the medium and the gateway."""
    charts = []
    for routing in ROUTINGS:
        charts += [_fairness(outcome, routing, direction) for direction in PARALLEL_DIRECTIONS]
    charts += [_per_flow(outcome, routing, direction) for routing in ROUTINGS for direction in PARALLEL_DIRECTIONS]
    cases = [Case(r, d) for r in ROUTINGS for d in PARALLEL_DIRECTIONS]
    columns = (
        ("aggregate\nkbit/s", goodput, _KBPS),
        ("flow 1\nkbit/s", flow_goodput(0), _KBPS),
        ("flow 2\nkbit/s", flow_goodput(1), _KBPS),
        *((f"Jain\n{window} s", jain(window), _RATIO) for window in _WINDOWS),
        ("delay\nms", delay, _MS),
        ("resent\nper 1,000", retransmissions, _COUNT),
    )
    return Section(
        title="Two parallel chains",
        lead="Two 5-hop chains, 400 m apart, share one gateway; 200 s measured. Jain's index is 1 for equal shares and "
        "0.5 if one flow gets everything, averaged over consecutive windows of 1, 10 and 100 s: flows that take turns "
        "look unfair over seconds and fair over minutes.",
        views=(View("", tuple(charts)),),
        tables=(_table(outcome, "Parallel chains", cases, columns),),
        commands=_commands(outcome, cases),
    )


def _place(routing: str, direction: str) -> str:
    return f"{DIRECTION_NAMES[direction]}, {ROUTING_NAMES[routing]}"


def _over_hops(
    outcome: Outcome, routing: str, direction: str, name: str, quantity: Quantity, unit: str, factor: float
) -> Chart:
    series = tuple(
        Series(NAMES[s], tuple(outcome.estimate(Case(routing, direction, h), s, quantity) for h in HOPS))
        for s in SCHEMES
    )
    title = f"{name}, {_place(routing, direction)}"
    return Chart(title, tuple(map(str, HOPS)), "wireless hops", unit, series, factor=factor)


def _fairness(outcome: Outcome, routing: str, direction: str) -> Chart:
    case = Case(routing, direction)
    series = tuple(Series(NAMES[s], tuple(outcome.estimate(case, s, jain(w)) for w in _WINDOWS)) for s in SCHEMES)
    axis = tuple(f"{window} s" for window in _WINDOWS)
    title = f"Jain's index, {_place(routing, direction)}"
    return Chart(title, axis, "window", "", series, decimals=3, bars=True, top=1.0)


def _per_flow(outcome: Outcome, routing: str, direction: str) -> Chart:
    case = Case(routing, direction)
    series = tuple(
        Series(NAMES[s], tuple(outcome.estimate(case, s, take) for take in (flow_goodput(0), flow_goodput(1), goodput)))
        for s in SCHEMES
    )
    title = f"Goodput, {_place(routing, direction)}"
    return Chart(title, ("flow 1", "flow 2", "both"), "flow", "kbit/s", series, factor=1e-3, bars=True)


def _table(
    outcome: Outcome,
    title: str,
    cases: Sequence[Case],
    columns: Sequence[tuple[str, Quantity, tuple[float, int]]],
) -> Table:
    with_hops = any(case.hops is not None for case in cases)
    rows = []
    for case in cases:
        for scheme in SCHEMES:
            key = ["AODV" if case.routing == "aodv" else case.routing, case.direction]
            if with_hops:
                key.append(str(case.hops))
            cells = (show(outcome.estimate(case, scheme, take), unit) for _, take, unit in columns)
            rows.append((*key, NAMES[scheme], *cells))
    head = ("routing", "direction", *(("hops",) if with_hops else ()), "scheme", *(name for name, _, _ in columns))
    return Table(title, head, tuple(rows), keys=len(head) - len(columns))


def _commands(outcome: Outcome, cases: Sequence[Case]) -> tuple[str, ...]:
    return tuple(job.command() for case in cases for job in outcome.jobs[case])
