"""Why a flow is slow: what it lost, where and why, and what else held it back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from meshpace.results import AggregateResult, FlowLoss, FlowResult, LinkResult, RunResult

CAUSES = {
    "given-up": "given up by the MAC after all its attempts",
    "queue": "dropped by a queue",
    "route-broke": "waited for a neighbour that routing took for gone",
    "no-route": "no route",
    "loop": "time to live used up",
    "no-address": "nobody told the neighbour's address",
    "gateway": "not taken by the gateway",
    "wire": "lost on a wired link",
}
"""Words of the engine for causes of losses, in order of how often they matter."""
STARVED = 0.5
"""A flow with less than this part of an equal share is called starved."""
_FULL = 0.8
"""A pace or window that is used to this part is what bounds the flow."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Of one flow."""

    flow: FlowResult
    losses: tuple[FlowLoss, ...]
    """The most first."""
    pace_used: float | None
    """Segments sent over those that its pace allowed; None without a pace."""
    window_used: float | None
    """Segments sent over those that a congestion window a round trip would be; None if that is not known."""
    share: float | None
    """Of the sum of goodputs, over an equal share; None for one flow alone."""
    top: str
    """What held it back most, in words."""

    @property
    def starved(self) -> bool:
        """Whether it has less than half of an equal share."""
        return self.share is not None and self.share < STARVED


def verdicts(run: RunResult, losses: Sequence[FlowLoss]) -> list[Verdict]:
    """A verdict a flow, in their order."""
    total, count = run["aggregate_goodput_bps"], len(run["flows"])
    found = []
    for flow in run["flows"]:
        mine = sorted((loss for loss in losses if loss["flow"] == flow["id"]), key=lambda loss: -loss["packets"])
        share = flow["goodput_bps"] * count / total if count > 1 and total else None
        pace, window = _pace_used(flow, run["measured_s"]), _window_used(flow, run["measured_s"])
        found.append(Verdict(flow, tuple(mine), pace, window, share, _top(flow, mine, run["links"], pace, window)))
    return found


def _pace_used(flow: FlowResult, measured_s: float) -> float | None:
    interval = flow["pacing_interval_s"]
    return flow["segments_sent"] * interval / measured_s if interval else None


def _window_used(flow: FlowResult, measured_s: float) -> float | None:
    window, trip = flow["cwnd_mean"], flow["srtt_s"]
    return flow["segments_sent"] * trip / (window * measured_s) if window and trip else None


def _top(
    flow: FlowResult, losses: Sequence[FlowLoss], links: Sequence[LinkResult], pace: float | None, window: float | None
) -> str:
    """The first of these that applies: nothing sent, timeouts, its pace, losses, its window, its application."""
    if not flow["segments_sent"]:
        return "it sent nothing: no connection, no route, or not yet started"
    lost = sum(loss["packets"] for loss in losses)
    where = _where(losses[0], links) if losses else ""
    timeouts = flow["timeouts"] or 0
    if timeouts and lost and timeouts * 50 > flow["segments_sent"]:
        return f"timeouts ({timeouts}), after losses: {where}"
    if pace is not None and pace >= _FULL:
        return f"its pace: a segment every {(flow['pacing_interval_s'] or 0) * 1e3:,.1f} ms, {pace:.0%} of it used"
    if lost * 100 > flow["segments_sent"]:
        return f"losses: {where}"
    if window is not None and window >= _FULL:
        trip = (flow["srtt_s"] or 0) * 1e3
        return f"its window: {flow['cwnd_mean']:,.1f} segments a round trip of {trip:,.0f} ms"
    idle = "waits in between: neither pace nor window nor losses fill its time"
    return idle if flow["app"] == "ftp" else "what its application sends"


def place(loss: FlowLoss) -> str:
    """The link, or the node where packets did not come as far as a link."""
    return loss["from"] if loss["to"] in (None, loss["from"]) else f"{loss['from']} → {loss['to']}"


def way(link: LinkResult) -> str:
    """A link by its ends, and by its channel where the mesh has several."""
    ends = f"{link['from']} → {link['to']}"
    if "frequency_hz" not in link:
        return ends
    number = link.get("channel")
    return f"{ends}, {link['frequency_hz'] / 1e6:g} MHz" if number is None else f"{ends}, channel {number}"


