"""Claims and their verdicts as HTML: told in full, and as the table of the front page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape

from meshpace.report.model import Claim, Finding, Section, Verdict
from meshpace.report.numbers import numbers

_LOOKS = {
    Verdict.HOLDS: ("holds", "✓"), Verdict.PART: ("part", "◐"), Verdict.FAILS: ("fails", "✗"),
    Verdict.OPEN: ("open", "?"),
    Verdict.BORDER: ("open", "?"),
}  # fmt: skip
"""Class and sign."""


def in_full(claims: Iterable[Claim]) -> str:
    """Statement, both numbers, and the reason of each verdict."""
    return "".join(map(_claim, claims))


def _claim(claim: Claim) -> str:
    findings = "".join(
        f"<li>{_chip(f)} <span class=condition>{escape(f.condition)}:</span> <span>{_reason(f)}</span></li>"
        for f in claim.findings
    )
    analysis = "".join(f"<p class=analysis>{escape(paragraph)}</p>" for paragraph in claim.analysis)
    tolerance = f" Tolerance: {escape(claim.tolerance)}." if claim.tolerance else ""
    statement = f"<p>{_name(claim)} <small>{escape(claim.source)}.{_printed(claim)}{tolerance}</small></p>"
    return f'<article class="claim">{statement}<ul>{findings}</ul>{analysis}</article>'


def _name(claim: Claim) -> str:
    return f"<b>{escape(claim.id)}</b> {escape(claim.statement)}" if claim.id else escape(claim.statement)


def _printed(claim: Claim) -> str:
    return f" <b class=printed>Paper: {escape(claim.printed)}</b>" if claim.printed else ""


def _chip(finding: Finding) -> str:
    verdict = finding.verdict
    sign = f'<i aria-hidden="true">{_LOOKS[verdict][1]}</i>'
    return f'<span class="verdict {_LOOKS[verdict][0]}">{sign} {escape(finding.told.capitalize())}</span>'


def _number(finding: Finding) -> str:
    ratio = "" if finding.ratio is None else f" ×{finding.ratio:.2f}"
    return f"<b>{numbers(escape(finding.measured))}</b>{numbers(ratio)} " if finding.measured else ""


def _reason(finding: Finding) -> str:
    """With our number in it, or before it, in bold."""
    reason, measured = numbers(escape(finding.reason)), numbers(escape(finding.measured))
    if measured and measured in reason:
        return reason.replace(measured, f"<b>{measured}</b>", 1)
    return _number(finding) + reason


def overview(sections: Sequence[Section]) -> str:
    """Every claim of the sections in a row with a verdict a column; empty if there is none."""
    judged = [(index, section) for index, section in enumerate(sections) if section.claims]
    conditions = list(
        dict.fromkeys(f.condition for _, section in judged for claim in section.claims for f in claim.findings)
    )
    if not conditions:
        return ""
    head = "".join(f'<th scope="col">{escape(condition)}</th>' for condition in conditions)
    bodies = "".join(
        f'<tbody><tr class=study><th scope="rowgroup" colspan="{1 + len(conditions)}">'
        f'<a href="#s{index}">{escape(section.title)}</a></th></tr>'
        f"{''.join(_row(claim, conditions) for claim in section.claims)}</tbody>"
        for index, section in judged
    )
    findings = [f for _, section in judged for claim in section.claims for f in claim.findings]
    return (
        f'{_tally(findings)}<table class="overview"><thead><tr><th scope="col">Claim</th>{head}</tr></thead>'
        f"{bodies}</table>"
    )


def _row(claim: Claim, conditions: Sequence[str]) -> str:
    by_condition = {finding.condition: finding for finding in claim.findings}
    cells = []
    for condition in conditions:
        finding = by_condition.get(condition)
        label = escape(condition, quote=True)
        if finding is None:
            cells.append('<td class="empty"></td>')
            continue
        tip = escape(finding.reason, quote=True)
        cells.append(f'<td data-condition="{label}" title="{tip}">{_chip(finding)} {_number(finding)}</td>')
    return f'<tr><th scope="row"><p>{_name(claim)}{_printed(claim)}</p></th>{"".join(cells)}</tr>'


def _tally(findings: Sequence[Finding]) -> str:
    counts = Counter(finding.verdict for finding in findings)
    told = [verdict for verdict in Verdict if counts[verdict]]
    bar = "".join(
        f'<i class="{_LOOKS[verdict][0]}" style="flex-basis:{100 * counts[verdict] / len(findings):.2f}%"></i>'
        for verdict in told
    )
    names = "".join(
        f'<li class="{_LOOKS[verdict][0]}"><b>{counts[verdict]}</b> {escape(verdict)}</li>' for verdict in told
    )
    return (
        f'<div class="tally"><div class="shares" aria-hidden="true">{bar}</div>'
        f'<ul aria-label="{len(findings)} verdicts">{names}</ul></div>'
    )
