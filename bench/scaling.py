"""How our engine's cost grows with the number of nodes, what a node weighs, what a second core brings."""

from __future__ import annotations

import dataclasses
import statistics
import sys

from cases import parallel_chains, scaling_mesh
from compare import figure, markdown
from tools import Meshpace

SIZES = (10, 30, 100, 300, 1000)
SEEDS = 8


def growth(engine: Meshpace, rounds: int, duration_s: float | None) -> str:
    """Frames a second, wall time a frame and memory a node at constant density, as Markdown."""
    header = [
        "nodes",
        "flows",
        "in carrier range",
        "frames",
        "frames / s",
        "ns / frame",
        "ns / frame and hearer",
    ]
    rows = [[*header, "peak memory", "kB / node"]]
    smallest: tuple[int, int] | None = None
    for size in SIZES:
        case = scaling_mesh(size)
        if duration_s is not None:
            case = dataclasses.replace(case, duration_s=duration_s)
        cost, peaks = [], []
        frames = 0
        for seed in range(1, rounds + 1):
            objects, done = engine.results(case, ["--seed", str(seed)])
            frames = objects[0]["frames"]
            cost.append(objects[0]["wall_s"] / frames * 1e9)
            peaks.append(done.peak_bytes)
            print(f"scaling  {size:5} nodes  seed {seed}  {cost[-1]:7.0f} ns/frame", file=sys.stderr)
        per_frame, peak, hearers = statistics.median(cost), round(statistics.median(peaks)), case.hearers()
        smallest = smallest or (size, peak)
        extra = (peak - smallest[1]) / (size - smallest[0]) / 1e3 if size > smallest[0] else None
        rows.append(
            [
                str(size),
                str(len(case.flows)),
                f"{hearers:.1f}",
                str(frames),
                f"{1e9 / per_frame:,.0f}".replace(",", " "),
                f"{per_frame:.0f}",
                f"{per_frame / hearers:.0f}",
                f"{peak / 1e6:.1f} MB",
                "-" if extra is None else f"{extra:.1f}",
            ]
        )
    note = (
        f"Random nodes at 48 a km², static routes, one flow of 3 to 5 hops for every ten nodes, medians of {rounds} "
        "seeds. Memory is the peak of the whole process, Python included; kB a node is its growth over "
        f"{SIZES[0]} nodes."
    )
    return f"{note}\n\n{markdown(rows)}"


def two_cores(engine: Meshpace, rounds: int, duration_s: float | None) -> str:
    """The same set of seeds with one thread and with two, whole process, as Markdown."""
    case = dataclasses.replace(parallel_chains(), duration_s=duration_s or 1000)
    walls: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(rounds):
        for threads, taken in walls.items():
            _, done = engine.results(case, ["--seeds", str(SEEDS), "--threads", str(threads)])
            taken.append(done.wall_s)
            print(f"scaling  {SEEDS} seeds, {threads} threads  {done.wall_s:7.2f} s", file=sys.stderr)
    one, two = (statistics.median(walls[threads]) for threads in (1, 2))
    rows = [
        ["threads", "process, s", "speed-up"],
        ["1", figure(one), "1"],
        ["2", figure(two), f"{one / two:.2f}"],
    ]
    note = f"{SEEDS} seeds of {case.title}, {case.duration_s:g} simulated seconds each, medians of {rounds}."
    return f"{note}\n\n{markdown(rows)}"
