"""The thesis's studies and claims: set-ups that are its own, and numbers read off as its catalogue has them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from meshpace import engine
from meshpace.report.model import Claim as Judged
from meshpace.report.model import Finding, Verdict
from meshpace.study import flows, registry
from meshpace.study.claims import Claim
from meshpace.study.measures import ALONG, Measure, along, of, part_that, relative
from meshpace.study.model import Cell, Condition, Effort, Study
from meshpace.study.outcome import Outcome
from meshpace.study.page import Campaign, page
from meshpace.study.quantities import FLOW_GOODPUT, Quantity
from meshpace.study.record import Maker
from meshpace.study.verdicts import CLAIMS as ALL_CLAIMS
from papers import words

PAPER = words("byu")
TAHOE, AP, FEW, DA, AD = PAPER.TAHOE, PAPER.AP, PAPER.FEW, PAPER.DA, "dynack-ap"
STUDIES = {study.name: study for study in registry.STUDIES}
KINDS = ("byu-ap-", "byu-fixed-c", "byu-few-", "byu-da-", "byu-ad-", "byu-random")
RUN = [study for name, study in STUDIES.items() if name.startswith(KINDS)]
CLAIMS = [claim for claim in ALL_CLAIMS if claim.id.startswith("byu ")]
RETRIES = Condition("static", "mesh, 4 attempts")
CONDITIONS = (Condition("static", "ideal"), Condition("static", "mesh"), RETRIES)
CATALOGUE = Path(__file__).resolve().parent.parent / "docs/experiments/thesis.md"


@pytest.mark.parametrize("study", RUN, ids=lambda study: study.name)
def test_every_scheme_is_wifus_tahoe_with_what_the_thesis_puts_beside_it(study: Study) -> None:
    for scheme in study.schemes:
        for point in study.axis.points[:: max(1, len(study.axis.points) - 1)]:
            job = study.job(Cell(RETRIES, scheme, point.label), 1, Effort.FULL)
            used = engine.schemes_in_use(job)[scheme]
            assert used["tcp_profile"] == "wifu"
            assert used["congestion"] == ("few" if scheme == FEW else TAHOE)
            assert used.get("few_base", TAHOE) == TAHOE
            assert used["pacing"] == {AP: "wifu-khd", AD: "wifu-khd", "fixed-rate": "fixed"}.get(scheme, "none")
            assert used["ack_policy"] == ("wifu-delayed" if scheme in {DA, AD} else "every")
            if "n = " in point.label and scheme in {AP, AD}:
                assert (used["ap_short_path"], used["n"]) == ("n-hop", int(point.label[-1]))


def test_a_control_runs_once_for_all_values_of_a_schemes_parameter() -> None:
    study = STUDIES["byu-ap-c4"]
    points = [point.label for point in study.axis.points if point.label.startswith("2 flows")]
    assert len(points) == 6
    assert len({study.job(Cell(RETRIES, TAHOE, point), 1, Effort.QUICK) for point in points}) == 1
    assert len({study.job(Cell(RETRIES, AP, point), 1, Effort.QUICK) for point in points}) == 6


def test_full_segments_are_1500_bytes_long_and_a_transfer_has_691() -> None:
    study = STUDIES["byu-da-c1"]
    (text,) = engine.run_many_json([study.job(Cell(RETRIES, DA, "1 flow"), 1, Effort.QUICK)], 1, None)
    run = json.loads(text)
    (flow,) = run["flows"]
    assert flow["segments_sent"] - flow["retransmits"] == 691
    # 1, 3, 3, 4 segments an ACK: 179 without loss (docs/experiments/thesis.md, section 1).
    assert 3.7 < flows.SEGMENTS_AN_ACK(run) < 691 / 178
    assert 0 <= flows.BY_TIMER(run) < 0.1
    assert flows.INTERVAL(run) is None


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_claims_ask_for_points_that_quick_plans_run(claim: Claim) -> None:
    assert claim.asks
    for ask in claim.asks:
        for name in ask.studies:
            study = STUDIES[name]
            run = {point.label for point in study.points(Effort.QUICK)}
            assert set(ask.points or ()) | set(ask.measure.along or ()) <= run, name
            assert set(ask.measure.schemes) <= set(study.schemes)
            assert study.conditions == CONDITIONS


def test_claims_are_those_that_the_catalogue_numbers() -> None:
    text = CATALOGUE.read_text(encoding="utf-8")
    numbered = set(re.findall(r"\b(\d\.\d+\.[a-h]|T5\.1\.[a-h]|(?:FeW|DA|AD)\.[a-d]|X\.[a-m])\b", text))
    judged = {claim.id.removeprefix("byu ").split(" ")[0] for claim in CLAIMS}
    assert judged == numbered, sorted(numbered - judged)


class Made(Outcome):
    """Numbers by scheme and point."""

    numbers: dict[tuple[str, str], list[float | None]] = {}  # noqa: RUF012

    def values(self, cell: Cell, quantity: Quantity) -> list[float | None]:
        assert quantity.unit
        return self.numbers[cell.scheme, cell.point]


def made(study: str, numbers: dict[tuple[str, str], list[float | None]]) -> Outcome:
    found = Made(STUDIES[study], Effort.QUICK, {}, {})
    Made.numbers = numbers
    return found


def take(measure: Measure, outcome: Outcome, point: str = "") -> list[float | None]:
    return measure.take(outcome, RETRIES, point)


def test_r_is_the_ratio_of_two_means_with_the_differences_of_pairs() -> None:
    outcome = made("byu-da-c4", {(TAHOE, "1 flow"): [1.0, 3.0, None], (DA, "1 flow"): [3.0, 3.0, 5.0]})
    assert take(relative(FLOW_GOODPUT, DA, TAHOE), outcome, "1 flow") == [1.0, 0.0, None]


def test_seeds_that_were_added_to_one_scheme_alone_have_no_pair() -> None:
    numbers: dict[tuple[str, str], list[float | None]] = {
        (TAHOE, "1 flow"): [2.0, 2.0],
        (DA, "1 flow"): [3.0, 1.0, 9.0],
    }
    outcome = made("byu-da-c4", numbers)
    assert take(relative(FLOW_GOODPUT, DA, TAHOE), outcome, "1 flow") == [0.5, -0.5]


def test_parts_and_widths_are_taken_run_by_run() -> None:
    points = tuple(f"2 flows, n = {n}" for n in (1, 2, 3))
    rows = zip(points, ([1.0, 5.0], [2.0, 5.0], [4.0, None]), strict=True)
    outcome = made("byu-ap-c4", {(AP, point): values for point, values in rows})  # type: ignore[misc]
    assert take(along(of(FLOW_GOODPUT, AP), ALONG["width"], points), outcome) == [3.0, None]
    assert take(along(of(FLOW_GOODPUT, AP), part_that(lambda value: value < 3), points), outcome) == [2 / 3, None]


def test_table_5_1_holds_a_packet_an_interval_against_the_control() -> None:
    point = "1 flow, n = 4"
    numbers: dict[tuple[str, str], list[float | None]] = {(TAHOE, point): [2e6, 4e6], (AP, point): [0.012, 0.006]}
    outcome = made("byu-ap-c4", numbers)
    # 1 and 2 Mbit/s against a mean of 3.
    assert take(PAPER.rate_less_goodput(), outcome, point) == pytest.approx([-1 / 3, -2 / 3])
    assert take(PAPER.excess(), outcome, point) == pytest.approx([2.0, 0.5])


def test_no_value_of_a_is_the_best_where_another_is_as_good() -> None:
    best = {0.01: [9.0, 5.0, None], 0.1: [8.0, 5.0, 4.0]}
    numbers: dict[tuple[str, str], list[float | None]] = {
        (FEW, f"1 flow, a = {a:g}"): list(best.get(a, [1.0, 2.0, 3.0])) for a in PAPER.ALPHAS
    }
    lead = take(PAPER.lead(0.01), made("byu-few-c4", numbers), "1 flow, a = 0.01")
    assert lead == [1.0, 0.0, None]


def test_the_best_n_is_the_mean_over_numbers_of_flows_seed_by_seed() -> None:
    most = {(2, 4): [7.0, 7.0], (2, 8): [3.0, 9.0], (5, 6): [7.0, 7.0]}
    numbers: dict[tuple[str, str], list[float | None]] = {
        (AP, f"{count} flows, n = {n}"): list(most.get((count, n), [1.0, 1.0])) for count in (2, 5) for n in PAPER.ALL_N
    }
    assert take(PAPER.best_n(FLOW_GOODPUT), made("byu-ap-c9", numbers)) == [5.0, 7.0]


def test_chains_alone_are_those_of_the_two_that_run_together() -> None:
    study = STUDIES["byu-da-par"]
    runs = {}
    for point in study.axis.points:
        (text,) = engine.run_many_json([study.job(Cell(RETRIES, DA, point.label), 1, Effort.QUICK)], 1, None)
        runs[point.label] = json.loads(text)
    ends = {label: [(flow["from"], flow["to"]) for flow in run["flows"]] for label, run in runs.items()}
    assert ends == {
        "both flows": [("a0", "a4"), ("b0", "b4")],
        "first floor alone": [("a0", "a4")],
        "second floor alone": [("b0", "b4")],
    }
    lost = {label: flows.LOSS(run) for label, run in runs.items()}
    assert all(0 <= share < 0.2 for share in lost.values() if share is not None)
    run = runs["both flows"]
    acks = sum(link["ack_drops"] for link in run["links"])
    timeouts = sum(flow["timeouts"] for flow in run["flows"])
    assert PAPER.TIMEOUTS_A_LOST_ACK(run) == (timeouts / acks if acks else None)


def test_a_page_has_columns_for_conditions_under_which_something_was_judged() -> None:
    studies = [STUDIES["byu-cal-c1"], STUDIES["byu-da-c1"]]
    outcomes = [Outcome(study, Effort.QUICK, {cell: [] for cell in study.cells(Effort.QUICK)}, {}) for study in studies]
    campaign = Campaign("meshpace report", Maker("0", None), outcomes)
    finding = Finding(RETRIES.name, Verdict.HOLDS, "")
    judged = Judged("It is so.", "here", (finding,))
    assert len(campaign.conditions) == 4
    assert campaign.judged([judged]) == [RETRIES]
    assert "static mesh, 4 attempts" in page(campaign, {"byu-da-c1": [judged]})
