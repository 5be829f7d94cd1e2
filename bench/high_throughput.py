"""802.11n beside ns-3.37: chains of n-chain.toml and the same of ns3/chain.cc in turns, in processor time.

    bench/high_throughput.py [--rounds N] [--seconds S] [-o FILE]

Rewrites its block of docs/benchmarks.md, or of FILE. `make bench` runs it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
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
    "Reno with SACK, an ACK for 2, 8 hops, aggregates of 65,535 B",
)
WARMUP_S = 5


# Python's own start, and what the first run of a process imports, are no part of the run: bench/start.py measures both.
OURS = """
import json, sys, time
from pathlib import Path
from meshpace import Scenario, run

file, settings, scheme, seed = sys.argv[1:]
text = Path(file).read_text()
run(Scenario(text, file, [*json.loads(settings), "measure.duration=2s", "measure.warmup=0s"]), scheme, int(seed))
scenario = Scenario(text, file, json.loads(settings))
before = time.process_time()
run(scenario, scheme, int(seed))
print(time.process_time() - before)
"""


def build() -> str:
    """Compiles the program if it is older than its source; the version of ns-3. Raises ToolError."""
    compiler = shutil.which("g++")
    if compiler is None:
        raise ToolError("no C++ compiler for ns-3: apt-get install libns3-dev g++")
    if not BINARY.exists() or BINARY.stat().st_mtime < SOURCE.stat().st_mtime:
        OUT.mkdir(parents=True, exist_ok=True)
        run([compiler, "-std=c++17", "-O3", SOURCE, "-o", BINARY, *(f"-lns3-{name}" for name in LIBRARIES)])
    return package_version("libns3-dev")


def ours(point: ChainPoint, seconds: int, seed: int) -> float:
    """Processor seconds of a run of our engine, reading the scenario and writing the result included."""
    settings = (*point.settings, f"measure.duration={seconds}s", f"measure.warmup={WARMUP_S}s")
    scenario = ROOT / "validation" / "points" / point.scenario
    words: list[str | Path] = [sys.executable, "-c", OURS, scenario, json.dumps(settings), point.scheme, str(seed)]
    return float(run(words).output)


def theirs(point: ChainPoint, seconds: int, seed: int) -> float:
    """Processor seconds of ns-3's Simulator::Run, as chain.cc counts them."""
    options = (f"h={point.hops}", *point.options, "queue=fifo", "qlen=500", f"warm={WARMUP_S}", f"time={seconds}")
    done = run([BINARY, *(f"--{one}" for one in options), f"--run={seed}"])
    return float(json.loads(done.output)["cpu"])


def table(rounds: int, seconds: int) -> str:
    """Both tools in turns, a seed a round; medians, and the lowest and the highest."""
    points = {point.name: point for point in chain_points()}
    lines = [
        f"Processor seconds of a run of {seconds} s; medians (lowest to highest), also of the rounds' ratios.\n",
        "| scenario | meshpace | ns-3 | ns-3 / meshpace |",
        "|---|---:|---:|---:|",
    ]
    for name in CASES:
        took = [
            (ours(points[name], seconds, seed), theirs(points[name], seconds, seed)) for seed in range(1, rounds + 1)
        ]
        cells = (f"{statistics.median(one):.3g} ({min(one):.3g} to {max(one):.3g})" for one in zip(*took, strict=True))
        ratios = [pair[1] / pair[0] for pair in took]
        ratio = f"**{statistics.median(ratios):.0f}** ({min(ratios):.0f} to {max(ratios):.0f})"
        lines.append(f"| {name} | {' | '.join(cells)} | {ratio} |")
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
