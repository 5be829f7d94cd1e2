#!/usr/bin/env python3
"""The speed benchmark: our engine beside ns-2 and ns-3 on the same networks, from one command.

    bench/run.py [--rounds N] [--only CASE ...] [--duration SECONDS] [--skip-ns2] [--skip-ns3] [--scaling]

Exit status 0: all asked for was measured; 1: a comparison is missing (a tool is not installed or failed);
2: bad usage.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import compare
import document
import scaling
from cases import all_cases
from process import ToolError
from tools import ROOT, Meshpace, Ns2, Ns3, Tool

PAGE = ROOT / "docs" / "benchmarks.md"


def arguments() -> argparse.Namespace:
    """The command line."""
    names = [case.name for case in all_cases()]
    parser = argparse.ArgumentParser(description="Compare the speed of meshpace, ns-2 and ns-3.")
    parser.add_argument("--rounds", type=positive, default=5, metavar="N", help="interleaved rounds, one seed each (5)")
    parser.add_argument(
        "--only", nargs="+", choices=[*names, "scaling"], metavar="CASE", help=", ".join([*names, "scaling"])
    )
    parser.add_argument("--duration", type=float, metavar="S", help="simulated seconds of every case, at least 2")
    parser.add_argument("--skip-meshpace", action="store_true", help="leave our engine out")
    parser.add_argument("--skip-ns2", action="store_true", help="leave ns-2 out")
    parser.add_argument("--skip-ns3", action="store_true", help="leave ns-3 out")
    parser.add_argument("--scaling", action="store_true", help="also 10 to 1000 nodes and two cores, our engine alone")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        help=f"write the tables here, even of a partial run (full runs: {PAGE.name})",
    )
    options = parser.parse_args()
    if options.duration is not None and options.duration < 2:
        parser.error("--duration: less than 2 s leaves nothing to measure, flows start within the first second")
    if options.skip_meshpace and options.skip_ns2 and options.skip_ns3:
        parser.error("nothing is left to run")
    return options


def positive(text: str) -> int:
    """A whole number of at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number


def ready(wanted: list[Tool]) -> tuple[dict[str, str], list[Tool], list[str]]:
    """Versions of the tools that can run, those tools, and what is missing."""
    versions, usable, missing = {}, [], []
    for tool in wanted:
        try:
            versions[tool.name] = tool.prepare()
            usable.append(tool)
        except ToolError as problem:
            missing.append(f"{tool.name}: {problem}")
            print(f"MISSING {missing[-1]}", file=sys.stderr)
    return versions, usable, missing


def heading(versions: dict[str, str], rounds: int) -> str:
    """What was measured on what."""
    tools = ", ".join(f"{name} {version}" for name, version in versions.items())
    return f"{tools}; {document.machine()}; {rounds} interleaved rounds, one seed each; one core a run."


def main() -> int:
    """Runs what the command line asks for."""
    options = arguments()
    engine = Meshpace()
    skipped = {"meshpace": options.skip_meshpace, "ns-2": options.skip_ns2, "ns-3": options.skip_ns3}
    everything: list[Tool] = [engine, Ns2(), Ns3()]
    versions, tools, problems = ready([tool for tool in everything if not skipped[tool.name]])
    cases = [case for case in all_cases() if options.only is None or case.name in options.only]
    cases = compare.with_duration(cases, options.duration)
    blocks: dict[str, str] = {}
    if cases and tools:
        samples, failures = compare.measure_all(tools, cases, options.rounds)
        problems += failures
        tables = compare.tables(samples, cases, [tool.name for tool in tools])
        blocks["compare"] = f"{heading(versions, options.rounds)}\n\n{tables}"
        share = compare.busy_share(samples)
        if share < 0.95:
            note = f"The machine was busy: a process got only {share:.0%} of a core. Do not draw conclusions."
            blocks["compare"] += f"\n\n{note}"
    if (options.scaling or "scaling" in (options.only or [])) and engine in tools:
        try:
            rounds = min(options.rounds, 3)
            parts = [
                scaling.growth(engine, rounds, options.duration),
                scaling.of_an_event(engine, rounds),
                scaling.two_cores(engine, rounds),
            ]
            blocks["scaling"] = "\n\n".join([f"meshpace {versions[engine.name]}; {document.machine()}.", *parts])
        except ToolError as problem:
            problems.append(f"scaling: {problem}")
    for text in blocks.values():
        print(f"\n{text}")
    partial = bool(problems or options.duration or options.rounds < 5 or any(skipped.values()))
    for block, text in blocks.items():
        whole = not partial and (block == "scaling" or len(cases) == len(all_cases()))
        target = options.output or (PAGE if whole else None)
        if target is None:
            print(
                f"\n{block}: a partial run, {PAGE.relative_to(ROOT)} is left as it was (-o FILE writes anyway)",
                file=sys.stderr,
            )
        else:
            document.update(target, block, text)
            print(f"\n{block}: written to {target}", file=sys.stderr)
    for gap in problems:
        print(f"MISSING {gap}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
