"""The studies behind what the thesis says in its text: another base, fixed rates with delayed ACKs, ns-2's set-up."""

from __future__ import annotations

import math

import pytest

from meshpace import engine
from meshpace.project import scenario_directory
from meshpace.study import registry
from meshpace.study.jackknife import pseudo_values
from meshpace.study.measures import of
from meshpace.study.model import Cell, Condition, Effort
from meshpace.study.outcome import Outcome
from meshpace.study.quantities import FLOW_GOODPUT, JAIN, Quantity
from papers import words

PAPER = words("byu")
TAHOE, FEW, FIXED, DA = PAPER.TAHOE, PAPER.FEW, PAPER.FIXED, PAPER.DA
RETRIES = Condition("static", "mesh, 4 attempts")
CONDITIONS = (Condition("static", "ideal"), Condition("static", "mesh"), RETRIES)
STUDIES = {study.name: study for study in registry.STUDIES}


def test_the_pseudo_values_of_a_mean_are_its_values() -> None:
    rows = [[1.0], [2.0], [6.0]]
    found = pseudo_values(rows, lambda some: math.fsum(row[0] for row in some) / len(some))
    assert found == pytest.approx([1.0, 2.0, 6.0])
    assert pseudo_values(rows, lambda some: max(row[0] for row in some)) == pytest.approx([6.0, 6.0, 14.0])
    assert pseudo_values(rows[:1], lambda _: 1.0) == [None]


NAMES = {"tahoe": "Tahoe", "newreno": "NewReno"}


@pytest.mark.parametrize("base", ["tahoe", "newreno"])
def test_control_and_schemes_stand_on_the_base_that_the_point_names(base: str) -> None:
    study = STUDIES["byu-base-c4"]
    for scheme in study.schemes:
        used = engine.schemes_in_use(study.job(Cell(RETRIES, scheme, f"2 flows, {NAMES[base]}"), 1, Effort.QUICK))[
            scheme
        ]
        assert (used["tcp_profile"], used["initial_ssthresh"]) == ("wifu", 65_535 / 1448)
        assert (used["congestion"], used.get("few_base")) == (("few", base) if scheme == FEW else (base, None))


def test_gains_are_alike_if_their_signs_are_or_one_is_none() -> None:
    both_up, up_and_down, up_and_none = [10, 12, 20, 22], [10, 12, 20, 18], [10, 12, 20, 19.9]
    assert PAPER.alike([both_up]) == 1
    assert PAPER.alike([up_and_down]) == 0
    assert PAPER.alike([up_and_none]) == 1
    assert PAPER.alike([[*both_up, *up_and_down]]) == 0.5
    # By means: the first run alone would say the opposite.
    assert PAPER.alike([up_and_down, [10, 12, 20, 30]]) == 1


def test_what_paces_at_a_fixed_rate_acknowledges_as_delayed_acks_do() -> None:
    for study in (study for name, study in STUDIES.items() if name.startswith("byu-fixed-da-")):
        label = study.axis.points[-1].label
        used = {
            scheme: engine.schemes_in_use(study.job(Cell(RETRIES, scheme, label), 1, Effort.QUICK))[scheme]
            for scheme in study.schemes
        }
        thinned = {key: value for key, value in used[DA].items() if key.startswith("ack_")}
        assert thinned["ack_policy"] == "wifu-delayed"
        assert {key: used[FIXED][key] for key in thinned} == thinned
        assert (used[FIXED]["pacing"], used[FIXED]["congestion"], used[DA]["congestion"]) == ("fixed", TAHOE, TAHOE)


def test_the_best_rate_is_chosen_on_odd_seeds_and_told_of_even_ones() -> None:
    labels = tuple(f"2 flows, {part:g} of Tahoe's" for part in (0.8, 1.0, 1.2, 1.5, 2.0, 2.5))
    numbers: dict[tuple[str, str, str], list[float | None]] = {
        (TAHOE, label, FLOW_GOODPUT.name): [10.0, 10.0, 10.0, 10.0] for label in labels
    }
    for index, label in enumerate(labels):
        odd, even = (15.0, 11.0) if index == 3 else (12.0, 99.0)
        numbers[FIXED, label, FLOW_GOODPUT.name] = [odd, even, odd, even]
        numbers[FIXED, label, JAIN.name] = [0.0, 0.1 * index, 0.0, 0.1 * index]

    class Made(Outcome):
        def values(self, cell: Cell, quantity: Quantity) -> list[float | None]:
            return numbers[cell.scheme, cell.point, quantity.name]

    outcome = Made(STUDIES["byu-fixed-da-c4"], Effort.QUICK, {}, {})
    best = PAPER.at_the_best(of(FLOW_GOODPUT, FIXED), labels)
    assert best.take(outcome, RETRIES, "") == [None, 11.0, None, 11.0]
    assert PAPER.at_the_best(of(JAIN, FIXED), labels).take(outcome, RETRIES, "") == pytest.approx(
        [None, 0.3, None, 0.3], nan_ok=True
    )


def test_simulations_of_the_literature_are_the_same_under_every_condition() -> None:
    study = STUDIES["byu-meta-c4"]
    for scheme in study.schemes:
        label = "ns-2, AODV, 5 flows"
        jobs = {study.job(Cell(condition, scheme, label), 1, Effort.QUICK) for condition in CONDITIONS}
        assert len(jobs) == 1
    resolved = engine.resolve(jobs.pop())
    radio = resolved["radio"]
    assert (radio["standard"], radio["tx_range_m"], radio["cs_range_m"]) == ("802.11b", 250, 550)
    assert (resolved["mesh"][1]["x"], len(resolved["mesh"]), len(resolved["flows"])) == (200, 5, 5)


def test_the_building_is_that_of_the_chains() -> None:
    study = STUDIES["byu-meta-c4"]
    ours = engine.resolve(study.job(Cell(RETRIES, "newreno", "building, 5 flows"), 1, Effort.QUICK))
    settings = (*dict(study.receptions)[RETRIES.reception], ("flow.0.count", "5"))
    text = (scenario_directory() / "byu-c4.toml").read_bytes()
    theirs = engine.resolve(engine.Job("byu-c4.toml", text, tuple(f"{key}={value}" for key, value in settings), TAHOE))
    assert [(node["x"], node["y"]) for node in ours["mesh"]] == [(node["x"], node["y"]) for node in theirs["mesh"]]
    assert (ours["radio"], ours["radio_links"]) == (theirs["radio"], theirs["radio_links"])
    assert [flow["path"] for flow in ours["flows"]] == [flow["path"] for flow in theirs["flows"]]
    used = engine.schemes_in_use(study.job(Cell(RETRIES, "delack-3", "building, 1 flow"), 1, Effort.QUICK))["delack-3"]
    assert (used["tcp_profile"], used["congestion"], used["ack_segments"]) == ("wifu", TAHOE, 3)
