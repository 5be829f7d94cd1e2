"""A rate law in Python in place of a scheme's control: the built-ins' to the byte, what it is told and may answer."""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Any, ClassVar

import pytest

import meshpace
from commanding import CHAIN
from formulas import RcpByHand, swept_alike
from meshpace.formula import FormulaError

UNSAID = {"scheme": ""}


@pytest.fixture
def mesh() -> meshpace.Scenario:
    text = CHAIN.replace("hops = 2", "hops = 4").replace('to = "n2"', 'to = "n4"').replace('"4s"', '"12s"')
    return meshpace.Scenario(text + '\n[[flow]]\nfrom = "n3"\nto = "n0"\n', "chain.toml")


def same(own: Any, built_in: Any) -> None:
    assert [{**flow, **UNSAID} for flow in own["flows"]] == [{**flow, **UNSAID} for flow in built_in["flows"]]
    for table in ("events", "links"):
        assert own[table] == built_in[table], table


def test_rcp_gives_the_built_ins_result(mesh: meshpace.Scenario) -> None:
    own, built_in = meshpace.run(mesh, scheme=RcpByHand), meshpace.run(mesh, scheme="rcp")
    same(own, built_in)
    assert own["flows"][0]["pacing_interval_s"] > 0.001, "otherwise this shows nothing"


def test_the_base_says_how_long_the_header_is(mesh: meshpace.Scenario) -> None:
    class Long(RcpByHand):
        parameters: ClassVar = {"explicit_header": 16}

    own, longer = meshpace.run(mesh, scheme=RcpByHand), meshpace.run(mesh, scheme=Long)
    same(longer, meshpace.run(mesh.set("scheme.rcp.explicit_header", 16), scheme="rcp"))
    assert longer["events"] != own["events"]


class WcpByHand(meshpace.Formula):
    """schemes.md 13: a rate that the neighbourhood's marks halve; timers by what it hears and sends."""

    base = "wcp"
    rated = True

    def __init__(self) -> None:
        self.told: list[tuple[str, float]] = []
        self.interval = 0.2
        self.rtt: float | None = None

    def on_departure(self, now: float) -> meshpace.Reply:
        self.told.append(("departure", now))
        return meshpace.Reply(interval=0.1)

    def on_timeout(self, now: float) -> meshpace.Reply:
        self.told.append(("timeout", now))
        return meshpace.Reply(interval=0.3)

    def on_ack(self, ack: Any) -> None:
        self.told.append(("ack", ack.now))
        assert ack.feedback is None, "it asked nobody"
        assert ack.hops
        self.rtt = ack.rtt


def test_what_it_is_told(mesh: meshpace.Scenario) -> None:
    made: list[WcpByHand] = []

    class Ear(WcpByHand):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

    flows = meshpace.run(mesh.set("flow", [{"from": "n0", "to": "n4"}]), scheme=Ear)["flows"]
    heard = max(made, key=lambda one: len(one.told))
    assert heard.told[0][0] == "departure"
    assert heard.rtt
    assert 0.09 < flows[0]["pacing_interval_s"] < 0.11
    assert 100 <= flows[0]["segments_sent"] <= 111, "one every tenth of a second, for eleven seconds"


def test_relays_answer_beside_a_window_too(mesh: meshpace.Scenario) -> None:
    rates: list[float] = []

    class Nosy(meshpace.Formula):
        """NewReno's window; what the routers of RCP would give is looked at, and no more."""

        parameters: ClassVar = {"relay": "rcp"}

        def request(self, rtt: float | None) -> meshpace.Feedback:
            return meshpace.Feedback(2, struct.pack(">dd", rtt or 0.0, math.inf))

        def on_ack(self, ack: Any) -> None:
            if ack.feedback is not None:
                assert ack.feedback.kind == 2
                rates.append(struct.unpack(">dd", ack.feedback.bytes)[1])

    (flow, _) = meshpace.run(mesh, scheme=Nosy)["flows"]
    assert rates
    assert 0 < min(rates) < 11e6 / 8, "a router's, where the sender asks for any"
    assert flow["pacing_interval_s"] is None


def test_runs_are_equal_with_threads_and_processes(mesh: meshpace.Scenario, tmp_path: Path) -> None:
    swept_alike(mesh, [RcpByHand], 3, tmp_path)


def test_what_it_may_not_be_or_answer(mesh: meshpace.Scenario) -> None:
    class Wrong(meshpace.Formula):
        rated = True
        answer: Any = None
        asked: Any = None

        def request(self, rtt: float | None) -> Any:  # noqa: ARG002
            return self.asked

        def on_ack(self, ack: Any) -> Any:  # noqa: ARG002
            return self.answer

    line, asks = (method.__code__.co_firstlineno for method in (Wrong.on_ack, Wrong.request))
    for answer, said in (
        (meshpace.Reply(window=4.0), rf"{Path(__file__).name}:{line}: .*on_ack: found a window; allowed: an interval"),
        (meshpace.Reply(interval=-1.0), r"Wrong\.interval: found -1"),
    ):
        Wrong.answer = answer
        with pytest.raises(ValueError, match=said):
            meshpace.run(mesh, scheme=Wrong)
    Wrong.answer = None
    for asked, said in (
        (meshpace.Feedback(2, b"x" * 33), rf":{asks}: .*request: found 33 bytes; allowed: 32"),
        (b"x", r"request: found a bytes; allowed: meshpace\.Feedback\(kind, bytes\)"),
    ):
        Wrong.asked = asked
        with pytest.raises((ValueError, TypeError), match=said):
            meshpace.run(mesh, scheme=Wrong)

    class Windowed(Wrong):
        window = 4

    class Deaf(meshpace.Formula):
        rated = True

        def on_segment(self, segment: Any) -> None:
            """Now."""

    for kind, said in ((Windowed, "found window = 4"), (Deaf, "found no on_ack")):
        with pytest.raises(FormulaError, match=rf"{kind.__name__}\.rated: {said}; allowed: on_ack, and an interval"):
            meshpace.run(mesh, scheme=kind)
