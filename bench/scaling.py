"""How our engine's cost grows with the number of nodes, what a node weighs, what a second core brings."""

from __future__ import annotations

import dataclasses
import statistics
import sys
from dataclasses import dataclass

from cases import scaling_mesh
from compare import figure, markdown
from formats import write_random
from tools import OUT, Meshpace

SIZES = (10, 30, 100, 300, 1000)
EVENTS = ((200, 20, 120), (1000, 3, 23), (5000, 2, 8))
"""Nodes, and the simulated seconds of a short and a long run."""
STUDIES = ("gap-parallel", "gap-cross")


@dataclass(frozen=True)
class Cost:
    """Medians over the seeds for one number of nodes."""

    nodes: int
    flows: int
    hearers: float
    frames: float
    ns_per_frame: float
    peak_bytes: float


def growth(engine: Meshpace, rounds: int, duration_s: float | None) -> str:
    """Frames a second, wall time a frame and memory a node at constant density, as Markdown."""
    costs = [cost_of(engine, size, rounds, duration_s) for size in SIZES]
    header = (
        "nodes, flows, in carrier range, frames, frames / s, ns / frame, ns / frame and hearer, peak memory, kB / node"
    )
    rows = [header.split(", "), *(row(costs[0], cost) for cost in costs)]
    note = (
        f"Random nodes at 48 a km², static routes, one flow of 3 to 5 hops for every ten nodes, medians of {rounds} "
        "seeds. Memory is the peak of the whole process, Python included; kB a node is its growth over "
        f"{SIZES[0]} nodes."
    )
    return f"{note}\n\n{markdown(rows)}"


def row(smallest: Cost, cost: Cost) -> list[str]:
    """The cells of one number of nodes."""
    return [
        f"{cost.nodes}",
        f"{cost.flows}",
        f"{cost.hearers:.1f}",
        f"{cost.frames:.0f}",
        f"{1e9 / cost.ns_per_frame:.0f}",
        f"{cost.ns_per_frame:.0f}",
        f"{cost.ns_per_frame / cost.hearers:.1f}",
        f"{cost.peak_bytes / 1e6:.1f} MB",
        memory_per_node(smallest, cost),
    ]


def cost_of(engine: Meshpace, size: int, rounds: int, duration_s: float | None) -> Cost:
    """Runs one number of nodes with every seed."""
    case = scaling_mesh(size)
    if duration_s is not None:
        case = dataclasses.replace(case, duration_s=duration_s)
    frames: list[float] = []
    times: list[float] = []
    peaks: list[int] = []
    for seed in range(1, rounds + 1):
        options = ["--seed", str(seed)]
        objects, _ = engine.results(case, options)
        frames.append(objects[0]["frames"])
        times.append(objects[0]["wall_s"] * 1e9 / frames[-1])
        peaks.append(engine.peak_bytes(case, options))
        print(f"scaling  {size:5} nodes  seed {seed}  {times[-1]:7.0f} ns/frame", file=sys.stderr)
    frame, time, peak = (statistics.median(column) for column in (frames, times, peaks))
    return Cost(size, len(case.flows), case.hearers(), frame, time, peak)


def memory_per_node(small: Cost, large: Cost) -> str:
    """Growth of the peak over the smallest network, a node; nothing where there is no growth in nodes."""
    if large.nodes == small.nodes:
        return "-"
    return f"{(large.peak_bytes - small.peak_bytes) / (large.nodes - small.nodes) / 1e3:.1f}"


def of_an_event(engine: Meshpace, rounds: int) -> str:
    """Processor time an event: what a longer run takes more than a shorter one, over the events that it has more."""
    rows = [["nodes", "flows", "events of the long run", "ns / event", "beside the smallest", "the long run, s"]]
    first = None
    for nodes, *spans in EVENTS:
        path = write_random(nodes, OUT)
        costs, events, seconds = [], 0.0, []
        for seed in range(1, rounds + 1):
            short, long = (engine.events(path, seed, span) for span in spans)
            costs.append(1e9 * (long.cpu_s - short.cpu_s) / (long.events - short.events))
            events = long.events
            seconds.append(long.cpu_s)
            print(f"scaling  {nodes:5} nodes  seed {seed}  {costs[-1]:7.0f} ns/event", file=sys.stderr)
        cost = statistics.median(costs)
        first = first or cost
        rows.append([
            f"{nodes}", f"{nodes // 10}", f"{events:.0f}", f"{cost:.0f}", f"{cost / first:.2f}",
            figure(statistics.median(seconds)),
        ])  # fmt: skip
    note = (
        "Random nodes, one for every square of 120 m, static routes, one flow between two of them for every ten nodes, "
        f"medians of {rounds} seeds; the last column is the whole process."
    )
    return f"{note}\n\n{markdown(rows)}"


def two_cores(engine: Meshpace, rounds: int) -> str:
    """Studies from an empty store with one thread and with two, taking turns, whole process, as Markdown."""
    walls: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(rounds):
        for threads, taken in walls.items():
            taken.append(engine.study(STUDIES, threads).wall_s)
            print(f"scaling  {' '.join(STUDIES)}, {threads} threads  {taken[-1]:7.2f} s", file=sys.stderr)
    gains = [one / two for one, two in zip(*walls.values(), strict=True)]
    rows = [
        ["threads", *(f"round {number}, s" for number in range(1, rounds + 1))],
        *([str(threads), *map(figure, taken)] for threads, taken in walls.items()),
        ["speed-up", *(f"{gain:.2f}" for gain in gains)],
    ]
    note = (
        f"`meshpace study run {' '.join(STUDIES)} --quick --threads N`, an empty store each time, whole process, one "
        f"thread and two in turns; median speed-up {statistics.median(gains):.2f}."
    )
    return f"{note}\n\n{markdown(rows)}"
