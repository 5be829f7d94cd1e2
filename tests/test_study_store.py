"""Results survive what ends the process that makes them: nothing is lost, repeated or torn."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from meshpace.engine import Job
from meshpace.project import scenario_directory
from meshpace.study.executors import UnknownExecutorError, Workers, workers
from meshpace.study.model import Effort
from meshpace.study.record import key_of, simulate
from meshpace.study.runner import make, tasks
from meshpace.study.store import Store
from study_child import small

CHILD = Path(__file__).with_name("study_child.py")
RUNS = 2 * 2 * 3 * 8


def start(store: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, CHILD, store, *arguments], stdout=subprocess.PIPE, text=True)


def finish(child: subprocess.Popen[str]) -> tuple[int, int, int]:
    out, _ = child.communicate(timeout=120)
    assert child.returncode == 0
    made, stored, others = map(int, out.split("go\n")[1].split())
    return made, stored, others


def table(store: Path) -> bytes:
    return (store / "tables" / "small-quick.parquet").read_bytes()


def rows(store: Path) -> list[str]:
    """Every key in every file: a run that was made twice is there twice."""
    return [key for path in (store / "runs").glob("*.parquet") for key in pq.read_table(path)["key"].to_pylist()]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("undisturbed")
    assert finish(start(store, "threads", "1")) == (RUNS, 0, 0)
    return store


def test_ten_kills_lose_and_repeat_nothing(undisturbed: Path, tmp_path: Path) -> None:
    draw, seen, cut = random.Random(20071), set(), 0
    for _ in range(10):
        child = start(tmp_path)
        assert child.stdout is not None
        assert child.stdout.readline() == "go\n"
        time.sleep(draw.uniform(0.05, 0.3))
        cut += child.poll() is None
        child.kill()
        child.communicate()
        store = Store(tmp_path)
        assert store.problems == []
        assert seen <= set(store.keys())
        seen = set(store.keys())
    assert cut >= 5, "most kills hit a working process"
    assert seen, "what is finished is stored on the way"
    made, stored_before, others = finish(start(tmp_path))
    assert (made + stored_before, stored_before, others) == (RUNS, len(seen), 0)
    assert sorted(rows(tmp_path)) == sorted(set(rows(tmp_path)))
    assert table(tmp_path) == table(undisturbed)


def test_processes_share_a_store(undisturbed: Path, tmp_path: Path) -> None:
    children = [start(tmp_path), start(tmp_path)]
    tallies = [finish(child) for child in children]
    assert sum(made for made, _, _ in tallies) == RUNS
    assert all(sum(tally) == RUNS for tally in tallies)
    assert len(rows(tmp_path)) == RUNS
    assert table(tmp_path) == table(undisturbed)


def test_a_claim_ends_with_its_process(tmp_path: Path) -> None:
    first, second = start(tmp_path), start(tmp_path)
    time.sleep(0.5)
    first.kill()
    first.communicate()
    assert sum(finish(second)) == RUNS
    assert len(rows(tmp_path)) == RUNS


def test_executors_and_their_sizes_give_the_same_bytes(undisturbed: Path, tmp_path: Path) -> None:
    for kind, count in (("threads", "2"), ("processes", "2")):
        store = tmp_path / kind
        assert finish(start(store, kind, count)) == (RUNS, 0, 0)
        assert table(store) == table(undisturbed)


def test_a_cluster_gives_the_same_bytes(undisturbed: Path, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address.removeprefix("tcp://")
        assert finish(start(tmp_path, f"dask://{address}")) == (RUNS, 0, 0)
    assert table(tmp_path) == table(undisturbed)


def test_an_interrupt_keeps_what_is_finished(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "meshpace", "study", "run", "gap-random", "--store", "s"]
    child = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(3)
    child.send_signal(signal.SIGINT)
    began = time.monotonic()
    out, err = child.communicate(timeout=30)
    assert (child.returncode, out, err.splitlines()[-1]) == (130, "", "interrupted")
    assert time.monotonic() - began < 5
    assert len(Store(tmp_path / "s")) > 0
    assert not list((tmp_path / "s" / "runs").glob(".*"))


def test_what_cannot_be_read_is_reported_and_left(tmp_path: Path) -> None:
    job = replace(_job(), seed=1)
    store = Store(tmp_path)
    store.add([simulate(job)])
    (whole,) = (tmp_path / "runs").glob("*.parquet")
    torn = tmp_path / "runs" / "torn.parquet"
    torn.write_bytes(whole.read_bytes()[:-100])
    other = tmp_path / "runs" / "other.parquet"
    pq.write_table(pq.read_table(whole).select(["seed"]), other)
    unfinished = tmp_path / "runs" / f".{whole.name}.123.part"
    unfinished.write_bytes(whole.read_bytes()[:500])
    (tmp_path / "runs" / "notes.txt").write_text("mine")
    again = Store(tmp_path)
    assert list(again.keys()) == [key_of(job)]
    assert sorted(problem.path for problem in again.problems) == sorted([other, torn])
    assert all(path.exists() for path in (torn, other, unfinished, tmp_path / "runs" / "notes.txt"))


def test_a_flipped_bit_is_found(tmp_path: Path) -> None:
    job = _job()
    store = Store(tmp_path)
    store.add([simulate(job)])
    (path,) = (tmp_path / "runs").glob("*.parquet")
    data = bytearray(path.read_bytes())
    middle = data.find(b"gap-fig08")  # the scenario's path lies in a page
    data[middle] ^= 1
    path.write_bytes(data)
    with pytest.raises(OSError, match="damaged"):
        Store(tmp_path).get([key_of(job)])


def test_a_record_comes_back_as_it_was(tmp_path: Path) -> None:
    record = simulate(_job(), series=True)
    store = Store(tmp_path)
    store.add([record])
    assert Store(tmp_path).get([record.key]) == {record.key: record}
    (flow,) = record.run()["flows"]
    (series,) = record.goodput_series().values()
    assert len(series) == 4
    assert sum(series[1:]) / 3 == pytest.approx(flow["goodput_bps"])


def _job() -> Job:
    path = scenario_directory() / "gap-fig08-chain-up.toml"
    return Job(
        "scenarios/gap-fig08-chain-up.toml",
        path.read_bytes(),
        ("measure.duration=4s", "measure.warmup=1s"),
        "newreno",
        7,
    )


def test_the_key_is_what_a_result_depends_on() -> None:
    job = _job()
    keys = [
        key_of(job),
        key_of(job, version="9.9.9"),
        key_of(job, series=True),
        key_of(replace(job, text=job.text + b"\n")),
        key_of(replace(job, overrides=())),
        key_of(replace(job, scheme="tcp-gap")),
        key_of(replace(job, scheme=None)),
        key_of(replace(job, seed=8)),
    ]
    assert len(set(keys)) == len(keys)
    assert key_of(replace(job, name="elsewhere.toml")) == key_of(job)


def test_an_error_in_a_run_keeps_the_others(tmp_path: Path) -> None:
    study = small(seeds=1, duration=2)
    wanted = tasks([study], Effort.QUICK)
    broken = replace(wanted[-1], key="f" * 64, job=replace(wanted[-1].job, scheme="no-such"))
    store = Store(tmp_path)
    with workers("threads", 1) as hands, pytest.raises(ValueError, match="no-such"):
        make([*wanted, broken], store, hands)
    assert len(Store(tmp_path)) == len(wanted)


def test_any_executor_will_do(tmp_path: Path) -> None:
    study, store = small(seeds=1, duration=2), Store(tmp_path)
    with ThreadPoolExecutor(3) as executor:
        tally = make(tasks([study], Effort.QUICK), store, Workers(executor, 3))
    assert (tally.made, len(Store(tmp_path))) == (12, 12)


def test_no_such_executor() -> None:
    with pytest.raises(UnknownExecutorError, match="threads, processes"), workers("magic", 1):
        pass
