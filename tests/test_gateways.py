"""A scheme that paces at gateways, and flows that cross none: said by what runs them, and only there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import meshpace
from commanding import CHAIN, Cli
from meshpace.engine import Job
from meshpace.gateways import note, unpaced

ACROSS = CHAIN.replace('to = "n2"', 'to = "B"')
BOTH = f'{ACROSS}\n[[flow]]\nfrom = "n0"\nto = "n1"\n'
SAID = "chain.toml: tcp-gap paces only what crosses a gateway; flow 1 crosses none and is not paced"


def job(text: str, scheme: str | None, *settings: str) -> Job:
    return Job("chain.toml", text.encode(), settings, scheme)


@pytest.mark.parametrize("command", ["run", "sweep", "compare"])
def test_commands_say_which_flows_are_not_paced(command: str, cli: Cli, chain: Path) -> None:
    done = cli(command, chain.name, "--scheme", "tcp-gap" if command != "compare" else "newreno,tcp-gap", "--json")
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stderr.splitlines() if "gateway" in line] == [SAID]
    json.loads(done.stdout)
    assert "gateway" not in cli("run", chain.name, "--scheme", "tcp-ap").stderr


def test_only_flows_within_the_mesh_that_nothing_else_paces() -> None:
    assert note(job(CHAIN, "tcp-gap")) == SAID
    assert unpaced(job(CHAIN, "newreno")) == {}
    assert unpaced(job(ACROSS, "tcp-gap")) == {}
    assert unpaced(job(BOTH, "tcp-gap-nogc")) == {"tcp-gap-nogc": ["2"]}
    assert unpaced(job(CHAIN, "tcp-gap", "scheme.tcp-gap.pacing=khd")) == {}, "its senders pace anyway"
    assert unpaced(job(CHAIN, "tcp-gap", "scheme.tcp-gap.gateway=none")) == {}, "nothing is promised"
    assert unpaced(job(CHAIN, "tcp-gap", 'flow=[{from="n0",to="n2",app="cbr",rate="1Mbps",packet=500}]')) == {}
    many = note(job(CHAIN, "tcp-gap", 'flow=[{from="n0",to="n2",count=10}]'))
    assert many is not None
    assert many.endswith("; flows 1, 2, 3, 4, 5, 6, 7, 8 and 2 more cross none and are not paced")
    assert note(job(CHAIN, "tcp-gap", "radio.rate=3Mbps")) is None, "what is wrong is said instead"


def test_formulas_pace_as_they_decide() -> None:
    class Sends(meshpace.Formula):
        base = "tcp-gap"
        interval = 0.01

        def on_ack(self, ack: object) -> None:
            """Keeps to its interval."""

    class Forwards(meshpace.Formula):
        base = "tcp-gap"

        def on_round_trip(self, trip: object) -> None:
            """Holds nothing back."""

    assert unpaced(job(CHAIN, "sends")._replace(formulas=(Sends,))) == {}
    assert unpaced(job(CHAIN, "forwards")._replace(formulas=(Forwards,))) == {"forwards": ["1"]}
