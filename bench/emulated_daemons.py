"""Real routing daemons on the simulated air: how soon routes stand, what daemons send, how often a busy mesh loses one.

    .venv/bin/python bench/emulated_daemons.py rest load outage [--daemons babeld,bird] [--runs N] [--write]

As root, with babeld and bird (Debian: babeld, bird2) and iperf3. A chain of six hops and a grid of four by four, at
11 Mbit/s, the daemons' configurations as `meshpace emulate --daemon` writes them. At rest nothing but the daemon
sends; under load iperf3 uploads over the whole chain by the kernel's cubic, and the same chain is simulated with
routes that stay. And in a ring of five nodes the one in the middle of the shorter way is switched off under a ping ten
times a second. --write puts the tables into docs/emulation.md, between their marks. Goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import document

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "emulation.md"
OUT = Path(__file__).resolve().parent / "out" / "daemons"
"""Runs that were made: it goes on where it was."""
HOPS, SIDE = 6, 4
REST_S, BEFORE_S, TRANSFER_S, AFTER_S = 45, 60, 30, 8
"""A run at rest; one under load: until the transfer begins, its length, and what it may take to end."""
OFF_S, OUTAGE_S = 35, 75
"""When the ring's node is switched off, and the whole run."""
LEAVES_OUT_S = 5
"""Of the transfer's beginning."""
MESHES = {
    "chain": f'kind = "chain"\nhops = {HOPS}\n',
    "grid": f'kind = "grid"\nrows = {SIDE}\ncols = {SIDE}\n',
}
RING = {"n0": (0, 0), "n1": (200, 60), "n2": (400, 0), "a": (130, -190), "b": (270, -190)}
"""Its shorter way is n0, n1, n2; the longer one n0, a, b, n2."""
TITLES = {"chain": f"chain of {HOPS} hops", "grid": f"grid of {SIDE} x {SIDE}"}


def ring() -> str:
    places = "".join(f'[[node]]\nid = "{name}"\nx = {x}\ny = {y}\n' for name, (x, y) in RING.items())
    ping = shutil.which("ping") or "busybox ping"
    return (
        f'[measure]\nduration = "{OUTAGE_S}s"\nwarmup = "0s"\n{places}'
        f'[[emulate.event]]\nat = "{OFF_S}s"\nnode = "n1"\nradios = "off"\n'
        f'[[emulate.node]]\nnode = "n0"\nrun = "{ping} -i 0.1 n2"\n'
    )


def scenario(mesh: str, load: bool) -> str:
    if mesh == "ring":
        return ring()
    length = BEFORE_S + TRANSFER_S + AFTER_S if load else REST_S
    text = f'[measure]\nduration = "{length}s"\nwarmup = "0s"\n[topology]\n{MESHES[mesh]}'
    if load:
        client = f"iperf3 -J -c n{HOPS} -C cubic -t {TRANSFER_S} -O {LEAVES_OUT_S}"
        text += f'[[emulate.node]]\nnode = "n{HOPS}"\nrun = "iperf3 -s"\n'
        text += f'[[emulate.node]]\nnode = "n0"\nrun = "{client}"\nstart = "{BEFORE_S}s"\ncollect = "iperf3"\n'
    return text


def meshpace(*words: str, may_fail: bool = False) -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-m", "meshpace", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0 and not (may_fail and done.stdout):
        sys.exit(done.stderr)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def emulated(mesh: str, daemon: str, seed: int, load: bool) -> dict[str, Any]:
    """A run, or what it came to when it was made before."""
    kept = OUT / f"{mesh}-{daemon}-{'load' if load else 'rest'}-{seed}.json"
    if not kept.exists():
        OUT.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(made(mesh, daemon, seed, load)))
    found: dict[str, Any] = json.loads(kept.read_text())
    return found


def made(mesh: str, daemon: str, seed: int, load: bool) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{mesh}.toml"
        file.write_text(scenario(mesh, load))
        words = ["emulate", str(file), "--json", "--name", f"daemons-{daemon}-{mesh}", "--daemon", daemon]
        return meshpace(*words, "--seed", str(seed), may_fail=True)


def by_hand(node: str, to: str) -> int:
    """The hops of the shortest way: of a grid, whose diagonals are out of reach, by rows and columns."""
    places = [[int(number) for number in re.findall(r"\d+", name)] for name in (node, to)]
    return sum(abs(a - b) for a, b in zip(*places, strict=True))


def routes_as_by_hand(mesh: str, result: dict[str, Any]) -> tuple[int, int]:
    """How many routes are as short as by hand, and how many there should be."""
    nodes = HOPS + 1 if mesh == "chain" else SIDE * SIDE
    routes = result["daemon"]["routes"]
    right = sum(route["hops"] == by_hand(route["node"], route["to"]) for route in routes)
    return right, nodes * (nodes - 1)


