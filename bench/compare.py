"""Runs the comparison and words its tables."""

from __future__ import annotations

import dataclasses
import statistics
import sys
from collections.abc import Callable

from cases import Case
from process import ToolError
from tools import Measurement, Tool

Samples = dict[str, dict[str, list[Measurement]]]
"""Measurements by case and tool, one a round."""


def measure_all(tools: list[Tool], cases: list[Case], rounds: int) -> tuple[Samples, list[str]]:
    """Every case with every tool in turn, `rounds` times over: a slow minute of the machine hits all alike.

    Returns the samples and the failures; a tool that fails in a case is not asked again for that case.
    """
    samples: Samples = {case.name: {} for case in cases}
    failures: dict[tuple[str, str], str] = {}
    for seed in range(1, rounds + 1):
        for case in cases:
            for tool in tools:
                if (case.name, tool.name) in failures:
                    continue
                try:
                    got = tool.measure(case, seed)
                except ToolError as problem:
                    failures[case.name, tool.name] = f"{tool.name}, {case.name}: {problem}"
                    print(f"FAILED {failures[case.name, tool.name]}", file=sys.stderr)
                    continue
                samples[case.name].setdefault(tool.name, []).append(got)
                print(
                    f"round {seed}  {case.name:18} {tool.name:9} run {got.run_s:8.3f} s  process {got.process_s:8.3f} s"
                    f"  {got.goodput_bps / 1e3:8.1f} kbit/s",
                    file=sys.stderr,
                )
    return samples, list(failures.values())


def tables(samples: Samples, cases: list[Case], names: list[str]) -> str:
    """The speed of the run, of the whole process, and the goodputs, as Markdown."""
    return "\n\n".join(
        [
            "Simulated seconds per wall second of the run itself, set-up excluded, median (lowest to highest):",
            speed_table(samples, cases, names, lambda m: m.run_s),
            "The same over the whole process (start, reading, set-up, output):",
            speed_table(samples, cases, names, lambda m: m.process_s),
            "Sum of the flows' goodputs in kbit/s, mean and standard deviation over the seeds, to see that each "
            "tool really carried the traffic (bench/README.md says what the tools model differently):",
            goodput_table(samples, cases, names),
        ]
    )


def speed_table(samples: Samples, cases: list[Case], names: list[str], seconds: Callable[[Measurement], float]) -> str:
    """One row a case: each tool's speed and the first tool's speed over the others'."""
    first, *others = names
    rows = [["scenario", "simulated", *names, *(f"{first} / {other}" for other in others)]]
    for case in cases:
        row = [case.title, f"{case.duration_s:g} s"]
        medians = {}
        for name in names:
            speeds = [case.duration_s / seconds(m) for m in samples[case.name].get(name, [])]
            if speeds:
                medians[name] = statistics.median(speeds)
                row.append(f"{figure(medians[name])} ({figure(min(speeds))} to {figure(max(speeds))})")
            else:
                row.append("failed")
        both = first in medians
        row += [f"**{medians[first] / medians[o]:.1f}**" if both and o in medians else "-" for o in others]
        rows.append(row)
    return markdown(rows)


def goodput_table(samples: Samples, cases: list[Case], names: list[str]) -> str:
    """One row a case: what each tool delivered."""
    rows = [["scenario", *names]]
    for case in cases:
        row = [case.title]
        for name in names:
            rates = [m.goodput_bps / 1e3 for m in samples[case.name].get(name, [])]
            spread = statistics.stdev(rates) if len(rates) > 1 else 0.0
            row.append(f"{statistics.mean(rates):.0f} ± {spread:.0f}" if rates else "failed")
        rows.append(row)
    return markdown(rows)


def busy_share(samples: Samples) -> float:
    """The lowest CPU time over wall time of any process longer than 0.5 s: far below 1 on a busy machine."""
    all_runs = [m for by_tool in samples.values() for runs in by_tool.values() for m in runs]
    return min((m.cpu_s / m.process_s for m in all_runs if m.process_s > 0.5), default=1.0)


def markdown(rows: list[list[str]]) -> str:
    """A table whose first row is the header; the first column to the left, the others to the right."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|---|" + "---:|" * (len(rows[0]) - 1))
    return "\n".join(lines)


def figure(value: float) -> str:
    """Three significant digits, without an exponent."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def with_duration(cases: list[Case], duration_s: float | None) -> list[Case]:
    """The cases, all of the given length if one is given."""
    if duration_s is None:
        return cases
    return [dataclasses.replace(case, duration_s=duration_s) for case in cases]
