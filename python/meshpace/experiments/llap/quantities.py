"""What the LLAP paper reads off a run (docs/experiments/llap.md, section 1, metrics)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from meshpace.results import FlowResult, HopDelayResult, RunResult
from meshpace.study.quantities import SEGMENT, Quantity, Take


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


def _loss_mac2(run: RunResult) -> float | None:
    value = _loss_mac(run)
    return None if value is None else value * (2 if "radio.rts=always" in run["overrides"] else 1)


def _first(take: Callable[[FlowResult], float | None]) -> Callable[[RunResult], float | None]:
    return lambda run: take(run["flows"][0])


def _offered_delivered(run: RunResult) -> float | None:
    losses = [flow["loss_ratio"] for flow in run["flows"]]
    sent = [flow["segments_sent"] for flow in run["flows"]]
    known = [(loss, count) for loss, count in zip(losses, sent, strict=True) if loss is not None]
    total = sum(count for _, count in known)
    return 1 - sum(loss * count for loss, count in known) / total if total else None


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


def _missed(run: RunResult) -> float:
    relays = run.get("relays", [])
    return sum(row["llap_missed"] for row in relays) / (len(relays) * run["measured_s"]) if relays else 0.0


def _added(run: RunResult) -> float | None:
    """Bytes of a data packet of the first flow on the air."""
    rows = [node["data"] for node in run["flows"][0]["load"]]
    packets = sum(row["packets"] for row in rows)
    return sum(row["packet_bytes"] for row in rows) / packets if packets else None


def _collided(run: RunResult) -> float | None:
    sizes = [
        row["data"]["packet_bytes"] / row["data"]["packets"]
        for row in run["flows"][0]["load"]
        if row["data"]["packets"]
    ]
    delivered = sum(flow["delivered_bytes"] for flow in run["flows"]) / max(sizes, default=1)
    return sum(link["collisions"] for link in run["links"]) / delivered if delivered else None


LOSS_MAC2 = Quantity(
    "loss_mac2", "the same with RTS give-ups as ns-2 writes them, twice with RTS/CTS", "%", _loss_mac2, 100.0, 2
)
FIRST_DELAY = Quantity("delay_1", "one-way delay of flow 1", "ms", _first(lambda flow: flow["delay_mean_s"]), 1e3)
FIRST_DELAY_STD = Quantity(
    "delay_std_1", "standard deviation of flow 1's delay", "ms", _first(lambda flow: flow["delay_std_s"]), 1e3
)
DELAY_STD = Quantity(
    "delay_std", "standard deviation of the delay", "ms", _first(lambda flow: flow["delay_std_s"]), 1e3
)
OFFERED_DELIVERED = Quantity("delivered", "delivered of what was sent", "%", _offered_delivered, 100.0, top=1.0)
FHD_ACTUAL = Quantity("fhd_actual", "four-hop delay", "ms", _of_source("actual_mean_s"), 1e3, 2)
FHD_ESTIMATE = Quantity("fhd_est", "four-hop delay as estimated", "ms", _of_source("estimate_mean_s"), 1e3, 2)
FHD_ERROR = Quantity("fhd_error", "estimated over true four-hop delay, less 1", "%", _of_source("error_mean"), 100.0)
FHD_ERROR_ABS = Quantity("fhd_error_abs", "its magnitude", "%", _of_source("error_abs_mean"), 100.0)
WAIT_AT_SOURCE = Quantity(
    "wait_at_source", "part of the delay that packets wait at the source", "%", _wait_at_source, 100.0, top=1.0
)
MISSED = Quantity("llap_missed", "expiries of the overhear timer", "per s and node", _missed, decimals=4)
MISSED_ALL = Quantity(
    "llap_missed_all", "expiries at any node", "",
    lambda run: float(sum(row["llap_missed"] for row in run.get("relays", []))), decimals=0,
)  # fmt: skip
ADDED_BYTES = Quantity("packet_bytes", "bytes of a data packet with its IP header", "", _added, decimals=2)
COLLIDED = Quantity("collided", "frames lost to overlap for each packet delivered", "", _collided, decimals=2)


def _slowest(run: RunResult) -> float | None:
    """Four times what the slowest node's MAC takes for a packet of the first flow."""
    rows = (row["mac_mean_s"] for row in run.get("hop_delays", []) if row["egress"] == run["flows"][0]["to"])
    return max((4 * value for value in rows if value is not None), default=None)


def _unevenness(run: RunResult) -> float | None:
    row = hop_delay(run)
    if row is None or row["interval_std_s"] is None or not row["interval_mean_s"]:
        return None
    return row["interval_std_s"] / row["interval_mean_s"]


UNEVENNESS = Quantity(
    "uneven", "coefficient of variation of the times between packets that leave the first source's MAC", "",
    _unevenness, decimals=2,
)  # fmt: skip
SLOWEST = Quantity("slowest", "four times the slowest node's access and transmission", "ms", _slowest, 1e3, 1)
