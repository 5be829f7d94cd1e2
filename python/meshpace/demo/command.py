"""``meshpace demo``."""

from __future__ import annotations

import time
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table as Grid

from meshpace import engine
from meshpace.cli.terminal import console
from meshpace.demo.claims import judge
from meshpace.demo.outcome import Outcome, run_cases
from meshpace.demo.plan import SCHEMES, chain_cases, parallel_cases
from meshpace.demo.sections import chain_section, parallel_section
from meshpace.files import replacing
from meshpace.progress import Progress
from meshpace.report.model import Claim, Report, Section, Verdict
from meshpace.report.page import render

_STYLES = {Verdict.HOLDS: "green", Verdict.PART: "yellow", Verdict.FAILS: "red", Verdict.OPEN: "cyan"}


def demo(output: Path, seeds: int, threads: int | None) -> None:
    """Runs everything, prints the tables and the verdicts, writes the report to ``output``."""
    cases = [*chain_cases(), *parallel_cases()]
    began = time.monotonic()
    with Progress("demo", len(cases) * len(SCHEMES) * seeds) as progress:
        outcome = run_cases(cases, seeds, threads, progress)
    wall = time.monotonic() - began
    sections = (chain_section(outcome), parallel_section(outcome))
    claims = judge(outcome)
    with replacing(output) as draft:
        draft.write_text(render(_report(outcome, seeds, wall, claims, sections)), encoding="utf-8")
    terminal = console()
    for section in sections:
        _print_tables(terminal, section)
    _print_claims(terminal, claims)
    terminal.print(f"Report: {output}", highlight=False)


def _report(
    outcome: Outcome, seeds: int, wall: float, claims: tuple[Claim, ...], sections: tuple[Section, ...]
) -> Report:
    runs = [run for group in outcome.runs.values() for run in group]
    simulated = sum(run["simulated_s"] for run in runs)
    return Report(
        title="NewReno against adaptive pacing",
        lead="TCP over an 802.11 mesh with a gateway to the Internet: plain NewReno, TCP-AP (the sender spaces its "
        "packets) and TCP-GAP (sender and gateway do). Every number comes from this engine; every run can be repeated.",
        facts=(
            ("engine", engine.version()),
            ("runs", f"{len(runs):,}"),
            ("seeds a point", str(seeds)),
            ("simulated", f"{simulated / 3600:,.1f} hours"),
            ("wall time", f"{wall:,.0f} s"),
            ("made by", f"meshpace demo --seeds {seeds}"),
        ),
        claims=claims,
        sections=sections,
        notes=(
            "A difference counts as one where its 95 % confidence interval (Student's t, paired by seed) leaves out "
            'zero. "Up to x %" holds if the largest gain reaches half of x and no point loses; a claim that holds at '
            "some of its points only holds in part. Where the intervals allow both, a claim is undecided: more seeds "
            "are needed, and nothing is refuted. Intervals are for one point each, not corrected for their number, and "
            "the largest of several gains is partly luck: look at its interval.",
            "TCP-AP was made for paths without a wired part: it takes the whole round-trip time, 240 ms of it wired "
            "here, for wireless, and so paces far too slowly. It is shown for what the gateway adds, not as a fair "
            "contest.",
            "Delay runs from the first hand-over to the network layer until the first arrival at the receiver: the "
            "wait in the sender's own pacing queue is outside, that in the gateway's is inside.",
        ),
    )


def _print_tables(terminal: Console, section: Section) -> None:
    for table in section.tables:
        grid = Grid(title=table.title, title_justify="left", box=box.SIMPLE_HEAD)
        for index, name in enumerate(table.head):
            grid.add_column(name, justify="left" if index < table.keys else "right")
        for row in table.rows:
            grid.add_row(*row)
        terminal.print(grid)


def _print_claims(terminal: Console, claims: tuple[Claim, ...]) -> None:
    for claim in claims:
        terminal.print(claim.statement, highlight=False, style="bold")
        for finding in claim.findings:
            colour = _STYLES[finding.verdict]
            terminal.print(
                f"  [{colour}]{finding.verdict}[/] ({finding.condition}): {finding.reason}",
                highlight=False,
                soft_wrap=True,
            )
