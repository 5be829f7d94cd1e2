"""Makes the runs that advice rests on: patterns of traffic, each without and with every scheme and change.

The runs are those of sweeps whose varied key is ``flow``: they come from the same store, and a command of
``meshpace run`` repeats each of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from meshpace import engine
from meshpace.advice.errors import AdviceError
from meshpace.advice.instead import Change, changes
from meshpace.advice.traffic import Pattern, Reach, chosen, patterns, reach, sample, wired_end
from meshpace.advice.weigh import Benefit, Beside, Effect, effect
from meshpace.advice.where import BASELINE, DEPLOYABLE, Where, paceable, parts, places, settings
from meshpace.engine import Job
from meshpace.formula import Formula
from meshpace.results import RunResult
from meshpace.study.executors import Workers
from meshpace.study.runner import Tally
from meshpace.study.store import Store
from meshpace.sweeps.make import Swept, run_sweep
from meshpace.sweeps.model import Cell, Source, Sweep
from meshpace.sweeps.vary import Vary

_TIMED = 'measure={duration="60s", warmup="10s"}'
"""Of a mesh whose file measures packets: patterns differ too much in how long those take."""
_GROWTH = 2.0
"""A step at most doubles the seeds, as in a sweep."""


@dataclass(frozen=True, slots=True)
class Question:
    """What advice is asked for."""

    source: Source
    schemes: tuple[str, ...] = DEPLOYABLE
    baseline: str = BASELINE
    nodes: int | tuple[str, ...] = 3
    """How many stand for the others, or which."""
    seeds: int = 5
    """At least."""
    precision: float = 0.03
    """Half-width of the mean change of goodput, as a part of the baseline, until which seeds are added."""
    budget_s: float = 3600.0
    settings: tuple[str, ...] = ()
    formulas: tuple[type[Formula], ...] = ()
    """Schemes that are formulas in Python, among ``schemes``."""

    def __post_init__(self) -> None:
        """Raises AdviceError if it compares something with itself."""
        if self.baseline in self.schemes:
            raise AdviceError(f"--scheme: found {self.baseline}, which is the baseline; allowed: another one")
        if twice := next((s for s in self.schemes if self.schemes.count(s) > 1), None):
            raise AdviceError(f"--scheme: found {twice} twice; allowed: each scheme once")


@dataclass(slots=True)
class Advice:
    """What came out."""

    question: Question
    mesh: Reach
    resolved: dict[str, object]
    patterns: tuple[Pattern, ...]
    changes: tuple[Change, ...]
    refused: tuple[tuple[Change, str], ...]
    """Changes that cannot be simulated here, and why."""
    schemes: Swept
    instead: dict[Change, Swept]
    tally: Tally
    where: dict[str, tuple[Where, ...]]
    """Of each scheme: whose machines it takes."""
    ended: bool = False
    """Whether the budget ended before all was precise enough."""

    @property
    def seeds(self) -> int:
        """Of every pattern."""
        return self.schemes.sweep.seeds

    @property
    def gateway(self) -> str:
        """The first one's name."""
        return self.mesh.ids[self.mesh.gateways[0]]

    def cell(self, pattern: Pattern, scheme: str) -> Cell:
        """Of a pattern with a scheme."""
        return Cell(self.question.source, scheme, (("flow", pattern.setting),))

    def baseline(self, pattern: Pattern) -> list[RunResult]:
        """The runs that everything is compared with."""
        return self.schemes.runs[self.cell(pattern, self.question.baseline)]

    def of_scheme(self, pattern: Pattern, scheme: str) -> Effect:
        """What a scheme does to a pattern."""
        return effect([self._of_scheme(pattern, scheme)])

    def scheme(self, scheme: str) -> Effect:
        """Over all patterns."""
        return effect([self._of_scheme(pattern, scheme) for pattern in self.patterns])

    def change(self, change: Change) -> Effect:
        """Over all patterns."""
        return effect([self._of_change(pattern, change) for pattern in self.patterns])

    def _of_scheme(self, pattern: Pattern, scheme: str) -> Beside:
        return self.schemes.runs[self.cell(pattern, scheme)], self.baseline(pattern)

    def _of_change(self, pattern: Pattern, change: Change) -> Beside:
        found = self.instead[change].runs[self.cell(pattern, self.question.baseline)]
        return found, self.baseline(pattern)

    def deployable(self, scheme: str) -> bool:
        """Whether the mesh's own people can switch it on."""
        return Where.SERVERS not in self.where[scheme]

    def best(self) -> str:
        """The scheme that helps most, of those that the mesh's own people can switch on if there is one."""
        order = list(Benefit)

        def place(scheme: str) -> tuple[int, float]:
            found = self.scheme(scheme)
            gain = found.goodput.change()
            return order.index(found.answer), -math.inf if gain is None else -gain.mean

        schemes = self.question.schemes
        return min([scheme for scheme in schemes if self.deployable(scheme)] or schemes, key=place)


