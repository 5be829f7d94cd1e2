"""Claims as data: a paper's statement, the numbers that it is about, and how they answer it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from meshpace.report.model import Verdict
from meshpace.stats import Estimate, estimate, median_estimate
from meshpace.study.measures import Measure, Values, paired
from meshpace.study.model import Cell, Condition
from meshpace.study.outcome import Outcome
from meshpace.study.rules import Rating, Rule, Show
from meshpace.study.words import at

Evidence = Mapping[str, Outcome]
"""The outcomes, by the study's name."""


BEST_LEAST = 8
"""Seeds that the best point of an UP-TO is estimated from at least: a headline does not rest on three."""


class Role(Enum):
    """What an answer does to the verdict."""

    CLAIM = auto()
    """It is the claim, or a part of it."""
    GUARD = auto()
    """Asked besides: without it a claim that holds holds in part only, and it rescues none that does not."""
    BESIDE = auto()
    """Nothing: it is told beside."""


@dataclass(frozen=True, slots=True)
class Against:
    """A number of another study, seed by seed, that a number is held against."""

    study: str
    point: str
    measure: Measure
    compare: Callable[[float, float], float | None]


@dataclass(frozen=True, slots=True)
class Ask:
    """One thing that a claim asks: a number, where, and the rule for it."""

    measure: Measure
    rule: Rule
    show: Show
    what: str
    """The number in words: ``Against NewReno``."""
    studies: tuple[str, ...]
    points: tuple[str, ...] | None = None
    """Labels; every point that is run if None."""
    unit: str = ""
    """Of the points: `` hops``."""
    best: bool = False
    """Only the greatest of the places counts, chosen on the odd seeds of the plan and estimated on all others, at
    least :data:`BEST_LEAST`."""
    role: Role = Role.CLAIM
    against: Against | None = None
    joint: str = ""
    """Asks with the same word are one: where one of them fails, all do (of a TREND, rank and ends are both certain)."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement, where it stands, and what it asks."""

    id: str
    """As in the paper's catalogue: ``8.1``."""
    statement: str
    figure: str
    source: str
    printed: str
    """What the paper says, in words or a number."""
    asks: tuple[Ask, ...]
    """The first is the one whose number stands beside the paper's."""
    value: float | None = None
    """The paper's number in the unit of the first one asked, if it prints one."""
    cause: str | None = None
    """The study of switches in which to look for the ingredient behind a failure."""
    told_with: str = ""
    """The study beside whose figures the claim is shown; if empty, the study of its first ask."""
    otherwise: str = ""
    """Why there is nothing to judge, if no run has what the claim speaks of."""
    reconstructed: tuple[str, ...] = ()
    """The schemes that it is about whose laws are not printed: runs of what stands in for them test no claim."""
    again_of: tuple[str, str] | None = None
    """For a claim that repeats another one, of studies at other readings (:attr:`Study.profile`):

    the study that the other one is shown with, and its id.
    """

    @property
    def studies(self) -> tuple[str, ...]:
        """What it needs."""
        needed = [name for ask in self.asks for name in ask.studies]
        needed += [ask.against.study for ask in self.asks if ask.against is not None]
        return tuple(dict.fromkeys([*([self.told_with] if self.told_with else []), *needed]))

    @property
    def study(self) -> str:
        """Where it is told."""
        return self.studies[0]

    @property
    def tolerance(self) -> str:
        """What counts as holding, in words."""
        parts = [f"{ask.what}: {ask.rule.asks(ask.show)}" for ask in self.asks if ask.role is not Role.BESIDE]
        return "; ".join(dict.fromkeys(parts))


