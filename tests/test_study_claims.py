"""Verdicts on synthetic numbers, and the ingredient that is blamed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshpace.report.model import Verdict
from meshpace.results import RunResult
from meshpace.stats import Estimate
from meshpace.study import registry, table2
from meshpace.study.claims import Cause, blame, judge
from meshpace.study.gap_beyond import SWITCHES
from meshpace.study.judges import everywhere, gain_of_up_to
from meshpace.study.model import AODV, STATIC, Cell, Effort, Study
from meshpace.study.outcome import Outcome
from meshpace.study.quantities import GOODPUT
from meshpace.study.rules import above, below, combine, percent, up_to, within
from meshpace.study.statistics import gain, of
from meshpace.study.verdicts import CLAIMS
from study_child import small

values = st.builds(Estimate, st.floats(-2, 2), st.one_of(st.none(), st.floats(0, 2)), st.just(3))


def at(mean: float, width: float = 0.0) -> Estimate:
    return Estimate(mean, width, 3)


@given(values, st.floats(-2, 2))
def test_an_answer_and_its_opposite_agree(value: Estimate, threshold: float) -> None:
    more, less = above(value, threshold), below(value, threshold)
    assert not (more and less)
    if more is None:
        assert less is not True
    if value.half_width is None:
        assert more is not None


def test_an_interval_across_the_threshold_leaves_it_open() -> None:
    assert [above(at(*value), 0.0) for value in ((0.2, 0.1), (0.2, 0.3), (-0.2, 0.1))] == [True, None, False]
    assert [below(at(*value), 0.0) for value in ((-0.2, 0.1), (-0.2, 0.3), (0.2, 0.1))] == [True, None, False]
    inside = [within(at(*value), -1, 1) for value in ((0.0, 0.9), (0.0, 9.0), (2.0, 1.5), (2.0, 0.5))]
    assert inside == [True, None, None, False]


@pytest.mark.parametrize(
    ("answers", "verdict"),
    [
        ((True, True), Verdict.HOLDS),
        ((True, None), Verdict.PART),
        ((True, False), Verdict.PART),
        ((False, None), Verdict.FAILS),
        ((False, False), Verdict.FAILS),
        ((None, None), Verdict.OPEN),
    ],
)
def test_combined(answers: tuple[bool | None, ...], verdict: Verdict) -> None:
    assert combine(answers) is verdict


@pytest.mark.parametrize(
    ("gains", "verdict"),
    [
        ((at(0.25, 0.1), at(0.0, 0.1)), Verdict.HOLDS),
        ((at(0.25, 0.1), at(-0.3, 0.1)), Verdict.PART),
        ((at(0.15, 0.1), at(0.0, 0.1)), Verdict.PART),
        ((at(0.30, 0.9), at(0.0, 0.1)), Verdict.OPEN),
        ((at(0.05, 0.1), at(0.0, 0.1)), Verdict.FAILS),
        ((at(-0.1, 0.05), at(-0.2, 0.1)), Verdict.FAILS),
    ],
)
def test_up_to_forty_percent(gains: tuple[Estimate, ...], verdict: Verdict) -> None:
    assert up_to(gains, 0.4) is verdict


def synthetic(study: Study, goodput: Callable[[Cell, int], float | None], missing: bool = False) -> Outcome:
    """The outcome of a study whose runs have the goodput that is given; None is a run that delivered nothing."""
    results: dict[Cell, list[RunResult | None]] = {}
    for cell in study.cells(Effort.QUICK):
        seeds = range(1, study.quick.seeds + 1)
        results[cell] = [cast(RunResult, {"aggregate_goodput_bps": goodput(cell, seed)}) for seed in seeds]
    stand_in: Any = object()
    records = {cell: [None if missing else stand_in for _ in runs] for cell, runs in results.items()}
    return Outcome(study, Effort.QUICK, records, results)


def by_gain(gain_at: dict[str, float]) -> Callable[[Cell, int], float]:
    """NewReno at 1 Mbit/s, TCP-GAP so much better; seeds differ a little."""

    def goodput(cell: Cell, seed: int) -> float:
        better = gain_at[cell.point] if cell.scheme == "tcp-gap" else 0.0
        return 1e6 * (1 + better) * (1 + 0.001 * (seed % 3))

    return goodput


def test_a_claim_is_judged_under_each_condition() -> None:
    claim = gain_of_up_to(
        "c", "Up to 40 %.", source="s", printed=0.4, study="small", statistic=gain(GOODPUT), unit=" hops"
    )

    def goodput(cell: Cell, seed: int) -> float:
        better = {"2": -0.1, "3": 0.05, "4": 0.3} if cell.condition == AODV else {"2": 0.0, "3": 0.05, "4": 0.3}
        return by_gain(better)(cell, seed)

    judged = judge(claim, {"small": synthetic(small(), goodput)})
    assert judged is not None
    assert [(f.condition, f.verdict, f.measured) for f in judged.findings] == [
        (AODV.name, Verdict.PART, "+30.0 ± 0.0 %"),
        (STATIC.name, Verdict.HOLDS, "+30.0 ± 0.0 %"),
    ]
    assert judged.findings[0].reason == "Against NewReno best +30.0 ± 0.0 % at 4 hops, worst -10.0 ± 0.0 % at 2 hops."
    assert (judged.printed, judged.tolerance, judged.analysis) == ("up to +40 %", claim.tolerance, ())


def test_a_claim_waits_for_all_its_runs() -> None:
    claim = gain_of_up_to("c", "Up to 40 %.", source="s", printed=0.4, study="small", statistic=gain(GOODPUT))
    assert judge(claim, {}) is None
    assert judge(claim, {"small": synthetic(small(), lambda *_: 1.0, missing=True)}) is None


def test_nothing_delivered_decides_nothing() -> None:
    claim = gain_of_up_to("c", "Up to 40 %.", source="s", printed=0.4, study="small", statistic=gain(GOODPUT))
    judged = judge(claim, {"small": synthetic(small(), lambda *_: 0.0)})
    assert judged is not None
    assert {finding.verdict for finding in judged.findings} == {Verdict.OPEN}


def test_everywhere_tells_the_range() -> None:
    claim = everywhere(
        "c", "More.", source="s", printed="more", tolerance="above zero", studies={"small": ""}, points=("2", "4"),
        statistic=gain(GOODPUT), answer=lambda v: above(v, 0.0), show=percent, what="Against NewReno", unit=" hops",
    )  # fmt: skip
    judged = judge(claim, {"small": synthetic(small(), by_gain({"2": -0.1, "3": 9.0, "4": 0.3}))})
    assert judged is not None
    assert {(f.verdict, f.measured) for f in judged.findings} == {(Verdict.PART, "-10.0 % to +30.0 %")}


SWITCH_STUDY = next(study for study in registry.STUDIES if study.name == "gap-switches-chain-up")
CAUSE = Cause(SWITCH_STUDY.name, gain(GOODPUT), percent, low=0.4)


def switched(gains: dict[str, float], noise: float = 0.0) -> Outcome:
    everything = {point.label: gains.get(point.label, 0.02) for point in SWITCHES.points}

    def goodput(cell: Cell, seed: int) -> float:
        wobble = noise * (seed - 2) if cell.point != "as it is" and cell.scheme == "tcp-gap" else 0.0
        return by_gain(everything)(cell, seed) * (1 + wobble)

    return synthetic(SWITCH_STUDY, goodput)


def test_the_ingredient_that_moves_it_most_is_blamed() -> None:
    found = blame(CAUSE, switched({"AODV as in ns-2": 0.3, "window 20": 0.1, "no RTS/CTS": -0.2}), STATIC)
    assert found is not None
    assert "AODV as in ns-2 moves it most: +30.0 ± 0.0 %, 74 % of the way; then window 20 (+10.0 ± 0.0 %)." in found
    assert "no RTS/CTS" not in found


def test_what_is_there_already_is_not_blamed() -> None:
    found = blame(CAUSE, switched({"AODV as in ns-2": 0.3}), AODV)
    assert found is not None
    assert "None of 9 changes" in found


def test_what_the_intervals_allow_to_be_nothing_is_not_blamed() -> None:
    found = blame(CAUSE, switched({"window 20": 0.1}, noise=0.2), STATIC)
    assert found is not None
    assert "None of 9 changes" in found
    assert "nearest comes window 20" in found


def test_what_reaches_the_range_goes_all_the_way() -> None:
    found = blame(CAUSE, switched({"AODV as in ns-2": 0.5, "window 20": 0.7}), STATIC)
    assert found is not None
    assert "window 20 moves it most: +70.0 ± 0.0 %, all the way; then AODV as in ns-2" in found


def test_no_ingredient_is_blamed_where_the_claim_holds() -> None:
    found = blame(CAUSE, switched({"as it is": 0.5, "window 20": 0.9}), STATIC)
    assert found is not None
    assert "here the claim holds" in found


def test_an_analysis_is_made_where_a_claim_fails() -> None:
    claim = gain_of_up_to(
        "c", "Up to 40 %.", source="s", printed=0.4, study="small", statistic=gain(GOODPUT), cause=CAUSE
    )  # fmt: skip

    def goodput(cell: Cell, seed: int) -> float:
        return by_gain(dict.fromkeys(("2", "3", "4"), 0.3 if cell.condition == AODV else 0.0))(cell, seed)

    evidence = {"small": synthetic(small(), goodput), SWITCH_STUDY.name: switched({"AODV as in ns-2": 0.3})}
    judged = judge(claim, evidence)
    assert judged is not None
    (paragraph,) = judged.analysis
    assert paragraph.startswith(
        f"{STATIC.name}: +2.0 ± 0.0 % as it is (chain of 8 hops, wireless to wired), at least +40.0 %"
    )


def test_table_2() -> None:
    assert table2.spearman([1, 2, 3], [10, 20, 30]) == pytest.approx(1.0)
    assert table2.spearman([1, 2, 3], [3, 2, 1]) == pytest.approx(-1.0)
    assert table2.spearman([1, 2, 3, 4], [1, 3, 2, 4]) == pytest.approx(0.8)  # 1 - 6 * 2 / (4 * 15)
    assert table2.spearman([1, 2, 2, 3], [1, 2, 2, 3]) == pytest.approx(1.0)
    assert table2.spearman([1, 2], [5, 5]) is None
    links = [
        {"from": a, "to": b, "data_drops": table2.DATA.get((a, b), 0), "ack_drops": table2.ACKS.get((a, b), 0)}
        for a, b in dict.fromkeys([*table2.DATA, *table2.ACKS])
    ]
    run = cast(RunResult, {"links": links, "measured_s": 1000.0})
    assert table2.likeness(run) == pytest.approx(1.0)
    assert table2.upward_share(run) == pytest.approx(529 / 722)


def test_claims_name_studies_and_each_is_unique() -> None:
    names = {study.name for study in registry.STUDIES}
    assert len({claim.name for claim in CLAIMS}) == len(CLAIMS)
    for claim in CLAIMS:
        assert set(claim.studies) <= names
        assert claim.cause is None or claim.cause.switches in names


def test_a_quantity_of_one_scheme() -> None:
    outcome = synthetic(small(), by_gain({"2": 0.0, "3": 0.0, "4": 0.5}))
    assert of(GOODPUT, "tcp-gap")(outcome, AODV, "4")[2] == pytest.approx(1.5e6)
