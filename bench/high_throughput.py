"""802.11n beside ns-3.37: chains of n-chain.toml and the same of ns3/chain.cc, interleaved, with their ratio.

    bench/high_throughput.py [--rounds N] [--seconds S] [-o FILE]

Rewrites its block of docs/benchmarks.md, or of FILE. `make bench` runs it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

import document
from meshpace.validation.ns3_points import ChainPoint, chain_points
from process import ToolError, run
from run import PAGE, positive
from tools import OUT, ROOT, Meshpace, package_version

SOURCE = Path(__file__).resolve().parent / "ns3" / "chain.cc"
BINARY = OUT / "ns3-chain"
LIBRARIES = (
    "wifi", "applications", "internet", "flow-monitor", "traffic-control", "propagation", "mobility", "spectrum",
    "antenna", "network", "stats", "core",
)  # fmt: skip
CASES = (
    "datagrams, 1 hop, aggregates of 65,535 B",
    "datagrams, 4 hops, aggregates of 65,535 B",
    "datagrams, 8 hops, aggregates of 65,535 B",
    "Reno with SACK, an ACK for 2, 4 hops, aggregates of 65,535 B",
)
WARMUP_S = 5


@dataclass(frozen=True)
class Took:
    """One run: seconds of the run itself, as the tool timed it, of the process, and of its processor."""

    run_s: float
    process_s: float
    cpu_s: float


def build() -> str:
    """Compiles the program if it is older than its source; the version of ns-3. Raises ToolError."""
    compiler = shutil.which("g++")
    if compiler is None:
        raise ToolError("no C++ compiler for ns-3: apt-get install libns3-dev g++")
    if not BINARY.exists() or BINARY.stat().st_mtime < SOURCE.stat().st_mtime:
        OUT.mkdir(parents=True, exist_ok=True)
        run([compiler, "-std=c++17", "-O3", SOURCE, "-o", BINARY, *(f"-lns3-{name}" for name in LIBRARIES)])
    return package_version("libns3-dev")


def ours(point: ChainPoint, seconds: int, seed: int) -> Took:
    """A run of our engine, which times itself."""
    settings = (*point.settings, f"measure.duration={seconds}s", f"measure.warmup={WARMUP_S}s")
    words: list[str | Path] = [Meshpace.command, "run", ROOT / "validation" / "points" / "n-chain.toml", "--json"]
    words += ["--seed", str(seed), "--scheme", point.scheme, *(f"--set={one}" for one in settings)]
    done = run(words)
    return Took(json.loads(done.output)["wall_s"], done.wall_s, done.cpu_s)


def theirs(point: ChainPoint, seconds: int, seed: int) -> Took:
    """A run of ns-3; chain.cc times Simulator::Run."""
    options = (f"h={point.hops}", *point.options, "queue=fifo", "qlen=500", f"warm={WARMUP_S}", f"time={seconds}")
    done = run([BINARY, *(f"--{one}" for one in options), f"--run={seed}"])
    return Took(json.loads(done.output)["wall"], done.wall_s, done.cpu_s)


def table(rounds: int, seconds: int) -> str:
    """Both tools in turns, a seed a round; simulated seconds a second, medians."""
    points = {point.name: point for point in chain_points()}
    lines = [
        f"Simulated seconds per wall second of the run itself, {seconds} s simulated, medians (lowest to highest):\n",
        "| scenario | meshpace | ns-3 | meshpace / ns-3 |",
        "|---|---:|---:|---:|",
    ]
    everything: list[Took] = []
    for name in CASES:
        pairs = [
            (ours(points[name], seconds, seed), theirs(points[name], seconds, seed)) for seed in range(1, rounds + 1)
        ]
        everything += [took for pair in pairs for took in pair]
        speeds = [[seconds / pair[tool].run_s for pair in pairs] for tool in (0, 1)]
        ratio = statistics.median(pair[1].run_s / pair[0].run_s for pair in pairs)
        cells = (f"{statistics.median(one):.3g} ({min(one):.3g} to {max(one):.3g})" for one in speeds)
        lines.append(f"| {name} | {' | '.join(cells)} | **{ratio:.0f}** |")
    share = sum(one.cpu_s for one in everything) / sum(one.process_s for one in everything)
    if share < 0.95:
        lines.append(f"\nThe machine was busy: a process got only {share:.0%} of a core.")
    return "\n".join(lines)


def main() -> int:
    """Runs what the command line asks for."""
    parser = argparse.ArgumentParser(description="Compare the speed of meshpace and ns-3 with 802.11n.")
    parser.add_argument("--rounds", type=positive, default=5, metavar="N", help="interleaved rounds, one seed each (5)")
    parser.add_argument("--seconds", type=positive, default=20, metavar="S", help="simulated seconds, at least 6 (20)")
    parser.add_argument("-o", "--output", type=Path, default=PAGE, help="the page whose block is rewritten")
    options = parser.parse_args()
    if options.seconds <= WARMUP_S:
        parser.error(f"--seconds {options.seconds}: allowed: more than the {WARMUP_S} s that do not count")
    try:
        versions = {"meshpace": Meshpace().prepare(), "ns-3": build()}
        head = ", ".join(f"{name} {version}" for name, version in versions.items())
        rows = table(options.rounds, options.seconds)
    except ToolError as problem:
        print(f"MISSING {problem}", file=sys.stderr)
        return 1
    text = f"{head}; {document.machine()}; {options.rounds} interleaved rounds, one seed each.\n\n{rows}"
    print(text)
    document.update(options.output, "high-throughput", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
