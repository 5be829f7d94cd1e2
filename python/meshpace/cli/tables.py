"""Results on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from meshpace import reconstructed
from meshpace.cli.plain import Column, table
from meshpace.stats import Estimate, estimate

if TYPE_CHECKING:
    from meshpace.results import FlowResult, LinkResult, RunResult

Unit = tuple[float, int]
"""Factor and decimals with which a quantity is shown."""

_PLAIN: Unit = (1.0, 0)
_RATIO: Unit = (1.0, 3)
_KBPS: Unit = (1e-3, 1)
_MS: Unit = (1e3, 1)
_PERCENT: Unit = (100.0, 2)

_FLOW_COLUMNS: tuple[tuple[str, Callable[[FlowResult], float | None], Unit], ...] = (
    ("hops", lambda flow: flow["hops"], (1.0, 1)),
    ("goodput\nkbit/s", lambda flow: flow["goodput_bps"], _KBPS),
    ("delay, ms\nmean", lambda flow: flow["delay_mean_s"], _MS),
    ("\n50 %", lambda flow: flow.get("delay_p50_s"), _MS),
    ("\n95 %", lambda flow: flow.get("delay_p95_s"), _MS),
    ("\n99 %", lambda flow: flow.get("delay_p99_s"), _MS),
    ("RTT\nms", lambda flow: flow["srtt_s"], _MS),
    ("sent", lambda flow: flow["segments_sent"], _PLAIN),
    ("retrans-\nmissions", lambda flow: flow["retransmits"], _PLAIN),
    ("timeouts", lambda flow: flow["timeouts"], (1.0, 1)),
    ("loss\n%", lambda flow: flow["loss_ratio"], _PERCENT),
)


def show(value: Estimate | None, unit: Unit = _PLAIN) -> str:
    """``mean ± half-width`` in the unit, the mean alone for one run, a dash for nothing."""
    if value is None:
        return "-"
    factor, decimals = unit
    mean = f"{value.mean * factor:,.{decimals}f}"
    return mean if value.half_width is None else f"{mean} ± {value.half_width * factor:,.{decimals}f}"


def over_runs(runs: Sequence[RunResult], take: Callable[[RunResult], float | None]) -> Estimate | None:
    """Estimate of a quantity over the runs in which it applies."""
    return estimate([value for value in map(take, runs) if value is not None])


def print_runs(runs: Sequence[RunResult]) -> None:
    """A table of the flows and a summary; means with 95 % confidence intervals if there are several runs."""
    first = runs[0]
    seeds = f"seed {first['seed']}" if len(runs) == 1 else f"seeds {first['seed']}..{runs[-1]['seed']}, 95 % confidence"
    columns = [Column(head, right=number > 1) for number, head in enumerate(FLOW_HEADS)]
    rows = flow_rows(runs)
    flows = table(columns, rows) if rows else f" {without_flows(first)}"
    print(f"{first['scenario']}, {seeds}\n\n{flows}\n\n{_summary(runs)}")
    if any(flow["app"] == "echo" for flow in first["flows"]):
        print("\nDelays of echoes are round trips.")
    for line in reconstructed.told(runs[:1]):
        print(f"\n{line}")


FLOW_HEADS = ("flow", "scheme", *(head for head, _, _ in _FLOW_COLUMNS))
"""Of :func:`flow_rows`."""


def flow_rows(runs: Sequence[RunResult]) -> list[list[str]]:
    """The cells of the table of flows; means with 95 % confidence intervals if there are several runs."""
    rows = []
    for index, flow in enumerate(runs[0]["flows"]):
        cells = [
            show(over_runs(runs, lambda run, i=index, t=take: t(run["flows"][i])), unit)  # type: ignore[misc]
            for _, take, unit in _FLOW_COLUMNS
        ]
        rows.append([f"{flow['id']}  {flow['from']} → {flow['to']}", flow["scheme"], *cells])
    return rows


def without_flows(run: RunResult) -> str:
    """What stands in place of a table that would be empty."""
    if "lateness" in run:
        return "No flow: the scenario has no [[flow]], and nothing was collected that measured one."
    return "No [[flow]]: nothing is sent, so there is nothing to tell of it."


def _summary(runs: Sequence[RunResult]) -> str:
    def over_links(take: Callable[[LinkResult], int | None]) -> Estimate | None:
        return over_runs(runs, lambda run: sum(take(link) or 0 for link in run["links"]))

    first = runs[0]
    rows = [("aggregate goodput", over_runs(runs, lambda run: run["aggregate_goodput_bps"]), _KBPS, "kbit/s")]
    if len(first["flows"]) > 1:
        rows.append(("Jain's index", over_runs(runs, lambda run: run["jain"]), _RATIO, ""))
        for window in first["jain_windows"]:
            value = over_runs(runs, lambda run, w=window: run["jain_windows"][w])  # type: ignore[misc]
            rows.append((f"Jain's index over {window} s", value, _RATIO, ""))
    rows += [
        ("packets given up by the MAC", over_links(lambda link: link["retry_drops"]), _PLAIN, ""),
        ("collisions", over_links(lambda link: link["collisions"]), _PLAIN, ""),
        ("full-queue drops", over_links(lambda link: link["queue_drops"]), _PLAIN, ""),
        ("false or true route failures", over_runs(runs, lambda run: run["routing"]["route_failures"]), _PLAIN, ""),
        ("measured", over_runs(runs[:1], lambda run: run["measured_s"]), (1.0, 1), "s"),
        ("wall time", over_runs(runs, lambda run: run["wall_s"]), (1.0, 2), "s"),
    ]
    shown = [(name, show(value, unit), suffix) for name, value, unit, suffix in rows]
    names, values = (max(len(row[i]) for row in shown) for i in (0, 1))
    return "\n".join(f" {name:{names}}  {value:>{values}}  {suffix}".rstrip() for name, value, suffix in shown)
