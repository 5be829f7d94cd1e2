"""What ``templates/verdicts.html`` asks of claims and their verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from meshpace.report.model import Claim, Finding, Section, Verdict

_LOOKS = {
    Verdict.HOLDS: ("holds", "✓"), Verdict.PART: ("part", "◐"), Verdict.FAILS: ("fails", "✗"),
    Verdict.OPEN: ("open", "?"),
    Verdict.BORDER: ("open", "?"), Verdict.UNTESTABLE: ("open", "–"),
}  # fmt: skip
"""Class and sign."""


def _around(finding: Finding) -> tuple[str, str, str] | None:
    """The reason before our number, the number, the reason behind it; None if it is not in it."""
    before, number, behind = finding.reason.partition(finding.measured) if finding.measured else ("", "", "")
    return (before, number, behind) if number else None


def _findings(sections: Sequence[Section]) -> list[Finding]:
    return [finding for section in sections for claim in section.claims for finding in claim.findings]


def _conditions(sections: Sequence[Section]) -> list[str]:
    return list(dict.fromkeys(finding.condition for finding in _findings(sections)))


def _finding(claim: Claim, condition: str) -> Finding | None:
    return {finding.condition: finding for finding in claim.findings}.get(condition)


def _counted(findings: Sequence[Finding]) -> list[tuple[Verdict, int]]:
    """How many there are of each verdict that there is."""
    counts = Counter(finding.verdict for finding in findings)
    return [(verdict, counts[verdict]) for verdict in Verdict if counts[verdict]]


HELPERS: Mapping[str, Any] = {
    "look": _LOOKS.__getitem__,
    "around": _around,
    "findings_of": _findings,
    "conditions_of": _conditions,
    "finding_of": _finding,
    "counted": _counted,
}
