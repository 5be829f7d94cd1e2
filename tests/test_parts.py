"""Small parts: statistics, progress, files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshpace import progress
from meshpace.files import replacing
from meshpace.stats import estimate, jain_index, jain_over_windows, student_t

SHARES = st.lists(st.just(0.0) | st.floats(1e-100, 1e9), min_size=1, max_size=20)
"""Smaller ones have squares that floats hold with a few bits only."""


def test_confidence_interval_of_a_textbook_sample() -> None:
    found = estimate([10.0, 12.0, 14.0])  # mean 12, s 2, t(2) 4.302653
    assert found is not None
    assert (found.mean, found.count) == (12.0, 3)
    assert found.half_width == pytest.approx(4.302653 * 2 / 3**0.5)


def test_one_value_has_no_interval_and_none_no_estimate() -> None:
    one = estimate([5.0])
    assert one is not None
    assert one.half_width is None
    assert estimate([]) is None


def test_students_t_falls_to_the_normal_quantile() -> None:
    quantiles = [student_t(degrees) for degrees in range(1, 200)]
    assert quantiles == sorted(quantiles, reverse=True)
    assert student_t(60) == pytest.approx(2.0003, abs=5e-4)  # printed tables
    assert student_t(120) == pytest.approx(1.9799, abs=5e-4)


@given(SHARES)
def test_jain_is_between_one_over_n_and_one(shares: list[float]) -> None:
    index = jain_index(shares)
    assert (index is None) == (sum(share * share for share in shares) == 0)
    if index is not None:
        assert 1 / len(shares) - 1e-9 <= index <= 1 + 1e-9


def test_flows_that_take_turns_are_fair_over_long_windows_only() -> None:
    turns = [[1.0, 0.0] * 10, [0.0, 1.0] * 10]
    assert jain_over_windows(turns, 1) == 0.5
    assert jain_over_windows(turns, 2) == 1.0
    assert jain_over_windows(turns, 21) is None


def test_progress_is_silent_for_two_seconds_then_speaks_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress.Progress("work", 9) as bar:
        for second, done in ((1.9, 1), (2.5, 2), (5.0, 3), (12.6, 4)):
            now[0] = 100.0 + second
            bar(done)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == ["work: 2 of 9, 2 s", "work: 4 of 9, 13 s"]


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "result"
    target.write_text("old")

    def fails() -> None:
        with replacing(target) as draft:
            draft.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert target.read_text() == "old"
    with replacing(target) as draft:
        draft.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]
