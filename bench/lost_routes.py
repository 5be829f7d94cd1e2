"""Does a busy mesh lose its routes? Downloads over chains under daemons of today, and under simulated protocols.

    .venv/bin/python bench/lost_routes.py [--daemons babeld,bird] [--senders cubic,gap,calm,flood,flood-fq]
                                          [--hops 4,6,8] [--seconds 30] [--runs K] [--at-once N] [--attempts K]
                                          [--meshpaced FILE] [--store FOLDER] [--stored] [--write]

As root, with babeld and bird (Debian: babeld, bird2). A wired host sends to the far end of a chain of 802.11b, for so
many seconds after 5 that do not count: by its kernel's cubic; by the same, paced at the gateway by `meshpaced gateway`;
by calm in its kernel, which nobody else has meanwhile; by UDP, which nothing slows down, with queues of drop-tail and
of FQ-CoDel. Kernels of mesh nodes forward, and daemons, as `meshpace emulate --daemon` configures them, make their
routes. The same chains are simulated under the simulator's protocols. Runs that the folder has are not made again; one
that was late is, up to --attempts times, whatever it measured. --write puts the tables of runs of so many seconds into
docs/lost-routes.md, between their marks.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "live"))

from calm_kernel import alone, congestion, why_not

import document
from emulated_runs import Result, Run, Store, arguments, asked_by
from lost_routes_emulated import Cell, breaks, emulated, hellos, outcome
from lost_routes_places import SENDERS
from lost_routes_simulated import PROTOCOLS, simulated

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "lost-routes.md"
DAEMONS = [
    "| daemon | sender | hops | goodput, kbit/s | way lost, by run | longest silence, s: median / most | "
    "Hellos that came | in time |",
    "|---|---|--:|--:|--:|--:|--:|--:|",
]


def daemons_row(cell: Cell, results: Sequence[Result]) -> str:
    outcomes = [outcome(cell, result) for result in results]
    goodputs = [one.goodput_bps / 1e3 for one in outcomes]
    silences = [one.silence_s for one in outcomes]
    columns = [
        cell.daemon,
        SENDERS[cell.sender],
        str(cell.hops),
        f"{statistics.mean(goodputs):.0f} ({min(goodputs):.0f} to {max(goodputs):.0f})",
        ", ".join(str(one.broken) for one in outcomes),
        f"{statistics.median(silences):.1f} / {max(silences):.1f}",
        f"{statistics.mean(hellos(cell.hops, result) for result in results):.0%}",
        f"{sum(result['lateness']['valid'] is True for result in results)} of {len(results)}",
    ]
    return f"| {' | '.join(columns)} |"


def protocols_table(senders: Sequence[str], lengths: Sequence[int], seconds: int, runs: int) -> list[str]:
    """A row a protocol and sender, with all lengths in it."""
    hops = ", ".join(map(str, lengths))
    lines = [
        f"| simulated | sender | goodput over {hops} hops, kbit/s | route failures, mean | longest silence, s: most |",
        "|---|---|--:|--:|--:|",
    ]
    for protocol, sender in itertools.product(PROTOCOLS, senders):
        seeds = range(1, runs + 1)
        found = [[simulated(protocol, sender, length, seconds, seed) for seed in seeds] for length in lengths]
        columns = [
            ", ".join(f"{statistics.mean(one.goodput_bps for one in of_length) / 1e3:.0f}" for of_length in found),
            ", ".join(f"{statistics.mean(one.broken for one in of_length):.0f}" for of_length in found),
            ", ".join(f"{max(one.silence_s for one in of_length):.1f}" for of_length in found),
        ]
        lines.append(f"| {protocol} | {SENDERS[sender]} | {' | '.join(columns)} |")
    return lines


def shown(cell: Cell, result: Result) -> str:
    """In words, as the run is over."""
    came = outcome(cell, result)
    lost = ", ".join(f"{begin:.1f} to {end:.1f} s" for begin, end in breaks(cell, result)) or "never"
    share = hellos(cell.hops, result)
    return f"{came.goodput_bps / 1e3:.0f} kbit/s, silent {came.silence_s:.1f} s, way lost {lost}, Hellos {share:.0%}"


def make(store: Store, runs: dict[tuple[Cell, int], Run], at_once: int, meshpaced: Path) -> None:
    """Those with calm so many at a time as run at once: no other run is beside them meanwhile."""
    others = [run for (cell, _), run in runs.items() if cell.sender != "calm"]
    with_calm = [run for (cell, _), run in runs.items() if cell.sender == "calm"]
    store.make(others, at_once)
    if with_calm and (why := why_not()):
        sys.exit(why)
    for first in range(0, len(with_calm), at_once):
        with alone(meshpaced):
            congestion("load", meshpaced=meshpaced)
            store.make(with_calm[first : first + at_once], at_once)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--daemons", default="babeld,bird")
    parser.add_argument("--senders", default=",".join(SENDERS))
    parser.add_argument("--hops", default="4,6,8")
    parser.add_argument("--seconds", type=int, default=30)
    arguments(parser, "lost-routes")
    asked = asked_by(parser)
    every = (asked.senders.split(","), [int(hops) for hops in asked.hops.split(",")])
    cells = [Cell(*words, asked.seconds) for words in itertools.product(asked.daemons.split(","), *every)]

    def run(cell: Cell, seed: int) -> Run:
        made: Callable[[], Result | str] = lambda: emulated(cell, seed, asked.meshpaced)  # noqa: E731
        return Run(cell.name(seed), made, lambda result: shown(cell, result))

    runs = {(cell, seed): run(cell, seed) for seed in range(1, asked.runs + 1) for cell in cells}
    store = Store(asked.store, asked.attempts)
    if not asked.stored:
        make(store, runs, asked.at_once, asked.meshpaced)
    found = {cell: [r for seed in range(1, asked.runs + 1) if (r := store.read(cell.name(seed)))] for cell in cells}
    lines = [*DAEMONS, *(daemons_row(cell, results) for cell, results in found.items() if results)]
    written = "\n".join([*lines, "", store.account(list(runs.values()))])
    beside = "\n".join(protocols_table(*every, asked.seconds, asked.runs))
    print(f"{written}\n\n{beside}")
    if asked.write:
        document.update(DOCUMENT, f"daemons-{asked.seconds}", written)
        document.update(DOCUMENT, f"simulated-{asked.seconds}", beside)


if __name__ == "__main__":
    main()
