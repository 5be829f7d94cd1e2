"""Verdicts as JSON, and as the words that every table has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from meshpace.report.model import Claim, Finding, Verdict
from meshpace.study.model import Study


def claims_as_json(by_study: Mapping[str, Sequence[Claim]]) -> list[dict[str, object]]:
    """A claim and condition each: numbers in the claim's own unit, ``ci95`` the half-width; what is not there None."""
    return [
        {
            "id": claim.id,
            "study": study,
            "figure": claim.figure,
            "statement": claim.statement,
            "condition": finding.condition,
            "asked": claim.tolerance,
            "printed": claim.value,
            "printed_text": claim.printed,
            "value": None if finding.value is None else finding.value.mean,
            "ci95": None if finding.value is None else finding.value.half_width,
            "ratio": finding.ratio,
            "verdict": str(finding.verdict),
            "note": finding.note,
            "seeds": finding.seeds,
            "seeds_to_decide": finding.seeds_to_decide,
        }
        for study, claims in by_study.items()
        for claim in claims
        for finding in claim.findings
    ]


def decisions(study: Study) -> str:
    """The open decisions that a study turns, each with the points that do; empty if there is none."""
    each = study.turned().items()
    return ", ".join(f"{one} ({'; '.join(points)})" if points else one for one, points in each)


def beside(finding: Finding) -> str:
    """Our number, its ratio to the paper's, and what it would take to decide."""
    parts = [finding.measured] if finding.measured else []
    if finding.ratio is not None:
        parts.append(f"×{finding.ratio:.2f}")
    if finding.seeds_to_decide is not None:
        parts.append(f"{finding.seeds_to_decide:,} seeds to decide")
    return ", ".join(parts)


def unjudged(claims: Mapping[str, str]) -> Iterator[str]:
    """The claims that no study judges, as Markdown: a row a claim with what holds it."""
    yield "## Claims that no study judges"
    yield ""
    yield "| claim | what holds it |"
    yield "|---|---|"
    yield from (f"| {id_} | {told} |" for id_, told in claims.items())


def tally(claims: Iterable[Claim]) -> str:
    """How many claims, verdicts, and verdicts of each kind."""
    claims = list(claims)
    found = [finding for claim in claims for finding in claim.findings]
    return f"{len(claims)} claims, {len(found)} verdicts: {counted(found)}"


def counted(findings: Sequence[Finding]) -> str:
    """How many verdicts of each kind."""
    counts = Counter(finding.verdict for finding in findings)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
