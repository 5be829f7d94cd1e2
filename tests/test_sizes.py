"""Sizes beside orders: what is printed, what is plausible, and what cannot be tested at all."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from meshpace.keyed import KeyedFileError
from meshpace.report.model import Claim as Judged
from meshpace.report.model import Finding, Verdict
from meshpace.stats import Estimate
from meshpace.study.claims import Claim, Role
from meshpace.study.rules import Rating, Rule, Size, order
from meshpace.study.telling import tally
from meshpace.study.verdicts import CLAIMS
from meshpace.study.words import percent
from meshpace.study.written.own import read_study

HOLDS, SHORT, BEYOND, FAILS, OPEN = Rating.HOLDS, Rating.SHORT, Rating.BEYOND, Rating.FAILS, Rating.OPEN
MORE = Rule("ORDER", low=0.0, neutral=0.0, margin=0.02, size=Size(0.2, 0.45, printed=True))
LESS = Rule("ORDER", high=0.0, neutral=0.0, margin=0.02, size=Size(-0.45, -0.2, printed=True))
NO_MORE = Rule("ORDER", high=0.02, size=Size(-2 / 3, math.inf, printed=False))
LIKELY = Rule("ORDER", low=0.0, neutral=0.0, size=Size(-math.inf, 2.0, printed=False))


def claim(id_: str) -> Claim:
    (found,) = (one for one in CLAIMS if one.id == id_)
    return found


@pytest.mark.parametrize(
    ("rule", "mean", "width", "answer"),
    [
        (MORE, 0.30, 0.05, HOLDS),
        (MORE, 0.10, 0.05, SHORT),
        (MORE, 0.80, 0.05, BEYOND),
        (MORE, 0.20, 0.05, OPEN),
        (MORE, -0.30, 0.05, FAILS),
        (MORE, 0.0, 0.01, FAILS),
        (MORE, 0.01, 0.005, SHORT),  # its sign is certain, so it is an order
        (MORE, 0.30, None, OPEN),
        (LESS, -0.30, 0.05, HOLDS),
        (LESS, -0.10, 0.05, SHORT),
        (LESS, -0.80, 0.05, BEYOND),
        (NO_MORE, -0.20, 0.05, HOLDS),
        (NO_MORE, -0.97, 0.05, BEYOND),
        (NO_MORE, -0.60, 0.20, HOLDS),  # a doubt is worth no seeds: the mean says
        (NO_MORE, 0.20, 0.05, FAILS),
        (LIKELY, 26.7, 6.9, BEYOND),
        (LIKELY, 1.9, 0.5, HOLDS),
    ],
)
def test_a_size_is_asked_beside_the_order(rule: Rule, mean: float, width: float | None, answer: Rating) -> None:
    value = Estimate(mean, width, 5)
    assert rule.answer(value) is answer
    assert rule.missed_size(value) is (answer in (SHORT, BEYOND))


def test_a_size_is_told_where_it_is_asked() -> None:
    assert MORE.asks(percent) == "above +0.0 %, in size +20.0 % to +45.0 %"
    assert LIKELY.asks(percent) == "above +0.0 %, plausible to +200.0 %"
    assert NO_MORE.asks(percent) == "at most +2.0 %, plausible to -66.7 %"


def test_seeds_to_decide_see_the_ends_of_a_printed_size_and_causes_what_lies_outside() -> None:
    near = Estimate(0.25, 0.10, 4)
    assert MORE.answer(near) is OPEN
    assert MORE.runs_to_decide(near) == 17
    assert MORE.misses(0.1) == pytest.approx(0.1)
    assert MORE.misses(0.3) == 0
    assert order().misses(0.1) == 0


@pytest.mark.parametrize(
    ("id_", "means", "answer"),
    [
        ("llap F9.2", 26.671, BEYOND),  # an estimate that ran away
        ("llap F9.2", 0.25, HOLDS),
        ("byu 5.35.a", -0.969, BEYOND),  # a lock-up
        ("byu 5.35.a", -0.30, HOLDS),
    ],
)
def test_what_ran_away_or_locked_up_no_longer_holds(id_: str, means: float, answer: Rating) -> None:
    assert claim(id_).asks[0].rule.answer(Estimate(means, 0.05, 5)) is answer


def test_table_2_of_llap_is_held_to_its_printed_factors() -> None:
    off, on = (ask.rule for ask in claim("llap T2.6").asks[:4] if ask.role is Role.CLAIM)
    assert off.size == Size(1.57 / 1.5, 1.57 * 1.5, printed=True)
    assert on.size == Size(0.81 / 1.5, 0.81 * 1.5, printed=True)
    assert claim("llap T2.6").value == 1.57, "the ratio beside the verdict is to it"


def test_every_order_of_what_is_carried_has_a_bound() -> None:
    """Of gains: shares, indices, ranks and falls are bounded by what they are."""
    open_ended = [
        (one.id, ask.what)
        for one in CLAIMS
        for ask in one.asks
        if ask.role is not Role.BESIDE
        and ask.show is percent
        and ask.measure.quantity is not None
        and ask.measure.quantity.name in ("goodput", "flow_goodput", "received", "g_paper")
        and math.isinf(ask.rule.high)
        and ask.rule.low >= 0
        and not ask.what.lower().startswith(("fall", "fig. 16, least", "fig. 21, least", "least"))
        and ask.rule.size is None
        and not ask.measure.once
    ]
    assert not open_ended


def test_what_is_about_a_reconstructed_scheme_cannot_be_tested() -> None:
    about = {"xcp-b", "xcp-winf", "rcp-winf", "wcp", "wcpcap-airtime"}
    for one in CLAIMS:
        judged = {scheme for ask in one.asks if ask.role is not Role.BESIDE for scheme in ask.measure.schemes}
        assert bool(one.reconstructed) is bool(judged & about), one.id
    assert claim("we F3.5").reconstructed == ("xcp-b", "xcp-winf")
    assert not claim("we F12.1").reconstructed


def test_the_sum_says_that_it_cannot() -> None:
    finding = Finding("static routes, ns-2 capture", Verdict.UNTESTABLE, "", "+3.0 %")
    judged = Judged("A statement.", "s", (finding,), id="we X")
    assert tally([judged]) == "1 claims, 1 verdicts: 1 not testable (reconstructed)"


FILE = """
[study]
name = "mine"
scenario = "{scenario}"
schemes = ["newreno", "tcp-ap"]

