"""What full plans cost, by a sample of their runs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from full_budget import Sampled, together


def test_a_plan_costs_its_runs_times_the_mean_of_those_drawn() -> None:
    chains, grids = Sampled("chains", 1000, (1.0, 3.0)), Sampled("grids", 100, (9.0,))
    assert (chains.total_s, grids.total_s) == (2000, 900)
    assert chains.error_s == pytest.approx(1000 * 2**0.5 / 2**0.5, rel=1e-2), "a deviation of 1.41 s, two runs"
    total, error = together([chains, grids])
    assert (total, error) == pytest.approx((2900, (chains.error_s**2 + grids.error_s**2) ** 0.5))


def test_a_plan_of_which_every_run_was_drawn_is_known() -> None:
    assert Sampled("all", 2, (1.0, 3.0)).error_s == 0
