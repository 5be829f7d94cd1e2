"""``meshpace calibrate throttle``: the search for alpha, the tables, and a calibration that was killed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

import pytest

from commanding import Cli
from meshpace import engine
from meshpace.cli.calibration import Plan, numbers
from meshpace.cli.failure import InputError
from meshpace.engine import Job
from meshpace.results import RunResult
from meshpace.throttle.calibrate import (
    MOST,
    Alpha,
    Critical,
    Hands,
    TableEntry,
    alpha_table,
    alphas,
    critical,
    critical_table,
)

Bits = Callable[[dict[str, str]], float]


class Answering:
    """In place of an engine: a load for each job."""

    def __init__(self, load: Bits) -> None:
        self.load, self.asked = load, list[Job]()

    def runs(self, jobs: Mapping[str, Sequence[Job]]) -> dict[str, list[RunResult]]:
        found = {}
        for name, mine in jobs.items():
            self.asked += mine
            found[name] = [self._run(self.load(dict(each.split("=", 1) for each in job.overrides))) for job in mine]
        return found

    @staticmethod
    def _run(bits: float) -> RunResult:
        none = {"attempts": 0, "bytes": 0, "packets": 0, "packet_bytes": 0}
        data = {**none, "bytes": bits / 8}
        run = {"measured_s": 1.0, "flows": [{"load": [{"node": "n0", "data": data, "ack": none}]}]}
        return cast(RunResult, {**run, "aggregate_goodput_bps": 1.0})


PLACE = TableEntry(3, 600)
LOADS = {PLACE: Critical(1.2e6, 1.1e6, 1.3e6, 1.2e6, 3.5e5)}


def searched(load: Bits, rounds: int = 10) -> tuple[Alpha, Answering]:
    hands = Answering(load)
    found = alphas([(PLACE, 2)], LOADS, 2, rounds, (), cast(Hands, hands), lambda _: None)
    return found[PLACE, 2], hands


def test_alpha_is_multiplied_until_loads_agree() -> None:
    """A gate of whose time a part is the MAC's: what comes of alpha is less than alpha times the load."""

    def load(settings: dict[str, str]) -> float:
        alpha = float(settings["scheme.throttle.ot_alpha"])
        assert settings["scheme.throttle.ot_crit"] == "1200000"
        assert settings["scheme.throttle.ot_N"] == "2"
        return 1.3e6 / (0.8 / alpha + 0.45)

    state, hands = searched(load)
    assert state.converged
    assert state.value == pytest.approx(0.8 / 0.55, rel=0.02)
    assert state.loads[0][1] == pytest.approx(0.8)
    assert {job.seed for job in hands.asked} == {1001, 1002}
    lines = alpha_table({(PLACE, 2): state}, ["how"]).splitlines()
    assert "# how" in lines
    assert lines[-2] == "hops,flows,segment,alpha,load_ratio,load_ratio_at_1,rounds,converged"
    assert lines[-1] == f"3,2,600,{state.value:.4f},{state.ratio:.4f},0.8000,{state.rounds},1"


def test_a_load_that_saturates_is_marked() -> None:
    state, _ = searched(lambda _: 1e6)
    assert not state.converged
    assert state.value == 1.0
    state, hands = searched(lambda settings: 4e5 * float(settings["scheme.throttle.ot_alpha"]) ** 0.1)
    assert state.value == MOST
    assert len(hands.asked) < 2 * 10, "it does not try what it has tried"
    assert searched(lambda _: 0.0)[0].value == 1.0, "nothing gets through whatever alpha is"


def test_the_best_factor_is_kept_where_rounds_end() -> None:
    """A load that jumps over the critical one and back."""
    state, hands = searched(lambda of: 1.35e6 if float(of["scheme.throttle.ot_alpha"]) >= 1 else 1.2e6, rounds=4)
    assert (state.value, state.rounds, state.converged) == (1.0, 4, False)
    assert len(hands.asked) == 8


def test_critical_loads_are_of_each_length_and_segment() -> None:
    hands = Answering(lambda settings: 1000.0 * int(settings["topology.hops"]) + int(settings["defaults.segment"]))
    found = critical([TableEntry(1, 200), TableEntry(9, 600)], 3, (("measure.duration", "20s"),), cast(Hands, hands))
    assert {place: load.data for place, load in found.items()} == {
        TableEntry(1, 200): 1200.0,
        TableEntry(9, 600): 9600.0,
    }
    assert {("flow.0.window=13" in job.overrides, job.scheme) for job in hands.asked[3:]} == {(True, "newreno")}
    assert critical_table(found, ["how"]).splitlines()[-1] == "9,600,9600,0,9600,0,1"


def test_lists_of_numbers() -> None:
    assert numbers("hops", "1-3,6", 1, 9) == [1, 2, 3, 6]
    for wrong in ("0-3", "3-1", "x", "1-99", "", "1,"):
        with pytest.raises(InputError, match="--hops: found"):
            numbers("hops", wrong, 1, 9)
    assert Plan(seeds=3).command() == "meshpace calibrate throttle --seeds=3"


TINY = (
    "calibrate", "throttle", "--hops", "1-2", "--segments", "600", "--flows", "2", "--seeds", "2", "--alpha-seeds", "2",
    "--rounds", "3", "--duration", "16",
)  # fmt: skip
PAUSES = """
import sys
from meshpace.throttle import calibrate
made, calls = calibrate.make, []
def make(*arguments):
    calls.append(arguments)
    if len(calls) == 3:
        print("paused", flush=True)
        sys.stdin.read()
    return made(*arguments)
calibrate.make = make
sys.argv = ["meshpace", *sys.argv[1:]]
from meshpace.cli import main
main()
"""
"""The critical loads and a round of alpha are in the store, the rest is not."""


def test_a_calibration_that_was_killed_goes_on_to_the_same_bytes(cli: Cli, tmp_path: Path) -> None:
    whole = cli(*TINY, "--store", "whole", "-o", "first")
    assert whole.returncode == 0, whole.stderr
    assert " runs made, 0 taken from whole" in whole.stdout
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": tmp_path}
    words = [sys.executable, "-c", PAUSES, *TINY, "--store", "cut", "-o", "second"]
    with subprocess.Popen(words, **pipes) as child:  # type: ignore[call-overload]
        lines = iter(child.stdout.readline, "")
        assert "paused\n" in lines
        child.kill()
    second = tmp_path / "second"
    assert (second / "critical.csv").exists()
    assert not (second / "alpha.csv").exists()
    again = cli(*TINY, "--store", "cut", "-o", "second")
    assert again.returncode == 0, again.stderr
    assert "8 taken from cut" in again.stdout
    for name in ("critical.csv", "alpha.csv"):
        assert (second / name).read_bytes() == (tmp_path / "first" / name).read_bytes()
    told = (second / "alpha.csv").read_text(encoding="utf-8")
    assert "# meshpace calibrate throttle --hops=1-2 --segments=600 --flows=2 --seeds=2" in told
    assert str(engine.fingerprint()) in told
    assert "seeds 1001 to 1002" in told


@pytest.mark.parametrize(
    ("words", "told"),
    [(("llap",), "found 'llap'; allowed: throttle"), (("throttle", "--flows", "1-3"), "--flows: found '1-3'")],
)
def test_what_cannot_be_calibrated_is_refused(cli: Cli, words: tuple[str, ...], told: str, tmp_path: Path) -> None:
    answer = cli("calibrate", *words)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert told in answer.stderr
    assert not (tmp_path / "calibration").exists()
