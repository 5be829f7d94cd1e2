"""Verdicts on synthetic numbers, and the ingredient that is blamed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, cast

import pytest

from meshpace.report.model import Claim as Judged
from meshpace.report.model import Verdict
from meshpace.results import RunResult
from meshpace.study import places, registry
from meshpace.study.claims import BEST_LEAST, Against, Ask, Claim, Evidence, Judgement, Role, combine, judge
from meshpace.study.measures import (
    ALONG,
    along,
    from_the_mean,
    gain,
    greatest,
    median,
    of,
    spearman,
)
from meshpace.study.model import AODV, AS_IS, STATIC, Cell, Effort, Study
from meshpace.study.outcome import Outcome
from meshpace.study.places import against
from meshpace.study.quantities import DROPS, GOODPUT, LEAD
from meshpace.study.rules import MUCH_FAIRER, NO_LOSS, Rating, Rule, order, up_to
from meshpace.study.verdicts import CLAIMS, judge_all
from meshpace.study.words import count, most, percent
from papers import words
from study_child import small

GAP = words("gap")


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


def claim(*asks: Ask, **more: Any) -> Claim:
    return Claim("c.1", "A statement.", "Fig. 0", "s", "up to +40 %", asks, **more)


def asked(rule: Rule, **more: Any) -> Ask:
    return Ask(gain(GOODPUT), rule, percent, "Against NewReno", ("small",), unit=" hops", **more)


def deep() -> Study:
    """With seeds enough to choose a best point and to estimate it."""
    return dataclasses.replace(small(), quick=dataclasses.replace(small().quick, seeds=16))


def judged(what: Claim, evidence: Evidence) -> Judged:
    (found,) = judge_all(evidence, [what])["small"]
    return found


UP_TO = claim(asked(up_to(0.4, 0.1), best=True), asked(NO_LOSS, role=Role.GUARD), value=0.4)


def test_a_claim_is_judged_under_each_condition_with_both_numbers_and_their_ratio() -> None:
    def goodput(cell: Cell, seed: int) -> float:
        better = {"2": -0.1, "3": 0.05, "4": 0.35} if cell.condition == AODV else {"2": 0.0, "3": 0.05, "4": 0.35}
        return by_gain(better)(cell, seed)

    found = judged(UP_TO, {"small": synthetic(deep(), goodput)})
    assert [(f.condition, f.told, f.measured) for f in found.findings] == [
        (AODV.name, "holds in part, not at every point", "+35.0 ± 0.0 %"),
        (STATIC.name, "holds", "+35.0 ± 0.0 %"),
    ]
    first = found.findings[0]
    assert first.ratio == pytest.approx(0.875)
    assert first.value is not None
    assert first.value.mean == pytest.approx(0.35)
    assert (first.seeds, first.seeds_to_decide, found.value, found.id) == (16, None, 0.4, "c.1")
    assert first.reason == (
        "Against NewReno, best: 4 hops +35.0 ± 0.0 %. Against NewReno: 2 hops -10.0 ± 0.0 %; 3 hops +5.0 ± 0.0 %; "
        "4 hops +35.0 ± 0.0 %."
    )


def test_one_run_beyond_a_bound_refutes_what_is_said_of_every_run() -> None:
    at_most = Ask(greatest(of(GOODPUT, "tcp-gap")), Rule("BOUND", high=1.05e6), most, "Most", ("small",), ("2",))

    def verdict(peak: float) -> tuple[str, str]:
        outcome = synthetic(small(), lambda _, seed: peak if seed == 5 else 1e6 + seed)
        found = judged(claim(at_most), {"small": outcome}).findings[0]
        return found.told, found.measured

    assert verdict(1.2e6) == ("does not hold", "1200000"), "its mean lies below"
    assert verdict(1.04e6) == ("holds", "1040000")


def test_the_best_point_is_chosen_on_odd_seeds_and_estimated_on_the_others() -> None:
    """Noise alone: at 4 hops the odd seeds gain by luck, and the even ones do not."""

    def goodput(cell: Cell, seed: int) -> float:
        lucky = cell.scheme == "tcp-gap" and cell.point == "4" and seed % 2
        return 1e6 * (1 + (0.4 if lucky else 0.0)) * (1 + 0.001 * seed)

    judgement = judge(UP_TO, {"small": synthetic(deep(), goodput)}, AODV)
    assert judgement is not None
    (best,) = judgement.of(Role.CLAIM)
    assert (best.label, best.numbers()) == ("4 hops", [pytest.approx(0.0)] * 8)
    assert judgement.verdict is Verdict.FAILS


def test_a_best_point_estimated_from_few_seeds_says_nothing_yet() -> None:
    judgement = judge(UP_TO, {"small": synthetic(small(), by_gain({"2": 0.0, "3": 0.05, "4": 0.4}))}, AODV)
    assert judgement is not None
    assert (judgement.verdict, judgement.seeds_to_decide) == (Verdict.OPEN, 4 + BEST_LEAST), "four chose, four estimate"


def test_what_is_asked_besides_does_not_rescue_a_claim_and_does_not_keep_it_open() -> None:
    assert combine([Rating.FAILS], [Rating.HOLDS, Rating.OPEN]) == (Verdict.FAILS, "")
    assert combine([Rating.HOLDS], [Rating.OPEN])[0] is Verdict.OPEN
    stating = {
        claim.id: [ask.what for ask in claim.asks if ask.role is Role.CLAIM]
        for claim in CLAIMS
        if claim.id in {"12.2", "16.3", "20.4", "23.2"}
    }
    assert stating == {
        "12.2": ["Jain's index without goodput control"],
        "16.3": ["Jain's index of NewReno"],
        "20.4": ["Jain's index of TCP-GAP"],
        "23.2": ["Less that of Fig. 11"],
    }


def test_a_claim_waits_for_all_its_runs() -> None:
    assert judge_all({}, [UP_TO]) == {}
    assert judge_all({"small": synthetic(small(), lambda *_: 1.0, missing=True)}, [UP_TO]) == {}


def test_nothing_delivered_decides_nothing_unless_the_claim_says_so() -> None:
    evidence = {"small": synthetic(small(), lambda *_: 0.0)}
    assert {finding.verdict for finding in judged(UP_TO, evidence).findings} == {Verdict.OPEN}
    told = judged(claim(asked(order()), otherwise="No such run."), evidence)
    assert {(f.told, f.reason) for f in told.findings} == {("does not hold, no case", "No such run.")}


def test_everywhere_tells_the_range_and_how_many() -> None:
    found = judged(
        claim(asked(order(), points=("2", "4"))),
        {"small": synthetic(small(), by_gain({"2": -0.1, "3": 9.0, "4": 0.3}))},
    )
    assert {(f.told, f.measured) for f in found.findings} == {("holds in part, at 1 of 2", "-10.0 % to +30.0 %")}
    value = found.findings[0].value
    assert value is not None
    assert value.mean == pytest.approx(-0.1), "the one that speaks most against it"
    assert "Judged with intervals for 2 comparisons." in found.findings[0].reason


def wobbling(widths: dict[str, float]) -> Outcome:
    """Gains of 10 % with so much noise at each point."""

    def goodput(cell: Cell, seed: int) -> float:
        return 1e6 * (1.1 + widths[cell.point] * (seed - 4.5) if cell.scheme == "tcp-gap" else 1.0)

    return synthetic(small(), goodput)


def test_undecided_says_how_many_seeds_it_takes_and_is_at_the_border_when_the_budget_is_spent() -> None:
    evidence = {"small": wobbling({"2": 0.0, "3": 0.0, "4": 0.1})}
    what = claim(asked(order()))
    (finding, _) = judged(what, evidence).findings
    assert finding.verdict is Verdict.OPEN
    # The interval: Student's t of 7 degrees times the deviation over the root of 8.
    width = 2.3646 * 0.1 * (42 / 7) ** 0.5 / 8**0.5
    assert finding.seeds_to_decide == pytest.approx(8 * (width / 0.1) ** 2, abs=2)
    (ended, *_) = judge_all(evidence, [what], ended=True)["small"]
    assert {f.verdict for f in ended.findings} == {Verdict.BORDER}


def test_one_point_that_fails_is_enough_to_decide() -> None:
    """3 hops hold; of 2 and 4, both open, the one that looks as if it failed and is quicker to tell gets the seeds."""

    def goodput(cell: Cell, seed: int) -> float:
        mean, noise = {"2": (0.02, 0.1), "3": (0.3, 0.0), "4": (-0.05, 0.06)}[cell.point]
        return 1e6 * (1 + mean + noise * (seed - 4.5) if cell.scheme == "tcp-gap" else 1.0)

    judgement = judge(claim(asked(order())), {"small": synthetic(small(), goodput)}, AODV)
    assert judgement is not None
    assert [r.label for r in judgement.open] == ["2 hops", "4 hops"]
    ((pivot,), comparisons) = judgement.pivots
    assert (pivot.label, comparisons) == ("4 hops", 3), "that it holds in part takes corrected intervals"
    assert judgement.seeds_to_decide == pivot.seeds_to_decide(3)


@pytest.mark.parametrize(
    ("other", "apart", "joint"),
    [(-0.3, Verdict.OPEN, Verdict.FAILS), (0.3, Verdict.OPEN, Verdict.OPEN)],
)
def test_of_what_is_asked_together_one_that_fails_decides(other: float, apart: Verdict, joint: Verdict) -> None:
    """2 hops are open; what else is asked fails, or holds, at 3 hops."""

    def goodput(cell: Cell, seed: int) -> float:
        mean, noise = {"2": (0.02, 0.1), "3": (other, 0.0), "4": (0.0, 0.0)}[cell.point]
        return 1e6 * (1 + mean + noise * (seed - 4.5) if cell.scheme == "tcp-gap" else 1.0)

    evidence = {"small": synthetic(small(), goodput)}
    asks = [dataclasses.replace(asked(order()), points=points) for points in (("2",), ("3",))]

    def verdict(word: str) -> Judgement:
        found = judge(claim(*(dataclasses.replace(ask, joint=word) for ask in asks)), evidence, AODV)
        assert found is not None
        return found

    assert (verdict("").verdict, verdict("trend").verdict) == (apart, joint)
    assert [r.label for r in verdict("trend").open] == (["2 hops"] if joint is Verdict.OPEN else [])


def test_that_only_some_of_many_points_hold_is_judged_with_corrected_intervals() -> None:
    """An interval of one comparison leaves out zero, that of three does not."""

    def goodput(cell: Cell, seed: int) -> float:
        mean, noise = {"2": (0.1, 0.045), "3": (-0.1, 0.0), "4": (-0.1, 0.0)}[cell.point]
        return 1e6 * (1 + mean + noise * (seed - 4.5) if cell.scheme == "tcp-gap" else 1.0)

    judgement = judge(claim(asked(order())), {"small": synthetic(small(), goodput)}, AODV)
    assert judgement is not None
    assert [r.answer().name for r in judgement.readings] == ["HOLDS", "FAILS", "FAILS"]
    assert (judgement.verdict, judgement.comparisons) == (Verdict.OPEN, 3)
    assert [r.label for r in judgement.open] == ["2 hops"]


def test_a_number_is_held_against_that_of_another_study() -> None:
    against = Against("other", "3", of(GOODPUT, "newreno"), lambda a, b: a / b)
    what = claim(Ask(of(GOODPUT, "tcp-gap"), order(), count, "x", ("small",), ("4",), against=against))
    outcomes = {
        "small": synthetic(small(), by_gain(dict.fromkeys("234", 0.5))),
        "other": synthetic(small(), lambda *_: 1e6),
    }
    judgement = judge(what, outcomes, AODV)
    assert judgement is not None
    assert judgement.readings[0].values[2] == pytest.approx(1.5)
    assert {name for name, _ in judgement.readings[0].cells} == {"small", "other"}
    assert what.studies == ("small", "other")


def test_numbers_along_an_axis() -> None:
    outcome = synthetic(small(), by_gain({"2": 0.0, "3": 0.5, "4": 0.2}))

    def first(measure: Any, point: str = "2") -> float:
        found = measure.take(outcome, AODV, point)[2]
        assert found is not None
        return float(found)

    ours = of(GOODPUT, "tcp-gap")
    assert first(ours, "4") == pytest.approx(1.2e6)
    assert first(along(ours, ALONG["mean"])) == pytest.approx(1.7e6 * 2.2 / 3 / 1.0, rel=0.02)
    assert first(along(ours, ALONG["rank"])) == pytest.approx(0.5)
    assert first(along(ours, ALONG["rise"])) == pytest.approx(0.2 / (3.7 / 3))
    assert first(along(ours, ALONG["change"], ("3", "4"))) == pytest.approx(-0.3e6)
    assert first(from_the_mean(ours), "3") == pytest.approx(1.5 / (3.7 / 3) - 1)
    assert [cell.point for cell in along(ours, ALONG["rank"]).cells(outcome, AODV, "2")] == ["2", "3", "4"]
    assert [cell.point for cell in ours.cells(outcome, AODV, "2")] == ["2"]
    assert median(ours).median


def test_a_point_has_no_number_against_itself() -> None:
    """A study of switches has both: each changed point, and the same change without what the claim is about."""
    outcome = synthetic(small(), by_gain({"2": 0.0, "3": 0.5, "4": 0.2}))
    measure = against(of(GOODPUT, "tcp-gap"), ("^.*$", "2"), compare=places.gain)
    assert measure.take(outcome, AODV, "3")[2] == pytest.approx(0.5)
    assert measure.take(outcome, AODV, "2") == []
    other = against(of(GOODPUT, "tcp-gap"), ("^.*$", "2"), than=of(GOODPUT, "newreno"), compare=places.gain)
    assert other.take(outcome, AODV, "2")[2] == pytest.approx(0.0), "two numbers at one point are compared"


SWITCH_STUDY = next(study for study in registry.STUDIES if study.name == "gap-switches-chain-up")
FAILING = claim(asked(up_to(0.5, 0.1), points=("4",)), cause=SWITCH_STUDY.name)


def switched(gains: dict[str, float], noise: float = 0.0) -> Outcome:
    everything = {point.label: gains.get(point.label, 0.02) for point in SWITCH_STUDY.axis.points}

    def goodput(cell: Cell, seed: int) -> float:
        wobble = noise * (seed - 2) if cell.point != "as it is" and cell.scheme == "tcp-gap" else 0.0
        return by_gain(everything)(cell, seed) * (1 + wobble)

    return synthetic(SWITCH_STUDY, goodput)


def paragraphs(outcome: Outcome) -> dict[str, str]:
    """What is said of the claim that fails, by condition."""
    evidence = {"small": synthetic(small(), by_gain(dict.fromkeys("234", 0.0))), SWITCH_STUDY.name: outcome}
    (found,) = judge_all(evidence, [FAILING])["small"]
    return {paragraph.partition(":")[0]: paragraph for paragraph in found.analysis}


def test_the_ingredient_that_moves_it_most_is_blamed_with_absolute_values() -> None:
    found = paragraphs(switched({"AODV as in ns-2": 0.3, "window 20": 0.1, "no RTS/CTS": -0.2}))[STATIC.name]
    assert found.startswith(
        f"{STATIC.name}: +2.0 ± 0.0 % [NewReno 1001, TCP-GAP 1021 kbit/s] as it is (chain of 8 hops, wireless "
        "to wired), "
        "+40.0 % to +60.0 % asked. Of "
    )
    assert "AODV as in ns-2 moves it most: +30.0 ± 0.0 % [NewReno 1001, TCP-GAP 1301 kbit/s], 74 % of the way" in found
    assert "then window 20 (+10.0 ± 0.0 %" in found
    assert "no RTS/CTS" not in found


def test_what_is_there_already_is_not_blamed() -> None:
    assert "changes moves it there for certain" in paragraphs(switched({"AODV as in ns-2": 0.3}))[AODV.name]


def test_what_the_intervals_of_so_many_changes_allow_to_be_nothing_is_not_blamed() -> None:
    """Certain by itself, not as the greatest of many: the interval is for their number."""
    found = paragraphs(switched({"window 20": 0.1}, noise=0.02))[STATIC.name]
    assert "changes moves it there for certain; nearest comes window 20" in found


def test_what_reaches_the_range_goes_all_the_way() -> None:
    found = paragraphs(switched({"AODV as in ns-2": 0.45, "window 20": 0.55}))[STATIC.name]
    assert "window 20 moves it most: +55.0 ± 0.0 % [NewReno 1001, TCP-GAP 1552 kbit/s], all the way" in found


def test_what_goes_too_far_is_not_the_whole_way() -> None:
    found = paragraphs(switched({"AODV as in ns-2": 0.45, "window 20": 0.9}))[STATIC.name]
    assert "AODV as in ns-2 moves it most" in found


def test_no_ingredient_is_blamed_where_it_is_as_asked() -> None:
    assert "here it is as asked" in paragraphs(switched({"as it is": 0.5, "window 20": 0.9}))[STATIC.name]


def test_table_2() -> None:
    links = [
        {
            "from": a,
            "to": b,
            "data_drops": GAP.DATA.get((a, b), 0),
            "ack_drops": GAP.ACKS.get((a, b), 0),
            "collisions": 1,
        }
        for a, b in dict.fromkeys([*GAP.DATA, *GAP.ACKS])
    ]
    flows = [{"timeouts": 10}, {"timeouts": 30}]
    run = cast(RunResult, {"links": links, "measured_s": 1000.0, "flows": flows})
    assert GAP.agreeing(run) == 20
    assert GAP.upward_share(run) == pytest.approx(529 / 722)
    assert GAP.drops_ratio(("RL7", "RL8"), ("RL3", "RL4"))(run) == pytest.approx(141.5 / 12.5)
    assert GAP.timeouts_lead(run) == pytest.approx(0.5)
    assert GAP.collisions_lead(run) == 0
    shorter = cast(RunResult, {**run, "measured_s": 2000.0})
    assert GAP.agreeing(shorter) == 7, "half of each: only those within 15 agree"


def test_spearman() -> None:
    assert spearman([1, 2, 3], [10, 20, 30]) == pytest.approx(1.0)
    assert spearman([1, 2, 3], [3, 2, 1]) == pytest.approx(-1.0)
    assert spearman([1, 2, 3, 4], [1, 3, 2, 4]) == pytest.approx(0.8)  # 1 - 6 * 2 / (4 * 15)
    assert spearman([1, 2, 2, 3], [1, 2, 2, 3]) == pytest.approx(1.0)
    assert spearman([1, 2], [5, 5]) is None


def bins(first: dict[range, float], second: dict[range, float], back: dict[range, float]) -> dict[str, list[float]]:
    def series(values: dict[range, float]) -> list[float]:
        return [next((v for seconds, v in values.items() if second_ in seconds), 0.0) for second_ in range(300)]

    return {"1": series(first), "2": series(second), "3": series(back)}


def test_what_is_read_off_the_seconds() -> None:
    run = bins(
        {range(130): 50.0, range(130, 134): 60.0, range(134, 162): 100.0, range(162, 300): 60.0},
        {range(130): 50.0}, {range(162, 300): 40.0},
    )  # fmt: skip
    assert GAP.second_share(20, 130)(run) == pytest.approx(0.5)
    assert GAP.second_share(170, 300)(run) == pytest.approx(0.4)
    assert GAP.rate(140, 160)(run) == pytest.approx(100.0)
    assert GAP.change_when_alone(run) == pytest.approx(1.0)
    assert GAP.quickest(130, GAP.rate)(run) == pytest.approx(100.0)
    assert GAP.quickest(160, GAP.second_share)(run) == pytest.approx(0.4)
    assert GAP.quickest(150, GAP.second_share)(run) == 0.0
    ahead = {"1": [100.0] * 60 + [130.0] * 30, "2": [100.0] * 60 + [70.0] * 30}
    assert GAP.within_the_threshold(ahead) == pytest.approx(0.5)


def test_quantities_of_links_and_flows() -> None:
    run = cast(
        RunResult,
        {
            "flows": [
                {"goodput_bps": 300.0, "delivered_bytes": 1_460_000},
                {"goodput_bps": 100.0, "delivered_bytes": 0},
            ],
            "links": [{"data_drops": 3, "ack_drops": 1}, {"data_drops": 0, "ack_drops": 6}],
        },
    )
    assert DROPS(run) == pytest.approx(10.0)
    assert LEAD(run) == pytest.approx(0.5)


def test_claims_name_studies_and_each_is_unique() -> None:
    names = {study.name for study in registry.STUDIES}
    assert len({(claim.study, claim.id) for claim in CLAIMS}) == len(CLAIMS)
    for found in CLAIMS:
        assert set(found.studies) <= names
        assert found.cause is None or found.cause in names, (found.id, found.cause)
        assert any(ask.role is Role.CLAIM for ask in found.asks)
        assert found.asks[0].role is Role.CLAIM
        assert found.tolerance


def test_every_point_that_a_claim_names_is_run_by_the_full_plan_and_some_by_the_quick_one() -> None:
    by_name = {study.name: study for study in registry.STUDIES}
    for found in CLAIMS:
        for ask in found.asks:
            for name in ask.studies:
                for effort in Effort:
                    run = {point.label for point in by_name[name].points(effort)}
                    asked_for = run if ask.points is None else set(ask.points)
                    assert asked_for & run, (found.id, name, effort)
                    if effort is Effort.FULL:
                        assert asked_for <= run, (found.id, name)


def test_the_studies_of_a_claim_share_a_condition() -> None:
    """A claim that asks of studies without one is judged under none, and nobody is told."""
    by_name = {study.name: study for study in registry.STUDIES}
    for found in CLAIMS:
        for effort in Effort:
            plans = [(by_name[name].plan(effort), by_name[name]) for name in found.studies]
            conditions = [set(plan.conditions or study.conditions) for plan, study in plans if study.schemes]
            assert set.intersection(*conditions), (found.id, effort, found.studies)


def test_a_judgement_is_of_its_claim() -> None:
    judgement = judge(
        claim(asked(MUCH_FAIRER)), {"small": synthetic(small(), by_gain(dict.fromkeys("234", 0.3)))}, AODV
    )
    assert isinstance(judgement, Judgement)
    assert (judgement.verdict, judgement.seeds_to_decide, judgement.open) == (Verdict.HOLDS, None, [])


class WithoutSeries:
    """A run that kept no time series, as those of switches."""

    def of_flows(self, _: str) -> dict[str, list[float]]:
        return {}


@pytest.mark.parametrize("claim", [claim for claim in CLAIMS if claim.cause], ids=lambda claim: claim.id)
def test_what_switches_do_not_tell_is_unknown(claim: Claim) -> None:
    switches = next(study for study in registry.STUDIES if study.name == claim.cause)
    condition = switches.conditions[0]
    run: Any = WithoutSeries()
    blank = cast(RunResult, {})
    measure = claim.asks[0].measure
    cells = [Cell(condition, scheme, AS_IS) for scheme in switches.schemes]
    outcome = Outcome(switches, Effort.QUICK, {cell: [run] for cell in cells}, {cell: [blank] for cell in cells})
    told: list[float | None] = []
    lacking = None
    try:
        told = measure.take(outcome, condition, AS_IS)
    except KeyError as error:
        lacking = error.args[0]
    # A blank result lacks what a run's has: then it got as far as reading one.
    # A flow would be of a series that was not kept.
    assert lacking not in {"1", "2", "3"}
    assert all(value is None for value in told)
