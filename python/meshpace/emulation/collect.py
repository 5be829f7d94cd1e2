"""What ``iperf3 -J`` says, as flows of the result."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any, cast

from meshpace.emulation.record import EmulationError
from meshpace.emulation.runs import Run
from meshpace.results import FlowResult

_DELAYS = ("delay_mean_s", "delay_p50_s", "delay_p95_s", "delay_p99_s")
_EACH = ("delay_p50_s", "delay_p95_s")
"""Each packet counts by itself there, so that these are the same."""


def iperf3_flows(
    run: Run, hosts: dict[str, str], traffic: Sequence[dict[str, Any]], dilation: float
) -> list[FlowResult]:
    """The flows that a run of iperf3 measured, a row a stream; ``hosts`` are nodes by address.

    Rates and times are those of simulated time. Goodput is that of iperf3's own interval; delays are those of all
    packets from one of the hosts to the other, where no other test goes that way.

    Raises:
        EmulationError: it has nothing to say; the message says why.
    """
    told = _read(run)
    start, end = told["start"], told["end"]
    test = start["test_start"]
    rows = []
    for number, (stream, connected) in enumerate(zip(end["streams"], start["connected"], strict=True)):
        here, there = _node(hosts, connected["local_host"]), _node(hosts, connected["remote_host"])
        source, sink = (there, here) if test.get("reverse") else (here, there)
        way = [row for row in traffic if (row["from"], row["to"]) == (source, sink)]
        alone = way[0] if way and len(end["streams"]) == 1 else {}
        tcp = test["protocol"] == "TCP"
        sent, came = (stream["sender"], stream["receiver"]) if tcp else _udp(stream["udp"])
        rows.append(
            _flow(
                id=f"{run.host.node}-{there}" + (f".{number + 1}" if len(end["streams"]) > 1 else ""),
                source=source,
                sink=sink,
                hops=way[0]["hops"] if way else None,
                scheme=f"kernel-{end.get('sender_tcp_congestion', 'tcp')}" if tcp else "kernel-udp",
                goodput_bps=came["bits_per_second"] * dilation,
                delivered_bytes=came["bytes"],
                segments_sent=sent.get("packets"),
                retransmits=sent.get("retransmits"),
                loss_ratio=None if tcp else sent["lost"] / sent["packets"] if sent["packets"] else None,
                **{key: alone.get(key) for key in _DELAYS},
                **{f"packet_{key}": alone.get(key) for key in _EACH},
                srtt_s=sent["mean_rtt"] * 1e-6 / dilation if sent.get("mean_rtt") else None,
            )
        )
    return rows


def _read(run: Run) -> dict[str, Any]:
    where = f"{run.host.node}: {run.command}"
    if run.status is None:
        raise EmulationError(f"{where}: still ran at the end, so that there is nothing to collect")
    try:
        told: Any = json.loads(run.text() or "")
    except ValueError:
        raise EmulationError(f"{where}: what it says is no JSON: iperf3 needs -J") from None
    if not isinstance(told, dict) or "error" in told:
        raise EmulationError(f"{where}: {told['error'] if isinstance(told, dict) else 'no output of iperf3'}")
    if not told.get("end", {}).get("streams") or "test_start" not in told.get("start", {}):
        raise EmulationError(f"{where}: what it says is no test of iperf3 that has ended")
    return cast("dict[str, Any]", told)


def _node(hosts: dict[str, str], address: str) -> str:
    return hosts.get(address, address)


def _udp(told: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    packets, lost = told["packets"], told["lost_packets"]
    share = 1 - lost / packets if packets else 0.0
    came = {"bits_per_second": told["bits_per_second"] * share, "bytes": round(told["bytes"] * share)}
    return {"packets": packets, "lost": lost}, came


def _flow(*, id: str, source: str, sink: str, **known: Any) -> FlowResult:  # noqa: A002 - the result's word
    """A row with all fields of a simulated flow; what a kernel does not tell is None."""
    row: dict[str, Any] = dict.fromkeys((*FlowResult.__required_keys__, *FlowResult.__optional_keys__))
    row |= {"id": id, "from": source, "to": sink, "app": "iperf3", "load": [], **known}
    return cast("FlowResult", row)


def add_flows(result: dict[str, Any], flows: Iterable[FlowResult]) -> None:
    """Puts flows into a result, and what is said of all flows together anew. Windows are not known of them."""
    flows = list(flows)
    if not flows:
        return
    every: list[FlowResult] = [*result["flows"], *flows]
    goodputs = [flow["goodput_bps"] for flow in every]
    hops = [flow["hops"] for flow in every]
    result["flows"] = every
    result["aggregate_goodput_bps"] = sum(goodputs)
    result["jain"] = jain(goodputs)
    result["jain_windows"] = dict.fromkeys(result["jain_windows"])
    known = all(hops)
    per_hop = [goodput / count for goodput, count in zip(goodputs, hops, strict=True) if count]
    times_hops = [goodput * count for goodput, count in zip(goodputs, hops, strict=True) if count]
    result["jain_per_hop"] = jain(per_hop) if known else None
    result["jain_times_hops"] = jain(times_hops) if known else None
    result["log_utility"] = sum(math.log(goodput / 1000) for goodput in goodputs) if all(goodputs) else 0.0


def jain(values: Sequence[float]) -> float | None:
    """Jain's index; None of fewer than two, or where all are 0."""
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / (len(values) * squares) if len(values) > 1 and squares > 0 else None
