"""``meshpace study list`` and ``meshpace study run``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid

from meshpace.cli.terminal import console
from meshpace.progress import Progress
from meshpace.report.model import Claim, Verdict
from meshpace.study import registry
from meshpace.study.executors import workers
from meshpace.study.model import Condition, Effort, Study
from meshpace.study.outcome import Outcome, by_name, load, write_table
from meshpace.study.runner import Tally, make, tasks
from meshpace.study.store import Store
from meshpace.study.verdicts import judge_all

_COLUMN = 23
"""Characters of a condition's column: five fit the console."""
STYLES = {Verdict.HOLDS: "green", Verdict.PART: "yellow", Verdict.FAILS: "red", Verdict.OPEN: "blue"}


def print_studies(as_json: bool) -> None:
    """One row a study, then the beginnings of names that stand for several."""
    if as_json:
        print(json.dumps({"schema": 1, "studies": [_described(study) for study in registry.STUDIES]}))
        return
    terminal = console()
    table = Grid("study", "figures", "what it shows", box=box.SIMPLE_HEAD)
    for heading in ("runs\nquick", "runs\nfull"):
        table.add_column(heading, justify="right")
    for study in registry.STUDIES:
        runs = (f"{len(tasks([study], effort)):,}" for effort in Effort)
        table.add_row(study.name, ", ".join(study.figures), study.shows, *runs)
    terminal.print(table)
    groups = (f"{name} ({count})" for name, count in registry.groups().items())
    terminal.print(f"Groups: {', '.join(groups)}", highlight=False)


def _described(study: Study) -> dict[str, object]:
    return {
        "name": study.name,
        "title": study.title,
        "figures": study.figures,
        "source": study.source,
        "shows": study.shows,
        "scenario": study.scenario,
        "axis": study.axis.title,
        "points": [point.label for point in study.axis.points],
        "schemes": study.schemes,
        "conditions": [{"routing": c.routing, "reception": c.reception} for c in study.conditions],
        "runs": {effort: len(tasks([study], effort)) for effort in Effort},
    }


def run_studies(names: Sequence[str], effort: Effort, directory: Path, threads: int | None, executor: str) -> None:
    """Makes what is missing, writes the tables, prints the verdicts."""
    studies = registry.find(names)
    store = Store(directory)
    terminal, errors = console(), Console(stderr=True)
    for problem in store.problems:
        errors.print(str(problem), highlight=False, soft_wrap=True)
    wanted = tasks(studies, effort)
    with workers(executor, threads) as hands, Progress(f"{' '.join(names)} ({effort})", len(wanted)) as progress:
        tally = make(wanted, store, hands, progress)
    outcomes = [load(store, study, effort) for study in studies]
    for outcome in outcomes:
        write_table(directory, outcome)
    _print_tally(terminal, tally, directory)
    print_verdicts(terminal, outcomes)


def _print_tally(terminal: Console, tally: Tally, directory: Path) -> None:
    others = f", {tally.others:,} by other processes" if tally.others else ""
    terminal.print(
        f"{tally.made:,} runs made{others}, {tally.stored:,} were in {directory}; tables in {directory / 'tables'}",
        highlight=False,
        soft_wrap=True,
    )


def print_verdicts(terminal: Console, outcomes: Sequence[Outcome]) -> None:
    """Every claim with a column a condition; then why claims do not hold, where the switches tell."""
    by_study = judge_all(by_name(outcomes))
    claims = [claim for group in by_study.values() for claim in group]
    if not claims:
        return
    conditions = list(dict.fromkeys(cell.condition for outcome in outcomes for cell in outcome.records))
    for study, group in by_study.items():
        terminal.print(study, style="bold underline", highlight=False)
        terminal.print(_row(condition.short for condition in conditions), style="dim")
        for claim in group:
            _print_claim(terminal, claim, conditions)
    _print_analysis(terminal, claims)
    counts = Counter(finding.verdict for claim in claims for finding in claim.findings)
    told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    terminal.print(f"{len(claims)} claims, {sum(counts.values())} verdicts: {told}", highlight=False)


def _print_claim(terminal: Console, claim: Claim, conditions: Sequence[Condition]) -> None:
    printed = f" [dim]Paper: {escape(claim.printed)}.[/]" if claim.printed else ""
    terminal.print(f"[bold]{escape(claim.statement)}[/]{printed}", highlight=False, soft_wrap=True)
    found = {finding.condition: finding for finding in claim.findings}
    cells = []
    for condition in conditions:
        finding = found.get(condition.name)
        style = "" if finding is None else STYLES[finding.verdict]
        cells.append("" if finding is None else f"[{style}]{finding.verdict}[/]\n{finding.measured}")
    terminal.print(_row(cells))


def _row(cells: Iterable[str]) -> Grid:
    row = Grid(box=None, show_header=False, padding=(0, 1, 0, 2))
    texts = list(cells)
    for _ in texts:
        row.add_column(width=_COLUMN)
    row.add_row(*texts)
    return row


def _print_analysis(terminal: Console, claims: Sequence[Claim]) -> None:
    analysed = [claim for claim in claims if claim.analysis]
    if analysed:
        terminal.print("Which ingredient makes the difference, where a claim does not hold:", style="bold")
    for claim in analysed:
        terminal.print(claim.statement, highlight=False, soft_wrap=True)
        for paragraph in claim.analysis:
            terminal.print(f"  {paragraph}", highlight=False, soft_wrap=True, markup=False)
