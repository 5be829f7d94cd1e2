"""One transfer over a chain, simulated and emulated: a kernel's TCP against our sender that comes closest to it.

    .venv/bin/python bench/twin.py [--hops 1,2,...] [--runs K] [--duration SECONDS] [--write]

As root. Prints the table of docs/emulation.md; --write puts it there, between its marks.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from meshpace import engine

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "emulation.md"
BEGIN, END = "<!-- twin: begin -->", "<!-- twin: end -->"
WARMUP_S = 10
SIMULATED_SEEDS = 8
TOLERANCE = 0.15

# Linux: 1,448 bytes of payload beside timestamps in 1,500, windows that do not bind, no timeout below 200 ms, an
# acknowledgement of every other segment or after 40 ms.
SCENARIO = """\
[measure]
duration = "{duration}s"
warmup = "{warmup}s"

[topology]
kind = "chain"
hops = {hops}

[routing]
protocol = "static"

[defaults]
segment = 1448
window = 4000
start_jitter = 0

[scheme.kernel-reno]
base = "sack-rfc"
rto_min = "200ms"
ack_delay = "40ms"

[scheme.kernel-cubic]
base = "cubic"
rto_min = "200ms"
ack_delay = "40ms"
"""
FLOW = """
[[flow]]
from = "n0"
to = "n{hops}"
scheme = "kernel-{control}"
"""
HOSTS = """
[[emulate.host]]
node = "n{hops}"
run = "iperf3 -s -1"

[[emulate.host]]
node = "n0"
run = "iperf3 -J -c n{hops} -C {control} -O {warmup} -t {transfer}"
start = "500ms"
collect = "iperf3"
"""
CONTROLS = ("reno", "cubic")


@dataclass(frozen=True)
class Twin:
    """Both sides of a point."""

    control: str
    hops: int
    simulated: list[float]
    emulated: list[float]
    lateness: list[dict[str, Any]]

    @property
    def difference(self) -> float:
        return statistics.mean(self.emulated) / statistics.mean(self.simulated) - 1


def text(template: str, control: str, hops: int, duration: int) -> str:
    # What iperf3 says at the end has to cross the mesh, too.
    return template.format(
        control=control, hops=hops, duration=duration + 10, warmup=WARMUP_S, transfer=duration - WARMUP_S
    )


def simulate(control: str, hops: int, duration: int) -> list[float]:
    file = text(SCENARIO + FLOW, control, hops, duration - 10).encode()
    jobs = [engine.Job("twin.toml", file, seed=seed) for seed in range(1, SIMULATED_SEEDS + 1)]
    return [run["flows"][0]["goodput_bps"] for run in engine.run_many(jobs, 1)]


def emulate(control: str, hops: int, duration: int, seed: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder) / "twin.toml"
        scenario.write_text(text(SCENARIO + HOSTS, control, hops, duration))
        name = f"twin-{control}-{hops}-{seed}"
        words = [sys.executable, "-m", "meshpace", "emulate", scenario, "--json", "--seed", seed, "--name", name]
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{name}: {done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def measure(control: str, hops: int, duration: int, runs: int) -> Twin:
    results = [emulate(control, hops, duration, seed) for seed in range(1, runs + 1)]
    return Twin(
        control,
        hops,
        simulate(control, hops, duration),
        [result["flows"][0]["goodput_bps"] for result in results],
        [result["lateness"] for result in results],
    )


def table(twins: list[Twin], duration: int, runs: int) -> str:
    lines = [
        f"Goodput in kbit/s, {duration - WARMUP_S} s after {WARMUP_S} s; {SIMULATED_SEEDS} simulated runs, {runs} "
        f"emulated; mean (least to most). Within {TOLERANCE:.0%} is asked for. "
        f"`bench/twin.py --runs {runs} --duration {duration}`.",
        "",
        "| kernel | hops | simulated | emulated | difference | | lateness: late, 99.9 %, verdict |",
        "|---|---|---|---|---|---|---|",
    ]
    for twin in twins:
        verdict = "within" if abs(twin.difference) <= TOLERANCE else "**outside**"
        late = max(one["share_late"] for one in twin.lateness)
        worst = max(one["p999_s"] for one in twin.lateness)
        valid = "valid" if all(one["valid"] for one in twin.lateness) else "**invalid**"
        lines.append(
            f"| {twin.control} | {twin.hops} | {spread(twin.simulated)} | {spread(twin.emulated)} "
            f"| {twin.difference:+.1%} | {verdict} | {late:.3%}, {1e3 * worst:.2f} ms, {valid} |"
        )
    return "\n".join(lines)


def spread(values: list[float]) -> str:
    kilobits = [value / 1000 for value in values]
    return f"{statistics.mean(kilobits):.0f} ({min(kilobits):.0f} to {max(kilobits):.0f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--hops", default="1,2,3,4,5,6,7,8")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--duration", type=int, default=60)
    parser.add_argument("--controls", default=",".join(CONTROLS))
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    if shutil.which("iperf3") is None:
        sys.exit("needs iperf3")
    hops = [int(word) for word in asked.hops.split(",")]

    def of_control(control: str) -> list[Twin]:
        twins = []
        for count in hops:
            twins.append(measure(control, count, asked.duration, asked.runs))
            print(f"{control} {count}: {twins[-1].difference:+.1%}", file=sys.stderr)
        return twins

    # The chains share nothing but the processors, and leave them idle most of the time.
    with ThreadPoolExecutor() as pool:
        twins = [twin for found in pool.map(of_control, asked.controls.split(",")) for twin in found]
    made = table(twins, asked.duration, asked.runs)
    print(made)
    if asked.write:
        before, _, rest = DOCUMENT.read_text().partition(BEGIN)
        _, _, after = rest.partition(END)
        DOCUMENT.write_text(f"{before}{BEGIN}\n{made}\n{END}{after}")


if __name__ == "__main__":
    main()
