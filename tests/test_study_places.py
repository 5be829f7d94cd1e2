"""Seeds go to the places that a claim says it is about: every claim must say them all, or more seeds decide nothing."""

from __future__ import annotations

from typing import Any

import pytest

from meshpace.study import registry
from meshpace.study.claims import Against, Ask, Claim
from meshpace.study.measures import Measure
from meshpace.study.model import Cell, Condition, Effort, Study
from meshpace.study.outcome import Outcome
from meshpace.study.verdicts import CLAIMS


class Looked(dict[Cell, list[Any]]):
    """Results without any runs that note which cells were looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: set[Cell] = set()

    def get(self, cell: Cell, default: Any = None) -> Any:
        self.cells.add(cell)
        return default


def forgotten(measure: Measure, study: Study, condition: Condition, point: str, effort: Effort) -> set[Cell]:
    """Cells of the study that the number takes at that point, and does not say."""
    seen = Looked()
    outcome = Outcome(study, effort, seen, seen)
    measure.take(outcome, condition, point)
    return (seen.cells & set(study.cells(effort))) - set(measure.cells(outcome, condition, point))


def asked(ask: Ask, effort: Effort) -> list[tuple[Measure, Study, str]]:
    """Every number that is asked for, with its study and point."""
    found = []
    for name in ask.studies:
        study = one(name)
        labels = [point.label for point in study.points(effort)]
        wanted = [label for label in labels if ask.points is None or label in ask.points]
        found += [(ask.measure, study, label) for label in (wanted[:1] if ask.measure.once else wanted)]
    if isinstance(ask.against, Against):
        found.append((ask.against.measure, one(ask.against.study), ask.against.point))
    return found


def one(name: str) -> Study:
    (study,) = (study for study in registry.STUDIES if study.name == name)
    return study


@pytest.mark.parametrize("effort", list(Effort))
def test_a_claim_says_every_place_that_its_numbers_come_from(effort: Effort) -> None:
    def lacks(claim: Claim) -> set[Cell]:
        return {
            cell
            for ask in claim.asks
            for measure, study, point in asked(ask, effort)
            for cell in forgotten(measure, study, study.conditions[0], point, effort)
        }

    found = {f"{claim.id} ({claim.study})": cells for claim in CLAIMS if (cells := lacks(claim))}
    assert found == {}
