"""What LLAP costs beside drop-tail: the same random meshes, in turns.

    bench/llap_cost.py [--nodes N ...] [--rounds N] [--duration SECONDS]

Processor time of the whole process, Python's start included, medians, and the medians of ratios; as Markdown.
"""

from __future__ import annotations

import argparse
import dataclasses
import statistics
import sys

from cases import scaling_mesh
from compare import markdown
from tools import Meshpace

SCHEMES = ("newreno", "llap")


def row(engine: Meshpace, nodes: int, rounds: int, duration_s: float | None) -> list[str]:
    """Medians over the rounds of one number of nodes."""
    case = scaling_mesh(nodes)
    if duration_s is not None:
        case = dataclasses.replace(case, duration_s=duration_s)
    process: dict[str, list[float]] = {scheme: [] for scheme in SCHEMES}
    events: dict[str, list[float]] = {scheme: [] for scheme in SCHEMES}
    for seed in range(1, rounds + 1):
        for scheme in SCHEMES:
            objects, done = engine.results(case, ["--seed", str(seed), "--scheme", scheme])
            process[scheme].append(done.cpu_s)
            events[scheme].append(objects[0]["events"])
            print(f"{nodes:5} nodes  seed {seed}  {scheme:8} {done.cpu_s:7.2f} s", file=sys.stderr)
    plain, llap = (statistics.median(process[scheme]) for scheme in SCHEMES)
    ratio = statistics.median(b / a for a, b in zip(*process.values(), strict=True))
    more = statistics.median(b / a for a, b in zip(*events.values(), strict=True))
    return [
        f"{nodes}", f"{len(case.flows)}", f"{case.duration_s:.0f}", f"{plain:.2f}", f"{llap:.2f}", f"{ratio:.2f}",
        f"{more:.2f}",
    ]  # fmt: skip


def main() -> None:
    """The table on standard output."""
    parser = argparse.ArgumentParser(description="What LLAP costs beside drop-tail.")
    parser.add_argument(
        "--nodes", nargs="+", type=int, default=[100, 1000], metavar="N", help="numbers of nodes (100 1000)"
    )
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="seeds (3)")
    parser.add_argument("--duration", type=float, metavar="SECONDS", help="simulated; 20 s if not given")
    options = parser.parse_args()
    engine = Meshpace()
    engine.prepare()
    header = [
        "nodes",
        "flows",
        "simulated, s",
        "drop-tail, s",
        "LLAP, s",
        "LLAP / drop-tail",
        "events, LLAP / drop-tail",
    ]
    rows = [row(engine, nodes, options.rounds, options.duration) for nodes in options.nodes]
    print(markdown([header, *rows]))


if __name__ == "__main__":
    main()
