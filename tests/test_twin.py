"""The study of twins: which of its runs real hosts make, and what happens where they cannot or are late."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from meshpace.emulation.record import EmulationError
from meshpace.engine import Job, complaints, resolve, run_many
from meshpace.study import emulated, registry
from meshpace.study.model import Cell, Effort, Study
from meshpace.study.outcome import Outcome
from meshpace.study.quantities import Quantity
from meshpace.study.record import key_of, of_result, question_of, simulate
from meshpace.study.runner import tasks
from meshpace.study.store import Store
from meshpace.study.written.vocabulary import functions_of

TWINS = Path(__file__).resolve().parents[1] / "papers" / "twin"
TWIN, PATHS, FILES = registry.find(["twin", "twin-paths", "twin-files"])
MEASURES = functions_of(TWINS / "measures.py")
CONTROLS = ("reno", "cubic", "bbr")


def jobs(scheme: str, study: Study = TWIN) -> dict[str, Job]:
    """The first run of each point: of each length of the chain."""
    return {cell.point: job for cell, job in study.jobs(Effort.FULL) if cell.scheme == scheme and job.seed == 1}


@pytest.mark.parametrize("control", CONTROLS)
def test_a_kernel_s_runs_have_hosts_and_its_twin_s_have_a_flow(control: str) -> None:
    real, simulated = jobs(f"kernel-{control}"), jobs(f"linux-{control}")
    assert list(real) == list(simulated) == [str(hops) for hops in range(1, 9)]
    for hops in real:
        assert not complaints(real[hops])
        there = resolve(real[hops])
        assert (there["flows"], [host["node"] for host in there["emulated_hosts"]]) == ([], [f"n{hops}", "n0"])
        program = shlex.split(there["emulated_hosts"][1]["run"])[2]
        # Where the default is BBR, a connection that asks later for another control is paced all the same.
        assert 0 < program.index(f'b"{control}"') < program.index("connect(")
        beside = resolve(simulated[hops])
        # The same interval, from when the flow begins.
        assert "for mark in (5, 25):" in program
        assert {key: there["measure"][key] for key in ("warmup_s", "duration_s")} == {"warmup_s": 6, "duration_s": 27}
        assert {key: beside["measure"][key] for key in ("warmup_s", "duration_s")} == {"warmup_s": 5, "duration_s": 25}
        assert (len(beside["flows"]), beside["emulated_hosts"]) == (1, [])
        assert there["radio"] == beside["radio"]
    assert all(job.emulated and job.command().startswith("meshpace emulate ") for job in real.values())
    assert all(not job.emulated and job.command().startswith("meshpace run ") for job in simulated.values())


@pytest.mark.parametrize("control", CONTROLS)
def test_hosts_stand_at_the_ends_of_the_flows_of_each_path(control: str) -> None:
    real, simulated = jobs(f"kernel-{control}", PATHS), jobs(f"linux-{control}", PATHS)
    assert list(real) == list(simulated) == ["two chains", "120 ms of wire", "2 % lost on the wire"]
    for path in real:
        there, beside = resolve(real[path]), resolve(simulated[path])
        ends = [(flow["from"], flow["to"]) for flow in beside["flows"]]
        hosts = [host["node"] for host in there["emulated_hosts"]]
        assert list(zip(hosts[1::2], hosts[::2], strict=True)) == ends
        assert len(ends) == 1 + (path == "two chains")
        assert (there["flows"], there["links"]) == ([], beside["links"])
        # A TUN device holds nothing of its sender back.
        assert f"[scheme.linux-{control}]\nsmall_queue = false\n" in simulated[path].text.decode()


@pytest.mark.parametrize("control", CONTROLS)
def test_a_file_is_as_long_for_a_kernel_as_for_its_twin(control: str) -> None:
    real, simulated = jobs(f"kernel-{control}", FILES), jobs(f"linux-{control}", FILES)
    assert list(real) == list(simulated) == ["20 kB", "100 kB", "1 MB"]
    for size, length in zip(real, (20_000, 100_000, 1_000_000), strict=True):
        assert not complaints(real[size])
        there, beside = resolve(real[size]), resolve(simulated[size])
        sink, sender = there["emulated_hosts"]
        assert (there["flows"], [sink["node"], sender["node"]]) == ([], ["n4", "n0"])
        (flow,) = beside["flows"]
        assert (flow["from"], flow["to"], flow["bytes"]) == ("n0", "n4", length)
        assert f"b'{control}'" in shlex.split(sender["run"])[2]
        assert f"bytes({length})" in sender["run"]
        # As long as the simulated run, from when the sender begins.
        assert there["measure"]["duration_s"] - sender["start_s"] == beside["measure"]["duration_s"]


def test_the_programs_of_a_file_say_when_it_began_and_when_all_of_it_had_come() -> None:
    """As they are run, between two processes of this machine."""
    job = jobs("kernel-reno", FILES)["100 kB"]
    with socket.create_server(("", 0)) as free:
        port = free.getsockname()[1]
    sink, sender = (
        shlex.split(host["run"].replace("5201", str(port)).replace("'n4'", "'127.0.0.1'"))
        for host in resolve(job)["emulated_hosts"]
    )
    with subprocess.Popen(sink, stdout=subprocess.PIPE, text=True) as server:
        deadline = time.monotonic() + 30
        while (sent := subprocess.run(sender, capture_output=True, text=True, check=False)).returncode:
            assert time.monotonic() < deadline, sent.stderr
            time.sleep(0.05)
        came, _ = server.communicate(timeout=30)
    told = [came, sent.stdout]
    run: Any = {"flows": [], "runs": [{"output": output} for output in told]}
    took = MEASURES.TOOK(run)
    assert took == float(came) - float(sent.stdout)
    assert 0 < took < 30
    assert MEASURES.TOOK({"flows": [], "runs": [{"output": ""}, {"output": sent.stdout}]}) is None, "it never came"
    assert MEASURES.TOOK({"flows": [{"completed_s": 1.5}]}) == 1.5
    assert MEASURES.TOOK({"flows": [{"completed_s": None}]}) is None


def test_the_ends_of_a_transfer_count_the_measured_interval_alone() -> None:
    """As they are run, between two processes of this machine; 0.2 to 1 s of it are measured."""
    job = jobs("kernel-reno")["1"]
    with socket.create_server(("", 0)) as free:
        port = free.getsockname()[1]
    zero = time.monotonic() + 2  # by then both are up, on a busy machine, too
    environment = {**os.environ, "MESHPACE_ZERO": str(zero)}
    ends = []
    for host in resolve(job)["emulated_hosts"]:
        program = shlex.split(host["run"])[2].replace("5201", str(port)).replace("n1", "127.0.0.1")
        words = ["python3", "-c", program.replace("(5, 25)", "(0.2, 1)")]
        ends.append(subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment))
    sink, sender = (end.communicate(timeout=60)[0] for end in ends)
    assert time.monotonic() > zero + 2, "a second of nothing, and one of data"
    before, after = map(int, sink.split())
    assert before < after
    measured: Any = {"flows": [], "measured_s": 2.0, "runs": [{"output": sink}, {"output": sender}]}
    assert MEASURES.GOODPUT(measured) == 8 * (after - before), "measured_s has the second for the ends' words"
    assert MEASURES.SENT_AGAIN(measured) is not None


def test_quantities_of_a_kernel_are_of_its_transfers_alone() -> None:
    ends = [{"node": "B", "output": "1000 1449000\n"}, {"node": "A", "output": "3 5\n"}]
    more = [{"node": "B", "output": "0 1448000\n"}, {"node": "C", "output": "0 2\n"}]
    rows = [("A", "B", 0.1), ("C", "B", 0.3), ("B", "A", 9.0)]
    traffic = [{"from": here, "to": there, "delay_p50_s": delay, "delay_p95_s": None} for here, there, delay in rows]
    run: Any = {"flows": [], "measured_s": 11.0, "runs": ends + more, "traffic": traffic}
    assert MEASURES.GOODPUT(run) == 8 * 2_896_000 / 10
    assert MEASURES.SENT_AGAIN(run) == pytest.approx(1000 * 4 / 2000)
    assert (MEASURES.DELAY_50(run), MEASURES.DELAY_95(run)) == (pytest.approx(0.2), None)
    # One that was killed before it had told.
    broken: Any = {**run, "runs": [*ends, {"node": "B", "output": "0\n"}, more[1]]}
    assert (MEASURES.GOODPUT(broken), MEASURES.SENT_AGAIN(broken)) == (None, None)
    flow = {"delivered_bytes": 1_448_000, "retransmits": 7, "packet_delay_p50_s": 0.2, "packet_delay_p95_s": 0.4}
    simulated: Any = {"flows": [flow, {**flow, "packet_delay_p95_s": 0.6}], "aggregate_goodput_bps": 5.0}
    quantities = (MEASURES.GOODPUT, MEASURES.SENT_AGAIN, MEASURES.DELAY_50, MEASURES.DELAY_95)
    assert [quantity(simulated) for quantity in quantities] == [5.0, 7.0, 0.2, 0.5]


def test_how_far_apart_is_in_parts_of_what_is_allowed() -> None:
    condition = TWIN.conditions[0]
    quantity = Quantity("goodput", "", "", lambda run: run["aggregate_goodput_bps"])

    def apart(ours: list[float | None], kernel: list[float | None], **how: Any) -> list[float | None]:
        runs: Any = {
            Cell(condition, f"{kind}-reno", "4"): [
                None if one is None else {"aggregate_goodput_bps": one} for one in values
            ]
            for kind, values in (("linux", ours), ("kernel", kernel))
        }
        measure = MEASURES.apart(quantity, "reno", **how)
        found: list[float | None] = measure.take(Outcome(TWIN, Effort.QUICK, {}, runs), condition, "4")
        return found

    assert apart([90.0, 110.0], [95.0, 110.0], share=0.05) == [pytest.approx(-1.0), pytest.approx(2.0)]
    # Its own runs are 15 apart, which is more than 5 % of 100.
    assert apart([90.0, 110.0], [95.0, 110.0], share=0.05, spread=True) == [pytest.approx(-1 / 3), pytest.approx(2 / 3)]
    assert apart([0.0, 0.0], [1.0, None], share=0.2, least=2.0) == [0.5, None]
    assert apart([0.0], [0.0], share=0.2) == [None], "nothing is allowed of nothing"
    assert apart([None], [1.0], share=0.2) == [None]


def test_an_emulated_run_is_never_taken_for_a_simulated_one(chain: Path, tmp_path: Path) -> None:
    job = Job("chain.toml", chain.read_bytes())
    real = job._replace(emulated=True)
    assert key_of(job) != key_of(real)
    assert question_of(job) != question_of(real)
    store = Store(tmp_path / "store")
    text = of_result(real, simulate(job).result.replace('"schema":1', '"schema":1,"wall_s":4.0'))
    store.add([simulate(job), text])
    again = Store(tmp_path / "store").get([key_of(job), key_of(real)])
    assert [again[key_of(one)].job for one in (job, real)] == [job, real]


def test_who_asks_for_all_does_without_and_who_asks_for_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "store")
    studies = registry.find(["twin", "gap-chain-up"])
    wanted = tasks(studies, Effort.QUICK)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    left, said = emulated.makeable(studies, ["all"], wanted, store)
    assert [study.name for study in left] == ["gap-chain-up"]
    assert said.startswith("left out: twin: needs root")
    with pytest.raises(EmulationError, match=r"^twin: needs root.* this is user 1000$"):
        emulated.makeable(studies, ["twin"], wanted, store)
    # What is there already takes no rights.
    simulated = [task for task in wanted if not task.job.emulated]
    assert emulated.makeable(studies, ["twin"], simulated, store) == (studies, "")


def test_a_run_that_was_late_is_made_again(chain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job("chain.toml", chain.read_bytes(), emulated=True)
    plain = run_many([job._replace(emulated=False)])[0]
    verdicts = iter([False, False, True, False, False, False])

    def once(*_: Any) -> dict[str, Any]:
        return {**plain, "lateness": {"valid": next(verdicts)}}

    monkeypatch.setattr(emulated, "_once", once)
    for valid in (True, False):
        result: Any = emulated.emulate(job).run()
        assert (result["attempts"], result["lateness"]["valid"]) == (3, valid)
    assert next(verdicts, None) is None


def test_a_run_that_failed_is_made_again_and_its_last_failure_told(
    chain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = Job("chain.toml", chain.read_bytes(), emulated=True)
    result = {**run_many([job._replace(emulated=False)])[0], "lateness": {"valid": True}}
    outcomes: list[Any] = ["refused once", result, "refused", "refused", "refused for good"]

    def once(*_: Any) -> dict[str, Any]:
        outcome: Any = outcomes.pop(0)
        if isinstance(outcome, str):
            raise EmulationError(outcome)
        return dict(outcome)

    monkeypatch.setattr(emulated, "_once", once)
    made: Any = emulated.emulate(job).run()
    assert made["attempts"] == 2
    with pytest.raises(EmulationError, match="refused for good"):
        emulated.emulate(job)
