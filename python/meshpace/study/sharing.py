"""Runs that several studies share, or several cells of one: a seed that one of them gets counts in all."""

from __future__ import annotations

from collections.abc import Iterable

from meshpace.study.model import Cell
from meshpace.study.outcome import Outcome
from meshpace.study.record import key_of

Place = tuple[str, Cell]
"""A study and a cell of it."""


class Shared:
    """Which cells are the same runs, by the key of their first one."""

    def __init__(self, evidence: dict[str, Outcome]) -> None:
        groups: dict[str, list[Place]] = {}
        for name, outcome in evidence.items():
            for cell, records in outcome.records.items():
                if records and records[0] is not None:
                    groups.setdefault(records[0].key, []).append((name, cell))
        self._evidence = evidence
        self._group = {place: group for group in groups.values() for place in group if len(group) > 1}

    def spread(self, places: Iterable[Place]) -> dict[Place, int]:
        """Gives every cell, in place, the seeds that another one has of the same runs; how many each got."""
        got: dict[Place, int] = {}
        for group in {id(group): group for place in places if (group := self._group.get(place))}.values():
            longest = max(group, key=self._seeds)
            for place in group:
                if added := self._copy(longest, place):
                    got[place] = added
        return got

    def _seeds(self, place: Place) -> int:
        return len(self._evidence[place[0]].records[place[1]])

    def _copy(self, there: Place, place: Place) -> int:
        outcome, cell = self._evidence[place[0]], place[1]
        records = self._evidence[there[0]].records[there[1]]
        before = self._seeds(place)
        for seed, record in enumerate(records[before:], start=before + 1):
            job = outcome.study.job(cell, seed, outcome.effort)
            # Of a study that draws patterns by the seed only some may be the same.
            if record is None or record.key != key_of(job, series=outcome.study.series):
                break
            outcome.records[cell].append(record)
            outcome.results[cell].append(record.run())
        return self._seeds(place) - before
