"""`meshpace sweep`: what varies, its table, precision, and that kills lose and repeat nothing."""

from __future__ import annotations

import csv
import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from commanding import Cli
from meshpace.study.store import Store
from meshpace.sweeps.errors import SweepError
from meshpace.sweeps.model import schemes_of
from meshpace.sweeps.precision import parse as parse_precision
from meshpace.sweeps.vary import Vary, combinations, parse
from test_bad_input import expect_refusal

TOGETHER = ("--vary", "topology.hops,flow.0.to=2:n2,3:n3")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_what_varies() -> None:
    assert parse("radio.rate=2Mbps,11Mbps") == Vary(("radio.rate",), (("2Mbps",), ("11Mbps",)))
    assert parse("a,b=1:x,2:y") == Vary(("a", "b"), (("1", "x"), ("2", "y")))
    assert parse("a=[1,2],[3,4]").values == (("[1,2]",), ("[3,4]",))
    assert parse('a,b="x:y,z":1').values == (('"x:y,z"', "1"),)
    assert parse("a=fe80::1").values == (("fe80::1",),), "one key: a colon is part of its value"
    assert combinations([parse("a,b=1:x,2:y"), parse("c=3,4")]) == [
        (("a", "1"), ("b", "x"), ("c", "3")),
        (("a", "1"), ("b", "x"), ("c", "4")),
        (("a", "2"), ("b", "y"), ("c", "3")),
        (("a", "2"), ("b", "y"), ("c", "4")),
    ]
    assert combinations([]) == [()]
    assert schemes_of(["a,b", "c"]).names == ("a", "b", "c")
    assert schemes_of(None).names == (None,)


@pytest.mark.parametrize("text", ["a", "a=", "=1", "a,a=1:2", "a,b=1:x,2", "a=1,,2", "a=1,1"])
def test_what_does_not_vary(text: str) -> None:
    with pytest.raises(SweepError, match="--vary"):
        parse(text)


def test_a_row_a_run_and_flow(cli: Cli, two_flows: Path, tmp_path: Path) -> None:
    options = (*TOGETHER, "--scheme", "newreno,tcp-ap", "--seeds", 2)
    done = cli("sweep", two_flows, *options, "--csv", "a.csv", "--parquet", "a.parquet")
    assert done.returncode == 0, done.stderr
    found = rows(tmp_path / "a.csv")
    head = [
        "scenario",
        "scheme",
        "seed",
        "topology.hops",
        "flow.0.to",
        "flow",
        "from",
        "to",
        "hops",
        "app",
        "goodput_bps",
    ]
    assert list(found[0])[: len(head)] == head
    assert len(found) == 2 * 2 * 2 * 2
    assert found[0]["scenario"] == "two"
    one = cli("run", two_flows, "--set", "topology.hops=3", "--set", "flow.0.to=n3", "--scheme", "tcp-ap", "--seed", 2,
              "--json")  # fmt: skip
    (row,) = (r for r in found if (r["scheme"], r["seed"], r["topology.hops"], r["flow"]) == ("tcp-ap", "2", "3", "1"))
    flow = json.loads(one.stdout)["flows"][0]
    assert float(row["goodput_bps"]) == flow["goodput_bps"]
    assert float(row["delay_mean_s"]) == flow["delay_mean_s"]
    assert row["goodput_ci95_bps"] == "", "what does not apply is empty, not 0"
    table = pq.read_table(tmp_path / "a.parquet")
    assert table.column_names == list(found[0])
    assert table["topology.hops"].to_pylist()[:2] == [2, 2]


def test_the_same_again_makes_nothing(cli: Cli, chain: Path, tmp_path: Path) -> None:
    first = cli("sweep", chain, *TOGETHER, "--seeds", 3, "--json", "--csv", "a.csv")
    again = cli("sweep", chain, *TOGETHER, "--seeds", 3, "--json", "--csv", "b.csv", "--executor", "processes")
    assert json.loads(first.stdout)["runs"] == {"made": 6, "stored": 0, "others": 0}
    assert json.loads(again.stdout)["runs"] == {"made": 0, "stored": 6, "others": 0}
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    points = json.loads(again.stdout)["points"]
    assert [point["settings"] for point in points] == [
        {"topology.hops": "2", "flow.0.to": "n2"}, {"topology.hops": "3", "flow.0.to": "n3"},
    ]  # fmt: skip


def test_precision_adds_seeds_where_they_lack(cli: Cli, chain: Path) -> None:
    options = ("--vary", "flow.0.scheme=newreno,tcp-ap", "--set", "topology.hops=5", "--set", "flow.0.to=n5")
    done = cli("sweep", chain, *options, "--seeds", 4, "--precision", "goodput_bps=5%", "--json")
    points = json.loads(done.stdout)["points"]
    assert all(point["precision"] <= 0.05 for point in points)
    assert max(point["seeds"] for point in points) > 4, "otherwise this shows nothing"
    poor = cli("sweep", chain, *options, "--seeds", 4, "--precision", "0.01%", "--budget", "0s", "--json")
    assert json.loads(poor.stdout)["ended"] is True
    assert [point["seeds"] for point in json.loads(poor.stdout)["points"]] == [4, 4]


