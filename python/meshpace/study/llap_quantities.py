"""What the LLAP paper reads off a run (docs/experiments/llap.md, section 1, metrics)."""

from __future__ import annotations

from meshpace.results import RunResult
from meshpace.study.quantities import SEGMENT, Quantity


def _less_resent(run: RunResult) -> float:
    resent = sum(flow["retransmits"] or 0 for flow in run["flows"])
    delivered = sum(flow["delivered_bytes"] for flow in run["flows"])
    return 8 * (delivered - resent * SEGMENT) / run["measured_s"]


def _timeouts(run: RunResult) -> float:
    return 250 * sum(flow["timeouts"] or 0 for flow in run["flows"]) / run["measured_s"]


def _by_timeout(run: RunResult) -> float | None:
    timeouts = sum(flow["timeouts"] or 0 for flow in run["flows"])
    reductions = timeouts + sum(flow["fast_retransmits"] or 0 for flow in run["flows"])
    return timeouts / reductions if reductions else None


def _loss_rex(run: RunResult) -> float | None:
    sent = sum(flow["segments_sent"] for flow in run["flows"])
    return sum(flow["retransmits"] or 0 for flow in run["flows"]) / sent if sent else None


def _loss_mac(run: RunResult) -> float | None:
    sent = sum(flow["segments_sent"] for flow in run["flows"])
    return sum(link["data_drops"] + link["ack_drops"] for link in run["links"]) / sent if sent else None


def _mac_over_queue(run: RunResult) -> float:
    return float(sum(link["data_drops"] + link["ack_drops"] - link["queue_drops"] for link in run["links"]))


def _data_given_up(run: RunResult) -> float:
    return 250 * sum(link["data_drops"] for link in run["links"]) / run["measured_s"]


def _collisions_of_data(run: RunResult) -> float:
    return 250 * sum(link["collisions_data"] for link in run["links"]) / run["measured_s"]


G_PAPER = Quantity("g_paper", "delivered less resent", "kbit/s", _less_resent, 1e-3)
"""The paper's goodput (schemes.md 0.3)."""
TIMEOUTS_250 = Quantity("timeouts_250", "timeouts", "per 250 s", _timeouts)
BY_TIMEOUT = Quantity("by_timeout", "reductions of the window by timeout", "%", _by_timeout, 100.0, top=1.0)
LOSS_REX = Quantity("loss_rex", "segments resent of those sent", "%", _loss_rex, 100.0, 2)
LOSS_MAC = Quantity("loss_mac", "TCP packets given up by the MAC, of the segments sent", "%", _loss_mac, 100.0, 2)
MAC_OVER_QUEUE = Quantity(
    "mac_over_queue", "TCP packets given up by the MAC less those dropped by queues", "", _mac_over_queue
)
DATA_GIVEN_UP = Quantity("data_given_up", "data packets given up by the MAC", "per 250 s", _data_given_up)
COLLISIONS_DATA = Quantity("collisions_data", "collisions of data frames", "per 250 s", _collisions_of_data, decimals=0)