@dataclass(frozen=True)
class Load:
    """A transfer over the chain."""

    result: dict[str, Any]
    lost: int
    """Routes on the way that went or turned while it lasted."""

    @classmethod
    def of(cls, result: dict[str, Any]) -> Load:
        way = {(f"n{node}", end) for node in range(HOPS + 1) for end in ("n0", f"n{HOPS}")}
        during = (BEFORE_S, BEFORE_S + TRANSFER_S)
        changes = result["daemon"]["changes"]
        lost = sum((c["node"], c["to"]) in way and during[0] <= c["at_s"] <= during[1] and c["gone"] for c in changes)
        return cls(result, lost)

    @property
    def goodput(self) -> float | None:
        flows = self.result["flows"]
        return flows[0]["goodput_bps"] / 1e3 if flows else None


def simulated(seeds: int) -> list[float]:
    """The same transfer with routes that stay, in kbit/s."""
    length = f"measure.duration={TRANSFER_S + LEAVES_OUT_S}s"
    text = (
        f'[measure]\nduration = "1s"\nwarmup = "0s"\n[topology]\n{MESHES["chain"]}'
        '[routing]\nprotocol = "static"\n[defaults]\nsegment = 1460\nwindow = 4000\nstart_jitter = 0\n'
        f'[[flow]]\nfrom = "n0"\nto = "n{HOPS}"\napp = "ftp"\nscheme = "linux-cubic"\n'
        "[scheme.linux-cubic]\nsmall_queue = false\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "twin.toml"
        file.write_text(text)
        settings = ["--set", length, "--set", f"measure.warmup={LEAVES_OUT_S}s"]
        runs = [meshpace("run", str(file), "--json", *settings, "--seed", str(seed)) for seed in range(1, seeds + 1)]
    return [run["flows"][0]["goodput_bps"] / 1e3 for run in runs]


def outages(daemon: str, runs: int) -> str:
    results = [emulated("ring", daemon, seed, load=False) for seed in range(1, runs + 1)]
    gaps = [pair["longest_gap_s"] for result in results for pair in result["traffic"] if pair["from"] == "n0"]
    valid = sum(result["lateness"]["valid"] is True for result in results)
    return f"| {daemon} | {spread([gap for gap in gaps if gap is not None])} | {valid} of {runs} |"


def spread(values: list[float], digits: int = 1) -> str:
    if not values:
        return "-"
    return f"{statistics.mean(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def at_rest(mesh: str, daemon: str, runs: int) -> str:
    results = [emulated(mesh, daemon, seed, load=False) for seed in range(1, runs + 1)]
    stood = [result["daemon"]["converged_s"] for result in results if result["daemon"]["converged_s"] is not None]
    right = [routes_as_by_hand(mesh, result) for result in results]
    rows = [row for result in results for row in result["ethernet"]]
    frames = [row["sent"] / REST_S for row in rows]
    octets = [row["sent_bytes"] / REST_S for row in rows]
    valid = sum(result["lateness"]["valid"] is True for result in results)
    return (
        f"| {TITLES[mesh]} | {daemon} | {len(stood)} of {runs} | {spread(stood)} "
        f"| {sum(a for a, _ in right)} of {sum(b for _, b in right)} "
        f"| {statistics.mean(frames):.2f} | {statistics.mean(octets):.0f} | {valid} of {runs} |"
    )


def under_load(daemon: str, runs: int, twin: list[float]) -> str:
    loads = [Load.of(emulated("chain", daemon, seed, load=True)) for seed in range(1, runs + 1)]
    goodputs = [load.goodput for load in loads if load.goodput is not None]
    quiet = [load.goodput for load in loads if load.goodput is not None and not load.lost]
    valid = sum(load.result["lateness"]["valid"] is True for load in loads)
    return (
        f"| {daemon} | {spread(goodputs, 0)} | {spread(quiet, 0)} ({len(quiet)}) | {spread(twin, 0)} "
        f"| {', '.join(str(load.lost) for load in loads)} | {valid} of {runs} |"
    )


def rest(daemons: list[str], runs: int) -> list[str]:
    rows = [at_rest(mesh, daemon, runs) for mesh in MESHES for daemon in daemons]
    return [
        "| mesh | daemon | routes stood | after, s | as by hand | frames/s a node | bytes/s a node | in time |",
        "|---|---|---|---|---|---|---|---|",
        *rows,
    ]


def load(daemons: list[str], runs: int) -> list[str]:
    twin = simulated(runs)
    return [
        "| daemon | goodput | where no route was lost | simulated, static | routes lost, by run | in time |",
        "|---|---|---|---|---|---|",
        *(under_load(daemon, runs, twin) for daemon in daemons),
    ]


def outage(daemons: list[str], runs: int) -> list[str]:
    return [
        "| daemon | outage, s | in time |",
        "|---|---|---|",
        *(outages(daemon, runs) for daemon in daemons),
    ]


PARTS = {"rest": rest, "load": load, "outage": outage}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("parts", nargs="+", choices=list(PARTS))
    parser.add_argument("--daemons", default="babeld,bird")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    for part in asked.parts:
        command = f"bench/emulated_daemons.py {part} --daemons {asked.daemons} --runs {asked.runs}"
        table = "\n".join(
            [f"`{command}`, {os.cpu_count()} processors.", "", *PARTS[part](asked.daemons.split(","), asked.runs)]
        )
        print(table, flush=True)
        if asked.write:
            document.update(DOCUMENT, f"daemons-{part}", table)


if __name__ == "__main__":
    main()