@dataclass(frozen=True, slots=True)
class Reading:
    """A number at a place, what it says, and the runs behind it."""

    ask: Ask
    label: str
    values: Values
    cells: tuple[tuple[str, Cell], ...]
    """Study and cell."""
    excluded: frozenset[int] = frozenset()
    """Places in ``values`` that chose this reading among others and so must not estimate it."""

    def numbers(self) -> list[float]:
        """Those that count."""
        found = enumerate(self.values)
        return [value for index, value in found if value is not None and index not in self.excluded]

    def estimate(self, comparisons: int = 1) -> Estimate | None:
        """Mean (or median) with the interval that is right for the ``comparisons`` together (Bonferroni)."""
        confidence = 1 - 0.05 / comparisons
        return (median_estimate if self.ask.measure.median else estimate)(self.numbers(), confidence)

    def answer(self, comparisons: int = 1) -> Rating:
        """What the number says."""
        value = self.estimate(comparisons)
        return Rating.OPEN if value is None or self.lacks else self.ask.rule.answer(value)

    @property
    def lacks(self) -> int:
        """Seeds without which it says nothing."""
        return max(0, BEST_LEAST - len(self.numbers())) if self.ask.best else 0

    def missed_size(self, comparisons: int = 1) -> bool:
        """Whether it is its size alone for which it does not hold."""
        value = self.estimate(comparisons)
        return value is not None and not self.lacks and self.ask.rule.missed_size(value)

    def points_to(self, comparisons: int = 1) -> Rating:
        """The answer if its mean stays and its interval vanishes."""
        value = self.estimate(comparisons)
        return Rating.OPEN if value is None else self.ask.rule.answer(Estimate(value.mean, 0.0, value.count))

    def seeds_to_decide(self, comparisons: int = 1) -> int | None:
        """Seeds in all that would decide it; None if no number would."""
        value = self.estimate(comparisons)
        return self._seeds(None if value is None else self.ask.rule.runs_to_decide(value))

    def seeds_likely(self, comparisons: int = 1) -> int | None:
        """Seeds in all that would decide it with the truth a standard error off the mean; None without a spread."""
        value = self.estimate(comparisons)
        return self._seeds(None if value is None else self.ask.rule.runs_likely(value))

    def _seeds(self, runs: int | None) -> int | None:
        return None if runs is None else max(runs, len(self.numbers()) + self.lacks) + len(self.excluded)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the numbers say about a claim under one condition."""

    claim: Claim
    condition: Condition
    verdict: Verdict
    note: str
    """Of what holds in part: ``short``, ``beyond``, ``at 3 of 7``, ``beyond in size``, ``not plausible``."""
    readings: tuple[Reading, ...]
    comparisons: int
    """Over how many the intervals behind the verdict are corrected."""

    def of(self, *roles: Role) -> list[Reading]:
        """The readings that play these roles."""
        return [reading for reading in self.readings if reading.ask.role in roles]

    @property
    def open(self) -> list[Reading]:
        """The readings that keep it undecided."""
        if self.verdict is not Verdict.OPEN:
            return []
        groups = joined(self.of(Role.CLAIM, Role.GUARD))
        open_ones = [group for group in groups if together(group, self.comparisons) is Rating.OPEN]
        return [r for group in open_ones for r in group if r.answer(self.comparisons) is Rating.OPEN]

    @property
    def pivots(self) -> tuple[list[Reading], int]:
        """Of the open readings those worth seeds, which decide the verdict if means stay, and for how many comparisons.

        Where some points hold for certain, one of the others that looks as if it did not is enough to make it hold in
        part; where some fail, one that looks as if it held. The one that takes the fewest seeds is taken, else all.
        """
        main = joined(self.of(Role.CLAIM))
        decided = {together(group, self.comparisons) for group in main} - {Rating.OPEN}
        if len(decided) == 1:
            against = [r for r in self.open if r.points_to(self.comparisons) not in {*decided, Rating.OPEN}]
            able = [(seeds, r) for r in against if (seeds := r.seeds_to_decide(len(main))) is not None]
            if able:
                return [min(able, key=lambda pair: pair[0])[1]], len(main)
        return self.open, self.comparisons

    @property
    def seeds_to_decide(self) -> int | None:
        """Seeds in all that would decide it, if means and spreads stay; None if it is decided, or none would."""
        pivots, comparisons = self.pivots
        asked = [reading.seeds_to_decide(comparisons) for reading in pivots]
        known = [seeds for seeds in asked if seeds is not None]
        return max(known) if known and len(known) == len(asked) else None


def judge(claim: Claim, evidence: Evidence, condition: Condition) -> Judgement | None:
    """What the evidence says under a condition; None if nothing was delivered to compare with."""
    readings = tuple(reading for ask in claim.asks for reading in _readings(ask, evidence, condition))
    main = joined([reading for reading in readings if reading.ask.role is Role.CLAIM])
    if claim.reconstructed:
        return Judgement(claim, condition, Verdict.UNTESTABLE, "", readings, 1)
    guards = joined([reading for reading in readings if reading.ask.role is Role.GUARD])
    if not any(reading.numbers() for group in main for reading in group):
        return Judgement(claim, condition, Verdict.FAILS, "no case", readings, 1) if claim.otherwise else None
    comparisons = 1
    verdict, note = combine(*([together(group) for group in groups] for groups in (main, guards)))
    if verdict is Verdict.PART and len({together(group) for group in main}) > 1:
        # That all of several hold, or none, needs no correction (intersection-union test); that only some do, does.
        comparisons = len(main)
        verdict, note = combine(*([together(group, comparisons) for group in groups] for groups in (main, guards)))
    return Judgement(claim, condition, verdict, _with_size(note, main, comparisons), readings, comparisons)


def _with_size(note: str, main: Sequence[Sequence[Reading]], comparisons: int) -> str:
    """The note, and whether it is sizes for which it is one."""
    missed = [reading.ask.rule.size for group in main for reading in group if reading.missed_size(comparisons)]
    sizes = [size for size in missed if size is not None]
    if not sizes or note == "not at every point":
        return note
    if any(not size.printed for size in sizes):
        return "not plausible" if note in ("short", "beyond") else f"{note}, elsewhere not plausible"
    return f"{note} in size"


def joined(readings: Sequence[Reading]) -> list[list[Reading]]:
    """The readings that answer as one; most do by themselves."""
    groups: dict[object, list[Reading]] = {}
    for index, reading in enumerate(readings):
        groups.setdefault(reading.ask.joint or index, []).append(reading)
    return list(groups.values())


def together(group: Sequence[Reading], comparisons: int = 1) -> Rating:
    """What joint readings say: no more than the one that says the least."""
    answers = {reading.answer(comparisons) for reading in group}
    least = (Rating.FAILS, Rating.OPEN, Rating.SHORT, Rating.BEYOND)
    return next((answer for answer in least if answer in answers), Rating.HOLDS)


def combine(main: Sequence[Rating], guards: Sequence[Rating] = ()) -> tuple[Verdict, str]:
    """The verdict that every completion of the open answers would give; undecided if they differ."""
    found = set(main)
    if Rating.OPEN in found and found - {Rating.OPEN} in (set(), {Rating.HOLDS}, {Rating.FAILS}):
        return Verdict.OPEN, ""
    if found == {Rating.FAILS}:
        return Verdict.FAILS, ""
    if found in ({Rating.SHORT}, {Rating.BEYOND}):
        return Verdict.PART, "short" if Rating.SHORT in found else "beyond"
    if found != {Rating.HOLDS}:
        return Verdict.PART, f"at {sum(answer is Rating.HOLDS for answer in main)} of {len(main)}"
    if all(answer is Rating.HOLDS for answer in guards):
        return Verdict.HOLDS, ""
    certain = any(answer not in {Rating.HOLDS, Rating.OPEN} for answer in guards)
    return (Verdict.PART, "not at every point") if certain else (Verdict.OPEN, "")


def _readings(ask: Ask, evidence: Evidence, condition: Condition) -> list[Reading]:
    found = list(_places(ask, evidence, condition))
    if not ask.best or not found:
        return found
    chosen = []
    for reading, seeds in ((reading, evidence[reading.cells[0][0]].plan_seeds) for reading in found):
        odd = [value for value in reading.values[:seeds:2] if value is not None]
        if odd:
            used = frozenset(range(0, seeds, 2))
            chosen.append((sum(odd) / len(odd), Reading(ask, reading.label, reading.values, reading.cells, used)))
    return [max(chosen, key=lambda pair: pair[0])[1]] if chosen else []


def _places(ask: Ask, evidence: Evidence, condition: Condition) -> Iterator[Reading]:
    for name in ask.studies:
        outcome = evidence[name]
        where = outcome.study.title if len(ask.studies) > 1 else ""
        labels = [point.label for point in outcome.study.points(outcome.effort)]
        wanted = [label for label in labels if ask.points is None or label in ask.points]
        for label in wanted[:1] if ask.measure.once else wanted:
            values = ask.measure.take(outcome, condition, label)
            cells = [(name, cell) for cell in ask.measure.cells(outcome, condition, label)]
            if ask.against is not None:
                other = evidence[ask.against.study]
                theirs = ask.against.measure.take(other, condition, ask.against.point)
                values = paired(values, theirs, ask.against.compare)
                there = ask.against.measure.cells(other, condition, ask.against.point)
                cells += [(ask.against.study, cell) for cell in there]
            point = "" if ask.measure.once or not label else at(label, ask.unit)
            yield Reading(ask, " ".join(filter(None, (where, point))), values, tuple(cells))
