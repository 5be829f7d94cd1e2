"""Quantities of delays over next hops, where ``measure.hop_delays`` has them measured."""

from __future__ import annotations

from typing import Literal

from meshpace.results import HopDelayResult, RunResult
from meshpace.study.quantities import Quantity, Take


def hop_delay(run: RunResult, node: str | None = None) -> HopDelayResult | None:
    """The row of a node, the first flow's source unless given, for that flow's end; None if it was not measured."""
    flow = run["flows"][0]
    found = (r for r in run.get("hop_delays", []) if r["node"] == (node or flow["from"]) and r["egress"] == flow["to"])
    return next(found, None)


def _of_source(key: Literal["actual_mean_s", "estimate_mean_s", "error_mean", "error_abs_mean"]) -> Take:
    def take(run: RunResult) -> float | None:
        row = hop_delay(run)
        return None if row is None else row[key]

    return take


def _wait_at_source(run: RunResult) -> float | None:
    """Of the first flow's delay, what packets wait in the source until its MAC takes them."""
    row, delay = hop_delay(run), run["flows"][0]["delay_mean_s"]
    if row is None or row["node_mean_s"] is None or row["mac_mean_s"] is None or not delay:
        return None
    return (row["node_mean_s"] - row["mac_mean_s"]) / delay


def _slowest(run: RunResult) -> float | None:
    """Four times what the slowest node's MAC takes for a packet of the first flow."""
    rows = (row["mac_mean_s"] for row in run.get("hop_delays", []) if row["egress"] == run["flows"][0]["to"])
    return max((4 * value for value in rows if value is not None), default=None)


def _unevenness(run: RunResult) -> float | None:
    row = hop_delay(run)
    if row is None or row["interval_std_s"] is None or not row["interval_mean_s"]:
        return None
    return row["interval_std_s"] / row["interval_mean_s"]


FHD_ACTUAL = Quantity("fhd_actual", "four-hop delay", "ms", _of_source("actual_mean_s"), 1e3, 2)

FHD_ESTIMATE = Quantity("fhd_est", "four-hop delay as estimated", "ms", _of_source("estimate_mean_s"), 1e3, 2)

FHD_ERROR = Quantity("fhd_error", "estimated over true four-hop delay, less 1", "%", _of_source("error_mean"), 100.0)

FHD_ERROR_ABS = Quantity("fhd_error_abs", "its magnitude", "%", _of_source("error_abs_mean"), 100.0)

WAIT_AT_SOURCE = Quantity(
    "wait_at_source", "part of the delay that packets wait at the source", "%", _wait_at_source, 100.0, top=1.0
)

UNEVENNESS = Quantity(
    "uneven", "coefficient of variation of the times between packets that leave the first source's MAC", "",
    _unevenness, decimals=2,
)  # fmt: skip

SLOWEST = Quantity("slowest", "four times the slowest node's access and transmission", "ms", _slowest, 1e3, 1)
