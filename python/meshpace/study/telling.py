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
            "again_of": claim.again_of and dict(zip(("study", "id"), claim.again_of, strict=True)),
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


def of_condition(claim: Claim, condition: str) -> Finding | None:
    """What came out under a condition."""
    return next((finding for finding in claim.findings if finding.condition == condition), None)


def titled(profile: str) -> str:
    """What readings are called, at the beginning of a sentence: ``As printed``."""
    return profile.replace("-", " ").capitalize()


def by_place(by_study: Mapping[str, Sequence[Claim]]) -> dict[tuple[str, str], Claim]:
    """Claims by the study that they are shown with, and their id."""
    return {(study, claim.id): claim for study, group in by_study.items() for claim in group}


def beside_ours(by_study: Mapping[str, Sequence[Claim]], again: Iterable[Claim]) -> str:
    """How many verdicts of claims that are judged again differ from those on the claims that they are again."""
    ours = by_place(by_study)
    pairs = [
        (mine.verdict, theirs.verdict)
        for claim in again
        if claim.again_of in ours
        for theirs in claim.findings
        if (mine := of_condition(ours[claim.again_of], theirs.condition)) is not None
    ]
    differing = sum(mine is not theirs for mine, theirs in pairs)
    return f"{differing} of {len(pairs)} verdicts differ from those by our decisions."


def tally(claims: Iterable[Claim]) -> str:
    """How many claims, verdicts, and verdicts of each kind."""
    claims = list(claims)
    found = [finding for claim in claims for finding in claim.findings]
    return f"{len(claims)} claims, {len(found)} verdicts: {counted(found)}"


def counted(findings: Sequence[Finding]) -> str:
    """How many verdicts of each kind."""
    counts = Counter(finding.verdict for finding in findings)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
