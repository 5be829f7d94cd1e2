"""Channels of imported meshes: as a CSV and iw tell them, whose radios they make, and which standard is on all."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from commanding import Cli, taken
from meshpace.engine import Job
from meshpace.meshes import channels
from meshpace.meshes.read import read
from test_bad_input import expect_refusal
from test_import_dumps import INFO, A, B, C, station, written

TWO = """\
from,to,loss,rate,channel
hall,roof,0.1,MCS 7,1
hall,roof,0.05,MCS 15 40MHz,46
roof,tower,0.2,MCS 4,1
tower,mill,0.0,MCS 7 40MHz,38
"""


def imported(cli: Cli, folder: Path, *words: str) -> dict[str, Any]:
    done = cli("import", *words, "-o", "mesh.toml")
    assert (done.returncode, done.stderr) == (0, "")
    return tomllib.loads((folder / "mesh.toml").read_text())


def test_each_node_has_the_radios_of_its_links_and_routes_take_the_better_channel(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text(TWO)
    mesh = imported(cli, tmp_path, "links.csv", "--gateway", "hall")
    radios = {node["id"]: [(one["channel"], one["width"]) for one in node.get("radio", [])] for node in mesh["node"]}
    one, back, far = (1, "20MHz"), (46, "40MHz"), (38, "40MHz")
    assert radios == {"hall": [one, back], "roof": [one, back], "tower": [one, far], "mill": [far], "internet": []}
    assert (mesh["radio"]["standard"], mesh["radio"]["guard_interval"]) == ("802.11n", "800ns")
    assert "width" not in mesh["radio"]
    assert {(link["from"], link["channel"], link["rate"]) for link in mesh["radio_link"]} == {
        ("hall", 1, "65Mbps"), ("hall", 46, "270Mbps"), ("roof", 1, "39Mbps"), ("tower", 38, "135Mbps"),
    }  # fmt: skip
    assert mesh["routing"]["metric"] == "ett", "fewest hops do not tell the two links from hall to roof apart"
    ran = cli("run", "mesh.toml", "--json", "--set", "measure.duration=12s", "--set", "measure.warmup=2s")
    assert ran.returncode == 0, ran.stderr
    result = json.loads(ran.stdout)
    used = {(link["from"], link["to"], link["channel"]) for link in result["links"] if link["attempts"]}
    ways = {("mill", "tower", 38), ("tower", "roof", 1), ("roof", "hall", 46)}
    assert used == ways | {(to, source, channel) for source, to, channel in ways}
    assert sum(flow["goodput_bps"] for flow in result["flows"]) > 5e6


def test_of_one_channel_the_radio_says_it(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text("from,to,channel\na,b,40\nb,c,5200\nc,d,5200 MHz\n")
    mesh = imported(cli, tmp_path, "links.csv")
    assert (mesh["radio"]["standard"], mesh["radio"]["channel"]) == ("802.11a", 40)
    assert not any("radio" in node for node in mesh["node"])
    assert not any("channel" in link for link in mesh["radio_link"])
    assert "metric" not in mesh["routing"]


def test_of_several_channels_one_may_be_left(cli: Cli, tmp_path: Path) -> None:
    rows = "a,b,MCS 7 40MHz,46\nc,d,MCS 7,36\n"
    (tmp_path / "links.csv").write_text("from,to,rate,channel\n" + rows)
    mesh = imported(cli, tmp_path, "links.csv", "--gateway", "a")
    assert (mesh["radio"]["channel"], mesh["radio"]["width"]) == (46, "40MHz")
    assert [node["id"] for node in mesh["node"]] == ["a", "b", "internet"]
    assert cli("check", "mesh.toml").returncode == 0


@pytest.mark.parametrize(
    ("rows", "standard", "rates", "needed"),
    [
        (["11Mbps,6", "11Mbps,11"], "802.11b", ["11Mbps", "11Mbps"], None),
        (["24Mbps,36", "11Mbps,44"], "802.11a", ["24Mbps", "9Mbps"], "802.11g"),
        (["24Mbps,36", "54Mbps,44"], "802.11a", ["24Mbps", "54Mbps"], None),
        (["24Mbps,6", "24Mbps,36"], "802.11n", ["19.5Mbps", "19.5Mbps"], "802.11g"),
        (["MCS 7,6", "VHT-MCS 8 80MHz NSS 2,42"], "802.11n", ["65Mbps", "540Mbps"], "802.11ac"),
        (["VHT-MCS 8,36", "VHT-MCS 8 80MHz NSS 2,106"], "802.11ac", ["78Mbps", "702Mbps"], None),
        (["MCS 7 short GI,6", "MCS 7 40MHz short GI,38"], "802.11n", ["72.222222Mbps", "150Mbps"], None),
        (["MCS 7 short GI,6", "MCS 7 40MHz,38"], "802.11n", ["65Mbps", "135Mbps"], None),
    ],
)
def test_one_standard_is_on_all_channels(
    rows: list[str], standard: str, rates: list[str], needed: str | None, cli: Cli, tmp_path: Path
) -> None:
    lines = [f"{ends},{row}" for ends, row in zip(("a,b", "b,c"), rows, strict=True)]
    (tmp_path / "links.csv").write_text("\n".join(["from,to,rate,channel", *lines, ""]))
    mesh = imported(cli, tmp_path, "links.csv")
    assert mesh["radio"]["standard"] == standard
    assert [link["rate"] for link in mesh["radio_link"]] == rates
    told = (tmp_path / "mesh.toml").read_text()
    assert ("rates rounded down to" in told, f"since not all channels have {needed}" in told) == (
        needed is not None,
    ) * 2
    assert cli("check", "mesh.toml").returncode == 0


def interface(address: str, name: str, channel: str, *stations: str) -> str:
    return (
        INFO.format(addr=address).replace("mesh0", name)
        + f"\tchannel {channel}\n\ttxpower 20.00 dBm\n"
        + "".join(stations)
    )


def test_interfaces_of_iw_are_radios_of_a_node(cli: Cli, tmp_path: Path) -> None:
    low, high = "6 (2437 MHz), width: 20 MHz, center1: 2437 MHz", "36 (5180 MHz), width: 80 MHz, center1: 5210 MHz"
    other = "40:a5:ef:00:00:92"
    files = {
        "a": interface(A, "mesh0", low, station(B, 100, 0, 0, "65.0").replace("65.0 MBit/s", "65.0 MBit/s MCS 7")),
        "b": interface(B, "mesh0", low, station(A, 100, 0, 0, "65.0").replace("65.0 MBit/s", "65.0 MBit/s MCS 7"))
        + interface(
            other, "mesh1", high, station(C, 100, 25, 0, "270.0").replace("270.0 MBit/s", "270.0 MBit/s MCS 15 40MHz")
        ),
    }  # fmt: skip
    mesh = read(written(tmp_path, files))
    assert [node.id for node in mesh.nodes] == [A, B, C], "the second interface of b is no node"
    links = {link.way: (link.delivered, link.rate) for link in mesh.links}
    assert links == {
        (A, B, 2437): (1.0, "65Mbps"), (B, A, 2437): (1.0, "65Mbps"),
        (B, C, 5210): (0.8, "270Mbps"), (C, B, 5210): (0.8, "270Mbps"),
    }  # fmt: skip
    scenario = imported(cli, tmp_path, "a.txt", "b.txt", "--gateway", A)
    radios = {
        node["id"]: [(one["channel"], one["width"]) for one in node.get("radio", [])] for node in scenario["node"]
    }
    assert radios[B] == [(6, "20MHz"), (42, "40MHz")]
    assert cli("check", "mesh.toml").returncode == 0


def test_who_is_near_senses_on_the_channels_that_both_are_on(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,x,y\na,0,0\nb,100,0\nc,200,0\nd,100,80\n")
    (tmp_path / "links.csv").write_text("from,to,channel\na,b,1\nb,c,6\nb,d,6\nc,d,1\n")
    mesh = imported(cli, tmp_path, "nodes.csv", "links.csv", "--gateway", "b")
    sensed = {
        (link["from"], link["to"], link["channel"]) for link in mesh["radio_link"] if not link.get("decoded", True)
    }
    # All four are on 1, where a - b (100 m) and c - d (128 m) are linked; on 6, c and d are farther apart than b and c.
    assert sensed == {("b", "c", 1), ("b", "d", 1)}
    assert cli("check", "mesh.toml").returncode == 0


@pytest.mark.parametrize(
    ("rows", "words", "expected"),
    [
        ("a,b,200\n", (), "links.csv:2: channel: found '200'; allowed: a channel by number"),
        ("a,b,6\nb,c,20\n", (), "links.csv:3: channel: found '20'"),
        ("a,b,5.18GHz\n", (), "links.csv:2: channel: found '5.18GHz'"),
        ("a,b,6\nb,c,\n", (), "found no channel of the link b - c; allowed: the channel of every link, or of none"),
        ("a,b,36\nb,c,40\n", ("--standard", "802.11g"), "--standard 802.11g: found links at 5180 MHz"),
        ("a,b,6\nb,c,40\n", ("--standard", "802.11ac"), "--standard 802.11ac: found links at 2437 MHz"),
    ],
)
def test_what_is_no_channel(rows: str, words: tuple[str, ...], expected: str, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text("from,to,channel\n" + rows)
    assert expected in expect_refusal(cli, "import", "links.csv", *words)
    assert not (tmp_path / "scenario.toml").exists()


def test_what_iw_says_of_a_band_that_is_not_simulated(cli: Cli, tmp_path: Path) -> None:
    text = interface(A, "mesh0", "1 (5955 MHz), width: 20 MHz, center1: 5955 MHz", station(B, 1, 0, 0, "65.0"))
    assert "a.txt:7: found a channel at 5955 MHz" in expect_refusal(cli, "import", *written(tmp_path, {"a": text}))


def test_numbers_and_centres_are_the_engines() -> None:
    numbers = [*range(1, 15), 32, 36, 38, 42, 50, 165, 177]
    nodes = [f'[[node]]\nid = "n{n}"\nx = {n}\ny = 0\n[[node.radio]]\nchannel = {n}\n' for n in numbers]
    text = '[radio]\nstandard = "802.11n"\n[topology]\nkind = "explicit"\nconnected = false\n' + "".join(nodes)
    resolved = [channel["mhz"] for channel in taken(Job("mesh.toml", text.encode()))["channels"]]
    assert resolved == [channels.centre(str(number)) for number in numbers]
    assert [channels.said(mhz) for mhz in resolved] == [f"channel = {number}" for number in numbers]
    assert channels.said(5185) == "channel = 37"
    assert channels.said(5183) == 'frequency = "5183MHz"'
