"""Studies of switches of our own (transports, radios, calm), and the claims that look there for their ingredient."""

from __future__ import annotations

import pytest

from meshpace import engine
from meshpace.study import registry
from meshpace.study.claims import Claim
from meshpace.study.model import AS_IS, Cell, Effort, Study
from meshpace.study.verdicts import CLAIMS

_OURS = ("transports-switches-", "radios-switches-", "calm-switches-")
NAMES = {study.name: study for study in registry.STUDIES}
SWITCHES = [study for name, study in NAMES.items() if name.startswith(_OURS)]
TELLING = [claim for claim in CLAIMS if claim.cause in {study.name for study in SWITCHES}]


@pytest.mark.parametrize("study", SWITCHES, ids=lambda study: study.name)
def test_each_switch_changes_somebody_somewhere(study: Study) -> None:
    def runs(label: str) -> list[engine.Job]:
        return [
            study.job(Cell(condition, scheme, label), 1, Effort.QUICK)
            for condition in study.conditions
            for scheme in study.schemes
        ]

    as_is = runs(AS_IS)
    for point in study.axis.points:
        made = runs(point.label)
        for run in made:
            assert engine.complaints(run) == [], point.label
        assert made != as_is or point.label == AS_IS, f"{point.label} changes nothing"


@pytest.mark.parametrize("claim", TELLING, ids=lambda claim: claim.id)
def test_claims_look_where_their_schemes_are_run_and_have_something_to_be_held_against(claim: Claim) -> None:
    first, switches = claim.asks[0], NAMES[claim.cause or ""]
    assert set(first.measure.schemes) <= set(switches.schemes)
    assert set(NAMES[first.studies[0]].conditions) <= set(switches.conditions)
    labels = {point.label for point in switches.axis.points}
    theirs = {partner for label in labels for _, partner in first.measure.beside(label)}
    assert theirs <= labels, "a changed point lacks the one without"


def test_every_study_of_switches_is_looked_into() -> None:
    unread = {study.name for study in SWITCHES} - {claim.cause for claim in TELLING}
    assert unread == {"transports-switches-today-4"}, "told on the page beside that of 8 hops"
