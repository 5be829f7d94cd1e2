"""This kernel's senders over an emulated mesh, without and with thin acknowledgements at its edge, and calm among them.

    .venv/bin/python bench/emulated_kernels.py TABLE [--runs K] [--at-once N] [--attempts K]
                                               [--controls reno,cubic,bbr,calm] [--meshpaced FILE] [--store FOLDER]
                                               [--stored] [--write]

As root. TABLE is one of `chains`: one flow over 1, 4, 8 hops of 802.11b; `radios`: of 802.11n; `pairs`: two chains of
five hops with a wired part, one flow each; `company`: calm beside another on two chains and in one queue; `files`:
transfers of 20 kB, 100 kB and 1 MB one after another over 4 hops, alone and beside bulk; `queues`: with fewer segments
an acknowledgement, and FQ-CoDel in the mesh; `senders`: what the sender's kernel tells of windows, timers and round
trips over chains. With the edge, `meshpaced edge` runs wherever acknowledgements set out into the mesh: at receivers in
it, at the gateway. Calm is loaded for as long as the runs take, nobody else has it meanwhile. Runs that the folder has
are not made again; one that was late is, up to --attempts times, whatever it measured. --write puts the table into
docs/kernels.md, between its marks.
"""

from __future__ import annotations

import argparse
import itertools
import random
import statistics
import sys
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "live"))

from calm_kernel import alone, congestion, why_not

import document
import emulated_senders
from emulated_cells import THIN, Cell, emulated, files, flows, shown
from emulated_files import SIZES
from emulated_runs import Result, Run, Store, arguments, asked_by
from meshpace.stats import estimate, jain_index

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "kernels.md"
TABLES = {
    "chains": ("1 hop", "4 hops", "8 hops"),
    "radios": ("802.11n, 1 hop", "802.11n, 4 hops", "802.11n, 8 hops"),
    "pairs": ("two chains, up", "two chains, down", "two chains, one each way"),
    "company": ("two chains, up", "one queue, 4 hops"),
    "files": ("files over 4 hops", "files beside bulk"),
    "queues": ("4 hops", "4 hops, fq-codel", "8 hops", "8 hops, fq-codel"),
    "senders": ("1 hop", "4 hops", "8 hops"),
}
UNIT = 16
"""Segments of calm's trains over 802.11n: as many as it makes of them at most in the simulator (`dr_unit`)."""

DRAWS = 2000


def cells(table: str, controls: Sequence[str]) -> list[Cell]:
    kinds = [(control,) * 2 for control in controls]
    if table == "company":
        kinds = [("calm", other) for other in controls if other != "calm"]
    thins = (None, 4, 8, 16) if table == "queues" else (None, 16)
    return [Cell(place, kind, thin) for place in TABLES[table] for kind in kinds for thin in thins]


