"""Kinds of claims: something is so everywhere; a gain of up to so much."""

from __future__ import annotations

from collections.abc import Callable

from meshpace.report.model import Verdict
from meshpace.stats import Estimate
from meshpace.study.claims import Cause, Claim, Evidence, Judgement, Statistic
from meshpace.study.model import Condition
from meshpace.study.rules import Labelled, combine, extremes, percent, up_to
from meshpace.study.statistics import at_points

Show = Callable[[Estimate], str]
Answer = Callable[[Estimate], bool | None]


def everywhere(
    name: str,
    statement: str,
    *,
    source: str,
    printed: str,
    tolerance: str,
    studies: dict[str, str],
    statistic: Statistic,
    answer: Answer,
    show: Show,
    what: str,
    points: tuple[str, ...] | None = None,
    unit: str = "",
    cause: Cause | None = None,
) -> Claim:
    """A claim that the ``answer`` about a statistic is yes at every point of the ``studies`` (name and label)."""

    def judge(evidence: Evidence, condition: Condition) -> Judgement | None:
        found: list[Labelled] = []
        for study, label in studies.items():
            for point, value in at_points(evidence[study], condition, statistic, points, unit):
                found.append((" ".join(filter(None, (label, point))), value))
        if not found:
            return None
        verdict = combine([answer(value) for _, value in found])
        told = "; ".join(f"{label} {show(value)}".strip() for label, value in found)
        return Judgement(verdict, _range([value for _, value in found], show), f"{what}: {told}.")

    return Claim(name, statement, source, printed, tolerance, tuple(studies), judge, cause)


def _range(values: list[Estimate], show: Show) -> str:
    if len(values) == 1:
        return show(values[0])
    means = [value.mean for value in values]
    least, most = (show(Estimate(mean, None, 1)) for mean in (min(means), max(means)))
    return f"{least} to {most}"


def gain_of_up_to(
    name: str,
    statement: str,
    *,
    source: str,
    printed: float,
    study: str,
    statistic: Statistic,
    points: tuple[str, ...] | None = None,
    unit: str = "",
    cause: Cause | None = None,
) -> Claim:
    """A claim that a gain reaches ``printed`` at its best and is nowhere a loss."""

    def judge(evidence: Evidence, condition: Condition) -> Judgement | None:
        gains = at_points(evidence[study], condition, statistic, points, unit)
        if not gains:
            return None
        verdict: Verdict = up_to([value for _, value in gains], printed)
        best = max((value for _, value in gains), key=lambda value: value.mean)
        return Judgement(verdict, percent(best), f"Against NewReno {extremes(gains)}.")

    tolerance = "the largest gain reaches half of it and no point loses"
    return Claim(name, statement, source, f"up to +{100 * printed:.0f} %", tolerance, (study,), judge, cause)
