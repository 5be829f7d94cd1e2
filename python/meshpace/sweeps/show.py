"""A sweep on a terminal, and as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.table import Table

from meshpace import reconstructed
from meshpace.cli.tables import show, without_flows
from meshpace.cli.terminal import console
from meshpace.results import RunResult
from meshpace.stats import Estimate
from meshpace.study.quantities import Quantity
from meshpace.study.record import running
from meshpace.sweeps import by_flow, delays
from meshpace.sweeps.figures import place_name, shown, written
from meshpace.sweeps.make import Swept
from meshpace.sweeps.model import Cell


def print_swept(swept: Swept) -> None:
    """A row a point and scheme: means with 95 % confidence intervals over the seeds."""
    sweep, quantities, names = swept.sweep, _few(swept), swept.scenario_names()
    several = len(sweep.sources) > 1
    table = Table(title=_title(swept), title_justify="left", box=box.SIMPLE_HEAD)
    for head in (*(["scenario"] if several else []), *sweep.keys, "scheme"):
        table.add_column("\n".join(head.rsplit(".", 1)), no_wrap=True)
    table.add_column("seeds", justify="right")
    for quantity in quantities:
        table.add_column(f"{_short(quantity)}\n{quantity.unit}".strip(), justify="right", no_wrap=True)
    if swept.precision is not None:
        table.add_column(f"± of\n{swept.precision.field}".removesuffix("_bps"), justify="right")
    for cell, runs in swept.runs.items():
        where = [*([names[cell.source]] if several else []), *(value for _, value in cell.point), written(cell.scheme)]
        values = (show(swept.estimate(cell, q), (q.factor, q.decimals)) for q in quantities)
        reached = [] if swept.precision is None else [_percent(swept.precision.reached(runs))]
        table.add_row(*where, str(len(runs)), *values, *reached)
    terminal = console()
    terminal.print(table)
    for line in told(swept):
        terminal.print(line, highlight=False, soft_wrap=True, markup=False)


def print_flows(swept: Swept) -> None:
    """A table a point and scheme, a row a flow."""
    for cell, runs in swept.runs.items():
        print_table_of_flows(place_name(swept, cell), runs)


def print_table_of_flows(title: str, runs: Sequence[RunResult]) -> None:
    """Means over the seeds with 95 % confidence intervals."""
    table = Table(title=title or "by flow", title_justify="left", box=box.SIMPLE_HEAD)
    for number, head in enumerate(by_flow.HEADS):
        table.add_column(head, justify="left" if number < by_flow.WORDS else "right", no_wrap=True)
    for row in by_flow.rows(runs):
        table.add_row(*row)
    console().print(table)


def _few(swept: Swept) -> tuple[Quantity, ...]:
    """Those that fit a terminal; reports have all."""
    return tuple(quantity for quantity in shown(swept) if quantity.name in _SHORT)


_SHORT = {
    "goodput": "goodput", "jain": "Jain", "jain_bulk": "Jain, bulk", "smallest_share": "weakest",
    "smallest_share_bulk": "weakest", "delay": "delay", "delay_p50": "50 %",
    "delay_p95": "95 %", "delay_p99": "99 %", "echo": "echo", "echo_p50": "50 %", "echo_p95": "95 %",
    "echo_p99": "99 %", "resent": "resent", "timeouts": "timeouts",
}  # fmt: skip


def _short(quantity: Quantity) -> str:
    return _SHORT[quantity.name]


def told(swept: Swept) -> list[str]:
    """Lines below the table: reconstructed parts, and whether the precision that was asked for is reached."""
    precision, known = swept.precision, reconstructed.told(run for runs in swept.runs.values() for run in runs[:1])
    runs = [run for group in swept.runs.values() for run in group]
    known += [] if any(run["flows"] for run in runs) else [without_flows(runs[0])]
    known += delays.told((place_name(swept, cell), runs) for cell, runs in swept.runs.items())
    if precision is None:
        return known
    wide = [cell for cell, runs in swept.runs.items() if not _narrow(swept, cell)]
    unknown = [cell for cell in wide if precision.reached(swept.runs[cell]) is None]
    lines = known
    if swept.ended:
        lines.append(
            f"The budget ended before {precision} was reached at {len(wide) - len(unknown)} of {len(swept.runs)} "
            "points; the same command with a larger --budget goes on."
        )
    elif not wide:
        lines.append(f"{precision} is reached at every point.")
    if unknown:
        lines.append(f"Nothing can be told of {precision.field} at {len(unknown)} points: it does not apply there.")
    return lines


def as_json(swept: Swept) -> dict[str, Any]:
    """What ``--json`` prints."""
    names, tally = swept.scenario_names(), swept.tally
    points = [
        {
            "scenario": names[cell.source],
            "scheme": cell.scheme,
            "settings": dict(cell.point),
            "seeds": len(runs),
            "quantities": {q.name: _pair(swept.estimate(cell, q)) for q in shown(swept)},
            "precision": None if swept.precision is None else _finite(swept.precision.reached(runs)),
            "command": swept.command(cell),
        }
        for cell, runs in swept.runs.items()
    ]
    return {
        "schema": 1,
        "engine_fingerprint": running().fingerprint,
        "runs": {"made": tally.made, "stored": tally.stored, "others": tally.others},
        "ended": swept.ended,
        "points": points,
    }


def _narrow(swept: Swept, cell: Cell) -> bool:
    assert swept.precision is not None
    part = swept.precision.reached(swept.runs[cell])
    return part is not None and part <= swept.precision.share


def _pair(value: Estimate | None) -> dict[str, float | None] | None:
    return None if value is None else {"mean": value.mean, "ci95": value.half_width}


def _finite(value: float | None) -> float | None:
    return value if value is None or math.isfinite(value) else None


def _percent(part: float | None) -> str:
    return "-" if part is None else f"{part * 100:.1f} %"


def _title(swept: Swept) -> str:
    names = ", ".join(swept.scenario_names().values())
    return f"{names}: means over the seeds with 95 % confidence intervals"
