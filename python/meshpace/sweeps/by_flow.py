"""Flow by flow: what each gets and how late its packets are, with intervals over the seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from meshpace.cli.tables import show
from meshpace.results import FlowResult, RunResult
from meshpace.stats import Estimate, estimate
from meshpace.sweeps.delays import named

_SHOWN = (
    ("goodput_bps", "goodput\nkbit/s", 1e-3, 0),
    ("delay_mean_s", "delay, mean\nms", 1e3, 0),
    ("delay_p50_s", "50 %\nms", 1e3, 0),
    ("delay_p95_s", "95 %\nms", 1e3, 0),
    ("delay_p99_s", "99 %\nms", 1e3, 0),
    ("loss_ratio", "lost\n%", 100.0, 1),
)
"""Fields of a flow, their heads, and how readers see them."""
HEADS = ("flow", "app", "hops", *(head for _, head, _, _ in _SHOWN))

WORDS = 2
"""Columns of words, before those of numbers."""


def rows(runs: Sequence[RunResult]) -> Iterator[tuple[str, ...]]:
    """The cells of a table: a row a flow, means over the runs with 95 % confidence intervals."""
    for index, flow in enumerate(runs[0]["flows"]):
        mine = [run["flows"][index] for run in runs]
        hops = sorted({str(one["hops"]) for one in mine if one["hops"] is not None})
        cells = (show(_over(mine, field), (factor, decimals)) for field, _, factor, decimals in _SHOWN)
        yield (named(flow), flow["app"], " or ".join(hops) or "-", *cells)


def frame(head: Mapping[str, Any], runs: Sequence[RunResult]) -> Iterator[dict[str, Any]]:
    """The same as rows of a data frame, in the results' own units: ``goodput_bps``, ``goodput_bps_ci95``, ...."""
    for index, flow in enumerate(runs[0]["flows"]):
        mine = [run["flows"][index] for run in runs]
        row = {**head, "flow": flow["id"], "from": flow["from"], "to": flow["to"], "app": flow["app"]}
        row["hops"] = None if (hops := _over(mine, "hops")) is None else hops.mean
        for field, _, _, _ in _SHOWN:
            value = _over(mine, field)
            row[field] = None if value is None else value.mean
            row[f"{field}_ci95"] = None if value is None else value.half_width
        yield {**row, "seeds": len(runs)}


def _over(flows: Sequence[FlowResult], field: str) -> Estimate | None:
    values = (flow.get(field) for flow in flows)
    return estimate([float(value) for value in values if value is not None])  # type: ignore[arg-type]
