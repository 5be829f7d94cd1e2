"""Quantiles over all flows of all runs, and what each seed does to them."""

from __future__ import annotations

import random
import statistics
from typing import cast

import pytest

from meshpace.results import RunResult
from meshpace.stats import estimate
from meshpace.study.model import AODV, Cell, Effort
from meshpace.study.outcome import Outcome
from meshpace.study.pooled import by_seed, gain_of_quantile, pooled, pooled_points, quantile, without
from meshpace.study.registry import STUDIES


def test_a_quantile_lies_between_values_in_proportion() -> None:
    assert [quantile([4.0, 1.0, 3.0, 2.0], part) for part in (0.0, 0.5, 0.9, 1.0)] == pytest.approx([1, 2.5, 3.7, 4])
    assert quantile([7.0], 0.1) == 7


def test_all_flows_together_are_not_the_mean_of_medians() -> None:
    pairs = [([1.0], [1.0]), ([2.0, 2.0, 2.0], [1.0, 1.0, 1.0])]
    assert gain_of_quantile(0.5, pairs) == pytest.approx(1.0), "2 over 1; the mean of the runs' medians would say 0.5"
    assert gain_of_quantile(0.5, [([], [])]) is None
    assert gain_of_quantile(0.5, [([1.0], [0.0])]) is None


def test_pseudo_values_of_a_mean_have_its_standard_error() -> None:
    draw = random.Random(3)
    rows = [draw.gauss(5.0, 1.0) for _ in range(25)]
    found = [value for value in by_seed(rows, lambda some: sum(some) / len(some)) if value is not None]
    plain, ours = estimate(rows), estimate(found)
    assert plain is not None
    assert ours is not None
    assert ours.mean == pytest.approx(plain.mean)
    assert ours.half_width == pytest.approx(plain.half_width, rel=0.1)
    # The seeds that lie high are those that lift the number.
    assert statistics.correlation(rows, found) > 0.9


def test_the_interval_of_a_median_covers_it_about_as_often_as_it_says() -> None:
    draw = random.Random(5)
    covered = 0
    for _ in range(60):
        rows = [[draw.expovariate(1.0) for _ in range(3)] for _ in range(20)]
        found = by_seed(rows, lambda some: quantile([value for row in some for value in row], 0.5))
        interval = estimate([value for value in found if value is not None])
        assert interval is not None
        assert interval.half_width is not None
        covered += abs(interval.mean - 0.6931) <= interval.half_width
    assert 50 <= covered <= 60


def test_one_seed_alone_has_no_interval() -> None:
    assert by_seed([1.0], sum) == [None]
    assert by_seed([], sum) == []


def runs(*goodputs: list[float]) -> list[RunResult | None]:
    return [cast(RunResult, {"flows": [{"goodput_bps": value} for value in values]}) for values in goodputs]


def outcome() -> Outcome:
    study = next(study for study in STUDIES if study.name == "byu-random")
    results = {
        Cell(AODV, "newreno-dynack", "4 flows"): [*runs([3.0, 3.0], [3.0, 3.0]), None],
        Cell(AODV, "tahoe", "4 flows"): runs([2.0, 2.0], [2.0, 2.0], [9.0, 9.0]),
        Cell(AODV, "newreno-dynack", "8 flows"): runs([1.0], [1.0], [1.0]),
        Cell(AODV, "tahoe", "8 flows"): runs([2.0], [2.0], [2.0]),
    }
    return Outcome(study, Effort.QUICK, {}, results)


def test_a_measure_takes_the_seeds_that_both_schemes_have() -> None:
    measure = pooled(0.5, "newreno-dynack", "tahoe")
    assert measure.take(outcome(), AODV, "4 flows") == [0.5, 0.5, None]
    assert measure.take(outcome(), AODV, "8 flows") == [-0.5] * 3


def test_cells_are_counted_where_something_holds() -> None:
    measure = pooled_points(0.5, "newreno-dynack", "tahoe", ("4 flows", "8 flows"))
    assert measure.take(outcome(), AODV, "") == [0.5, 0.5, None]


def test_flows_are_left_out_at_random_and_the_same_for_all() -> None:
    left = without(0.26)
    kept = [left(seed, 8) for seed in range(1, 201)]
    assert kept == [left(seed, 8) for seed in range(1, 201)]
    assert sum(map(len, kept)) / 1600 == pytest.approx(0.74, abs=0.04)
