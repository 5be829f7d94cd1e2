"""Verdicts on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from meshpace.report.model import Claim, Verdict
from meshpace.study.model import Condition
from meshpace.study.telling import beside, tally

_STYLES = {
    Verdict.HOLDS: "green", Verdict.PART: "yellow", Verdict.FAILS: "red", Verdict.OPEN: "cyan",
    Verdict.BORDER: "cyan", Verdict.UNTESTABLE: "dim",
}  # fmt: skip
_COLUMN = 23
"""Characters of a condition's column: five fit the console."""


def print_verdicts(terminal: Console, by_study: Mapping[str, Sequence[Claim]], conditions: Sequence[Condition]) -> None:
    """Every claim with a column a condition; then why claims do not hold, where switches tell; then the sum."""
    claims = [claim for group in by_study.values() for claim in group]
    if not claims:
        return
    for study, group in by_study.items():
        terminal.print(study, style="bold underline", highlight=False)
        terminal.print(_row(condition.short for condition in conditions), style="dim")
        for claim in group:
            _print_claim(terminal, claim, conditions)
    _print_analysis(terminal, claims)
    terminal.print(tally(claims), highlight=False)


def _print_claim(terminal: Console, claim: Claim, conditions: Sequence[Condition]) -> None:
    printed = f" [dim]Paper: {escape(claim.printed)}.[/]" if claim.printed else ""
    asked = f" [dim]Asked: {escape(claim.tolerance)}.[/]" if claim.tolerance else ""
    line = f"[bold]{escape(claim.id)}[/] {escape(claim.statement)}{printed}{asked}"
    terminal.print(line, highlight=False, soft_wrap=True)
    found = {finding.condition: finding for finding in claim.findings}
    cells = []
    for condition in conditions:
        finding = found.get(condition.name)
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
