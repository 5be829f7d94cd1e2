"""Reads what a script wrote: counters on its output, dropped packets in its trace."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from meshpace.judges.figures import BrokenRunError, Figures, FlowFigures, fairness
from meshpace.judges.network import App
from meshpace.ns2.model import Ns2Scenario


@dataclass(slots=True)
class _Output:
    begin: dict[int, list[int]] = field(default_factory=dict)
    end: dict[int, list[int]] = field(default_factory=dict)
    seconds: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    rtt: dict[int, float] = field(default_factory=dict)
    idle_s: float | None = None
    """Virtual time of the traffic's time 0."""
    finished: bool = False


def parse_run(scenario: Ns2Scenario, output: str, drops: Iterable[str]) -> Figures:
    """The figures of one run.

    Raises:
        BrokenRunError: if the output lacks the script's last line.
    """
    read = _read_output(output)
    if not read.finished or read.idle_s is None:
        raise BrokenRunError(output.strip()[-400:] or "no output")
    measured = scenario.duration_s - scenario.warmup_s
    flows = []
    for index, flow in enumerate(scenario.flows):
        change = [b - a for a, b in zip(read.begin[index], read.end[index], strict=True)]
        delivered = change[0] / _unit(scenario, index) * flow.packet
        tcp = flow.app is App.FTP
        flows.append(
            FlowFigures(
                id=flow.id,
                goodput_bps=delivered * 8 / measured,
                delivered_bytes=delivered,
                segments_sent=change[1] if tcp else None,
                retransmits=change[2] if tcp else None,
                timeouts=change[3] if tcp else None,
                srtt_s=read.rtt.get(index),
            )
        )
    counts = _count_drops(drops, read.idle_s + scenario.warmup_s, read.idle_s + scenario.duration_s)
    jain, windows = fairness(flows, [read.seconds[i] for i in range(len(scenario.flows))])
    return Figures(
        flows=tuple(flows),
        jain=jain,
        jain_windows=windows,
        data_drops=counts["RET", "tcp"] + counts["RET", "cbr"],
        ack_drops=counts["RET", "ack"],
        collisions=sum(n for (reason, _), n in counts.items() if reason == "COL"),
        collisions_rts=counts["COL", "RTS"],
        queue_drops=sum(n for (reason, _), n in counts.items() if reason in ("queue", "wired")),
        arp_drops=sum(n for (reason, _), n in counts.items() if reason == "address"),
    )


def _unit(scenario: Ns2Scenario, index: int) -> int:
    """What the sink's counter grows by a packet: TCP's counts bytes with headers, the UDP monitor's counts packets."""
    flow = scenario.flows[index]
    return flow.packet + 40 if flow.app is App.FTP else 1


def _read_output(output: str) -> _Output:
    read = _Output()
    for line in output.splitlines():
        word, *rest = line.split() or [""]
        if word in ("begin", "end") and len(rest) == 5:
            (read.begin if word == "begin" else read.end)[int(rest[0])] = [int(value) for value in rest[1:]]
        elif word == "second" and len(rest) == 3:
            read.seconds[int(rest[1])].append(int(rest[2]))
        elif word == "rtt" and len(rest) == 3:
            if int(rest[2]) > 0:
                read.rtt[int(rest[0])] = float(rest[1]) / int(rest[2])
        elif word == "idle" and len(rest) == 1:
            read.idle_s = float(rest[0])
        elif word == "finished":
            read.finished = True
    return read


def _count_drops(lines: Iterable[str], begin: float, end: float) -> Counter[tuple[str, str]]:
    """Drops by (reason, packet type) in [begin, end].

    Wireless lines: ``D time _node_ layer reason uid type size [...]``; wired: ``d time from to type size ...``.
    A full interface queue gives no reason: ``IFQ ---``; what waits for an address in vain is ``IFQ ARP``. Collisions of
    broadcasts, which ns-2 logs at each of their receivers, are left out: a result counts frames addressed to one.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for line in lines:
        words = line.split()
        if len(words) < 7 or words[0] not in ("D", "d") or not begin <= float(words[1]) <= end:
            continue
        if words[0] == "d":
            counts["wired", words[4]] += 1
        elif words[3] == "MAC" and not (words[4] == "COL" and _is_broadcast(words)):
            counts[words[4], words[6]] += 1
        elif words[3:5] == ["IFQ", "---"]:
            counts["queue", words[6]] += 1
        elif words[3:5] == ["IFQ", "ARP"]:
            counts["address", words[6]] += 1
    return counts


def _is_broadcast(words: list[str]) -> bool:
    """True if the receiver's MAC address is all ones: the second of ``[duration receiver transmitter type]``."""
    return len(words) > 9 and words[9] == "ffffffff"
