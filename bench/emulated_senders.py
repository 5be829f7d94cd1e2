"""What this kernel's senders tell while they send: windows, timers, round trips, and what they repeat.

As a program, on the sender's host, it prints what ss(8) and the counters of /proc/net/netstat say of the transfer.
"""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from emulated_cells import BEFORE_S, BULK_PORT, Cell, flows, output
from emulated_hosts import host
from emulated_runs import NICE, Result

LOOK_S = 0.1
COUNTERS = (
    "TCPTimeouts", "TCPLossProbes", "TCPLossProbeRecovery", "TCPDSACKRecv", "TCPSpuriousRTOs", "TCPHystartTrainDetect",
    "TCPHystartTrainCwnd", "TCPHystartDelayDetect", "TCPHystartDelayCwnd",
)  # fmt: skip


class Look(NamedTuple):
    """A sender at one time: s since the first look at its connection, segments, ms, bit/s."""

    at_s: float
    cwnd: int
    ssthresh: int | None
    srtt_ms: float
    rttvar_ms: float
    rto_ms: float
    bbr_bps: float | None
    """What BBR takes the path's rate for."""
    bbr_least_ms: float | None


def look() -> None:
    """On the sender's host, until it is killed: lines `SECONDS COUNTERS` and what ss says of the connection."""
    began = time.monotonic()
    command = ["ss", "-tinOH", "state", "established", f"( sport = :{BULK_PORT} )"]
    while True:
        said = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
        print(json.dumps([round(time.monotonic() - began, 3), counters(), said]), flush=True)
        time.sleep(LOOK_S)


def counters() -> dict[str, int]:
    """Those of proc(5)'s /proc/net/netstat that are asked for."""
    lines = [line.split() for line in Path("/proc/net/netstat").read_text().splitlines()]
    names, values = (line for line in lines if line[0] == "TcpExt:")
    return {name: int(values[names.index(name)]) for name in COUNTERS}


def looks(said: str) -> tuple[list[Look], dict[str, int]]:
    """The looks at the connection, and the counters in the end."""
    lines: list[Any] = [json.loads(line) for line in said.splitlines(keepends=True) if line.endswith("\n")]
    seen = [(at, text) for at, _, text in lines if "cwnd:" in text]
    return [parsed(at - seen[0][0], text) for at, text in seen], lines[-1][1]


def parsed(at_s: float, text: str) -> Look:
    """What ss says of a connection: `rto:204 rtt:1.5/0.75 ... cwnd:10 ssthresh:7 ... bbr:(bw:1.2Mbps,mrtt:3.1,...)`."""

    def found(pattern: str) -> str | None:
        match = re.search(pattern, text)
        return match and match[1]

    rtt, variation = (found(r" rtt:([\d.]+)/"), found(r" rtt:[\d.]+/([\d.]+)"))
    ssthresh, rate, least = found(r" ssthresh:(\d+)"), found(r"bbr:\(bw:([\d.]+[KMG]?)bps"), found(r"mrtt:([\d.]+)")
    return Look(
        at_s,
        int(found(r" cwnd:(\d+)") or 0),
        int(ssthresh) if ssthresh else None,
        float(rtt or 0),
        float(variation or 0),
        float(found(r" rto:([\d.]+)") or 0),
        rate and bits(rate),
        float(least) if least else None,
    )


def bits(text: str) -> float:
    """Of `1.2M`."""
    factor = {"K": 1e3, "M": 1e6, "G": 1e9}.get(text[-1])
    return float(text[:-1]) * factor if factor else float(text)


def observer() -> str:
    """The host that looks, of a scenario: before the first segment leaves."""
    return host("n0", f"exec {NICE} {sys.executable} {Path(__file__).resolve()}", BEFORE_S - 1)


def rows(found: dict[Cell, list[Result]]) -> str:
    lines = [
        "| path | sender | acknowledgements | goodput, kbit/s | cwnd after 1 s | 2 s | 4 s | srtt, ms | rttvar | RTO "
        "| probes | timeouts | DSACKs | slow start's end: how, cwnd | BBR: cwnd beyond 2 bw x least rtt |",
        f"|---|---|---|{'--:|' * 12}",
    ]
    for cell, results in found.items():
        if not results:
            continue
        told = [looks(output(result, "emulated_senders.py")) for result in results]
        steady = [one for seen, _ in told for one in seen if one.at_s >= 6]
        counts = [count for _, count in told]
        beyond = [
            one.cwnd - 2 * one.bbr_bps * one.bbr_least_ms / 1e3 / (1448 * 8)
            for one in steady
            if one.bbr_bps and one.bbr_least_ms
        ]
        columns = [
            cell.place,
            cell.controls[0],
            "Linux's" if cell.thin is None else "thin",
            mean(flows(cell, result)[0].goodput_bps / 1e3 for result in results),
            *(mean(at(seen, second) for seen, _ in told) for second in (1, 2, 4)),
            mean(one.srtt_ms for one in steady),
            mean(one.rttvar_ms for one in steady),
            mean(one.rto_ms for one in steady),
            *(f"{mean_of(counts, name):.1f}" for name in ("TCPLossProbes", "TCPTimeouts", "TCPDSACKRecv")),
            hystart(counts),
            mean(beyond) if beyond else "",
        ]
        lines.append(f"| {' | '.join(columns)} |")
    return "\n".join(lines)


def hystart(counts: Sequence[dict[str, int]]) -> str:
    """How often HyStart ended slow start, by which of its two signs, and at which window."""
    said = []
    for sign, words in (("Train", "train"), ("Delay", "delay")):
        times = sum(count[f"TCPHystart{sign}Detect"] for count in counts)
        if times:
            window = sum(count[f"TCPHystart{sign}Cwnd"] for count in counts) / times
            said.append(f"{words} {times} of {len(counts)}, {window:.0f}")
    return "; ".join(said)


def at(seen: Sequence[Look], second: float) -> int:
    """The window at a time."""
    return next((one.cwnd for one in seen if one.at_s >= second), 0)


def mean_of(counts: Sequence[dict[str, int]], name: str) -> float:
    return statistics.mean(count[name] for count in counts)


def mean(values: Iterable[float]) -> str:
    return f"{statistics.mean(values):.0f}"


if __name__ == "__main__":
    look()
