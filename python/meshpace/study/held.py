"""What a store holds of studies, whichever of their plans that is: for reports, and to go on deciding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from meshpace.study.decide import Decision, noted, save
from meshpace.study.model import NOTHING_MORE, Effort, More, Study
from meshpace.study.outcome import Outcome, load
from meshpace.study.record import Maker, running
from meshpace.study.store import Store

_BEST_FIRST = (Effort.FULL, Effort.QUICK)


def read(store: Store, studies: Sequence[Study], maker: Maker | None = None) -> list[Outcome]:
    """What the store holds of each study: the full plan's runs if they are complete, else what there is most of.

    Seeds that were added beyond the plan count. Made by the engine ``maker``, or by the running one.
    """
    if (maker or running()) not in store.makers():
        return []  # at once: the keys of all that could be there take seconds
    ran = store.scenarios(maker or running())
    # Nor are keys needed of studies whose scenario was never run.
    studies = [study for study in studies if study.reads or study.text() in ran]
    plans = (
        load(store, studies, effort, maker, noted(store.directory, effort, maker or running())[0])
        for effort in _BEST_FIRST
    )
    best = [min(outcomes, key=_incomplete) for outcomes in zip(*plans, strict=True)]
    there = {outcome.study.name for outcome in best if outcome.records and _incomplete(outcome) < 1}
    there |= {outcome.study.name for outcome in best if not outcome.records and there.issuperset(outcome.study.reads)}
    return [outcome for outcome in best if outcome.study.name in there]


def any_ended(directory: Path, maker: Maker) -> bool:
    """Whether a budget was spent before every verdict was decided."""
    return any(noted(directory, effort, maker)[1] for effort in _BEST_FIRST)


def keep_more(directory: Path, maker: Maker, decision: Decision, before: Mapping[Effort, More] | None = None) -> None:
    """Notes which cells have more seeds now, by the plan that each study stands on.

    ``before`` is what had been noted when the evidence was read; what another has noted since stays.
    """
    for effort in Effort:
        kept = noted(directory, effort, maker)[0]
        was = kept if before is None else before.get(effort, NOTHING_MORE)
        added = {place: n for place, n in decision.more.items() if decision.evidence[place[0]].effort is effort}
        places = [*kept, *added]
        more = {place: max(kept.get(place, 0), was.get(place, 0) + added.get(place, 0)) for place in places}
        if more:
            save(directory, effort, maker, more, ended=decision.ended)


def _incomplete(outcome: Outcome) -> float:
    """The part of its runs that is missing; nothing of one that has none of its own."""
    return outcome.missing / max(1, sum(map(len, outcome.records.values())))
