"""The verdicts as a Markdown page, for people who read repositories."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from meshpace.report.model import Claim, Finding, Verdict
from meshpace.study.model import Condition
from meshpace.study.outcome import Outcome
from meshpace.study.record import Maker
from meshpace.study.telling import beside, beside_ours, by_place, counted, of_condition, tally, titled, unjudged

_MARKS = {
    Verdict.HOLDS: "**holds**", Verdict.PART: "in part", Verdict.FAILS: "does not", Verdict.OPEN: "undecided",
    Verdict.BORDER: "at the border", Verdict.UNTESTABLE: "not testable",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Campaign:
    """How the numbers of a page were made."""

    command: str
    maker: Maker
    outcomes: Sequence[Outcome]
    decided: str | None = None
    """What was added to decide."""
    unjudged: Mapping[str, str] = field(default_factory=dict)
    """Claims that no study judges, and what holds each."""

    @property
    def conditions(self) -> list[Condition]:
        """All that were run, in their order."""
        return list(dict.fromkeys(cell.condition for outcome in self.outcomes for cell in outcome.records))

    def judged(self, claims: Sequence[Claim]) -> list[Condition]:
        """Those of them under which a claim was judged."""
        spoken = {finding.condition for claim in claims for finding in claim.findings}
        return [condition for condition in self.conditions if condition.name in spoken]


BEGIN = "<!-- Down to the next mark: written by `meshpace study screen --write`. -->"
END = "<!-- End of what `meshpace study screen --write` wrote. -->"
MARK = "<!-- Below this line: written by `meshpace report --verdicts`. -->"


def page(campaign: Campaign, by_study: Mapping[str, Sequence[Claim]]) -> str:
    """Every claim with a column a condition, under its study; then why those that do not hold do not, and the plans."""
    return "\n".join(["# Verdicts", "", *_lines(campaign, by_study)]) + "\n"


def below(prose: str, campaign: Campaign, by_study: Mapping[str, Sequence[Claim]]) -> str:
    """A page that an author wrote, with the verdicts in place of what stands below :data:`MARK`, or at its end."""
    above = prose.partition(MARK)[0].rstrip("\n")
    return "\n".join([above, "", MARK, "", "## Verdicts", "", *_lines(campaign, by_study)]) + "\n"


def told_in(text: str) -> tuple[str, ...]:
    """The studies whose verdicts stand below the mark of a page."""
    return tuple(re.findall(r"^## (\S+) \((?:full|quick|the others' runs)\)$", text.partition(MARK)[2], re.MULTILINE))


def _lines(campaign: Campaign, by_study: Mapping[str, Sequence[Claim]]) -> Iterator[str]:
    every = [claim for group in by_study.values() for claim in group]
    claims = [claim for claim in every if claim.again_of is None]
    conditions = campaign.judged(claims)
    made = f"Written by `{campaign.command}`, engine {campaign.maker}"
    yield f"{made}. How claims are judged, and what × means: studies.md."
    yield ""
    yield f"{tally(claims)}."
    profiles = {outcome.study.name: outcome.study.profile for outcome in campaign.outcomes}
    for profile in dict.fromkeys(filter(None, profiles.values())):
        again = [claim for study, group in by_study.items() if profiles[study] == profile for claim in group]
        yield ""
        yield f"{titled(profile)}: {tally(again)}. {beside_ours(by_study, again)}"
    if campaign.decided:
        yield ""
        yield campaign.decided
    efforts = {
        outcome.study.name: str(outcome.effort) if outcome.records else "the others' runs"
        for outcome in campaign.outcomes
    }
    yield from _by_condition(campaign, claims)
    for effort in dict.fromkeys(efforts.values()):
        told = [claim for study, group in by_study.items() if efforts[study] == effort for claim in group]
        told = [claim for claim in told if claim.again_of is None]
        findings = [finding for claim in told for finding in claim.findings]
        if findings:
            yield f"| all, by {effort} | {len(findings)}: {counted(findings)} |"
    ours = by_place(by_study)
    for study, group in by_study.items():
        yield ""
        yield f"## {study} ({efforts[study]})"
        yield ""
        yield from _beside(profiles[study], group, ours, conditions) if profiles[study] else _table(group, conditions)
    yield from _ingredients(every)
    yield from _plans(campaign)
    if campaign.unjudged:
        yield ""
        yield from unjudged(campaign.unjudged)


def _table(group: Sequence[Claim], conditions: Sequence[Condition]) -> Iterator[str]:
    yield " | ".join(("| | claim | paper | asked", *(condition.short for condition in conditions))) + " |"
    yield "|---" * (4 + len(conditions)) + "|"
    for claim in group:
        cells = (_cell(of_condition(claim, condition.name)) for condition in conditions)
        yield " | ".join((*_stated(claim), *cells)) + " |"


def _beside(
    profile: str, group: Sequence[Claim], ours: Mapping[tuple[str, str], Claim], conditions: Sequence[Condition]
) -> Iterator[str]:
    """The results by our decisions and, beside them, those of the profile, under the profile's conditions."""
    run = [one for one in conditions if any(of_condition(claim, one.name) is not None for claim in group)]
    heads = (f"{one.short}, {whose}" for one in run for whose in ("our decisions", titled(profile).lower()))
    yield " | ".join(("| | claim | paper | asked", *heads)) + " |"
    yield "|---" * (4 + 2 * len(run)) + "|"
    for claim in group:
        both = (None if claim.again_of is None else ours.get(claim.again_of), claim)
        cells = (_cell(None if one is None else of_condition(one, at.name)) for at in run for one in both)
        yield " | ".join((*_stated(claim), *cells)) + " |"


def _stated(claim: Claim) -> tuple[str, str, str]:
    return f"| {claim.id} | {claim.statement}", claim.printed or "-", claim.tolerance or "-"


def _by_condition(campaign: Campaign, claims: Sequence[Claim]) -> Iterator[str]:
    yield ""
    yield "| condition | verdicts |"
    yield "|---|---|"
    for condition in campaign.judged(claims):
        found = [finding for claim in claims for finding in claim.findings if finding.condition == condition.name]
        yield f"| {condition.short} | {len(found)}: {counted(found)} |"


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
    yield "| study | effort | seeds | measured | points |"
    yield "|---|---|---|---|---|"
    for outcome in campaign.outcomes:
        if not outcome.records:
            continue  # its claims are about the runs of others
        plan = outcome.study.plan(outcome.effort)
        most = max(map(len, outcome.records.values()))
        seeds = f"{plan.seeds}" if most == plan.seeds else f"{plan.seeds} to {most}"
        measured = ", ".join(f"{key.removeprefix('measure.')} {value}" for key, value in plan.measure)
        points = "all" if plan.points is None else ", ".join(plan.points)
        row = (outcome.study.name, str(outcome.effort), seeds, measured or "as the scenario says", points)
        yield f"| {' | '.join(row)} |"
