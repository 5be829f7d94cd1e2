"""What meshpaced does to kernels' TCP: two chains of five hops that share a gateway, emulated without and with it.

    .venv/bin/python bench/emulated_gateway.py [--runs K] [--seconds N] [--routing aodv] [--kernels reno,cubic,bbr]
                                               [--ways up,down,oncoming] [--at-once N] [--attempts K]
                                               [--meshpaced FILE] [--store FOLDER] [--stored] [--write]

As root, with release builds, and control groups of version 2. Both chains' far ends, the gateway and the
server are hosts with this kernel's TCP. On: `meshpaced gateway` on the gateway, `meshpaced host` on a wireless host
that sends. Off: neither, the gateway's kernel forwards. Runs that are in the folder are not made again; one that was
late is, up to --attempts times, whatever it measured. --write puts the table into docs/emulation.md, between its marks.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import document
from emulated_flow import PROGRAM, between, told
from emulated_hosts import gateway, host
from emulated_places import PAPERS_PAIR
from emulated_runs import NICE, Result, Run, Store, arguments, asked_by, emulate
from meshpace.emulation.collect import jain
from meshpace.stats import estimate

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "emulation.md"
HOPS, RATE = 5, "11Mbps"
WARMUP_S = 10
# Daemons first. At the end what programs say has to be written.
BEFORE_S, AFTER_S = 3, 5
WIRELESS = ("A1", "A2")
# Who sends upward.
UPWARD = {"up": {"A1", "A2"}, "down": set(), "oncoming": {"A1"}}

SCENARIO = """\
[measure]
duration = "{duration}s"
warmup = "{warmup}s"

