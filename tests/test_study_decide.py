"""Seeds that are added until verdicts are decided: which, in what order, and what a budget does."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from commanding import Cli
from meshpace.report.model import Verdict
from meshpace.study import command, registry
from meshpace.study.claims import BEST_LEAST, Ask, Claim, judge
from meshpace.study.decide import BLOCK, Decision, decide, deepen, noted, save
from meshpace.study.executors import workers
from meshpace.study.measures import gain
from meshpace.study.model import AODV, Effort, Plan, Study
from meshpace.study.outcome import Outcome, load
from meshpace.study.quantities import GOODPUT
from meshpace.study.record import Maker, running
from meshpace.study.rules import Rule, order, up_to
from meshpace.study.runner import make, tasks
from meshpace.study.store import Store
from meshpace.study.verdicts import judge_all
from meshpace.study.words import percent
from study_child import small

EFFORT = Effort.QUICK


def study() -> Study:
    plan = Plan(2, (("measure.duration", "6s"), ("measure.warmup", "1s")), core_s=0.01)
    return dataclasses.replace(small(), conditions=(AODV,), quick=plan)


def claim(rule: Rule, points: tuple[str, ...]) -> Claim:
    ask = Ask(gain(GOODPUT), rule, percent, "Against NewReno", ("small",), points)
    return Claim(f"of {points}", "A statement.", "", "tests", "", (ask,))


CERTAIN = claim(Rule("VALUE", low=-0.99), ("2",))
"""Two seeds decide it, or a few more."""
HARD = claim(order(), ("3",))


def start(store: Store) -> dict[str, Outcome]:
    with workers("threads", 2) as hands:
        make(tasks([study()], EFFORT), store, hands)
    return {"small": load(store, [study()], EFFORT)[0]}


def decided(store: Store, *claims: Claim, budget_s: float) -> Decision:
    with workers("threads", 2) as hands:
        return decide(start(store), claims, store, hands, budget_s)


def seeds(evidence: dict[str, Outcome]) -> dict[tuple[str, str], list[int]]:
    found = evidence["small"].records.items()
    return {(cell.scheme, cell.point): [r.job.seed for r in records if r is not None] for cell, records in found}


def test_only_what_keeps_a_verdict_undecided_gets_seeds_in_whole_blocks(tmp_path: Path) -> None:
    never = claim(Rule("VALUE", low=-0.9999, high=1e6), ("2",))
    decision = decided(Store(tmp_path / "s"), never, HARD, budget_s=0.2)
    have = seeds(decision.evidence)
    assert have["newreno", "4"] == [1, 2], "no claim is about it"
    for (_, point), found in have.items():
        assert found == list(range(1, len(found) + 1))
        assert (len(found) - 2) % BLOCK == 0
        assert point != "3" or found == have["newreno", "3"]
    assert sum(len(found) for found in have.values()) - 12 == decision.runs == sum(decision.more.values())


def test_it_ends_when_everything_is_decided_and_the_verdict_is_so(tmp_path: Path) -> None:
    decision = decided(Store(tmp_path / "s"), CERTAIN, budget_s=60)
    assert (decision.ended, decision.undecided, decision.left) == (False, 0, {})
    (found,) = judge_all(decision.evidence, [CERTAIN])["small"]
    assert {finding.verdict for finding in found.findings} == {Verdict.HOLDS}


def test_the_best_point_gets_the_seeds_its_estimate_takes_without_a_budget(tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    best = Claim("best", "A statement.", "", "tests", "", (Ask(
        gain(GOODPUT), up_to(0.4, 0.1), percent, "Against NewReno", ("small",), best=True,
    ),))  # fmt: skip
    evidence = start(store)
    assert judge_all(evidence, [best])["small"][0].findings[0].verdict is Verdict.OPEN, "of one seed"
    with workers("threads", 2) as hands:
        deepened = deepen(evidence, [best, HARD], store, hands)
    deeper = {place[1].point for place in deepened.more}
    assert len(deeper) == 1, "the best point and no other; an ORDER gets nothing"
    assert set(deepened.more.values()) == {2 * BLOCK}
    assert (deepened.deepened, deepened.runs, deepened.spent_s) == (2 * 2 * BLOCK, 0, 0.0)
    judgement = judge(best, evidence, AODV)
    assert judgement is not None
    assert [len(reading.numbers()) for reading in judgement.readings] == [1 + 2 * BLOCK]
    assert BEST_LEAST <= 1 + 2 * BLOCK


def test_a_larger_budget_goes_on_where_a_smaller_one_stopped(tmp_path: Path) -> None:
    orders = []
    for name, budget_s in (("a", 0.05), ("b", 0.15)):
        added: list[dict[object, int]] = []
        store = Store(tmp_path / name)
        with workers("threads", 2) as hands:
            told = decide(
                start(store),
                [HARD, CERTAIN],
                store,
                hands,
                budget_s,
                lambda d: added.append(dict(d.more)),  # noqa: B023
            )
        assert told.ended or told.undecided == 0
        orders.append(added)
    short, long = sorted(orders, key=len)
    assert long[: len(short)] == short


def test_the_same_store_goes_the_same_way_without_a_run(tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    first = decided(store, HARD, budget_s=0.1)
    before = len(store)
    again = decided(Store(tmp_path / "s"), HARD, budget_s=0.1)
    assert len(Store(tmp_path / "s")) == before
    assert (again.more, again.spent_s, again.ended) == (first.more, pytest.approx(first.spent_s), first.ended)


def test_a_spent_budget_leaves_it_at_the_border_with_what_the_rest_would_cost(tmp_path: Path) -> None:
    on_the_border = claim(Rule("EQUALITY", -1e-9, 1e-9), ("2", "3", "4"))
    decision = decided(Store(tmp_path / "s"), on_the_border, HARD, budget_s=0.0)
    assert (decision.ended, decision.runs, decision.more) == (True, 0, {})
    assert decision.undecided > 0
    assert sum(decision.left.values()) > 0
    assert decision.left_s > 0
    judged = judge_all(decision.evidence, [HARD], ended=True)["small"]
    assert {finding.verdict for claim in judged for finding in claim.findings} == {Verdict.BORDER}


def test_a_claim_to_which_seeds_give_no_number_does_not_take_the_budget(tmp_path: Path) -> None:
    hard = gain(GOODPUT)
    first = dataclasses.replace(hard, take=lambda *at: hard.take(*at)[:2])
    deaf = Claim("deaf", "A statement.", "", "tests", "", (Ask(first, order(), percent, "Gain", ("small",), ("3",)),))
    decision = decided(Store(tmp_path / "s"), deaf, budget_s=30)
    assert (decision.runs, decision.ended, decision.undecided) == (2 * BLOCK, False, 1)


def test_few_seeds_whose_mean_lies_on_the_border_get_more(tmp_path: Path) -> None:
    real = gain(GOODPUT)
    first_is_odd = dataclasses.replace(
        real, take=lambda *at: [1.0 if n else -1.0 for n, _ in enumerate(real.take(*at))]
    )
    ask = Ask(first_is_odd, order(), percent, "Gain", ("small",), ("3",))
    decision = decided(Store(tmp_path / "s"), Claim("o", "A statement.", "", "t", "", (ask,)), budget_s=30)
    assert (decision.runs, decision.undecided) == (2 * 2 * BLOCK, 0), "of two seeds the mean is 0, of ten above"


def test_no_cell_gets_more_seeds_than_allowed(tmp_path: Path) -> None:
    store, real = Store(tmp_path / "s"), gain(GOODPUT)
    scattered = dataclasses.replace(real, take=lambda *at: [2.0 - 3 * (n % 2) for n, _ in enumerate(real.take(*at))])
    never = Claim("n", "A statement.", "", "t", "", (Ask(scattered, order(), percent, "Gain", ("small",), ("3",)),))
    with workers("threads", 2) as hands:
        decision = decide(start(store), [never], store, hands, most=2 + BLOCK)
    assert (decision.runs, decision.ended, decision.undecided) == (2 * BLOCK, False, 1)


def test_a_claim_over_long_and_short_runs_gets_seeds_of_each_kind(tmp_path: Path) -> None:
    longer = Plan(2, (("measure.duration", "7s"), ("measure.warmup", "1s")), core_s=0.01)
    other, store = dataclasses.replace(study(), name="other", full=longer), Store(tmp_path / "s")
    with workers("threads", 2) as hands:
        make(tasks([other], Effort.FULL), store, hands)
        evidence = {**start(store), "other": load(store, [other], Effort.FULL)[0]}
        both = Ask(gain(GOODPUT), order(), percent, "Against NewReno", ("small", "other"), ("3",))
        decision = decide(
            evidence, [Claim("both", "A statement.", "", "tests", "", (both,))], store, hands, budget_s=2.0
        )
    assert {name for name, _ in decision.more} == {"small", "other"}
    for name, duration in (("small", "6s"), ("other", "7s")):
        for place, seeds in decision.more.items():
            added = evidence[name].records[place[1]][2:] if place[0] == name else []
            assert len(added) == (seeds if place[0] == name else 0)
            assert all(r is not None and f"measure.duration={duration}" in r.job.overrides for r in added)


def test_a_seed_counts_in_every_study_that_has_the_same_run(tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    evidence = start(store)
    alike = dataclasses.replace(study(), name="alike")
    slower = dataclasses.replace(study(), name="slower", settings=(("radio.rate", "2Mbps"),))
    with workers("threads", 2) as hands:
        make(tasks([slower], EFFORT), store, hands)
        evidence |= {found.study.name: found for found in load(store, [alike, slower], EFFORT)}
        decision = decide(evidence, [HARD], store, hands, 0.2)
    assert decision.runs > 0
    assert evidence["alike"].records == evidence["small"].records
    assert evidence["alike"].results == evidence["small"].results
    assert {len(records) for records in evidence["slower"].records.values()} == {2}, "other runs"
    added = {name: {cell: n for (study, cell), n in decision.more.items() if study == name} for name in evidence}
    assert added["alike"] == added["small"]
    assert sum(added["small"].values()) == decision.runs


def test_what_was_added_is_noted_for_reports(tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    decision = decided(store, HARD, budget_s=2.0)
    assert decision.more
    save(store.directory, EFFORT, running(), decision.more, ended=decision.ended)
    more, ended = noted(store.directory, EFFORT, running())
    assert (more, ended) == (decision.more, decision.ended)
    (again,) = load(store, [study()], EFFORT, more=more)
    assert seeds({"small": again}) == seeds(decision.evidence)
    assert again.complete
    assert noted(store.directory, EFFORT, Maker("0", "another")) == ({}, False)
    assert noted(tmp_path / "none", EFFORT, running()) == ({}, False)


@pytest.mark.parametrize("budget_s", [None, 0.0])
def test_what_another_process_notes_meanwhile_is_kept(
    budget_s: float | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ("another", next(study().cells(EFFORT)))
    (tmp_path / "s").mkdir()
    save(tmp_path / "s", EFFORT, running(), {place: BLOCK}, ended=True)

    def makes_while_another_decides(*given: object) -> object:
        tally = make(*given)  # type: ignore[arg-type]
        save(tmp_path / "s", EFFORT, running(), {place: 2 * BLOCK}, ended=True)
        return tally

    monkeypatch.setattr(command, "make", makes_while_another_decides)
    monkeypatch.setattr(registry, "find", lambda *_: (study(),))
    command.run_studies(["small"], EFFORT, tmp_path / "s", 2, budget_s=budget_s, as_json=True)
    assert json.loads(capsys.readouterr().out)["runs"]["made"] == 12
    assert noted(tmp_path / "s", EFFORT, running())[0] == {place: 2 * BLOCK}


def test_the_command(cli: Cli) -> None:
    done = cli("study", "run", "gap-oracle-4", "--store", "s", "--decide", "--budget", "1s", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert set(told) == {"schema", "effort", "engine_fingerprint", "runs", "claims", "left_out", "decide"}
    assert told["runs"] == {"made": 96, "stored": 0, "others": 0}
    assert set(told["claims"][0]) >= {
        "id", "study", "figure", "condition", "printed", "value", "ci95", "ratio", "verdict", "seeds",
        "seeds_to_decide",
    }  # fmt: skip
    assert {found["verdict"] for found in told["claims"]} <= set(map(str, Verdict))
    # A second, and the last block of runs, which may take longer than those before it where the machine is busy.
    assert told["decide"]["spent_s"] <= 5
    plain = json.loads(cli("study", "run", "gap-oracle-4", "--store", "s", "--json").stdout)
    assert plain["decide"] is None
    assert plain["runs"]["made"] == 0
    assert plain["claims"] == told["claims"], "seeds that were added count from then on"
    more = json.loads(cli("study", "decide", "gap-oracle-4", "--store", "s", "--budget", "1s", "--json").stdout)
    assert more["efforts"] == {"gap-oracle-4": "quick"}
    assert sum(found["seeds"] for found in more["claims"]) >= sum(found["seeds"] for found in told["claims"])
    plain = json.loads(cli("study", "run", "gap-oracle-4", "--store", "s", "--json").stdout)
    assert plain["claims"] == more["claims"]
    nothing = cli("study", "decide", "gap-oracle-8", "--store", "s")
    assert (nothing.returncode, nothing.stdout) == (2, "")
    assert "holds no whole plan of gap-oracle-8" in nothing.stderr
