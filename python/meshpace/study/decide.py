"""Adds seeds: at the best points of what is "up to", and until verdicts are decided or a budget is spent.

A best point is known once the plan's runs are there; it gets the seeds that its estimate takes (`deepen`), whether or
not there is a budget. Then each step gives one claim under one condition a block of seeds, at the points that keep it
undecided: the one that is likely the cheapest to decide, with the truth a standard error off the mean. (If means were
taken to stay, a claim with few seeds whose mean happens to lie on a border would never get any.) What a step does
follows from results and plans alone, so a larger budget goes on where a smaller one stopped, and a store that holds
the runs already goes the same way without any. A run that several studies share counts in all of them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from meshpace.files import replacing
from meshpace.report.model import Verdict
from meshpace.study.claims import Claim, Judgement
from meshpace.study.executors import Workers
from meshpace.study.model import Cell, Condition, Effort, More
from meshpace.study.outcome import Outcome
from meshpace.study.record import Maker, key_of
from meshpace.study.runner import Task, make
from meshpace.study.sharing import Place, Shared
from meshpace.study.store import Store
from meshpace.study.verdicts import judgements

BLOCK = 4
"""Seeds that a step adds to a cell: as many odd ones as even ones."""


@dataclass(slots=True)
class Decision:
    """The seeds added, and the claims left undecided."""

    evidence: dict[str, Outcome]
    deepened: int = 0
    """Runs added at best points; no budget counts them."""
    more: dict[Place, int] = field(default_factory=dict)
    runs: int = 0
    """Added to decide, whether made now or found in the store."""
    spent_s: float = 0.0
    """Of the budget: what those runs took, over the workers."""
    ended: bool = False
    """Whether the budget ended it."""
    left: dict[Place, int] = field(default_factory=dict)
    """Seeds to add that would decide the rest, where that can be told."""
    left_s: float = 0.0
    """The time that these seeds would take, over the workers."""
    undecided: int = 0
    """Verdicts."""


Progress = Callable[[Decision], None]


def deepen(evidence: dict[str, Outcome], claims: Sequence[Claim], store: Store, workers: Workers) -> Decision:
    """Adds, in place, the seeds that the best point of each UP-TO lacks.

    Raises:
        ScenarioError: a run cannot be made.
        OSError: the store cannot be written.
        KeyboardInterrupt: Ctrl-C; what is finished is stored.
    """
    decision = Decision(evidence)
    wanted: dict[Place, int] = {}
    for judgement in _judged(evidence, [claim for claim in claims if any(ask.best for ask in claim.asks)]).values():
        for reading in judgement.readings:
            for place in reading.cells if reading.lacks else ():
                wanted[place] = max(wanted.get(place, 0), math.ceil(reading.lacks / BLOCK))
    while wanted:
        decision.deepened += _extend(decision, list(wanted), store, workers)[0]
        wanted = {place: blocks - 1 for place, blocks in wanted.items() if blocks > 1}
    return decision


def decide(
    evidence: dict[str, Outcome], claims: Sequence[Claim], store: Store, workers: Workers, budget_s: float = math.inf,
    told: Progress = lambda _: None, *, most: float = math.inf,
) -> Decision:  # fmt: skip
    """Adds runs to the outcomes of ``evidence``, in place. The budget counts what runs took, not what was waited.

    A claim that a block gave no number (nothing was delivered to compare with) gets no other, nor one at a cell that
    would have more than ``most`` seeds.

    Raises:
        ScenarioError: a run cannot be made.
        OSError: the store cannot be written.
        KeyboardInterrupt: Ctrl-C; what is finished is stored.
    """
    decision = deepen(evidence, claims, store, workers)
    shared = Shared(evidence)
    _share(decision, shared.spread((name, cell) for name, outcome in evidence.items() for cell in outcome.records))
    standing = _judged(evidence, claims)
    beyond: set[tuple[str, str, Condition]] = set()
    while step := _cheapest({key: found for key, found in standing.items() if key not in beyond}, evidence):
        cells, key = list(_wanted(step, evidence)), (step.claim.study, step.claim.id, step.condition)
        if any(len(evidence[name].records[cell]) + BLOCK > most for name, cell in cells):
            beyond.add(key)
            continue
        expected = sum(BLOCK * _took(evidence, place) for place in cells) / workers.count
        if decision.spent_s + expected > budget_s:
            decision.ended = True
            break
        runs, took_s = _extend(decision, cells, store, workers)
        decision.runs += runs
        decision.spent_s += took_s
        shares = shared.spread(cells)
        _share(decision, shares)
        touched = {name for name, _ in [*cells, *shares]}
        affected = [claim for claim in claims if touched & set(claim.studies)]
        standing.update(_judged(evidence, affected))
        if _numbers(standing[key]) == _numbers(step):
            beyond.add(key)
        told(decision)
    _count_the_rest(decision, list(standing.values()), workers)
    return decision


Standing = dict[tuple[str, str, Condition], Judgement]


def _judged(evidence: dict[str, Outcome], claims: Sequence[Claim]) -> Standing:
    return {
        (claim.study, claim.id, condition): judgement
        for claim, condition, judgement in judgements(evidence, claims)
        if judgement is not None
    }


def _numbers(judgement: Judgement) -> int:
    """How many numbers it rests on."""
    return sum(len(reading.numbers()) for reading in judgement.readings)


def _wanted(judgement: Judgement, evidence: dict[str, Outcome], *, likely: bool = True) -> dict[Place, int]:
    """The cells that keep it undecided, each with the seeds that it likely takes to decide.

    Unless ``likely``, with those that it takes if means and spreads stay, and none that no number would decide.
    """
    found: dict[Place, int] = {}
    pivots, comparisons = judgement.pivots
    for reading in pivots:
        if not reading.numbers():
            continue
        value = reading.estimate(comparisons)
        seeds = reading.seeds_likely(comparisons) if likely else reading.seeds_to_decide(comparisons)
        if seeds is None and value is not None and value.half_width is not None:
            continue
        for place in reading.cells:
            have = len(evidence[place[0]].records[place[1]])
            found[place] = max(found.get(place, 0), have + BLOCK if seeds is None else seeds)
    return found


def _cheapest(standing: Standing, evidence: dict[str, Outcome]) -> Judgement | None:
    """The one that would take the least processor time by the plans' estimates; the first of equals."""
    best, least = None, math.inf
    for judgement in standing.values():
        if judgement.verdict is Verdict.OPEN and (wanted := _wanted(judgement, evidence)):
            cost = sum(
                max(BLOCK, seeds - len(evidence[name].records[cell])) * evidence[name].plan.core_s
                for (name, cell), seeds in wanted.items()
            )
            if cost < least:
                best, least = judgement, cost
    return best


