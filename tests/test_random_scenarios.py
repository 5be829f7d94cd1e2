"""Scenarios at random: whatever is allowed can be run, and what comes out are numbers that fit together."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest

from meshpace import _engine
from random_scenarios import Job, job

PER_TEST = 100


def numbers(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """Every number of a result, with where it stands."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from numbers(inner, f"{path}[{index}]")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, value


def judge(run: dict[str, Any]) -> None:
    """What holds of every run."""
    del run["schemes"]
    for path, number in numbers(run):
        assert math.isfinite(number), (path, number)
        assert number >= 0 or "log_utility" in path or "error_mean" in path, (path, number)
    assert run["jain"] is None or run["jain"] <= 1.0000001
    for flow in run["flows"]:
        assert flow["loss_ratio"] is None or flow["loss_ratio"] <= 1, flow
        assert flow["retransmits"] is None or flow["retransmits"] <= flow["segments_sent"], flow
    for link in run["links"]:
        assert link["collisions"] == sum(link[f"collisions_{kind}"] for kind in ("rts", "cts", "data", "ack")), link
        if link["airtime_s"] is not None:  # a radio link; a frame may have begun before
            assert link["data_drops"] + link["ack_drops"] <= link["retry_drops"], link
            assert link["airtime_s"] <= run["measured_s"] + 0.05, link


@pytest.mark.parametrize("first", range(0, 4 * PER_TEST, PER_TEST))
def test_whatever_is_allowed_runs(first: int) -> None:
    jobs = [job(seed) for seed in range(first, first + PER_TEST)]
    for one in jobs:
        judge(json.loads(text_of(one)))


def text_of(one: Job) -> str:
    """The run's JSON; a panic of the engine tells the scenario."""
    try:
        return _engine.run_many([(one, [])], 1, None)[0]
    except RuntimeError as error:
        raise AssertionError(f"{error}:\n{one[1].decode()}\nseed {one[4]}") from None
