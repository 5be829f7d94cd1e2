"""bench/high_throughput.py: what it runs of ours, without ns-3."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

import high_throughput
from meshpace.validation.ns3_points import chain_points


@pytest.mark.parametrize("case", high_throughput.CASES[:1] + high_throughput.CASES[-1:])
def test_a_case_runs_and_takes_processor_time(case: str) -> None:
    points = {point.name: point for point in chain_points()}
    assert 0 < high_throughput.ours(points[case], seconds=6, seed=1) < 60
