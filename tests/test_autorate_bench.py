"""bench/autorate.py: cake-autorate's rule does what its published defaults say."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from autorate import PACKET_BITS, WINDOW, Autorate, Bounds

BOUNDS = Bounds(5e5, 1e6, 5e6)


def settled() -> Autorate:
    """Every reflector has answered in 20 ms often enough for its baseline to be 10 ms."""
    rule = Autorate(BOUNDS)
    for count in range(6 * WINDOW):
        rule.answered(1 + count * 0.05, count % WINDOW, 0.020)
    assert rule.rate == BOUNDS.base, "without a load it stays where it is"
    return rule


def answers(rule: Autorate, begin: float, count: int, round_trip: float) -> None:
    for number in range(count):
        rule.answered(begin + number * 0.05, number % WINDOW, round_trip)


def test_high_load_without_delay_raises_once_a_look() -> None:
    rule = settled()
    rule.achieved(0.8 * rule.rate)
    answers(rule, 5, WINDOW, 0.020)
    assert rule.rate == pytest.approx(1.04 * BOUNDS.base)


def test_half_of_the_latest_answers_delayed_cuts_by_a_quarter_and_no_sooner_again() -> None:
    rule = settled()
    late = 2 * (0.010 + 0.060 + PACKET_BITS / BOUNDS.base)
    answers(rule, 5, 2, late)
    assert rule.rate == BOUNDS.base, "two of six are not enough"
    # The mean of the window is half of the delay: less than all of a cut.
    rule.answered(5.1, 2, late)
    once = rule.rate
    assert 0.75 * BOUNDS.base < once < BOUNDS.base
    answers(rule, 5.15, 5, late)
    assert rule.rate == once, "within 300 ms of a cut there is no other"
    rule.answered(5.45, 2, 2 * late)
    assert rule.rate == pytest.approx(0.75 * once)


def test_a_delay_is_half_of_a_round_trip() -> None:
    rule = settled()
    answers(rule, 5, 2 * WINDOW, 0.020 + 1.9 * (0.030 + PACKET_BITS / BOUNDS.base))
    assert rule.rate == BOUNDS.base


def test_low_load_goes_back_to_the_base_rate_and_bounds_hold() -> None:
    rule = settled()
    for look in range(60):
        rule.achieved(rule.rate)
        rule.answered(5 + 0.2 * look, look % WINDOW, 0.020)
    assert rule.rate == BOUNDS.most
    rule.achieved(0)
    for second in range(300):
        rule.answered(20 + 1.1 * second, second % WINDOW, 0.020)
    assert rule.rate == BOUNDS.base
