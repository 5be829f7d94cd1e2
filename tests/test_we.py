"""The WE TCP-AP paper's studies: every run is one, every claim is judged, and what is read off runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from commanding import taken
from meshpace import engine
from meshpace.report.model import Verdict
from meshpace.results import RunResult
from meshpace.study import registry, seconds
from meshpace.study.claims import judge
from meshpace.study.model import AS_IS, DSDV, STATIC, Cell, Effort, Study
from meshpace.study.outcome import Outcome
from meshpace.study.verdicts import CLAIMS
from papers import words

PAPER = words("we")

STUDIES = {study.name: study for study in registry.STUDIES if study.paper == "we-tcp-ap"}
CATALOGUE = Path(__file__).resolve().parent.parent / "docs" / "experiments" / "we-tcp-ap.md"
NOT_JUDGED = {
    "F1.1": "a test: crates/mesh/tests/engine/winf.rs, the_durations_of_rts_and_cts_are_the_rest_of_the_exchange",
    "X8": "no byte is added, by the header's length (scheme.explicit_header)",
    "X9": "a test and a table of our probe: docs/winf.md; the paper's size and number are not printed",
    "X13": "a test and a table: docs/winf.md",
    "X15": "optional",
}
"""Claims without a study, and what there is instead."""


@pytest.mark.parametrize("name", sorted(STUDIES))
def test_every_run_of_a_study_is_one_that_the_engine_takes(name: str) -> None:
    study: Study = STUDIES[name]
    for effort in Effort:
        for cell in {(cell.scheme, cell.point): cell for cell in study.cells(effort)}.values():
            assert taken(study.job(cell, 1, effort))["flows"]


def test_every_claim_of_the_catalogue_is_judged_or_says_why_not() -> None:
    text = re.split(r"^## 5\. ", CATALOGUE.read_text(encoding="utf-8"), flags=re.MULTILINE)[0]
    stated = set(re.findall(r"\b(F\d+\.\d+|X\d+) \(", text)) | {"F23.1", "F23.2", "F23.3"}
    assert len(stated) == 94, "as its checklist counts them"
    judged = {claim.id.removeprefix("we ") for claim in CLAIMS if claim.id.startswith("we ")}
    assert judged | set(NOT_JUDGED) == stated, sorted((judged | set(NOT_JUDGED)) ^ stated)
    assert not judged & set(NOT_JUDGED)


def test_every_figure_with_curves_is_some_study_s() -> None:
    drawings = {1, 2, 18}
    assert {figure for study in STUDIES.values() for figure in study.figures} == {
        f"Fig. {number}" for number in range(1, 24) if number not in drawings
    }
    told = {claim.figure for claim in CLAIMS if claim.id.startswith("we ")} - {""}
    assert told == {f"Fig. {number}" for number in range(1, 24) if number not in drawings}


def test_every_claim_asks_at_points_and_of_schemes_that_its_studies_run() -> None:
    for claim in CLAIMS:
        if not claim.id.startswith("we "):
            continue
        for ask in claim.asks:
            for name in ask.studies:
                study = STUDIES[name]
                assert set(ask.measure.schemes) <= set(study.schemes), (claim.id, name)
                labels = {point.label for point in study.axis.points}
                quick = {point.label for point in study.points(Effort.QUICK)}
                assert ask.points is None or (set(ask.points) <= labels and set(ask.points) & quick), claim.id


def test_the_ad_hoc_network_has_half_as_many_flows_with_ends_of_their_own() -> None:
    study = STUDIES["we-adhoc"]
    for point in study.points(Effort.QUICK):
        found = engine.resolve(study.job(Cell(DSDV, "we-tcp-ap", point.label), 1, Effort.QUICK))
        ends = [flow[end] for flow in found["flows"] for end in ("from", "to")]
        assert len(ends) == len(set(ends)) == 2 * int(point.label)
        assert found["mobility"]["first_speed"] == "inverse"
        assert len(found["mobility"]["nodes"]) == 2 * int(point.label)


def test_each_mobile_node_sends_to_a_node_of_the_grid_and_all_of_the_ground_is_theirs() -> None:
    study = STUDIES["we-mesh"]
    for point in study.points(Effort.FULL):
        found = engine.resolve(study.job(Cell(DSDV, "we-tcp-ap", point.label), 2, Effort.FULL))
        assert [flow["from"] for flow in found["flows"]] == [f"m{i + 1}" for i in range(int(point.label))]
        sinks = [flow["to"] for flow in found["flows"]]
        assert len(set(sinks)) == len(sinks)
        assert all(sink.startswith("g") for sink in sinks)
        assert (found["mobility"]["width_m"], found["mobility"]["height_m"]) == (1000.0, 1000.0)
        assert found["mobility"]["nodes"] == [f"m{i + 1}" for i in range(int(point.label))]


def test_chains_of_the_text_are_those_of_the_figures() -> None:
    here, there = (engine.resolve(STUDIES[name].job(Cell(STATIC, "tcp-ap", at), 1, Effort.QUICK))
                   for name, at in (("we-text-chain", ""), ("we-chain", "4")))  # fmt: skip
    assert [flow["to"] for flow in here["flows"]] == [flow["to"] for flow in there["flows"]]


@pytest.mark.parametrize(("name", "flows"), [("we-utility-8", 8), ("we-utility-16", 16)])
def test_the_utility_test_has_tcp_beside_we_tcp_ap(name: str, flows: int) -> None:
    found = engine.resolve(STUDIES[name].job(Cell(DSDV, "we-tcp-ap", ""), 1, Effort.QUICK))
    assert [flow["scheme"] for flow in found["flows"]] == ["newreno"] * flows + ["we-tcp-ap"] * flows


def test_the_utility_test_as_printed_has_everybody_in_a_part_of_the_area() -> None:
    study = STUDIES["we-utility-8-moving"]
    found = engine.resolve(study.job(Cell(DSDV, "we-tcp-ap", AS_IS), 1, Effort.QUICK))
    left, middle, right = [0, 375, 250, 625], [250, 250, 750, 750], [750, 375, 1000, 625]
    parts = {"ST": left, "SW": left, "M1": middle, "M2": middle, "DT": right, "DW": right}
    assert found["mobility"]["within_m"] == parts
    assert sorted(found["mobility"]["nodes"]) == sorted(parts)
    assert [flow["scheme"] for flow in found["flows"]] == ["newreno"] * 8 + ["we-tcp-ap"] * 8


def goodputs(study: Study, of: Callable[[str, str], float]) -> Outcome:
    """An outcome with this goodput by scheme and point, and packets received by it; every third seed a little apart."""
    results: dict[Cell, list[RunResult | None]] = {}
    for cell in study.cells(Effort.QUICK):
        rates = [of(cell.scheme, cell.point) * (1 + 0.001 * (seed % 3)) for seed in range(study.quick.seeds)]
        flow = {"loss_ratio": 0.0}
        results[cell] = [
            run_of({**flow, "segments_sent": rate * 10}) | {"aggregate_goodput_bps": rate} for rate in rates
        ]
    stand_in: Any = object()
    return Outcome(study, Effort.QUICK, {cell: [stand_in] * len(runs) for cell, runs in results.items()}, results)


def judged(named: str, study: str, of: Callable[[str, str], float]) -> str:
    (claim,) = (replace(claim, reconstructed=()) for claim in CLAIMS if claim.id == f"we {named}")
    found = judge(claim, {study: goodputs(STUDIES[study], of)}, DSDV)
    assert found is not None
    return found.verdict.value


@pytest.mark.parametrize(
    ("gains", "verdict"),
    [
        ((0.20, 0.30, 0.40), "holds"),
        ((0.17, 0.30, 0.44), "holds"),
        ((0.30, 0.30, 0.30), "holds in part"),  # neither end is near
        ((0.05, 0.30, 0.40), "holds in part"),  # a point is outside
        ((0.16, 0.17, 0.18), "holds in part"),  # a gain that falls short, in the words of all papers
        ((-0.15, -0.15, -0.15), "does not hold"),
    ],
)
def test_the_printed_range_of_gains_is_judged_as_the_catalogue_says(
    gains: tuple[float, float, float], verdict: str
) -> None:
    at = dict(zip(("3", "5", "7"), gains, strict=True))
    assert judged("F12.1", "we-mesh", lambda scheme, point: 1e6 * (1 + at[point] * (scheme == "we-tcp-ap"))) == verdict


@pytest.mark.parametrize(("wcp", "verdict"), [(1.5e6, "holds"), (0.62e6, "holds in part")])
def test_packets_and_throughput_of_equal_flows_are_judged_alike(wcp: float, verdict: str) -> None:
    """They differ by a factor where segments are equal: so do Figs. 9 and 11 (F9.4, F11.2)."""
    winf = {"4": 1e6, "16": 0.9e6, "64": 0.6e6}

    def goodput(scheme: str, point: str) -> float:
        if scheme == "tcp-ap-winf":
            return winf[point]
        return wcp if (scheme, point) == ("wcp", "64") else 1e6

    assert [judged(claim, "we-adhoc-winf", goodput) for claim in ("F9.4", "F11.2")] == [verdict] * 2


def test_claims_against_reconstructed_schemes_are_not_tested_whatever_comes_out() -> None:
    (claim,) = (claim for claim in CLAIMS if claim.id == "we F9.4")
    found = judge(claim, {"we-adhoc-winf": goodputs(STUDIES["we-adhoc-winf"], lambda _, __: 1e6)}, DSDV)
    assert found is not None
    assert (found.verdict, found.open) == (Verdict.UNTESTABLE, [])
    assert found.readings, "numbers are told all the same"


def run_of(*flows: dict[str, Any], links: tuple[dict[str, Any], ...] = ()) -> RunResult:
    each = {"loss_ratio": None, "segments_sent": 0, "delay_mean_s": None, "hops": None}
    return cast(RunResult, {"measured_s": 10.0, "flows": [each | flow for flow in flows], "links": list(links)})


def test_packets_count_by_flow_and_a_flow_without_any_says_nothing_of_delay() -> None:
    flows = (
        {"loss_ratio": 0.1, "segments_sent": 100, "delay_mean_s": 1.0, "hops": 2},
        {"loss_ratio": 0.5, "segments_sent": 20, "delay_mean_s": 2.0, "hops": 3},
        {"segments_sent": 5, "loss_ratio": 1.0},
    )
    link = {"airtime_s": 1.0, "retry_drops": 3, "queue_drops": 2}
    run = run_of(*flows, links=(link,))
    assert PAPER.RECEIVED(run) == pytest.approx(10.0)
    assert PAPER.PACKET_DELAY(run) == pytest.approx(1.1)
    assert PAPER.LOSS(run) == pytest.approx(0.2)
    assert PAPER.WE_DROPS(run) == pytest.approx(0.04)
    assert PAPER.USE(run) == pytest.approx((90 * 2 + 10 * 3) * PAPER.DATA_AIRTIME_S)
    assert pytest.approx(1307.6e-6, abs=1e-7) == PAPER.DATA_AIRTIME_S
    empty = run_of({})
    assert (PAPER.PACKET_DELAY(empty), PAPER.LOSS(empty), PAPER.USE(empty), PAPER.WE_DROPS(empty)) == (None,) * 4
    assert PAPER.RECEIVED(empty) == 0


def test_a_mean_of_flows_means_and_what_the_first_middle_node_forwards() -> None:
    def flow(scheme: str, delay: float | None, **packets: int) -> dict[str, Any]:
        load = [{"node": node, "data": {"packets": count}} for node, count in packets.items()]
        return {"scheme": scheme, "delay_mean_s": delay, "load": load}

    run = run_of(flow("newreno", 1.0, M1=40, M2=7), flow("newreno", None), flow("we-tcp-ap", 2.0, M2=9, M1=30))
    assert PAPER.FORWARDED(run) == pytest.approx(0.75)
    assert PAPER.FLOW_DELAY(run) == pytest.approx(1.5)
    assert PAPER.FORWARDED(run_of(flow("we-tcp-ap", None, M1=3))) is None


def test_what_waits_is_the_mean_over_nodes_and_time() -> None:
    run = run_of({})
    assert PAPER.QUEUES(run) is None
    run["queues"] = [
        {"node": node, "packets_mean": mean, "packets_max": 9, "flows": []}
        for node, mean in (("a", 1.0), ("b", 4.0), ("c", None))
    ]
    assert PAPER.QUEUES(run) == pytest.approx(2.5)


def test_the_tool_keeps_the_throughput_of_a_flow_that_dies_early() -> None:
    early, steady, never = [4.0, 4.0, 0.0, 0.0], [2.0] * 4, [0.0] * 4
    assert PAPER.throughput_of_the_tool({"1": early, "2": steady}) == 3.0
    assert PAPER.throughput_of_the_tool({"1": early, "2": never}) == 2.0
    assert PAPER.throughput_of_the_tool({}) is None


def test_variation_is_over_windows_of_ten_seconds() -> None:
    assert seconds.variation({"1": [1.0, 3.0] * 10, "2": [0.0] * 20}) == 0
    assert seconds.variation({"1": [1.0] * 10 + [3.0] * 10 + [9.0] * 5}) == pytest.approx(2**0.5 / 2)
    assert seconds.variation({"1": [1.0] * 15}) is None
    assert seconds.variation({"1": [0.0] * 20}) is None


def test_variation_over_seeds_is_of_one_less_the_other() -> None:
    assert PAPER.spread_difference([(1.0, 2.0), (3.0, 2.0)]) == pytest.approx(2**0.5 / 2)
    assert PAPER.spread_difference([(0.0, 1.0), (0.0, 3.0)]) == pytest.approx(-(2**0.5) / 2)


def test_classes_of_the_utility_test() -> None:
    tcp = [[3.0] * 20 + [1.0] * 100, [3.0] * 20 + [1.0] * 100]
    we = [[1.0] * 120, [1.0] * 20 + [2.0] * 100]
    bins = {str(index): flow for index, flow in enumerate([*tcp, *we], start=1)}
    assert PAPER.tcp_share(0, 20)(bins) == pytest.approx(0.75)
    assert PAPER.we_by_tcp(bins) == pytest.approx(1.5)
    # Means: (120 + 2 t) and (40 + 3 t) after 20 + t seconds; within 20 % from 40 + 3 t = 0.8 (120 + 2 t) on.
    assert PAPER.adjusted_at(bins) == 60
    assert PAPER.adjusted_at({"1": [1.0] * 9, "2": [0.0] * 9}) == 9
    assert PAPER.tcp_share(0, 5)({"1": [0.0] * 9, "2": [0.0] * 9}) is None
