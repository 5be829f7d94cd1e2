"""Formulas in Python, of senders and receivers: what they are told, what they may answer, and determinism."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import meshpace
from commanding import CHAIN
from formulas import Fewer, Own, Slow, TwoSegments, swept_alike
from meshpace import engine
from meshpace.formula import FormulaError
from meshpace.study.record import key_of


@pytest.fixture
def mesh() -> meshpace.Scenario:
    return meshpace.Scenario(CHAIN, "chain.toml")


def test_an_interval_paces(mesh: meshpace.Scenario) -> None:
    (flow,) = meshpace.run(mesh, scheme=Slow)["flows"]
    assert flow["scheme"] == "slow"
    assert flow["pacing_interval_s"] == pytest.approx(0.04)
    assert 74 <= flow["segments_sent"] <= 76, "three seconds of one every 40 ms"
    (fast,) = meshpace.run(mesh)["flows"]
    assert fast["segments_sent"] > 200


def test_a_window_holds_beside_the_bases(mesh: meshpace.Scenario) -> None:
    (flow,) = meshpace.run(mesh, scheme=TwoSegments)["flows"]
    (wide,) = meshpace.run(mesh)["flows"]
    assert flow["cwnd_mean"] <= 2
    assert flow["srtt_s"] < wide["srtt_s"] / 2, "the queue is gone"


def test_what_it_is_told(mesh: meshpace.Scenario) -> None:
    seen: list[Any] = []

    class Ear(meshpace.Formula):
        def on_ack(self, ack: Any) -> None:
            seen.append(ack)

    meshpace.run(mesh, scheme=Ear)
    first, last = seen[0], seen[-1]
    assert (first.hops, first.mss, first.kind) == (2, 1460, "new")
    assert first.link_rates == [11_000_000], "one of all links"
    assert 0 < last.rtt <= last.rtt_oldest < 4
    assert [ack.now for ack in seen] == sorted(ack.now for ack in seen)
    assert last.rtt_wired is None, "unknown is None"


def test_runs_are_equal_with_threads_and_processes(mesh: meshpace.Scenario, tmp_path: Path) -> None:
    text = (
        CHAIN.replace("hops = 2", "hops = 5").replace('to = "n2"', 'to = "n5"') + '\n[[flow]]\nfrom = "n5"\nto = "n0"\n'
    )
    mesh = meshpace.Scenario(text, "two.toml")
    store = swept_alike(mesh, ["newreno", Own], 4, tmp_path)
    again = meshpace.sweep(mesh, scheme=[Own], seeds=4, store=store)
    assert again.swept.tally.made == 0, "stored like any other"


def test_its_code_is_part_of_the_key(mesh: meshpace.Scenario) -> None:
    assert key_of(mesh.job(Slow)) != key_of(mesh.job("newreno"))
    assert key_of(mesh.job(Slow)) == key_of(mesh.job(Slow))

    def made(interval: float) -> type[meshpace.Formula]:
        space: dict[str, Any] = {"__name__": "__elsewhere__", "meshpace": meshpace}
        exec(
            f"class Made(meshpace.Formula):\n  def on_ack(self, ack):\n    return meshpace.Reply(interval={interval})",
            space,
        )
        kind: type[meshpace.Formula] = space["Made"]
        return kind

    assert key_of(mesh.job(made(0.1))) == key_of(mesh.job(made(0.1)))
    assert key_of(mesh.job(made(0.1))) != key_of(mesh.job(made(0.2))), "without a file, by what its methods do"


def test_what_goes_wrong_in_it_comes_to_the_caller(mesh: meshpace.Scenario) -> None:
    class Broken(meshpace.Formula):
        def on_ack(self, ack: Any) -> meshpace.Reply:
            raise LookupError(f"at {ack.hops} hops")

    class Wrong(meshpace.Formula):
        answer: Any = None

        def on_ack(self, ack: Any) -> Any:  # noqa: ARG002
            return self.answer

    with pytest.raises(LookupError, match="at 2 hops"):
        meshpace.run(mesh, scheme=Broken)
    for answer, said in (
        (meshpace.Reply(interval=-1.0), r"Wrong\.interval: found -1"),
        (meshpace.Reply(interval=float("nan")), "allowed: seconds"),
        (meshpace.Reply(window=0.0), r"Wrong\.window: found 0"),
        (0.5, r"found a float; allowed: meshpace\.Reply"),
    ):
        Wrong.answer = answer
        with pytest.raises((ValueError, TypeError), match=said):
            meshpace.run(mesh, scheme=Wrong)


def test_names(mesh: meshpace.Scenario) -> None:
    assert TwoSegments.scheme_name() == "two-segments"

    class Taken(Slow):
        name = "tcp-ap"

    class Odd(Slow):
        name = "Odd Name"

    class Baseless(Slow):
        base = "newrino"

    class Deaf(meshpace.Formula):
        pass

    with pytest.raises(FormulaError, match=r"Deaf\.on_ack: found none"):
        meshpace.run(mesh, scheme=Deaf)
    with pytest.raises(FormulaError, match="another name"):
        meshpace.run(mesh, scheme=Taken)
    with pytest.raises(FormulaError, match="small letters"):
        meshpace.run(mesh, scheme=Odd)
    with pytest.raises(meshpace.ScenarioError, match="newrino"):
        meshpace.run(mesh, scheme=Baseless)


class OwnDynamic(meshpace.Formula):
    """schemes.md 7.1: one to four segments share an acknowledgement, more as the connection ages."""

    def on_segment(self, segment: Any) -> meshpace.Wait | None:
        share = 1 + sum(segment.number >= threshold for threshold in (2, 5, 9))
        return None if segment.waiting >= share else meshpace.Wait(0.1)


def test_a_receivers_formula_gives_the_built_ins_result(mesh: meshpace.Scenario) -> None:
    own, built_in = meshpace.run(mesh, scheme=OwnDynamic), meshpace.run(mesh, scheme="newreno-dynack")
    assert [{**flow, "scheme": ""} for flow in own["flows"]] == [{**flow, "scheme": ""} for flow in built_in["flows"]]
    assert own["events"] == built_in["events"]
    assert own["flows"][0]["acks_sent"] < meshpace.run(mesh)["flows"][0]["acks_sent"] / 2, (
        "otherwise this shows nothing"
    )


def test_a_receivers_formula_in_threads_and_processes(mesh: meshpace.Scenario, tmp_path: Path) -> None:
    swept_alike(mesh, [Fewer], 4, tmp_path)


def test_both_ends_decided_by_one_class(mesh: meshpace.Scenario) -> None:
    class Both(OwnDynamic):
        interval = 0.04

        def on_ack(self, ack: Any) -> None:
            """Keeps to its interval."""

    (flow,) = meshpace.run(mesh, scheme=Both)["flows"]
    assert 74 <= flow["segments_sent"] <= 76
    assert flow["acks_sent"] < 40


def test_what_a_receiver_is_told(mesh: meshpace.Scenario) -> None:
    seen: list[Any] = []
    told: list[str] = []

    class Ear(meshpace.Formula):
        def on_segment(self, segment: Any) -> meshpace.Wait:
            seen.append(segment)
            return meshpace.Wait(0.02, "this")

        def on_wait_over(self) -> None:
            told.append("over")

        def on_ack_sent(self) -> None:
            told.append("sent")

    meshpace.run(mesh, scheme=Ear)
    assert (seen[0].number, seen[0].offset, seen[0].waiting) == (1, 0, 1)
    assert seen[1].offset == 1460
    assert [segment.now for segment in seen] == sorted(segment.now for segment in seen)
    assert 0 < told.count("over") <= told.count("sent")


def test_what_a_receiver_may_not_answer(mesh: meshpace.Scenario) -> None:
    class Wrong(meshpace.Formula):
        answer: Any = None

        def on_segment(self, segment: Any) -> Any:  # noqa: ARG002
            return self.answer

    for answer, said in (
        (meshpace.Wait(-1.0), r"Wrong\.on_segment: found a wait of -1"),
        (meshpace.Wait(0.1, "last"), r'found since = "last"; allowed: "first"'),
        (0.5, r"found a float; allowed: meshpace\.Wait"),
    ):
        Wrong.answer = answer
        with pytest.raises((ValueError, TypeError), match=said):
            meshpace.run(mesh, scheme=Wrong)


def test_what_watches_a_run_watches_formulas_too(mesh: meshpace.Scenario, tmp_path: Path) -> None:
    expected = meshpace.run(mesh, scheme=Slow)["flows"]
    text, losses = engine.why(mesh.job(Slow))
    assert json.loads(text)["flows"] == expected
    assert all(loss["flow"] == expected[0]["id"] for loss in losses)
    result, shots = engine.film(mesh.job(Slow), begin_s=1.0, length_s=0.2, frames=500)
    assert result["flows"] == expected
    data = [start for start, kind in zip(shots["frames"]["start_ns"], shots["frames"]["kind"], strict=True)
            if kind == "data"]  # fmt: skip
    assert 0 < len(data) <= 2 * 6, "five or six segments in 200 ms over two hops"
    text, series = engine.run_watched(mesh.job(Slow), series=True, capture=tmp_path / "air.pcapng")
    assert json.loads(text)["flows"] == expected
    assert series is not None
    assert (tmp_path / "air.pcapng").stat().st_size > 10_000
    found = meshpace.sweep(mesh, scheme=["newreno", Slow], seeds=2, store=tmp_path / "store")
    found.save(tmp_path / "sweep.html")
    assert '"title":"slow"' in (tmp_path / "sweep.html").read_text().replace(": ", ":"), "a film of it"