[routing]
protocol = "{routing}"
"""


@dataclass(frozen=True)
class Cell:
    """What is compared."""

    routing: str
    way: str
    kernel: str
    on: bool


@dataclass(frozen=True)
class Made:
    """What a run came to, flow by flow."""

    goodput_bps: list[float]
    delay_p50_s: list[float | None]
    delay_p95_s: list[float | None]
    retransmits: list[int]
    begun_s: list[int | None]
    """The second by which the first bytes had come; None: none came."""
    lateness: dict[str, Any]


def scenario(cell: Cell, seconds: int, folder: Path, cgroups: dict[str, Path], meshpaced: Path) -> str:
    parts = [
        SCENARIO.format(
            duration=BEFORE_S + WARMUP_S + seconds + AFTER_S, warmup=BEFORE_S + WARMUP_S, routing=cell.routing
        ),
        PAPERS_PAIR,
    ]
    if cell.on:
        parts.append(gateway("IG", f"{NICE} {meshpaced}", folder, "pace", rate=RATE, hops=HOPS))
    else:
        parts.append('\n[[emulate.host]]\nnode = "IG"\n')
    for number, node in enumerate(WIRELESS):
        port = 5301 + number
        here, there = ("send", "take") if node in UPWARD[cell.way] else ("take", "send")
        program = f"exec {NICE} {sys.executable} {PROGRAM}"
        server = f"{program} serve {port} {there} {cell.kernel}"
        parts.append(host("B", server, BEFORE_S))
        client = f"{program} call B {port} {here} {cell.kernel}"
        if node in cgroups:
            paced = f"--cgroup {cgroups[node]} --bpffs {folder / 'bpf'} --socket {folder / node}"
            # `ip netns exec` hides the control groups, which are among this process's mounts.
            mounts = f"nsenter -t {os.getpid()} -m"
            daemon = f"exec {NICE} {mounts} {meshpaced} host {paced} --hops {HOPS} --rate {RATE}"
            parts.append(host(node, daemon))
            client = f"{mounts} sh -c 'echo '$$' > {cgroups[node] / 'cgroup.procs'}' && {client}"
        parts.append(host(node, client, BEFORE_S))
    return "".join(parts)


@contextmanager
def control_groups(nodes: set[str], folder: Path) -> Iterator[dict[str, Path]]:
    """A control group for each of the nodes, and a BPF file system for all."""
    if not nodes:
        yield {}
        return
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    hierarchy = next((Path(mount[1]) for mount in mounts if mount[2] == "cgroup2"), None)
    if hierarchy is None:
        sys.exit("meshpaced host needs control groups of version 2")
    made = {node: hierarchy / f"emulated-{folder.name}-{node}" for node in nodes}
    bpf = folder / "bpf"
    bpf.mkdir()
    subprocess.run(["mount", "-t", "bpf", "bpf", bpf], check=True)
    try:
        for path in made.values():
            path.mkdir()
        yield made
    finally:
        subprocess.run(["umount", bpf], check=True)
        for path in made.values():
            remove(path)


def remove(group: Path) -> None:
    """Removes a control group, once the last of its processes, killed before, is gone."""
    end = time.monotonic() + 10
    while True:
        try:
            return group.rmdir()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def emulated(cell: Cell, seconds: int, seed: int, meshpaced: Path) -> Result | str:
    """The result, or why there is none."""
    with tempfile.TemporaryDirectory(prefix="mp-") as name:
        folder = Path(name)
        with control_groups(UPWARD[cell.way] if cell.on else set(), folder) as cgroups:
            file = folder / "chains.toml"
            file.write_text(scenario(cell, seconds, folder, cgroups, meshpaced))
            return emulate(file, seed, folder.name)


def run(cell: Cell, seed: int, asked: argparse.Namespace) -> Run:
    def shown(result: Result) -> str:
        return f"{[round(bps / 1000) for bps in made(result, cell, asked.seconds).goodput_bps]} kbit/s"

    name = f"{cell.routing}-{cell.way}-{cell.kernel}-{'on' if cell.on else 'off'}-{asked.seconds}-{seed}"
    return Run(name, lambda: emulated(cell, asked.seconds, seed, asked.meshpaced), shown)


def made(result: Result, cell: Cell, seconds: int) -> Made:
    """What a result says of the two flows, that of the first chain first."""
    goodput, p50, p95, resent, begun = [], [], [], [], []
    for number, node in enumerate(WIRELESS):
        source, sink = (node, "B") if node in UPWARD[cell.way] else ("B", node)
        ends = {
            run["node"]: told(run["output"])
            for run in result["runs"]
            if f" {5301 + number} " in run["run"] and run["collect"] == "output"
        }
        received, again = (between(ends[end], WARMUP_S, WARMUP_S + seconds) for end in (sink, source))
        goodput.append(received * 8 / seconds)
        resent.append(again)
        begun.append(next((second for second, value in ends[sink].items() if value), None))
        way = next((row for row in result["traffic"] if (row["from"], row["to"]) == (source, sink)), None)
        p50.append(way and way["delay_p50_s"])
        p95.append(way and way["delay_p95_s"])
    return Made(goodput, p50, p95, resent, begun, result["lateness"])


def table(found: dict[Cell, dict[int, Made]], runs: int, seconds: int, command: str) -> str:
    lines = [
        f"Up to {runs} runs of {seconds} s a row after {WARMUP_S} s. Goodput in kbit/s: first chain's flow + second's, "
        "means over runs; in all (least to most). Delay in ms of the flows' packets from device to device, mean over "
        "flows and runs. Begun: the latest second by which a flow's first bytes had come. Lateness: valid runs of "
        f"all of the row, and the largest share late. `{command}`.",
        "",
        "| routes | way | kernel | meshpaced | goodput | in all | Jain | delay 50 / 95 % | resent | begun | lateness |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [row(cell, list(all_.values())) for cell, all_ in found.items() if all_]
    return "\n".join(lines)


def row(cell: Cell, all_: list[Made]) -> str:
    sums = [sum(one.goodput_bps) / 1000 for one in all_]
    each = [statistics.mean(one.goodput_bps[flow] for one in all_) / 1000 for flow in (0, 1)]
    fairness = [found for one in all_ if (found := jain(one.goodput_bps)) is not None]
    columns = [
        cell.routing,
        cell.way,
        cell.kernel,
        "on" if cell.on else "off",
        f"{each[0]:.0f} + {each[1]:.0f}",
        f"{statistics.mean(sums):.0f} ({min(sums):.0f} to {max(sums):.0f})",
        f"{statistics.mean(fairness):.3f} ({min(fairness):.3f} to {max(fairness):.3f})" if fairness else "none",
        f"{mean_ms(all_, 'delay_p50_s')} / {mean_ms(all_, 'delay_p95_s')}",
        f"{mean_of(value for one in all_ for value in one.retransmits):.0f}",
        begun([second for one in all_ for second in one.begun_s]),
        f"{sum(one.lateness['valid'] is True for one in all_)} of {len(all_)}, "
        f"{max(one.lateness['share_late'] for one in all_):.2%}",
    ]
    return f"| {' | '.join(columns)} |"


def differences(found: dict[Cell, dict[int, Made]]) -> str:
    """With meshpaced less without it, run by run of a seed: means with 95 % intervals."""
    lines = [
        "With meshpaced less without it, paired by seed; mean and 95 % interval. * leaves zero outside.",
        "",
        "| routes | way | kernel | goodput | Jain | weaker flow, kbit/s | delay 95 %, ms | resent |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for cell, without in found.items():
        beside = found.get(replace(cell, on=True), {})
        pairs = [(one, beside[seed]) for seed, one in without.items() if seed in beside]
        if cell.on or len(pairs) < 2:
            continue
        numbers = (
            changed(
                pairs, lambda off, on: 100 * (sum(on.goodput_bps) / sum(off.goodput_bps) - 1), "{:+.1f} ± {:.1f} %"
            ),
            changed(pairs, lambda off, on: fairness(on) - fairness(off), "{:+.3f} ± {:.3f}"),
            changed(pairs, lambda off, on: (min(on.goodput_bps) - min(off.goodput_bps)) / 1e3, "{:+.0f} ± {:.0f}"),
            changed(pairs, lambda off, on: 1e3 * (slowest(on) - slowest(off)), "{:+.0f} ± {:.0f}"),
            changed(pairs, lambda off, on: sum(on.retransmits) - sum(off.retransmits), "{:+.0f} ± {:.0f}"),
        )
        lines.append(f"| {' | '.join((cell.routing, cell.way, cell.kernel, *numbers))} |")
    return "\n".join(lines)


def changed(pairs: list[tuple[Made, Made]], take: Callable[[Made, Made], float], shape: str) -> str:
    value = estimate([take(off, on) for off, on in pairs])
    assert value is not None
    width = value.half_width
    assert width is not None, "there are two pairs at least"
    return shape.format(value.mean, width) + (" *" if abs(value.mean) > width else "")


def fairness(one: Made) -> float:
    return jain(one.goodput_bps) or 0.0


def slowest(one: Made) -> float:
    """Seconds in which 95 % of the packets arrive, mean over the flows."""
    return mean_of(value for value in one.delay_p95_s)


def begun(seconds: list[int | None]) -> str:
    """The latest, or that some never began; empty where no run has it."""
    known = [second for second in seconds if second is not None]
    return "never" if len(known) < len(seconds) else str(max(known, default=""))


def mean_ms(all_: list[Made], field: str) -> str:
    return f"{1e3 * mean_of(value for one in all_ for value in getattr(one, field)):.0f}"


def mean_of(values: Iterator[float | None]) -> float:
    known = [value for value in values if value is not None]
    return statistics.mean(known) if known else float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--routing", default="aodv")
    parser.add_argument("--kernels", default="reno,cubic,bbr")
    parser.add_argument("--ways", default="down,up,oncoming")
    arguments(parser, "emulated-gateway")
    asked = asked_by(parser)
    known = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    kernels = [kernel for kernel in asked.kernels.split(",") if kernel in known]
    for kernel in set(asked.kernels.split(",")) - set(kernels):
        print(f"{kernel}: not in this kernel ({' '.join(known)}); modprobe tcp_{kernel}", file=sys.stderr)
    cells = [
        Cell(routing, way, kernel, on)
        for routing in asked.routing.split(",")
        for way in asked.ways.split(",")
        for kernel in kernels
        for on in (False, True)
    ]
    store = Store(asked.store, asked.attempts)
    runs = {(cell, seed): run(cell, seed, asked) for seed in range(1, asked.runs + 1) for cell in cells}
    if not asked.stored:
        store.make(list(runs.values()), asked.at_once)
    found: dict[Cell, dict[int, Made]] = {cell: {} for cell in cells}
    for (cell, seed), one in runs.items():
        if result := store.read(one.name):
            found[cell][seed] = made(result, cell, asked.seconds)
    options = f"--runs {asked.runs} --seconds {asked.seconds} --routing {asked.routing}"
    written = "\n".join(
        (
            table(found, asked.runs, asked.seconds, f"bench/emulated_gateway.py {options}"),
            "",
            store.account(list(runs.values())),
            "",
            differences(found),
        )
    )
    print(written)
    if asked.write:
        document.update(DOCUMENT, "gateway", written)


if __name__ == "__main__":
    main()
