"""Results survive what ends the process that makes them: nothing is lost, repeated or torn."""

from __future__ import annotations

import hashlib
import json
import os
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

from commanding import Cli
from meshpace import engine
from meshpace.engine import Job
from meshpace.project import scenario_directory
from meshpace.study import record
from meshpace.study.engines import UnknownEngineError, find_engine, others
from meshpace.study.executors import UnknownExecutorError, Workers, workers
from meshpace.study.held import read
from meshpace.study.model import Effort
from meshpace.study.outcome import load
from meshpace.study.record import Maker, key_of, question_of, running, simulate
from meshpace.study.runner import make, tasks
from meshpace.study.store import Store
from processor_time import processor_s
from study_child import small

CHILD = Path(__file__).with_name("study_child.py")
RUNS = 2 * 2 * 3 * 8
UNDISTURBED = pytest.mark.xdist_group("undisturbed")  # a store that is made once


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


def wait_for_more(runs: Path, child: subprocess.Popen[str]) -> None:
    """Until there is a file more, or the child has ended."""
    before = len(list(runs.glob("*.parquet")))
    until = time.monotonic() + 60
    while len(list(runs.glob("*.parquet"))) == before and child.poll() is None and time.monotonic() < until:
        time.sleep(0.01)


def test_ten_kills_lose_and_repeat_nothing(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> None:
    draw, seen, cut = random.Random(20071), set(), 0
    longer = "30"
    for attempt in range(10):
        child = start(tmp_path, "threads", "1", longer)
        assert child.stdout is not None
        assert child.stdout.readline() == "go\n"
        if attempt % 3 == 1:
            # However slow the machine: some are killed after they have stored something.
            wait_for_more(tmp_path / "runs", child)
        time.sleep(draw.uniform(0.02, 0.15))
        cut += child.poll() is None
        child.kill()
        child.communicate()
        store = Store(tmp_path)
        assert store.problems == []
        assert seen <= set(store.keys())
        seen = set(store.keys())
    assert cut >= 5, "most kills hit a working process"
    assert seen, "what is finished is stored on the way"
    made, stored_before, others = finish(start(tmp_path, "threads", "2", longer))
    assert (made + stored_before, stored_before, others) == (RUNS, len(seen), 0)
    assert sorted(rows(tmp_path)) == sorted(set(rows(tmp_path)))
    whole = tmp_path_factory.mktemp("whole")
    assert finish(start(whole, "threads", "2", longer)) == (RUNS, 0, 0)
    assert table(tmp_path) == table(whole)


@UNDISTURBED
def test_processes_share_a_store(undisturbed: Path, tmp_path: Path) -> None:
    children = [start(tmp_path), start(tmp_path)]
    tallies = [finish(child) for child in children]
    assert sum(made for made, _, _ in tallies) == RUNS
    assert all(sum(tally) == RUNS for tally in tallies)
    assert len(rows(tmp_path)) == RUNS
    assert table(tmp_path) == table(undisturbed)


def test_a_claim_ends_with_its_process(tmp_path: Path) -> None:
    longer = ("threads", "2", "20")  # or the first could be done before it is killed
    first, second = start(tmp_path, *longer), start(tmp_path, *longer)
    time.sleep(0.5)
    first.kill()
    first.communicate()
    assert sum(finish(second)) == RUNS
    assert len(rows(tmp_path)) == RUNS


@UNDISTURBED
def test_executors_and_their_sizes_give_the_same_bytes(undisturbed: Path, tmp_path: Path) -> None:
    for kind, count in (("threads", "2"), ("processes", "2")):
        store = tmp_path / kind
        assert finish(start(store, kind, count)) == (RUNS, 0, 0)
        assert table(store) == table(undisturbed)


@UNDISTURBED
def test_a_cluster_gives_the_same_bytes(undisturbed: Path, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address.removeprefix("tcp://")
        assert finish(start(tmp_path, f"dask://{address}")) == (RUNS, 0, 0)
    assert table(tmp_path) == table(undisturbed)


def test_an_interrupt_keeps_what_is_finished(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "meshpace", "study", "run", "gap-random", "--store", "s"]
    child = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for_more(tmp_path / "s" / "runs", child)
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    before = processor_s(os.getpid())
    out, err = child.communicate(timeout=120)
    assert (child.returncode, out, err.splitlines()[-1]) == (130, "", "interrupted")
    assert processor_s(os.getpid()) - before < 5, "the whole study takes minutes"
    assert len(Store(tmp_path / "s")) > 0
    assert not list((tmp_path / "s" / "runs").glob(".*"))


def test_what_cannot_be_read_is_reported_and_left(tmp_path: Path) -> None:
    job = _job()._replace(seed=1)
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
        key_of(job, fingerprint="0123456789abcdef"),
        key_of(job, series=True),
        key_of(job._replace(text=job.text + b"\n")),
        key_of(job._replace(overrides=())),
        key_of(job._replace(scheme="tcp-gap")),
        key_of(job._replace(scheme=None)),
        key_of(job._replace(seed=8)),
    ]
    assert len(set(keys)) == len(keys)
    assert key_of(job._replace(name="elsewhere.toml")) == key_of(job)
    assert key_of(job._replace(name="elsewhere.toml"), series=True) == key_of(job, series=True)


def test_the_key_holds_the_schemes_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    job = _job()
    keys = {key_of(job)}
    for scheme, key, value in (("newreno", "rto_min", 0.3), ("newreno", "new", 1), ("other", "rto_min", 0.2)):
        record._parameters.cache_clear()
        found = engine.schemes_in_use(job)
        found.setdefault(scheme, {})[key] = value
        with monkeypatch.context() as patch:
            patch.setattr(engine, "schemes_in_use", lambda _, found=found: found)
            keys.add(key_of(job))
    record._parameters.cache_clear()
    assert len(keys) == 4


def test_the_key_of_a_series_holds_the_code_that_bins_it(monkeypatch: pytest.MonkeyPatch) -> None:
    job = _job()
    plain, series = key_of(job), key_of(job, series=True)
    monkeypatch.setattr(record, "code_of", lambda _: "other")
    assert key_of(job) == plain
    assert key_of(job, series=True) != series


def test_what_was_asked_does_not_depend_on_who_answers() -> None:
    job = _job()
    asked = [
        question_of(job),
        question_of(job, series=True),
        *(
            question_of(job._replace(**other))
            for other in ({"text": b""}, {"overrides": ()}, {"scheme": None}, {"seed": 8})
        ),
    ]
    assert len(set(asked)) == len(asked)
    assert question_of(job._replace(name="elsewhere.toml")) == question_of(job)


OLDER = "0123456789abcdef"


def by_an_older_engine(job: Job, store: Path, fingerprint: str | None) -> None:
    """Stores a run as an engine did of which only the fingerprint, or only the version, is known."""
    made = simulate(job)
    maker = Maker(made.maker.version, fingerprint)
    key = hashlib.sha256(f"{fingerprint} {job.command()}".encode()).hexdigest()
    Store(store).add([replace(made, key=key, maker=maker)])
    if fingerprint is None:
        # Such a file has no column for it.
        for path in (store / "runs").glob("*.parquet"):
            table = pq.read_table(path)
            pq.write_table(table.drop_columns([name for name in table.column_names if name == "fingerprint"]), path)


@pytest.mark.parametrize("fingerprint", [OLDER, None])
def test_what_an_older_engine_made_is_kept_and_not_used(fingerprint: str | None, tmp_path: Path) -> None:
    study = small(seeds=1, duration=2)
    jobs = {job for _, job in study.jobs(Effort.QUICK)}
    for job in jobs:
        by_an_older_engine(job, tmp_path, fingerprint)
    before = {path: path.read_bytes() for path in (tmp_path / "runs").glob("*.parquet")}
    store = Store(tmp_path)
    older = Maker(running().version, fingerprint)
    assert (store.problems, store.makers()) == ([], {older: len(jobs)})
    assert f"also holds {len(jobs)} runs of engine {older}: kept, and not used" in others(store)
    (nothing,) = load(store, [study], Effort.QUICK)
    assert nothing.missing == len(jobs)
    with workers("threads", 1) as hands:
        assert make(tasks([study], Effort.QUICK), store, hands).made == len(jobs)
    assert {path: path.read_bytes() for path in before} == before
    assert store.makers() == Store(tmp_path).makers() == {older: len(jobs), running(): len(jobs)}
    # By its name the older engine's are found, and nobody else's.
    chosen = find_engine(Store(tmp_path), older.name[:8] if fingerprint else older.name)
    (outcome,) = load(Store(tmp_path), [study], Effort.QUICK, chosen)
    assert outcome.complete
    assert {record.maker for record in outcome.all_records()} == {older}
    (ours,) = load(Store(tmp_path), [study], Effort.QUICK)
    assert {record.maker for record in ours.all_records()} == {running()}


def test_an_engine_is_named_by_the_beginning_of_its_fingerprint(tmp_path: Path) -> None:
    for fingerprint in (OLDER, "0123ffffffffffff"):
        by_an_older_engine(_job(), tmp_path, fingerprint)
    store = Store(tmp_path)
    assert find_engine(store, "01234").fingerprint == OLDER
    assert find_engine(store, OLDER).fingerprint == OLDER
    with pytest.raises(UnknownEngineError, match="2 engines begin with it"):
        find_engine(store, "0123")
    with pytest.raises(UnknownEngineError, match=f"no runs of it in .* which holds 1 runs of engine .*{OLDER}"):
        find_engine(store, "ffff")


def test_the_store_lists_its_engines(cli: Cli, tmp_path: Path) -> None:
    by_an_older_engine(_job(), tmp_path / "s", OLDER)
    Store(tmp_path / "s").add([simulate(_job()), simulate(_job()._replace(seed=2))])
    listed = cli("store", "--store", "s")
    assert (listed.returncode, listed.stderr) == (0, "")
    assert [line.split()[1:3] for line in listed.stdout.splitlines() if "0.1" in line] == [
        [running().fingerprint, "2"],
        [OLDER, "1"],
    ]
    engines = json.loads(cli("store", "--store", "s", "--json").stdout)["engines"]
    assert [(one["engine_fingerprint"], one["runs"], one["running"]) for one in engines] == [
        (running().fingerprint, 2, True),
        (OLDER, 1, False),
    ]
    nothing = cli("report", "--store", "s")
    assert (nothing.returncode, nothing.stdout) == (2, "")
    assert OLDER in nothing.stderr
    wrong = cli("report", "--store", "s", "--engine", "zz")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "--engine zz: no runs of it in s, which holds 2 runs of engine" in wrong.stderr


def test_an_error_in_a_run_keeps_the_others(tmp_path: Path) -> None:
    study = small(seeds=1, duration=2)
    wanted = tasks([study], Effort.QUICK)
    broken = replace(wanted[-1], key="f" * 64, job=wanted[-1].job._replace(scheme="no-such"))
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


@UNDISTURBED
def test_of_scenarios_that_were_never_run_no_job_is_worked_out(undisturbed: Path) -> None:
    def never(*_: object) -> None:
        raise AssertionError("a report of few studies would wait for the keys of all others")

    mine = small()
    elsewhere = replace(mine, name="elsewhere", scenario="byu-asl-b.toml", drawn=never)
    assert [outcome.study.name for outcome in read(Store(undisturbed), [mine, elsewhere])] == [mine.name]
    assert Store(undisturbed).scenarios(running()) == {mine.text()}
