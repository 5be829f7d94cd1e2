"""The verdicts as a Markdown page, for people who read repositories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from meshpace.engine import version
from meshpace.report.model import Claim, Finding, Verdict
from meshpace.study.model import Condition

_MARKS = {Verdict.HOLDS: "**holds**", Verdict.PART: "in part", Verdict.FAILS: "does not", Verdict.OPEN: "undecided"}


def page(command: str, by_study: Mapping[str, Sequence[Claim]], conditions: Sequence[Condition]) -> str:
    """Every claim with a column a condition, under its study; then why those that do not hold do not."""
    return "\n".join(_lines(command, by_study, conditions)) + "\n"


def _lines(command: str, by_study: Mapping[str, Sequence[Claim]], conditions: Sequence[Condition]) -> Iterator[str]:
    claims = [claim for group in by_study.values() for claim in group]
    counts = Counter(finding.verdict for claim in claims for finding in claim.findings)
    yield "# Verdicts"
    yield ""
    yield f"Written by `{command}`, engine {version()}. How claims are judged: studies.md."
    yield ""
    yield (
        f"{len(claims)} claims, {sum(counts.values())} verdicts: "
        + ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
        + "."
    )
    for study, group in by_study.items():
        yield ""
        yield f"## {study}"
        yield ""
        yield " | ".join(("| claim", "paper", *(condition.short for condition in conditions))) + " |"
        yield "|---" * (2 + len(conditions)) + "|"
        for claim in group:
            found = {finding.condition: finding for finding in claim.findings}
            cells = (_cell(found.get(condition.name)) for condition in conditions)
            yield " | ".join((f"| {claim.statement}", claim.printed or "-", *cells)) + " |"
    analysed = [claim for claim in claims if claim.analysis]
    if analysed:
        yield ""
        yield "## Which ingredient makes the difference"
    for claim in analysed:
        yield ""
        yield claim.statement
        yield ""
        yield from (f"- {paragraph}" for paragraph in claim.analysis)


def _cell(finding: Finding | None) -> str:
    return "" if finding is None else f"{_MARKS[finding.verdict]} {finding.measured}".strip()