def bulk_rows(found: dict[Cell, list[Result]]) -> str:
    """Goodput with 95 % intervals, delays, fairness, and what thin acknowledgements change."""
    lines = [
        "| path | sender | acknowledgements | goodput, kbit/s | change | delay, ms: mean / 95 % | Jain | resent "
        "| valid |",
        "|---|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for cell, results in found.items():
        if not results:
            continue
        runs = [flows(cell, result) for result in results]
        sums = [sum(flow.goodput_bps for flow in run) / 1e3 for run in runs]
        without = found.get(cell._replace(thin=None), [])
        before = [sum(flow.goodput_bps for flow in flows(cell, result)) / 1e3 for result in without]
        change = f"{100 * (statistics.mean(sums) / statistics.mean(before) - 1):+.0f} %" if cell.thin and before else ""
        shares = [[flow.goodput_bps for flow in run] for run in runs]
        all_, several = [flow for run in runs for flow in run], len(runs[0]) > 1
        each = " + ".join(f"{statistics.mean(of) / 1e3:.0f}" for of in zip(*shares, strict=True))
        columns = [
            cell.place,
            " beside ".join(dict.fromkeys(cell.controls)),
            answers(cell),
            mean(sums) + (f" = {each}" if several else ""),
            change,
            f"{milliseconds(flow.delay_s for flow in all_)} / {milliseconds(flow.delay_p95_s for flow in all_)}",
            f"{statistics.mean(jain_index(share) or 0.0 for share in shares):.3f}" if several else "",
            f"{statistics.mean(sum(flow.resent for flow in run) for run in runs):.0f}",
            valid(results),
        ]
        lines.append(f"| {' | '.join(columns)} |")
    return "\n".join(lines)


def file_rows(found: dict[Cell, list[Result]]) -> str:
    """Medians and 95 % of the times of files, over all runs."""
    sizes = sorted(set(SIZES))
    names = " | ".join(f"{size // 1000} kB, s: median / 95 % (files)" for size in sizes)
    lines = [f"| path | sender | acknowledgements | {names} | valid |", f"|---|---|---|{'--:|' * (len(sizes) + 1)}"]
    for cell, results in found.items():
        if not results:
            continue
        took = {size: [one for result in results for one in files(result)[size]] for size in sizes}
        columns = [
            cell.place,
            cell.controls[-1],
            answers(cell),
            *(
                f"{percentile(took[size], 50):.2f} / {percentile(took[size], 95):.2f} ({len(took[size])})"
                for size in sizes
            ),
            valid(results),
        ]
        lines.append(f"| {' | '.join(columns)} |")
    return "\n".join(lines)


def file_changes(found: dict[Cell, list[Result]]) -> str:
    """By how much thin acknowledgements change the 95 %, as far as runs tell, which are drawn again and again."""
    sizes = sorted(set(SIZES))
    names = " | ".join(f"{size // 1000} kB" for size in sizes)
    lines = [f"| path | sender | {names} |", f"|---|---|{'--:|' * len(sizes)}"]
    draw = random.Random(1)
    for cell, thin in found.items():
        own = found.get(cell._replace(thin=None), [])
        if not (cell.thin and thin and own):
            continue
        columns = []
        for size in sizes:
            ways = [[files(result)[size] for result in results] for results in (own, thin)]
            changes = sorted(p95(draw, ways[1]) - p95(draw, ways[0]) for _ in range(DRAWS))
            columns.append(f"{changes[DRAWS // 40]:+.2f} to {changes[-DRAWS // 40]:+.2f}")
        lines.append(f"| {cell.place} | {cell.controls[-1]} | {' | '.join(columns)} |")
    return "\n".join(lines)


def p95(draw: random.Random, runs: list[list[float]]) -> float:
    """Of the files of as many runs, drawn."""
    drawn: list[float] = []
    while len(drawn) < 2:
        drawn = [one for run in draw.choices(runs, k=len(runs)) for one in run]
    return percentile(drawn, 95)


def answers(cell: Cell) -> str:
    return "Linux's" if cell.thin is None else "thin" if cell.thin in THIN else f"thin, {cell.thin} segments"


def milliseconds(values: Iterable[float]) -> str:
    return f"{statistics.mean(values) * 1e3:.0f}"


def percentile(values: Sequence[float], percent: int) -> float:
    """With interpolation between the two nearest."""
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1] if len(values) > 1 else values[0]


def valid(results: list[Result]) -> str:
    return f"{sum(result['lateness']['valid'] is True for result in results)} of {len(results)}"


def mean(values: Sequence[float]) -> str:
    found = estimate(values)
    assert found is not None, "there is a run"
    return f"{found.mean:.0f}" + (f" ± {found.half_width:.0f}" if found.half_width is not None else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("--controls", default="reno,cubic,bbr,calm")
    arguments(parser, "emulated-kernels")
    asked = asked_by(parser)
    wanted = cells(asked.table, asked.controls.split(","))
    observer = emulated_senders.observer() if asked.table == "senders" else ""
    store = Store(asked.store, asked.attempts)
    runs = {
        (cell, seed): Run(
            f"{asked.table}-{cell.name(seed)}" if observer else cell.name(seed),
            lambda cell=cell, seed=seed: emulated(cell, seed, asked.meshpaced, observer),
            lambda result, cell=cell: shown(cell, result),
        )
        for seed, cell in itertools.product(range(1, asked.runs + 1), wanted)
    }
    if not asked.stored:
        needs_calm = any("calm" in cell.controls for cell in wanted)
        if needs_calm and (why := why_not()):
            sys.exit(why)
        with alone(asked.meshpaced) if needs_calm else nullcontext():
            if needs_calm:
                unit = ("--unit", UNIT) if asked.table == "radios" else ()
                congestion("load", *unit, meshpaced=asked.meshpaced)
            store.make(list(runs.values()), asked.at_once)
    found: dict[Cell, list[Result]] = {cell: [] for cell in wanted}
    for (cell, _), run in runs.items():
        if result := store.read(run.name):
            found[cell].append(result)
    rows = {"files": file_rows, "senders": emulated_senders.rows}.get(asked.table, bulk_rows)
    more = f"\n\nOf thin less Linux's, 95 %, s:\n\n{file_changes(found)}" if asked.table == "files" else ""
    written = f"{rows(found)}{more}\n\n{store.account(list(runs.values()))}"
    print(written)
    if asked.write:
        document.update(DOCUMENT, asked.table, written)


if __name__ == "__main__":
    main()
