"""Claims as data, and the ingredients behind those that do not hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from meshpace.report.model import Claim as Judged
from meshpace.report.model import Finding, Verdict
from meshpace.stats import Estimate, estimate
from meshpace.study.model import AS_IS, Condition, Point
from meshpace.study.outcome import Outcome
from meshpace.study.rules import bounds

Evidence = Mapping[str, Outcome]
"""What came out, by the study's name."""
Statistic = Callable[[Outcome, Condition, str], list[float | None]]
"""A claim's number at a point of a study, by seed."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the numbers say about a claim under one condition."""

    verdict: Verdict
    measured: str
    """Our number, to stand beside the printed one."""
    reason: str
    """The numbers that the verdict comes from."""


@dataclass(frozen=True, slots=True)
class Cause:
    """How to look for the ingredient behind a claim that does not hold."""

    switches: str
    """The study that changes one ingredient at a time."""
    statistic: Statistic
    show: Callable[[Estimate], str]
    low: float = -math.inf
    """From here on the statistic is as in the paper; the paper's own number where it prints one."""
    high: float = math.inf
    """Up to here."""

    def remaining(self, value: Estimate) -> float:
        """How far the mean lies from where the paper has it."""
        return max(self.low - value.mean, value.mean - self.high, 0.0)

    def asked(self) -> str:
        """Where the paper has the statistic, in words."""
        low, high = (self.show(Estimate(edge, None, 1)) for edge in (self.low, self.high))
        if math.isinf(self.high):
            return f"at least {low}"
        return f"at most {high}" if math.isinf(self.low) else f"{low} to {high}"


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement, where it stands, and how numbers judge it."""

    name: str
    statement: str
    source: str
    printed: str
    """The paper's number, or what its text says."""
    tolerance: str
    """What counts as holding."""
    studies: tuple[str, ...]
    """What it needs; it is told with the first."""
    judge: Callable[[Evidence, Condition], Judgement | None]
    """None where there is nothing to judge by."""
    cause: Cause | None = None


def judge(claim: Claim, evidence: Evidence) -> Judged | None:
    """The claim with its findings under every condition that its studies share; None if a study is not there."""
    if not all(name in evidence and evidence[name].complete for name in claim.studies):
        return None
    findings, analysis = [], []
    for condition in _shared_conditions([evidence[name] for name in claim.studies]):
        found = claim.judge(evidence, condition)
        if found is None:
            nothing = "Nothing was delivered to compare with."
            findings.append(Finding(condition.name, Verdict.OPEN, nothing))
            continue
        findings.append(Finding(condition.name, found.verdict, found.reason, found.measured))
        if found.verdict in {Verdict.FAILS, Verdict.PART}:
            why = _analysis(claim, evidence, condition)
            if why is not None:
                analysis.append(why)
    return Judged(
        claim.statement, claim.source, tuple(findings), claim.printed, claim.tolerance, tuple(analysis)
    )  # fmt: skip


def _shared_conditions(outcomes: Sequence[Outcome]) -> list[Condition]:
    first, *others = [{cell.condition: None for cell in outcome.records} for outcome in outcomes]
    return [condition for condition in first if all(condition in other for other in others)]


def _analysis(claim: Claim, evidence: Evidence, condition: Condition) -> str | None:
    cause = claim.cause
    if cause is None or cause.switches not in evidence or not evidence[cause.switches].complete:
        return None
    found = blame(cause, evidence[cause.switches], condition)
    return None if found is None else f"{condition.name}: {found}"


@dataclass(frozen=True, slots=True)
class Move:
    """What a switch does to a statistic: the value with it, and the change, paired by seed."""

    point: Point
    value: Estimate
    change: Estimate

    @property
    def certain(self) -> bool:
        """Whether the interval of the change leaves out zero."""
        low, high = bounds(self.change)
        return low > 0 or high < 0


def moves(cause: Cause, outcome: Outcome, condition: Condition) -> tuple[Estimate, list[Move]] | None:
    """The statistic as it is, and what each switch that changes something does to it."""
    before = cause.statistic(outcome, condition, AS_IS)
    as_is = estimate([value for value in before if value is not None])
    if as_is is None:
        return None
    found = []
    for point in outcome.study.points(outcome.effort):
        if not point.settings and point.condition(condition) == condition:
            continue
        after = cause.statistic(outcome, condition, point.label)
        pairs = [(a, b) for a, b in zip(before, after, strict=True) if a is not None and b is not None]
        value, change = estimate([b for _, b in pairs]), estimate([b - a for a, b in pairs])
        if value is not None and change is not None:
            found.append(Move(point, value, change))
    return as_is, found


def blame(cause: Cause, outcome: Outcome, condition: Condition) -> str | None:
    """Which ingredient makes the difference, in words; None if the study does not have this condition."""
    measured = moves(cause, outcome, condition)
    if measured is None or not measured[1]:
        return None
    as_is, found = measured
    show, remaining = cause.show, cause.remaining
    here = f"{show(as_is)} as it is ({outcome.study.title.split(': ')[-1]}), {cause.asked()} asked"
    if remaining(as_is) == 0:
        return f"{here}: here the claim holds, so no ingredient explains where it does not."
    ranked = sorted(found, key=lambda move: (remaining(move.value), -abs(move.change.mean)))
    nearer = [move for move in ranked if move.certain and remaining(move.value) < remaining(as_is)]
    if not nearer:
        text = f"{here}. None of {len(found)} changes of one ingredient moves it there for certain"
        nearest = ranked[0]
        if remaining(nearest.value) < remaining(as_is):
            text += f"; nearest comes {nearest.point.label} with {show(nearest.value)}"
        return text + "."
    best, *others = nearer
    covered = 1 - remaining(best.value) / remaining(as_is)
    text = f"{here}. Of {len(found)} changes of one ingredient, {best.point.label} moves it most: {show(best.value)}"
    text += ", all the way" if covered == 1 else f", {100 * covered:.0f} % of the way"
    if others:
        text += "; then " + ", ".join(f"{move.point.label} ({show(move.value)})" for move in others[:2])
    return text + "."
