"""The paths that the benches of calm run over, and what flows get there."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import meshpace

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"
HOPS = (1, 2, 3, 4, 6, 8, 10)


class Got(NamedTuple):
    """Of several seeds."""

    goodput: float
    delay: float
    jain: float
    timeouts: int

    def __str__(self) -> str:
        return f"{self.goodput:.0f} @ {self.delay:.0f}"


def load(name: str, seconds: int, rts: str = "always") -> meshpace.Scenario:
    scenario = meshpace.Scenario.load(str(SCENARIOS / f"{name}.toml")).set("routing.protocol", "static")
    scenario.set("radio.rts", rts).set("defaults.window", 512)
    return scenario.set("measure.duration", f"{seconds}s").set("measure.warmup", "20s")


def chain(hops: int, rts: str) -> meshpace.Scenario:
    return load("chain-adhoc", 60, rts).set("topology.hops", hops).set("flow.0.to", f"n{hops}")


def wired(hops: int, up: bool) -> meshpace.Scenario:
    scenario = load("demo-chain", 60).set("topology.hops", hops)
    return scenario if up else scenario.set("flow", [{"from": "B", "to": "n0"}])


def pair(way: str) -> meshpace.Scenario:
    ends = {"up": ("A1 B", "A2 B"), "down": ("B A1", "B A2"), "mix": ("A1 B", "B A2")}[way]
    flows = [dict(zip(("from", "to"), end.split(), strict=True)) for end in ends]
    return load("demo-parallel", 120).set("flow", flows)


def got(
    scenario: meshpace.Scenario,
    scheme: str | type[meshpace.Formula],
    seeds: int,
    first: int = 1,
    **parameters: float | str,
) -> Got:
    for key, value in parameters.items():
        scenario.set(f"scheme.{scheme}.{key}", value)
    goodputs, delays, jains, timeouts = [], [], [], 0
    for seed in range(first, first + seeds):
        result = meshpace.run(scenario, scheme=scheme, seed=seed)
        flows = result["flows"]
        goodputs.append(sum(flow["goodput_bps"] for flow in flows) / 1e3)
        delays.append(1e3 * statistics.mean(flow["delay_mean_s"] or 0.0 for flow in flows))
        jains.append((result["jain_windows"] or {}).get("10") or 1.0)
        timeouts += sum(flow["timeouts"] for flow in flows)
    return Got(statistics.mean(goodputs), statistics.mean(delays), statistics.mean(jains), timeouts)


def table(head: list[str], rows: Iterable[list[str]]) -> None:
    for row in itertools.chain((head, ["---"] * len(head)), rows):
        print("| " + " | ".join(row) + " |", flush=True)
