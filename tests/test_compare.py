"""`meshpace compare` and `meshpace check`, and messages that help to mend."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commanding import CHAIN, Cli
from meshpace.study.quantities import GOODPUT
from meshpace.sweeps.compare import Column
from test_bad_input import expect_refusal


def test_schemes_side_by_side(cli: Cli, chain: Path) -> None:
    done = cli("compare", chain, "--scheme", "newreno,tcp-ap", "--seeds", 3, "--csv", "runs.csv", "--json")
    assert done.returncode == 0, done.stderr
    (comparison,) = json.loads(done.stdout)["comparisons"]
    first, second = comparison["columns"]
    assert (first["name"], second["name"], first["runs"]) == ("NewReno", "TCP-AP", 3)
    goodput = [column["quantities"]["goodput"] for column in (first, second)]
    assert goodput[0]["difference"] is None
    assert goodput[1]["difference"]["mean"] == pytest.approx(goodput[1]["value"]["mean"] - goodput[0]["value"]["mean"])
    assert "jain" not in first["quantities"], "one flow shares with nobody"
    table = cli("compare", chain, "--scheme", "newreno", "--scheme", "tcp-ap", "--seeds", 3).stdout
    assert "difference" in table
    assert len((chain.parent / "runs.csv").read_text().splitlines()) == 1 + 6


def test_scenarios_side_by_side(cli: Cli, chain: Path, two_flows: Path) -> None:
    done = cli("compare", chain, two_flows, "--seeds", 2, "--json")
    (comparison,) = json.loads(done.stdout)["comparisons"]
    assert [column["name"] for column in comparison["columns"]] == ["chain", "two"]


def test_stores_side_by_side(cli: Cli, chain: Path) -> None:
    for store, seeds in (("one", 2), ("other", 3)):
        assert cli("sweep", chain, "--scheme", "newreno,tcp-ap", "--seeds", seeds, "--store", store).returncode == 0
    comparisons = json.loads(cli("compare", "one", "other", "--json").stdout)["comparisons"]
    assert [comparison["title"] for comparison in comparisons] == [f"{chain} scheme newreno", f"{chain} scheme tcp-ap"]
    one, other = comparisons[0]["columns"]
    assert (one["runs"], other["runs"]) == (2, 3)
    assert other["quantities"]["goodput"]["difference"] == {"mean": 0.0, "ci95": 0.0}, "the same engine, paired by seed"


def test_differences_are_paired() -> None:
    def run(goodput: float) -> object:
        return {"aggregate_goodput_bps": goodput}

    first = Column("a", {1: run(100.0), 2: run(900.0), 3: run(5.0)})  # type: ignore[dict-item]
    second = Column("b", {2: run(910.0), 1: run(110.0)})  # type: ignore[dict-item]
    value = second.difference(first, GOODPUT)
    assert value is not None
    assert (value.mean, value.half_width, value.count) == (10.0, 0.0, 2)


def test_what_cannot_be_compared(cli: Cli, chain: Path, tmp_path: Path) -> None:
    assert "several" in expect_refusal(cli, "compare", chain, "--scheme", "newreno")
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    assert "allowed: scenario files, or stores" in expect_refusal(cli, "compare", chain, "empty")
    assert "alone" in expect_refusal(cli, "compare", "empty")
    assert "each store once" in expect_refusal(cli, "compare", "empty", "empty")
    assert "empty: found no runs, so that it is no store" in expect_refusal(cli, "compare", "empty", "other")
    assert "nowhere: No such file" in expect_refusal(cli, "compare", "empty", "nowhere")
    told = expect_refusal(cli, "compare", "empty", "other", "--scheme", "newreno", "--pdf", "a.pdf")
    assert told.startswith("--scheme, --pdf: found with stores")


def test_check_tells_everything(cli: Cli, chain: Path) -> None:
    assert cli("check", chain).returncode == 0
    chain.write_text(CHAIN.replace("4s", "4sec").replace('"static"', '"statik"').replace("hops = 2", "hopps = 2"))
    done = cli("check", chain)
    assert (done.returncode, done.stdout) == (2, "")
    duration, topology, protocol = done.stderr.splitlines()
    assert ":2: measure.duration" in duration
    assert "units: ns, us, ms, s, min, h" in duration
    assert 'did you mean "hops"' in topology
    assert 'did you mean "static"' in protocol
    one = expect_refusal(cli, "run", chain)
    assert one == duration, "run keeps to the first"


def test_check_finds_what_only_resolving_finds(cli: Cli, chain: Path) -> None:
    chain.write_text(CHAIN.replace("newreno", "tcpgap"))
    assert 'did you mean "tcp-gap"' in expect_refusal(cli, "check", chain)
    chain.write_text(CHAIN.replace('to = "n2"', 'to = "n7"'))
    assert '"n7"' in expect_refusal(cli, "check", chain)


def test_a_setting_that_breaks_another_key_is_named(cli: Cli, chain: Path) -> None:
    for command in ("run", "check", "sweep"):
        line = expect_refusal(cli, command, chain, "--set", "topology.hops=1", "--set", "radio.rate=2Mbps")
        assert "flow[0].to" in line
        assert line.endswith("it comes of --set topology.hops=1")
    assert "it comes of" not in expect_refusal(cli, "run", chain, "--set", "radio.rate=3Mbps")
    assert 'did you mean "11Mbps"' in expect_refusal(cli, "run", chain, "--set", "radio.rate=11mbps")
