"""Verdicts on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from meshpace.report.model import Claim, Verdict
from meshpace.study.model import Condition
from meshpace.study.telling import beside, beside_ours, by_place, of_condition, tally

_STYLES = {
    Verdict.HOLDS: "green", Verdict.PART: "yellow", Verdict.FAILS: "red", Verdict.OPEN: "cyan",
    Verdict.BORDER: "cyan", Verdict.UNTESTABLE: "dim",
}  # fmt: skip
_COLUMN = 23
"""Characters of a condition's column: five fit the console."""


def print_verdicts(terminal: Console, by_study: Mapping[str, Sequence[Claim]], conditions: Sequence[Condition]) -> None:
    """Every claim with a column a condition; then why claims do not hold, where switches tell; then the sum."""
    every = [claim for group in by_study.values() for claim in group]
    if not every:
        return
    ours = by_place(by_study)
    for study, group in by_study.items():
        terminal.print(study, style="bold underline", highlight=False)
        terminal.print(_row(condition.short for condition in conditions), style="dim")
        for claim in group:
            _print_claim(terminal, claim, conditions)
            if claim.again_of in ours:
                terminal.print("  by our decisions:", style="dim", highlight=False)
                _print_findings(terminal, ours[claim.again_of], conditions)
    _print_analysis(terminal, every)
    terminal.print(tally(claim for claim in every if claim.again_of is None), highlight=False)
    if again := [claim for claim in every if claim.again_of is not None]:
        told = f"Again, at other readings: {tally(again)}. {beside_ours(by_study, again)}"
        terminal.print(told, highlight=False, soft_wrap=True)


def _print_claim(terminal: Console, claim: Claim, conditions: Sequence[Condition]) -> None:
    printed = f" [dim]Paper: {escape(claim.printed)}.[/]" if claim.printed else ""
    asked = f" [dim]Asked: {escape(claim.tolerance)}.[/]" if claim.tolerance else ""
    line = f"[bold]{escape(claim.id)}[/] {escape(claim.statement)}{printed}{asked}"
    terminal.print(line, highlight=False, soft_wrap=True)
    _print_findings(terminal, claim, conditions)


def _print_findings(terminal: Console, claim: Claim, conditions: Sequence[Condition]) -> None:
    cells = []
    for condition in conditions:
        finding = of_condition(claim, condition.name)
        style = "" if finding is None else _STYLES[finding.verdict]
        cells.append("" if finding is None else f"[{style}]{finding.told}[/]\n{beside(finding)}")
    terminal.print(_row(cells))


def _row(cells: Iterable[str]) -> Table:
    row = Table(box=None, show_header=False, padding=(0, 1, 0, 2))
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
