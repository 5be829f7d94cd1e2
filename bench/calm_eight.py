"""Eight flows through a gateway: the best that equal rates and equal windows get, and what schemes get.

    .venv/bin/python bench/calm_eight.py [--seeds K]

The places are those of the study `calm`: eight hosts after 3 hops (eight-star), four after 2 and four after 4
(eight-cross), 120 ms of wire; downloads, uploads, four each way. Of the open loops that give all flows the same rate
(an acknowledgement for 16 segments) or the same window, the one with the most in all whose Jain's index over 10 s is
what the study asks for: at least 0.98 where all flows go the same way, 0.95 where four go each way. Then schemes:
kbit/s in all @ mean one-way delay in ms, Jain's index over 10 s, of 1,000 segments how many were sent again. r: rate of
a flow, W: window, d: segments an acknowledgement. Runs of 120 s, 20 s of them warm-up, 802.11b at 11 Mbit/s, RTS/CTS.
docs/law.md has the table.
"""

from __future__ import annotations

import argparse
import statistics
from typing import NamedTuple

import meshpace
from calm_oracle import at_rate, in_trains
from calm_runs import load, table

_WAYS = ("down", "up", "mix")
_EIGHT = {
    "eight-star": ("A1", "A2", "A3", "A4", "A5", "A6", "A7", "A8"),
    "eight-cross": ("N1", "F1", "N2", "F2", "N3", "F3", "N4", "F4"),
}
"""Scenarios, and their hosts; each way, every second pair of them goes up."""
_WINDOWS = ((2, 2), (4, 2), (4, 4), (8, 4), (8, 8), (16, 8), (16, 16))
_STEPS = 16
"""Rates, 8 % apart, from half of what calm gets up."""


class Shared(NamedTuple):
    """What several flows got, kbit/s and ms."""

    goodput: float
    delay: float
    jain: float
    again: float

    def __str__(self) -> str:
        return f"{self.goodput:.0f} @ {self.delay:.0f}, {self.jain:.3f}"


def eight(name: str, way: str, protocol: str) -> meshpace.Scenario:
    up = {"down": (), "up": range(8), "mix": (0, 1, 4, 5)}[way]
    ends = enumerate(_EIGHT[name])
    flows = [{"from": host, "to": "B"} if n in up else {"from": "B", "to": host} for n, host in ends]
    return load(name, 120).set("routing.protocol", protocol).set("flow", flows)


def _shared(scenario: meshpace.Scenario, scheme: str | type[meshpace.Formula], seeds: int, **keys: float) -> Shared:
    for key, value in keys.items():
        scenario.set(f"scheme.{scheme}.{key}", value)
    runs = [meshpace.run(scenario, scheme=scheme, seed=seed) for seed in range(1, seeds + 1)]
    flows = [flow for run in runs for flow in run["flows"]]
    goodput, again, sent = (sum(flow[key] for flow in flows) for key in ("goodput_bps", "retransmits", "segments_sent"))
    delay = statistics.mean(1e3 * (flow["delay_mean_s"] or 0.0) for flow in flows)
    jain = statistics.mean((run["jain_windows"] or {}).get("10") or 0.0 for run in runs)
    return Shared(goodput / seeds / 1e3, delay, jain, 1000 * again / max(sent, 1))


def eight_row(name: str, way: str, protocol: str, seeds: int) -> list[str]:
    """Of one place: the best open loop that shares, and schemes."""
    scenario, least = eight(name, way, protocol), 0.95 if way == "mix" else 0.98
    schemes = ("linux-cubic", "linux-bbr", "cubic-thin", "calm-gateway", "calm-edge", "calm")
    known = [_shared(scenario, scheme, seeds) for scheme in schemes]
    lone = _shared(scenario.copy(), "calm", seeds, dr_friendly=0.0)
    loops = {}
    for n in range(_STEPS):
        rate = known[-1].goodput / 8 / 2 * 1.08**n
        loops[f"r {rate:.0f}"] = _shared(scenario, at_rate(rate, 16), seeds)
    most = max((one for one in loops.values() if one.jain >= least), default=None)
    for n in range(1, 4) if most else ():
        rate = most.goodput / 8 * 1.02**n
        loops[f"r {rate:.0f}"] = _shared(scenario, at_rate(rate, 16), seeds)
    for window, d in _WINDOWS:
        loops[f"W {window} d {d}"] = _shared(scenario, in_trains(window, d), seeds)
    fair = {loop: one for loop, one in loops.items() if one.jain >= least}
    best = max(fair, key=lambda loop: fair[loop].goodput) if fair else None
    found = [f"{fair[best]} ({best})" if best else "none"]
    cells = [f"{one}, {one.again:.0f}" for one in (*known, lone)]
    return [f"{name}, {way}", protocol, *found, *cells]


def eights(seeds: int) -> None:
    head = ["place", "routes", "best open loop", "linux-cubic", "linux-bbr", "cubic-thin", "calm-gateway", "calm-edge"]
    places = [(name, way, protocol) for protocol in ("static", "aodv") for name in _EIGHT for way in _WAYS]
    table([*head, "calm", "`dr_friendly` = 0"], (eight_row(*place, seeds) for place in places))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2)
    eights(parser.parse_args().seeds)


if __name__ == "__main__":
    main()
