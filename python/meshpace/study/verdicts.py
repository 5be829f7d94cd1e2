"""The verdicts on every claim that the outcomes at hand allow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from meshpace.report.model import Claim as Judged
from meshpace.report.model import Finding, Verdict
from meshpace.stats import Estimate
from meshpace.study.causes import analysis
from meshpace.study.claims import Ask, Claim, Evidence, Judgement, Reading, Role, judge
from meshpace.study.model import Condition, Study
from meshpace.study.outcome import Outcome
from meshpace.study.written.papers import the_papers

CLAIMS: tuple[Claim, ...] = tuple(claim for paper in the_papers() for claim in paper.claims)
"""Of the papers, in their order."""


def claims_of(studies: Iterable[Study]) -> tuple[Claim, ...]:
    """The papers' claims, and those that these studies bring themselves."""
    return (*CLAIMS, *(claim for study in studies for claim in study.claims))


def judgements(evidence: Evidence, claims: Sequence[Claim] = CLAIMS) -> list[tuple[Claim, Condition, Judgement | None]]:
    """Each claim whose studies are complete, under each condition that they share; None if nothing was delivered."""
    return [
        (claim, condition, judge(claim, evidence, condition))
        for claim in claims
        if all(name in evidence and evidence[name].complete for name in claim.studies)
        for condition in shared_conditions([evidence[name] for name in claim.studies])
    ]


def shared_conditions(outcomes: Iterable[Outcome]) -> list[Condition]:
    """Those under which all were run; outcomes without runs of their own do not count."""
    sets = [{cell.condition: None for cell in outcome.records} for outcome in outcomes if outcome.records]
    return [condition for condition in sets[0] if all(condition in other for other in sets)] if sets else []


def judge_all(
    evidence: Mapping[str, Outcome], claims: Sequence[Claim] = CLAIMS, *, ended: bool = False
) -> dict[str, tuple[Judged, ...]]:
    """The claims whose studies are complete, by the name of the study that they are shown with.

    A cause is looked for only where its study of switches is complete too. ``ended`` says that the budget for more
    seeds was spent: what is undecided then is at the border.
    """
    found: dict[str, list[Judged]] = {}
    grouped: dict[tuple[str, str], list[tuple[Claim, Condition, Judgement | None]]] = {}
    for claim, condition, judgement in judgements(evidence, claims):
        grouped.setdefault((claim.study, claim.id), []).append((claim, condition, judgement))
    for (study, _), group in grouped.items():
        claim = group[0][0]
        findings = tuple(_finding(condition, judgement, ended) for _, condition, judgement in group)
        reasons = filter(None, (_cause(judgement, evidence) for _, _, judgement in group))
        found.setdefault(study, []).append(
            Judged(
                claim.statement, claim.source, findings, claim.printed, claim.tolerance, tuple(reasons), claim.id,
                claim.figure, claim.value, claim.again_of,
            )
        )  # fmt: skip
    return {study: tuple(judged) for study, judged in found.items()}


def _cause(judgement: Judgement | None, evidence: Evidence) -> str | None:
    if judgement is None or judgement.verdict not in {Verdict.FAILS, Verdict.PART}:
        return None
    switches = evidence.get(judgement.claim.cause or "")
    return analysis(judgement, switches) if switches is not None and switches.complete else None


def _finding(condition: Condition, judgement: Judgement | None, ended: bool) -> Finding:
    if judgement is None:
        return Finding(condition.name, Verdict.OPEN, "Nothing was delivered to compare with.")
    claim, verdict = judgement.claim, judgement.verdict
    if verdict is Verdict.OPEN and ended:
        verdict = Verdict.BORDER
    first = claim.asks[0]
    readings = [(r, value) for r in judgement.readings if r.ask is first and (value := r.estimate()) is not None]
    if not readings:
        return Finding(condition.name, verdict, claim.otherwise, note=judgement.note)
    telling, value = min(readings, key=lambda pair: first.rule.slack(pair[1].mean))
    return Finding(
        condition.name,
        verdict,
        _reason(judgement),
        _range([found for _, found in readings], first),
        judgement.note,
        value,
        value.mean / claim.value if claim.value else None,
        len(telling.numbers()) + len(telling.excluded),
        judgement.seeds_to_decide,
    )


def _reason(judgement: Judgement) -> str:
    """Every number that was asked for, with its place."""
    sentences = []
    for ask in judgement.claim.asks:
        told = "; ".join(_told(r, ask) for r in judgement.readings if r.ask is ask and r.numbers())
        beside = "Beside it: " if ask.role is Role.BESIDE else ""
        if told:
            sentences.append(f"{beside}{ask.what}{', best' if ask.best else ''}: {told}.")
    if judgement.comparisons > 1:
        sentences.append(f"Judged with intervals for {judgement.comparisons} comparisons.")
    return " ".join(sentences)


def _told(reading: Reading, ask: Ask) -> str:
    value = reading.estimate()
    assert value is not None
    return f"{reading.label} {ask.show(value)}".strip()


def _range(values: list[Estimate], ask: Ask) -> str:
    if len(values) == 1:
        return ask.show(values[0])
    means = [value.mean for value in values]
    least, most = (ask.show(Estimate(mean, None, 1)) for mean in (min(means), max(means)))
    return f"{least} to {most}"
