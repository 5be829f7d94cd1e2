"""The vocabulary of judging: where a number lies, what several say together, how many seeds it takes."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshpace.report.model import Verdict
from meshpace.stats import Estimate, estimate, median_estimate, student_t
from meshpace.study.claims import combine
from meshpace.study.rules import (
    EQUAL,
    FAIRER,
    MUCH_FAIRER,
    SLIGHTLY_LESS,
    STARVES,
    Rating,
    Rule,
    about,
    equality,
    order,
    up_to,
)
from meshpace.study.words import number, percent

HOLDS, SHORT, BEYOND, FAILS, OPEN = Rating.HOLDS, Rating.SHORT, Rating.BEYOND, Rating.FAILS, Rating.OPEN


def at(mean: float, width: float | None = 0.0) -> Estimate:
    return Estimate(mean, width, 5)


@pytest.mark.parametrize(
    ("rule", "mean", "width", "answer"),
    [
        # Up to 42 %, 10 points to each side: what is far beyond does not hold.
        (up_to(0.42, 0.10), 0.45, 0.05, HOLDS),
        (up_to(0.42, 0.10), 0.875, 0.16, BEYOND),
        (up_to(0.42, 0.10), 0.21, 0.05, SHORT),
        (up_to(0.42, 0.10), 0.31, 0.05, OPEN),
        (up_to(0.42, 0.10), 0.51, 0.05, OPEN),
        (up_to(0.42, 0.10), -0.05, 0.02, FAILS),
        (up_to(0.42, 0.10), 0.0, 0.015, FAILS),
        (up_to(0.42, 0.10), 0.015, 0.002, FAILS),
        (up_to(0.42, 0.10), 0.05, 0.10, OPEN),
        # Slightly less: an effect downwards.
        (SLIGHTLY_LESS, -0.05, 0.02, HOLDS),
        (SLIGHTLY_LESS, -0.15, 0.02, BEYOND),
        (SLIGHTLY_LESS, 0.05, 0.02, FAILS),
        (SLIGHTLY_LESS, -0.01, 0.005, HOLDS),
        (SLIGHTLY_LESS, -0.001, 0.01, FAILS),
        (SLIGHTLY_LESS, -0.1, 0.02, OPEN),
        # A certain sign is enough for an order, a certain size for "much"; no difference is no order.
        (FAIRER, 0.002, 0.001, HOLDS),
        (FAIRER, 0.001, 0.005, FAILS),
        (FAIRER, 0.0, 0.0, FAILS),
        (FAIRER, 0.01, 0.02, OPEN),
        (MUCH_FAIRER, 0.002, 0.001, FAILS),
        (MUCH_FAIRER, 0.03, 0.01, SHORT),
        (MUCH_FAIRER, 0.06, 0.005, HOLDS),
        (order(rises=False), -0.2, 0.1, HOLDS),
        (order(rises=False), 0.2, 0.1, FAILS),
        # Margins of equivalence: no difference can hold.
        (equality(-0.03, 0.03), 0.001, 0.02, HOLDS),
        (equality(-0.03, 0.03), 0.05, 0.01, FAILS),
        (equality(-0.03, 0.03), 0.03, 0.01, OPEN),
        (EQUAL, 0.99, 0.005, HOLDS),
        (EQUAL, 0.96, 0.005, FAILS),
        (STARVES, 0.04, 0.005, HOLDS),
        (STARVES, 0.46, 0.02, FAILS),
        (about(6, 24, 1.0), 40, 2, BEYOND),
        (about(6, 24, 1.0), 0.8, 0.1, FAILS),
        (about(0.80, 0.98, 1.0, 0.02), 0.7, 0.01, BEYOND),
        (about(0.80, 0.98, 1.0, 0.02), 0.99, 0.005, FAILS),
        (about(0.80, 0.98, 1.0, 0.005), 0.988, 0.005, SHORT),
        (about(0.80, 0.98, 1.0, 0.02), 1.1, 0.01, FAILS),
        # A single run decides nothing.
        (EQUAL, 1.0, None, OPEN),
    ],
)
def test_where_a_number_lies(rule: Rule, mean: float, width: float | None, answer: Rating) -> None:
    assert rule.answer(at(mean, width)) is answer


RULES = st.sampled_from(
    [up_to(0.42, 0.1), SLIGHTLY_LESS, FAIRER, MUCH_FAIRER, equality(-0.03, 0.03), EQUAL, STARVES, about(0.8, 0.98, 1.0)]
)


@given(RULES, st.floats(-2, 2), st.floats(0, 1), st.floats(0, 1))
def test_a_narrower_interval_never_takes_a_decision_back_but_for_an_order(
    rule: Rule, mean: float, width: float, part: float
) -> None:
    wide, narrow = rule.answer(at(mean, width)), rule.answer(at(mean, width * part))
    no_effect_became_a_sign = wide is FAILS and rule.neutral in (rule.low, rule.high)
    assert wide in (OPEN, narrow) or no_effect_became_a_sign


@given(RULES, st.floats(-2, 2), st.floats(0.001, 1))
def test_as_many_runs_as_it_says_decide(rule: Rule, mean: float, width: float) -> None:
    value = at(mean, width)
    runs = rule.runs_to_decide(value)
    if rule.answer(value) is not OPEN:
        assert runs == value.count
    elif runs is not None and runs < 10**9:
        assert runs > value.count
        assert rule.answer(at(mean, width * math.sqrt(value.count / runs))) is not OPEN


def test_the_interval_shrinks_as_one_over_the_root() -> None:
    # 0.02 of 0.04 to the border: four times as many, and one for the border itself.
    assert EQUAL.runs_to_decide(at(0.96, 0.04)) in (20, 21)
    assert EQUAL.runs_to_decide(at(0.98, 0.04)) is None, "no number decides what lies on the border"
    assert EQUAL.runs_to_decide(at(0.9, None)) is None


def test_a_mean_on_a_border_is_taken_to_lie_a_standard_error_off_it() -> None:
    error = 0.04 / student_t(4)
    assert EQUAL.runs_likely(at(0.98, 0.04)) == math.ceil(5 * student_t(4) ** 2), "no more than that of five"
    assert EQUAL.runs_likely(at(0.96, 0.04)) == math.ceil(5 * 0.04**2 / (0.02**2 + error**2))
    assert EQUAL.runs_likely(at(0.99, 0.005)) == 5, "decided"
    assert EQUAL.runs_likely(at(0.9, None)) is None


@given(RULES, st.floats(-2, 2), st.floats(0.001, 1))
def test_what_is_likely_is_no_more_than_if_the_mean_stays(rule: Rule, mean: float, width: float) -> None:
    likely, stays = rule.runs_likely(at(mean, width)), rule.runs_to_decide(at(mean, width))
    assert likely is not None
    assert 5 <= likely <= min(math.ceil(5 * student_t(4) ** 2), math.inf if stays is None else stays)


def test_what_is_asked_in_words() -> None:
    assert up_to(0.42, 0.1).asks(percent) == "+32.0 % to +52.0 %"
    assert (EQUAL.asks(number), STARVES.asks(number), FAIRER.asks(number)) == (
        "at least 0.980", "at most 0.050", "above 0.000",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("main", "guards", "verdict", "note"),
    [
        ((HOLDS, HOLDS), (), Verdict.HOLDS, ""),
        ((HOLDS,), (HOLDS, FAILS), Verdict.PART, "not at every point"),
        ((HOLDS,), (HOLDS, OPEN), Verdict.OPEN, ""),
        ((FAILS,), (HOLDS,), Verdict.FAILS, ""),
        ((SHORT,), (FAILS,), Verdict.PART, "short"),
        ((BEYOND, BEYOND), (), Verdict.PART, "beyond"),
        ((HOLDS, FAILS), (), Verdict.PART, "at 1 of 2"),
        ((HOLDS, SHORT, BEYOND), (), Verdict.PART, "at 1 of 3"),
        ((FAILS, FAILS), (), Verdict.FAILS, ""),
        # Open where the rest could still turn the verdict, and only there.
        ((HOLDS, OPEN), (), Verdict.OPEN, ""),
        ((FAILS, OPEN), (), Verdict.OPEN, ""),
        ((HOLDS, FAILS, OPEN), (), Verdict.PART, "at 1 of 3"),
        ((SHORT, OPEN), (), Verdict.PART, "at 0 of 2"),
        ((OPEN,), (), Verdict.OPEN, ""),
    ],
)
def test_several_answers(main: tuple[Rating, ...], guards: tuple[Rating, ...], verdict: Verdict, note: str) -> None:
    assert combine(main, guards) == (verdict, note)


def test_student_at_other_confidences() -> None:
    # Printed tables: 99 % of 5 degrees, 99.9 % of 10, 90 % of 1.
    assert student_t(5, 0.99) == pytest.approx(4.0321, abs=1e-4)
    assert student_t(10, 0.999) == pytest.approx(4.5869, abs=1e-4)
    assert student_t(1, 0.90) == pytest.approx(6.3138, abs=1e-4)
    wide, usual = estimate([1.0, 2.0, 4.0], 0.99), estimate([1.0, 2.0, 4.0])
    assert wide is not None
    assert usual is not None
    assert (wide.half_width or 0) / (usual.half_width or 1) == pytest.approx(9.9248 / 4.3027, rel=1e-4)


def test_medians() -> None:
    assert median_estimate([]) is None
    assert median_estimate([3.0, 1.0, 2.0, 9.0, 4.0]) == Estimate(3.0, None, 5), "five values bound no median"
    assert median_estimate([6.0, 5.0, 4.0, 3.0, 2.0, 1.0]) == Estimate(3.5, 2.5, 6)
    # Of 20 values the 6th and the 15th (tables of order statistics).
    assert median_estimate([float(n) for n in range(1, 21)]) == Estimate(10.5, 4.5, 20)