def _took(evidence: dict[str, Outcome], place: Place) -> float:
    """Processor time of a run of that cell."""
    found = [record.wall_s for record in evidence[place[0]].records[place[1]] if record is not None]
    return sum(found) / len(found)


def _extend(decision: Decision, cells: Sequence[Place], store: Store, workers: Workers) -> tuple[int, float]:
    """Gives each cell a block of seeds; how many runs that is, and what they took over the workers."""
    wanted: dict[str, Task] = {}
    keys: dict[Place, list[str]] = {}
    for name, cell in cells:
        outcome = decision.evidence[name]
        have = len(outcome.records[cell])
        jobs = [outcome.study.job(cell, seed, outcome.effort) for seed in range(have + 1, have + BLOCK + 1)]
        keys[name, cell] = [key_of(job, series=outcome.study.series) for job in jobs]
        weight = outcome.plan.core_s
        for key, job in zip(keys[name, cell], jobs, strict=True):
            wanted[key] = Task(key, job, outcome.study.series, weight)
    make(list(wanted.values()), store, workers)
    found = store.get(wanted)
    for (name, cell), mine in keys.items():
        outcome = decision.evidence[name]
        outcome.records[cell] += [found[key] for key in mine]
        outcome.results[cell] += [found[key].run() for key in mine]
        decision.more[name, cell] = decision.more.get((name, cell), 0) + BLOCK
    return len(wanted), sum(record.wall_s for record in found.values()) / workers.count


def _share(decision: Decision, added: dict[Place, int]) -> None:
    for place, seeds in added.items():
        decision.more[place] = decision.more.get(place, 0) + seeds


def _count_the_rest(decision: Decision, standing: Sequence[Judgement], workers: Workers) -> None:
    for judgement in standing:
        if judgement.verdict is not Verdict.OPEN:
            continue
        decision.undecided += 1
        for place, seeds in _wanted(judgement, decision.evidence, likely=False).items():
            lacking = seeds - len(decision.evidence[place[0]].records[place[1]])
            decision.left[place] = max(decision.left.get(place, 0), lacking)
    decision.left_s = sum(n * _took(decision.evidence, place) for place, n in decision.left.items()) / workers.count


def _path(directory: Path, effort: Effort) -> Path:
    return directory / f"decided-{effort}.json"


def save(directory: Path, effort: Effort, maker: Maker, more: More, *, ended: bool) -> None:
    """Notes beside the runs which cells have more seeds than planned, for reports and later runs.

    Raises:
        OSError: the file cannot be written.
    """
    rows = [
        [name, cell.condition.routing, cell.condition.reception, cell.scheme, cell.point, seeds]
        for (name, cell), seeds in more.items()
    ]
    with replacing(_path(directory, effort), durable=True) as draft:
        draft.write_text(json.dumps({"engine": maker.name, "ended": ended, "more": rows}), encoding="utf-8")


def noted(directory: Path, effort: Effort, maker: Maker) -> tuple[More, bool]:
    """What :func:`save` noted of that engine: seeds beyond the plan, and whether a budget ended it."""
    path = _path(directory, effort)
    if not path.exists():
        return {}, False
    kept = json.loads(path.read_text(encoding="utf-8"))
    if kept["engine"] != maker.name:
        return {}, False
    more = {
        (name, Cell(Condition(*condition), scheme, point)): seeds
        for name, *condition, scheme, point, seeds in kept["more"]
    }
    return more, bool(kept["ended"])