def test_precision_by_its_words() -> None:
    assert str(parse_precision("2%")) == "goodput_bps=2%"
    assert parse_precision("jain=1.5%").share == 0.015
    for text in ("2", "goodput_bps=0%", "app=2%", "wall_s=2%"):
        with pytest.raises(SweepError, match="allowed"):
            parse_precision(text)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--vary", "topology.hops=2,zwei"), ': --vary topology.hops: found "zwei"'),
        (("--vary", "radio.rat=1Mbps"), ': --vary radio.rat: found the unknown key "rat" (did you mean "rate"?)'),
        (("--vary", "topology.hops=1,2"), "it comes of --vary topology.hops=1"),
        (("--vary", "flow.3.to=n1"), "--vary flow.3.to: found index 3; allowed: index 0"),
        (("--set", "radio.rat=1Mbps", "--vary", "topology.hops=2"), ": --set radio.rat: found the unknown key"),
        (("--vary", "topology.hops=2,2"), "--vary topology.hops=2,2: 2 stands there twice"),
        (("--executor", "thread"), "--executor: found 'thread' (did you mean 'threads'?); allowed: threads, processes"),
        (("--precision", "goodput=2%"), "--precision: found goodput (did you mean goodput_bps?); allowed: measured_s"),
        (("--budget", "3s"), "--budget: found 3s without --precision; allowed: both, or neither"),
        (("--csv", "a.csv", "--report", "./a.csv"), "--report: found a.csv, which --csv writes; allowed: another file"),
        (("--csv", "."), ".: Is a directory"),
        (("--report", "../"), "..: Is a directory"),
        (("--csv", "chain.toml"), "--csv: found chain.toml, which this command reads; allowed: another file"),
        (("--vary", "topology.hops=2,3", "--vary", "topology.hops=4"), "--vary"),
        (("--vary", "topology.hops=2,3", "--set", "topology.hops=2"), "--set"),
        (("--scheme", "newreno", "--scheme", "newreno"), "each scheme once"),
        (("--scheme", "newreno,"), "--scheme"),
        (("--budget", "1min"), "--budget"),
        (("--executor", "dusk"), "threads, processes"),
        (("--csv", "no/where.csv"), "no/where.csv"),
    ],
)
def test_what_cannot_be_swept(options: tuple[str, ...], expected: str, cli: Cli, chain: Path, tmp_path: Path) -> None:
    assert expected in expect_refusal(cli, "sweep", chain, "--parquet", "a.parquet", *options)
    assert not (tmp_path / "a.parquet").exists()


def test_a_figure_and_a_report(cli: Cli, chain: Path, tmp_path: Path) -> None:
    done = cli(
        "sweep", chain, *TOGETHER, "--scheme", "newreno,tcp-ap", "--seeds", 2, "--pdf", "a.pdf", "--report", "a.html"
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    page = (tmp_path / "a.html").read_text()
    for text in ("NewReno", "TCP-AP", '<svg class="topology"', "--set topology.hops=3 --set flow.0.to=n3", "sweep.csv"):
        assert text in page
    assert "Verdicts" not in page, "a sweep has nothing to judge"


def test_a_run_takes_one_scheme(cli: Cli, chain: Path) -> None:
    for command in ("run", "crosscheck"):
        line = expect_refusal(cli, command, chain, "--scheme", "newreno", "--scheme", "tcp-ap")
        assert "newreno, tcp-ap" in line
        assert "meshpace compare" in line


KILLED = ("sweep", "chain.toml", "--vary", "topology.hops,flow.0.to=3:n3,4:n4,5:n5", "--scheme", "newreno,tcp-ap",
          "--seeds", "20", "--set", "measure.duration=30s", "--threads", "2", "--csv")  # fmt: skip


def test_ten_kills_lose_and_repeat_nothing(cli: Cli, chain: Path, tmp_path: Path) -> None:
    assert chain.exists()
    words = [
        sys.executable,
        str(Path(__file__).with_name("sweep_child.py")),
        *KILLED,
        "killed.csv",
        "--store",
        "killed",
    ]
    draw, seen, cut = random.Random(2007), set(), 0
    for attempt in range(10):
        child = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        until = time.monotonic() + 60
        while attempt % 2 and len(Store(tmp_path / "killed")) <= len(seen) and child.poll() is None:
            # However slow the machine: some are killed after they have stored something.
            assert time.monotonic() < until
            time.sleep(0.02)
        time.sleep(draw.uniform(0.0, 0.15))
        cut += child.poll() is None
        child.kill()
        child.communicate()
        store = Store(tmp_path / "killed")
        assert store.problems == []
        assert seen <= set(store.keys())
        seen = set(store.keys())
    assert cut >= 5, "most kills hit a working process"
    assert seen
    last = cli(*KILLED, "killed.csv", "--store", "killed", "--json")
    assert json.loads(last.stdout)["runs"] == {"made": 120 - len(seen), "stored": len(seen), "others": 0}
    kept = [
        key
        for path in (tmp_path / "killed" / "runs").glob("*.parquet")
        for key in pq.read_table(path)["key"].to_pylist()
    ]
    assert len(kept) == len(set(kept)) == 120, "nothing is run twice"
    assert cli(*KILLED, "whole.csv", "--store", "whole").returncode == 0
    assert (tmp_path / "killed.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_dask_loses_a_worker_of_two(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    script = Path(__file__).resolve().parents[1] / "bench" / "sweep_kills.py"
    words = [sys.executable, str(script), "--only", "dask", "--seeds", "8", "--seconds", "20"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=590, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "nothing twice, same bytes as threads" in done.stdout