def told(loss: FlowLoss) -> str:
    """How many packets of which kind were lost, why, and where: ``3 data packets (no route) at n1``."""
    word = "data packet" if loss["kind"] == "data" else "acknowledgement"
    many = "" if loss["packets"] == 1 else "s"
    return f"{loss['packets']:,} {word}{many} ({CAUSES[loss['cause']]}) at {place(loss)}"


def _where(loss: FlowLoss, links: Sequence[LinkResult]) -> str:
    """The greatest loss in words, with what its link suffered."""
    text = told(loss)
    between = [link for link in links if link["from"] == loss["from"] and link["to"] == loss["to"]]
    collisions = sum(link["collisions"] for link in between)
    if loss["cause"] == "given-up" and collisions:
        text += f", where {collisions:,} frames collided"
    return text


def by_cause(losses: Sequence[FlowLoss]) -> dict[str, int]:
    """Packets by cause, in the order of :data:`CAUSES`."""
    counts: Counter[str] = Counter()
    for loss in losses:
        counts[loss["cause"]] += loss["packets"]
    return {cause: counts[cause] for cause in CAUSES if counts[cause]}


def suffering(links: Sequence[LinkResult]) -> list[LinkResult]:
    """The links on which anything was lost, the worst first."""

    def lost(link: LinkResult) -> int:
        return link["retry_drops"] + link["queue_drops"] + link["arp_drops"]

    troubled = [link for link in links if lost(link) or link["collisions"]]
    return sorted(troubled, key=lambda link: (-lost(link), -link["collisions"], link["from"], link["to"]))


@dataclass(frozen=True, slots=True)
class Aggregated:
    """Frames of several packets on a link, or of all links together."""

    frames: int
    mpdus_a_frame: float
    retried: float
    """Share of the MPDUs that had been sent before."""
    requests: int
    block_acks: int


def aggregated(links: Sequence[LinkResult]) -> Aggregated | None:
    """The links together; None where frames carry one packet, or none was sent."""
    return _together([link["aggregates"] for link in links if "aggregates" in link])


def _together(counts: Sequence[AggregateResult]) -> Aggregated | None:
    frames, mpdus = sum(count["frames"] for count in counts), sum(count["mpdus"] for count in counts)
    if not frames:
        return None
    retried = sum(count["retries"] for count in counts) / mpdus
    requests, acks = sum(count["requests"] for count in counts), sum(count["block_acks"] for count in counts)
    return Aggregated(frames, mpdus / frames, retried, requests, acks)


def carrying(links: Sequence[LinkResult]) -> list[tuple[LinkResult, Aggregated]]:
    """The links that carried frames of several packets, those with the most frames first."""
    found = [(link, count) for link in links if (count := aggregated([link])) is not None]
    return sorted(found, key=lambda row: (-row[1].frames, row[0]["from"], row[0]["to"]))


def frame_rows(links: Sequence[LinkResult]) -> list[tuple[str, Aggregated]]:
    """The same as rows of a table: behind each link its categories of access, where they are not best effort alone."""
    rows: list[tuple[str, Aggregated]] = []
    for link, count in carrying(links):
        name = way(link)
        categories = link["aggregates"].get("categories", {})
        parts = ((f"{name}, {word}", _together([counts])) for word, counts in categories.items())
        rows += [(name, count), *((named, part) for named, part in parts if part is not None)]
    return rows


AGGREGATE_HEADS = ("frames", "MPDUs\na frame", "sent\nagain", "block ACKs", "requests\nfor them")
"""Of a table of such links."""


def aggregate_cells(count: Aggregated) -> tuple[str, ...]:
    """A row under these heads."""
    shares = (f"{count.mpdus_a_frame:.1f}", f"{count.retried:.1%}")
    return (f"{count.frames:,}", *shares, f"{count.block_acks:,}", f"{count.requests:,}")


def as_json(found: Sequence[Verdict]) -> list[dict[str, Any]]:
    """What ``run --why --json`` adds, an object a flow."""
    return [
        {
            "flow": verdict.flow["id"], "top": verdict.top, "starved": verdict.starved, "share": verdict.share,
            "pace_used": verdict.pace_used, "window_used": verdict.window_used, "lost": by_cause(verdict.losses),
            "losses": [{key: value for key, value in loss.items() if key != "flow"} for loss in verdict.losses],
        }
        for verdict in found
    ]  # fmt: skip
