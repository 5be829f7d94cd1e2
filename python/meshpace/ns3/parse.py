"""Reads what ``crosscheck.cc`` printed."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from meshpace.judges.figures import BrokenRunError, Figures, FlowFigures, fairness
from meshpace.ns3.model import Ns3Scenario

_DROPS = "drops"


@dataclass(slots=True)
class _Output:
    """Counters at both ends: of flows by index, and what was dropped under a word."""

    begin: dict[str, list[int]] = field(default_factory=dict)
    end: dict[str, list[int]] = field(default_factory=dict)
    seconds: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    means: dict[tuple[str, int], float] = field(default_factory=dict)
    finished: bool = False


def parse_run(scenario: Ns3Scenario, output: str) -> Figures:
    """The figures of one run.

    Raises:
        BrokenRunError: if the output lacks the program's last line.
    """
    read = _read(output)
    if not read.finished:
        raise BrokenRunError(output.strip()[-400:] or "no output")

    def grown(item: str) -> list[int]:
        return [b - a for a, b in zip(read.begin[item], read.end[item], strict=True)]

    measured = scenario.duration_s - scenario.warmup_s
    flows = []
    for index, flow in enumerate(scenario.flows):
        delivered, sent, again, timeouts = grown(str(index))
        flows.append(
            FlowFigures(
                id=flow.id,
                goodput_bps=delivered * 8 / measured,
                delivered_bytes=delivered,
                segments_sent=sent + again if flow.tcp else None,
                retransmits=again if flow.tcp else None,
                timeouts=timeouts if flow.tcp else None,
                srtt_s=read.means.get(("rtt", index)),
                delay_mean_s=read.means.get(("delay", index)),
            )
        )
    jain, windows = fairness(flows, [read.seconds[i] for i in range(len(scenario.flows))])
    data, acks, queues = grown(_DROPS)
    return Figures(
        flows=tuple(flows), jain=jain, jain_windows=windows, data_drops=data, ack_drops=acks, queue_drops=queues
    )


def _read(output: str) -> _Output:
    read = _Output()
    for line in output.splitlines():
        match line.split():
            case ["begin", item, *counters]:
                read.begin[item] = [int(value) for value in counters]
            case ["end", item, *counters]:
                read.end[item] = [int(value) for value in counters]
            case ["second", _, flow, counter]:
                read.seconds[int(flow)].append(int(counter))
            case ["rtt" | "delay" as what, flow, total, count] if int(count) > 0:
                read.means[what, int(flow)] = float(total) / int(count)
            case ["finished"]:
                read.finished = True
    return read
