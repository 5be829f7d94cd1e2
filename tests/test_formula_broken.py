"""Formulas in files that are none, or answer what is no answer: a line and exit status 2, never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

import meshpace
from commanding import Cli
from meshpace.formula import FormulaError
from test_bad_input import expect_refusal

ACK = "    def on_ack(self, ack):\n        return {}\n"
BROKEN = {
    ACK.format("ack.nothing"): "own.py:4: AttributeError",
    ACK.format("1 / 0"): "own.py:4: ZeroDivisionError",
    ACK.format("sys.exit(0)"): "own.py:4: SystemExit: 0",
    ACK.format("self.on_ack(ack)"): "own.py:4: RecursionError",
    ACK.format("5"): "own.py:3: F: found a int; allowed: meshpace.Reply",
    ACK.format("meshpace.Reply(window='a')"): "own.py: found an answer or a value that is no number",
    ACK.format("meshpace.Reply(window=-3)"): "own.py:3: F.window: found -3; allowed: segments",
    "    on_ack = 5\n": "F.on_ack: found 5; allowed: a method that is given one value",
    "    def on_ack(self): ...\n": "F.on_ack: found on_ack(self); allowed: a method that is given one value",
    "    def on_loss(self, what): ...\n"
    + ACK.format("None"): "F.on_loss: found on_loss(self, what); allowed: a method",
    "    def __init__(self, x): ...\n"
    + ACK.format("None"): "F.__init__: found (self, x); allowed: one that is given nothing",
    "    base = 5\n" + ACK.format("None"): "F.base: found 5; allowed: the name of a scheme",
    "    name = 5\n" + ACK.format("None"): "F.name: found 5; allowed: a name, or None",
    "    parameters = [1]\n" + ACK.format("None"): "F.parameters: found [1]; allowed: a dict",
    "    window = 'x'\n" + ACK.format("None"): "F.window: found 'x'; allowed: segments, a number, or None",
    "    interval = True\n" + ACK.format("None"): "F.interval: found True; allowed: seconds, a number, or None",
}


@pytest.mark.parametrize("body", BROKEN)
def test_it_is_refused_in_a_line(body: str, cli: Cli, chain: Path) -> None:
    # Line 3 is the first of the class's body.
    (chain.parent / "own.py").write_text(f"import meshpace, sys\nclass F(meshpace.Formula):\n{body}")
    assert BROKEN[body] in expect_refusal(cli, "run", chain, "--scheme", "own.py:F", "--json")


def test_of_a_class_in_hand_as_well() -> None:
    class Odd(meshpace.Formula):
        def on_ack(self, ack: object, more: object) -> None:
            """Of two values there is but one."""

    with pytest.raises(FormulaError, match=r"Odd\.on_ack: found on_ack\(self, ack"):
        Odd.settings()


def test_methods_of_other_kinds_are_let_through() -> None:
    class Kinds(meshpace.Formula):
        @staticmethod
        def on_ack(ack: object) -> None:
            """Needs no object."""

        def on_timeout(self, *anything: object) -> None:
            """Takes what comes."""

        def on_loss(self, why: str = "") -> None:
            """Nobody says why."""

    assert Kinds.settings()


def test_a_setting_is_not_blamed_for_what_it_only_uncovers(cli: Cli, chain: Path) -> None:
    """Without the length the warm-up is too long, and nothing else is told any more."""
    (chain.parent / "own.py").write_text(
        "import meshpace\nclass F(meshpace.Formula):\n    parameters = {'alpha': 1}\n" + ACK.format("None")
    )
    line = expect_refusal(
        cli, "run", chain, "--scheme", "own.py:F", "--set", "measure.duration=9s", "--set", "measure.warmup=5s"
    )
    assert "F.parameters, alpha: found a parameter of other schemes" in line
    assert "it comes of --set measure" not in line