[quick]
seeds = 3

[full]
seeds = 3

[claim.1]
statement = "More."
ask = {{ measure = "gain", quantity = "goodput", scheme = "tcp-ap", over = "newreno", {asked} }}
"""


def written(folder: Path, asked: str) -> Rule:
    scenario = Path(__file__).resolve().parent.parent / "scenarios" / "chain-adhoc.toml"
    (folder / "mine.toml").write_text(FILE.format(scenario=scenario, asked=asked))
    return read_study(folder / "mine.toml").claims[0].asks[0].rule


@pytest.mark.parametrize(
    ("asked", "size"),
    [
        ('rule = "MORE", size = 0.3', Size(0.3 / 1.5, 0.3 * 1.5, printed=True)),
        ('rule = "LESS", size = -0.3', Size(-0.3 * 1.5, -0.3 / 1.5, printed=True)),
        ('rule = "MORE", size = 0.02, size_error = 0.05', Size(0.02 - 0.05, 0.02 + 0.05, printed=True)),
        ('rule = "MORE", plausible = [-1, 0.52]', Size(-1.0, 0.52, printed=False)),
        ('rule = "MORE"', Size(-math.inf, 2.0, printed=False)),
        ('rule = "LESS"', Size(1 / 3 - 1, math.inf, printed=False)),
        ('rule = "VALUE", low = 0.1, high = 0.3', None),
    ],
)
def test_a_file_says_sizes_and_what_is_plausible(asked: str, size: Size | None, tmp_path: Path) -> None:
    assert written(tmp_path, asked).size == size


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ('rule = "VALUE", low = 0.1, high = 0.3, size = 0.2', "size: found a size of VALUE with two ends; allowed"),
        ('rule = "MORE", size_error = 0.2', "size_error: found an error without a size; allowed"),
        ('rule = "MORE", size = 0.2, plausible = [0, 1]', "plausible: found plausible beside size; allowed"),
        ('rule = "MORE", plausible = 3', "plausible: found 3; allowed: two numbers"),
        ('rule = "MORE", size = -0.2', "size: found -0.3 to -0.133333; allowed: what the rule leaves: 0 to inf"),
    ],
)
def test_what_does_not_fit_is_said_with_its_line(asked: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(KeyedFileError, match=r"mine\.toml:\d+: .*") as caught:
        written(tmp_path, asked)
    assert said in str(caught.value)
