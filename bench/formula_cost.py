"""What formulas in Python cost: events a second of processor time beside the built-in parts that they equal, in turns.

    bench/formula_cost.py [--rounds N] [--duration SECONDS] [--only WORD ...]

The classes are those of docs/python.md. Each is run beside the engine's own part and beside a class that is asked as
often and answers nothing, so that what the calls cost can be told from what Python computes. Medians of the rounds and
of their ratios, as Markdown; exit status 1 if a formula's run is not its built-in's to the event.
"""

from __future__ import annotations

import argparse
import ast
import re
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import meshpace
from compare import markdown
from meshpace.api import Scheme

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Row:
    """A formula, what it equals, and the class that is only asked."""

    name: str
    scenario: str
    formula: str
    built_in: str
    asked: type[meshpace.Formula]


class Sender(meshpace.Formula):
    """Paced by the engine's TCP-AP, and asked beside it."""

    base = "tcp-ap"

    def on_ack(self, ack: Any) -> None:
        """Says nothing."""


class Receiver(meshpace.Formula):
    """Acknowledges each segment, as NewReno's receiver does."""

    def on_segment(self, segment: Any) -> None:
        """Now."""


class Rate(meshpace.Formula):
    """RCP's sender, and asked beside it."""

    base = "rcp"

    def on_ack(self, ack: Any) -> None:
        """Says nothing."""


class Gateway(meshpace.Formula):
    """Unpaced at the gateway, and asked there."""

    base = "tcp-gap"

    def on_round_trip(self, trip: Any) -> None:
        """Says nothing."""


ROWS = (
    Row("sender: TCP-AP", "up", "OwnTcpAp", "tcp-ap", Sender),
    Row("receiver: dynamic acknowledgements", "up", "OwnDynamic", "newreno-dynack", Receiver),
    Row("rate: RCP", "up", "OwnRcp", "rcp", Rate),
    Row("gateway: TCP-GAP", "down", "OwnGateway", "tcp-gap", Gateway),
)


def documented() -> dict[str, Any]:
    """The classes of docs/python.md."""
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    space: dict[str, Any] = {"__name__": "documented", "meshpace": meshpace}
    for block in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        nodes = [one for one in ast.parse(block).body if isinstance(one, (ast.Import, ast.ImportFrom, ast.ClassDef))]
        exec(compile(ast.Module(nodes, []), "docs/python.md", "exec"), space)
    return space


def scenario(which: str, duration_s: float) -> meshpace.Scenario:
    """Four hops, static routes: towards the wired host, or from it."""
    name = "chain-adhoc" if which == "up" else "demo-chain"
    found = meshpace.Scenario.load(ROOT / "scenarios" / f"{name}.toml").set("topology.hops", 4)
    found.set("routing.protocol", "static")
    found.set("flow.0.to", "n4") if which == "up" else found.set("flow", [{"from": "B", "to": "n0"}])
    return found.set("measure.duration", f"{duration_s:g}s").set("measure.warmup", "5s")


def timed(mesh: meshpace.Scenario, scheme: Scheme) -> tuple[int, float]:
    """Events, and events a second of processor time."""
    begin = time.process_time()
    run = meshpace.run(mesh, scheme=scheme, threads=1)
    return run["events"], run["events"] / (time.process_time() - begin)


def measured(row: Row, formula: type[meshpace.Formula], rounds: int, duration_s: float) -> tuple[list[str], bool]:
    """The cells of one row, and whether the formula gave the built-in's run."""
    mesh = scenario(row.scenario, duration_s)
    schemes: tuple[Scheme, ...] = (row.built_in, row.asked, formula)
    speeds: list[list[float]] = [[] for _ in schemes]
    events = [0] * len(schemes)
    for number in range(rounds):
        for index, scheme in enumerate(schemes):
            events[index], speed = timed(mesh, scheme)
            speeds[index].append(speed)
        print(f"{row.name}, round {number + 1}", file=sys.stderr)
    ratios = [statistics.median(own / built for own, built in zip(own, speeds[0], strict=True)) for own in speeds[1:]]
    medians = [f"{statistics.median(found) / 1e6:.2f}" for found in speeds]
    return [row.name, f"{events[0]:,}", *medians, *(f"{ratio:.2f}" for ratio in ratios)], events[0] == events[2]


def main() -> int:
    """The table on standard output."""
    parser = argparse.ArgumentParser(description="What formulas in Python cost.")
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="rounds (7)")
    parser.add_argument("--duration", type=float, default=300.0, metavar="SECONDS", help="simulated (300)")
    parser.add_argument("--only", nargs="+", metavar="WORD", help="rows whose names have one of these words")
    options = parser.parse_args()
    own = documented()
    chosen = [row for row in ROWS if not options.only or any(word in row.name for word in options.only)]
    header = ["formula", "events", "built-in, million/s", "asked only", "formula", "asked only / built-in",
              "formula / built-in"]  # fmt: skip
    rows, same = [header], True
    for row in chosen:
        cells, equal = measured(row, own[row.formula], options.rounds, options.duration)
        rows.append(cells)
        same = same and equal
        if not equal:
            print(f"{row.name}: not the built-in's run", file=sys.stderr)
    print(markdown(rows))
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
