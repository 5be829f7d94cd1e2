"""The verdicts as a Markdown page, for people who read repositories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from meshpace.report.model import Claim, Finding, Verdict
from meshpace.study.model import Condition, Plan
from meshpace.study.record import running
from meshpace.study.telling import beside, tally

_MARKS = {
    Verdict.HOLDS: "**holds**", Verdict.PART: "in part", Verdict.FAILS: "does not", Verdict.OPEN: "undecided",
    Verdict.BORDER: "at the border",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Campaign:
    """How the numbers of a page were made."""

    command: str
    plans: Mapping[str, Plan]
    """By study."""
    conditions: tuple[Condition, ...]
    decided: str | None = None
    """What was added to decide."""


def page(campaign: Campaign, by_study: Mapping[str, Sequence[Claim]]) -> str:
    """Every claim with a column a condition, under its study; then why those that do not hold do not, and the plans."""
    return "\n".join(_lines(campaign, by_study)) + "\n"


def _lines(campaign: Campaign, by_study: Mapping[str, Sequence[Claim]]) -> Iterator[str]:
    claims = [claim for group in by_study.values() for claim in group]
    yield "# Verdicts"
    yield ""
    yield f"Written by `{campaign.command}`, engine {running()}. How claims are judged, and what × means: studies.md."
    yield ""
    yield f"{tally(claims)}."
    if campaign.decided:
        yield ""
        yield campaign.decided
    for study, group in by_study.items():
        yield ""
        yield f"## {study}"
        yield ""
        yield " | ".join(("| | claim | paper", *(condition.short for condition in campaign.conditions))) + " |"
        yield "|---" * (3 + len(campaign.conditions)) + "|"
        for claim in group:
            found = {finding.condition: finding for finding in claim.findings}
            cells = (_cell(found.get(condition.name)) for condition in campaign.conditions)
            yield " | ".join((f"| {claim.id} | {claim.statement}", claim.printed or "-", *cells)) + " |"
    yield from _ingredients(claims)
    yield from _plans(campaign)


def _cell(finding: Finding | None) -> str:
    if finding is None:
        return ""
    note = f" ({finding.note})" if finding.note else ""
    return f"{_MARKS[finding.verdict]}{note} {beside(finding)}".strip()


def _ingredients(claims: Sequence[Claim]) -> Iterator[str]:
    analysed = [claim for claim in claims if claim.analysis]
    if analysed:
        yield ""
        yield "## Which ingredient makes the difference"
    for claim in analysed:
        yield ""
        yield f"{claim.id}: {claim.statement}"
        yield ""
        yield from (f"- {paragraph}" for paragraph in claim.analysis)


def _plans(campaign: Campaign) -> Iterator[str]:
    yield ""
    yield "## Plans"
    yield ""
    yield "| study | seeds | measured | points |"
    yield "|---|---|---|---|"
    for study, plan in campaign.plans.items():
        measured = ", ".join(f"{key.removeprefix('measure.')} {value}" for key, value in plan.measure)
        points = "all" if plan.points is None else ", ".join(plan.points)
        yield f"| {study} | {plan.seeds} | {measured or 'as the scenario says'} | {points} |"
