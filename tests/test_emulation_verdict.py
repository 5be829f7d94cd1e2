"""What a run's lateness says of it."""

from __future__ import annotations

from typing import Any

import pytest

from meshpace.emulation.verdict import in_words


def result(**other: Any) -> dict[str, Any]:
    lateness = {
        "valid": True,
        "bound_s": 0.001,
        "deliveries": 4000,
        "share_late": 0.0005,
        "p50_s": 3e-5,
        "p99_s": 1e-4,
        "p999_s": 4e-4,
        "max_s": 0.002,
    }
    lateness |= other.pop("lateness", {})
    return {
        "lateness": lateness,
        "dilation": 1.0,
        "scheduling": "SCHED_FIFO 50",
        "rescues": 7,
        "stolen_s": 1.5,
        **other,
    }


def test_a_valid_run_is_one_line() -> None:
    (line,) = in_words(result())
    assert line.startswith("lateness: valid: 99.950% of 4000 packets within 1 ms")
    assert line.endswith("worst 2.000 ms; SCHED_FIFO 50, woken by another processor 7 times")
    assert in_words(result(rescues=None))[0].endswith("; SCHED_FIFO 50")


@pytest.mark.parametrize(("stolen", "lines"), [(1.5, 3), (0.0, 2), (None, 2)])
def test_an_invalid_one_says_what_helps_and_what_was_stolen(stolen: float | None, lines: int) -> None:
    said = in_words(result(lateness={"valid": False, "share_late": 0.01}, stolen_s=stolen))
    assert len(said) == lines
    assert "INVALID: 99.000%" in said[0]
    assert "--dilate F" in said[1]
    assert lines == 2 or said[2].endswith("for 1.50 s in all")


def test_nothing_delivered_and_time_dilated_are_said() -> None:
    said = in_words(result(lateness={"valid": None}, dilation=4.0))
    assert "nothing was delivered" in said[0]
    assert said[1].startswith("dilated by 4")
