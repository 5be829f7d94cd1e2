"""A gateway's law in Python: the built-in's to the byte, what it is told, what it may answer, and determinism."""

from __future__ import annotations

import math
from collections import deque
from pathlib import Path
from typing import Any, ClassVar

import pytest

import meshpace
from formulas import HalfAtGateway, swept_alike
from meshpace.formula import Formula

DOWN = """
[measure]
duration = "20s"
warmup = "2s"
[topology]
kind = "chain"
hops = 4
[[node]]
id = "server"
role = "wired"
[[link]]
a = "n0"
b = "server"
rate = "100Mbps"
delay = "10ms"
[routing]
protocol = "static"
[[flow]]
from = "server"
to = "n4"
app = "ftp"
[[flow]]
from = "server"
to = "n3"
app = "ftp"
"""


@pytest.fixture
def mesh() -> meshpace.Scenario:
    return meshpace.Scenario(DOWN, "down.toml")


class OwnGap(meshpace.Formula):
    """schemes.md 1 and 2, the law of TCP-GAP's gateway."""

    base = "tcp-gap"
    alpha, n, overhead, bound = 0.7, 4, 68, 0.5

    def __init__(self) -> None:
        self.smoothed: float | None = None
        self.history: deque[float] = deque(maxlen=50)

    def on_round_trip(self, trip: Any) -> meshpace.Reply | None:
        hops, rate = max(trip.hops or 0, 1), trip.link_rates[0]
        data, pure = (trip.mss + self.overhead) * 8 / rate, self.overhead * 8 / rate
        queueing = max((trip.rtt - (hops * data + hops * pure)) / (2.0 * hops), 0.0)
        k = min(self.n, hops)
        delay = k * queueing + k * data
        if not 0 < delay < self.bound:
            return None
        old = self.smoothed
        self.smoothed = delay if old is None else self.alpha * old + (1.0 - self.alpha) * delay
        self.history.append(trip.rtt)
        return meshpace.Reply(interval=self.smoothed * (1.0 + 2.0 * self.variation()))

    def variation(self) -> float:
        count = len(self.history)
        if count < 2:
            return 0.0
        mean = squares = 0.0
        for rtt in self.history:
            mean += rtt
        mean /= count
        for rtt in self.history:
            squares += (rtt - mean) * (rtt - mean)
        return math.sqrt(squares / (count - 1.0)) / mean


def test_the_gateways_law_gives_the_built_ins_result(mesh: meshpace.Scenario) -> None:
    own, built_in = meshpace.run(mesh, scheme=OwnGap), meshpace.run(mesh, scheme="tcp-gap")
    # Its name, and the k-hop delay, which a formula keeps to itself.
    unsaid = {"scheme": "", "khd_acks_s": None}
    assert [{**flow, **unsaid} for flow in own["flows"]] == [{**flow, **unsaid} for flow in built_in["flows"]]
    for table in ("gateways", "links", "events"):
        assert own[table] == built_in[table], table
    assert own["flows"][0]["pacing_interval_s"] > 0.01, "otherwise this shows nothing"
    slow = meshpace.run(mesh.copy().set("measure.duration", "10s"), scheme=HalfAtGateway)
    assert slow["flows"][0]["pacing_interval_s"] != own["flows"][0]["pacing_interval_s"]


def test_runs_are_equal_with_threads_and_processes(mesh: meshpace.Scenario, tmp_path: Path) -> None:
    mesh.set("measure.duration", "8s")
    swept_alike(mesh, ["tcp-gap", HalfAtGateway], 3, tmp_path)


def test_what_it_is_told_flow_by_flow(mesh: meshpace.Scenario) -> None:
    seen: list[Any] = []
    ears: list[Any] = []

    class Ear(meshpace.Formula):
        base = "tcp-gap"
        parameters: ClassVar = {"gateway": "pacing"}  # goodput control would hold back by its cap

        def __init__(self) -> None:
            ears.append(self)
            self.hops: set[int] = set()

        def on_round_trip(self, trip: Any) -> None:
            seen.append(trip)
            self.hops.add(trip.hops)

    result = meshpace.run(mesh, scheme=Ear)
    assert sorted(map(list, (ear.hops for ear in ears))) == [[3], [4]], "an object a flow, and only of flows downwards"
    assert seen[-1].mss == 1460
    assert seen[-1].link_rates == [11_000_000]
    assert 0 < seen[-1].rtt < 4
    assert [trip.now for trip in seen] == sorted(trip.now for trip in seen)
    assert result["flows"][0]["pacing_interval_s"] is None, "it never said anything, so nothing is held back"


def test_one_class_for_both_ends_and_the_gateway(mesh: meshpace.Scenario) -> None:
    class All(OwnGap):
        interval = 0.3

        def on_ack(self, ack: Any) -> None:
            """Keeps to its interval."""

        def on_segment(self, segment: Any) -> meshpace.Wait | None:
            return None if segment.waiting >= 2 else meshpace.Wait(0.1)

    one, other = meshpace.run(mesh, scheme=All)["flows"]
    assert 59 <= one["segments_sent"] <= 68
    assert 59 <= other["segments_sent"] <= 68
    assert one["acks_sent"] <= one["segments_sent"]


def test_what_it_may_not_answer_is_told_with_file_and_line(mesh: meshpace.Scenario) -> None:
    class Wrong(meshpace.Formula):
        base = "tcp-gap"
        answer: Any = None

        def on_round_trip(self, trip: Any) -> Any:
            if self.answer is LookupError:
                raise LookupError(f"at {trip.hops} hops")
            return self.answer

    line = Wrong.on_round_trip.__code__.co_firstlineno
    for answer, said in (
        (meshpace.Reply(interval=-1.0), rf"{Path(__file__).name}:{line}: .*Wrong\.interval: found -1"),
        (meshpace.Reply(window=4.0), rf"{Path(__file__).name}:{line}: .*on_round_trip: found a window"),
        (0.5, rf"{Path(__file__).name}:{line}: .*found a float; allowed: meshpace\.Reply"),
        (LookupError, r"at [34] hops"),
    ):
        Wrong.answer = answer
        with pytest.raises((ValueError, TypeError, LookupError), match=said) as raised:
            meshpace.run(mesh, scheme=Wrong)
        if answer is LookupError:
            last = raised.traceback[-1]
            assert (Path(last.path).name, last.frame.code.name) == (Path(__file__).name, "on_round_trip")


def test_a_base_without_a_gateway_is_refused(mesh: meshpace.Scenario) -> None:
    class Nowhere(OwnGap):
        base = "newreno"

    with pytest.raises(meshpace.ScenarioError, match=r'"nowhere", which has a law for gateways.*such as tcp-gap'):
        meshpace.run(mesh, scheme=Nowhere)

    class Chosen(Nowhere):
        parameters: ClassVar = {"gateway": "pacing"}

    assert meshpace.run(mesh, scheme=Chosen)["gateways"], "a base that is told to pace at gateways will do"
    assert Formula.on_ack is Chosen.on_ack