def advise(question: Question, store: Store, workers: Workers) -> Advice:
    """Every run, from the store or made now; more seeds until the mean changes of goodput are precise enough.

    Raises:
        ScenarioError: the mesh cannot be simulated; said before any run.
        AdviceError: the mesh has no gateway, or no node that reaches it.
        OSError: the store cannot be written.
    """
    asked = replace(question, settings=(*question.settings, *_timed(question)))
    job = Job(asked.source.name, asked.source.text, asked.settings, asked.baseline)
    resolved, before = engine.resolve(job), parts(job, asked.baseline)
    if DEPLOYABLE[0] in asked.schemes:
        paceable(asked.baseline, before)
        asked = replace(asked, settings=(*asked.settings, *settings(asked.baseline)))
    mesh = reach(resolved)
    where = _where(asked, before)
    tried, refused = _able(asked, changes(resolved, asked.source.text, mesh, asked.baseline, before))
    if isinstance(asked.nodes, int):
        nodes = sample(mesh, asked.nodes, but={node for change in tried for node in change.moves_to})
    else:
        nodes = chosen(mesh, asked.nodes)
    found = patterns(nodes, wired_end(resolved))
    seeds, spent, tally = asked.seeds, 0.0, Tally(0, 0, 0)
    while True:
        schemes, instead, made = _run(asked, found, tried, seeds, store, workers)
        tally = _after(tally, made)
        advice = Advice(asked, mesh, resolved, found, tried, refused, schemes, instead, tally, where)
        more = _lacking(advice, question.precision)
        if not more:
            return advice
        expected = more * _seed_s(advice) / workers.count
        if spent + expected > question.budget_s:
            advice.ended = True
            return advice
        spent += expected
        seeds += more


def _where(asked: Question, before: Mapping[str, Any]) -> dict[str, tuple[Where, ...]]:
    """Of formulas by what they decide, of other schemes by their parts."""
    job = Job(asked.source.name, asked.source.text, asked.settings)
    found = {}
    for scheme in asked.schemes:
        own = next((formula for formula in asked.formulas if formula.scheme_name() == scheme), None)
        if own is None:
            found[scheme] = places(parts(job, scheme), before)
            continue
        sender, receiver, *_ = own.decides()
        based = places(parts(job, own.base), before)
        ends = (Where.HOSTS, Where.SERVERS) if sender or receiver else ()
        found[scheme] = tuple(place for place in Where if place in (*based, *ends))
    return found


def _able(asked: Question, found: Sequence[Change]) -> tuple[tuple[Change, ...], tuple[tuple[Change, str], ...]]:
    """The changes that can be simulated, and the others with what is wrong."""
    able, refused = [], []
    for change in found:
        job = Job(asked.source.name, asked.source.text, (*asked.settings, *change.settings), asked.baseline)
        if complaints := engine.complaints(job):
            refused.append((change, complaints[0]))
        else:
            able.append(change)
    return tuple(able), tuple(refused)


def _timed(question: Question) -> tuple[str, ...]:
    """A time to measure, where the file says packets."""
    source = question.source
    resolved = engine.resolve(Job(source.name, source.text, question.settings, question.baseline))
    return () if resolved["measure"]["kind"] == "time" else (_TIMED,)


def _run(
    asked: Question, found: Sequence[Pattern], tried: Sequence[Change], seeds: int, store: Store, workers: Workers
) -> tuple[Swept, dict[Change, Swept], Tally]:
    vary = Vary(("flow",), tuple((pattern.setting,) for pattern in found))
    schemes = (asked.baseline, *asked.schemes)
    asks = Sweep((asked.source,), seeds, (vary,), schemes, asked.settings, asked.formulas)
    main = run_sweep(asks, store, workers, what="advise, pacing")
    instead = {
        change: run_sweep(
            Sweep((asked.source,), seeds, (vary,), (asked.baseline,), (*asked.settings, *change.settings)),
            store, workers, what=f"advise, {change.what}",
        )
        for change in tried
    }  # fmt: skip
    return main, instead, _total([main.tally, *(swept.tally for swept in instead.values())])


def _total(tallies: Sequence[Tally]) -> Tally:
    return Tally(*(sum(getattr(one, name) for one in tallies) for name in ("stored", "made", "others")))


def _after(first: Tally, later: Tally) -> Tally:
    """Of a step that adds seeds: the runs of earlier steps, which it finds in the store, are counted already."""
    known = first.stored + first.made + first.others
    return Tally(first.stored + max(0, later.stored - known), first.made + later.made, first.others + later.others)


def _lacking(advice: Advice, precision: float) -> int:
    """Seeds to add before looking again."""
    widths = [
        change.half_width
        for scheme in advice.question.schemes
        if (change := advice.scheme(scheme).goodput.change()) is not None and change.half_width is not None
    ]
    widest = max(widths, default=0.0)
    if widest <= precision:
        return 0
    return max(1, math.ceil(advice.seeds * min((widest / precision) ** 2, _GROWTH)) - advice.seeds)


def _seed_s(advice: Advice) -> float:
    """Processor time of one more seed of everything."""
    records = [advice.schemes.records, *(swept.records for swept in advice.instead.values())]
    return sum(record.wall_s for cells in records for mine in cells.values() for record in mine) / advice.seeds
