"""What cannot be run: exit status 2, one line on standard error, nothing on standard output, no file."""

from __future__ import annotations

from pathlib import Path

import pytest

from commanding import CHAIN, Cli

BROKEN = {
    "wrong type": ("hops = 2", 'hops = "two"', ":7: topology.hops"),
    "unknown key": ("hops = 2", "hops = 2\nhop = 3", ":8: topology.hop"),
    "unknown table": ("[routing]", "[rooting]", "rooting"),
    "unknown node": ('to = "n2"', 'to = "n9"', '"n9"'),
    "negative hops": ("hops = 2", "hops = -1", "topology.hops: found -1"),
    "zero hops": ("hops = 2", "hops = 0", "topology.hops: found 0"),
    "huge hops": ("hops = 2", "hops = 999999999999", "topology.hops"),
    "unreachable": ("hops = 2", 'hops = 2\nspacing = "300m"', "flow[0]"),
    "warm-up past the end": ('warmup = "1s"', 'warmup = "9s"', "measure.warmup"),
    "zero duration": ('duration = "4s"', 'duration = "0s"', "measure.duration"),
    "no unit": ('duration = "4s"', 'duration = "4 parsecs"', "measure.duration"),
    "not a number": ('duration = "4s"', "duration = nan", "measure.duration"),
    "infinite": ('duration = "4s"', "duration = inf", "measure.duration"),
    "no such rate": ("[routing]", '[radio]\nrate = "3Mbps"\n[routing]', "radio.rate"),
    "zero rate": ("[routing]", '[radio]\nrate = "0Mbps"\n[routing]', "radio.rate"),
    "no such standard": ("[routing]", '[radio]\nstandard = "802.11z"\n[routing]', "radio.standard"),
    "no such protocol": ('"static"', '"ospf"', "routing.protocol"),
    "no such scheme": ('"newreno"', '"cubick"', "cubick"),
    "no such parameter": ("[[flow]]", '[scheme.tcp-ap]\nalfa = 0.5\n[[flow]]', "alfa"),
    "parameter out of range": ("[[flow]]", "[scheme.tcp-ap]\nalpha = 7.0\n[[flow]]", "alpha"),
    "flow to itself": ('to = "n2"', 'to = "n0"', "flow[0]"),
    "duplicate id": ("[[flow]]", '[[node]]\nid = "n1"\nx = 0\ny = 9\n[[flow]]', "n1"),
    "no such app": ('to = "n2"', 'to = "n2"\napp = "torrent"', "flow[0].app"),
    "missing key": ("hops = 2\n", "", "topology.hops"),
    "empty window": ('to = "n2"', 'to = "n2"\nwindow = 0', "flow[0].window"),
    "not TOML": ("[measure]", "[measure", ":1"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_scenario(name: str, cli: Cli, tmp_path: Path) -> None:
    old, new, expected = BROKEN[name]
    assert old in CHAIN
    path = tmp_path / "broken.toml"
    path.write_text(CHAIN.replace(old, new))
    done = cli("run", path, "--json", "--pcap", "c.pcapng", "--trace", "t.parquet")
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(str(path))
    assert expected in line
    assert "allowed" in line
    assert [p.name for p in tmp_path.iterdir()] == ["broken.toml"]


def expect_refusal(cli: Cli, *arguments: object) -> str:
    done = cli(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    return line


def test_not_utf8(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "bytes.toml").write_bytes(b'[scenario]\nname = "\xff\xfe"\n')
    assert "UTF-8" in expect_refusal(cli, "run", "bytes.toml")


def test_one_bad_file_among_several_seeds_is_one_message(cli: Cli, chain: Path) -> None:
    line = expect_refusal(cli, "run", chain, "--seeds", 4, "--threads", 2, "--set", "radio.rate=3Mbps")
    assert "--set radio.rate" in line


def test_no_such_file(cli: Cli) -> None:
    assert expect_refusal(cli, "run", "nowhere.toml") == "nowhere.toml: No such file or directory"


@pytest.mark.parametrize("setting", ["topology.hops", "=3", "flow.7.to=n1", "topology..hops=2"])
def test_a_malformed_setting(setting: str, cli: Cli, chain: Path) -> None:
    assert "--set" in expect_refusal(cli, "run", chain, "--set", setting)


def test_options_that_exclude_each_other(cli: Cli, chain: Path) -> None:
    for option, value in (("--seed", 2), ("--pcap", "x"), ("--trace", "x")):
        assert option in expect_refusal(cli, "run", chain, "--seeds", 2, option, value)


@pytest.mark.parametrize("option", ["--pcap", "--trace"])
def test_a_file_that_cannot_be_made(option: str, cli: Cli, chain: Path) -> None:
    assert expect_refusal(cli, "run", chain, option, "no/where/file") == "no/where/file: No such file or directory"


@pytest.mark.parametrize(
    "arguments", [["--seeds", 0], ["--seeds", "many"], ["--seed", -1], ["--threads", 0], ["--bogus"]]
)
def test_options_out_of_range_end_with_status_2(arguments: list[object], cli: Cli, chain: Path) -> None:
    done = cli("run", chain, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
