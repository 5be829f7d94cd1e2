"""Rates of 802.11n and ac as iw and people write them, against what the engine has."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from commanding import Cli
from meshpace.meshes import rates
from meshpace.meshes.read import read
from test_bad_input import expect_refusal
from test_import_dumps import B, C, station, written

TABLES = [(8, 20), (8, 40), (10, 20), (10, 40), (10, 80), (10, 160)]


@pytest.mark.parametrize(("steps", "mhz"), TABLES)
@pytest.mark.parametrize("short", [False, True])
def test_the_engine_has_every_rate_and_no_other(steps: int, mhz: int, short: bool, cli: Cli, tmp_path: Path) -> None:
    fastest = f"MCS {7 + 24}" if steps == 8 else f"VHT-MCS {9 if mhz > 20 else 8} NSS 4"
    rate = rates.read(f"{fastest} {mhz}MHz{' short GI' if short else ''}")
    assert rate is not None
    radio = rates.radio_of([rate])
    head = f'[radio]\nstandard = "{radio.standard}"\n' + "\n".join(radio.lines)
    pair = '\n[[node]]\nid = "a"\n[[node]]\nid = "b"\n[[radio_link]]\nfrom = "a"\nto = "b"\nrate = "{}"\n'
    flow = '[[flow]]\nfrom = "a"\nto = "b"\n'
    (tmp_path / "mesh.toml").write_text(head + pair.format("0.1Mbps") + flow)
    told = expect_refusal(cli, "check", "mesh.toml")
    allowed = told.partition("allowed: ")[2].partition(" for ")[0].split(", ")
    assert set(allowed) == {rates.shown(one) for one in radio.rates}
    assert radio.of(rate.mbps) in allowed


@pytest.mark.parametrize(
    ("text", "standard", "shown"),
    [
        ("65Mbps", "802.11n", "65Mbps"),
        ("MCS 7", "802.11n", "65Mbps"),
        ("MCS 15 40MHz short GI", "802.11n", "300Mbps"),
        ("65.0 MBit/s MCS 7", "802.11n", "65Mbps"),
        ("780.0 MBit/s VHT-MCS 8 80MHz short GI VHT-NSS 2", "802.11ac", "780Mbps"),
        ("VHT-MCS 8 80MHz NSS 2", "802.11ac", "702Mbps"),
        ("866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2", "802.11ac", "866.666666Mbps"),
        ("54Mbps", "802.11g", "54Mbps"),
        ("11Mbps", "802.11b", "11Mbps"),
    ],
)
def test_rates_as_they_are_written(text: str, standard: str, shown: str, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text(f"from,to,rate\na,b,{text}\nb,c,{text}\n")
    done = cli("import", "links.csv", "-o", "mesh.toml")
    assert (done.returncode, done.stderr) == (0, "")
    scenario = tomllib.loads((tmp_path / "mesh.toml").read_text())
    assert scenario["radio"]["standard"] == standard
    assert {link["rate"] for link in scenario["radio_link"]} == {shown}
    assert cli("check", "mesh.toml").returncode == 0


@pytest.mark.parametrize("text", ["MCS 40", "MCS 7 80MHz", "VHT-MCS 10", "fast", "65", "65Mbps or so"])
def test_what_is_no_rate(text: str, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text(f"from,to,rate\na,b,{text}\n")
    told = expect_refusal(cli, "import", "links.csv")
    assert f"links.csv:2: rate: found {text!r}" in told
    assert "VHT-MCS 8 80MHz NSS 2" in told


def test_stations_of_802_11n(tmp_path: Path) -> None:
    """The widest channel is the radio's; a slower station is rounded down to what that has."""
    wide = station(B, 100, 0, 0, "300.0").replace("300.0 MBit/s", "300.0 MBit/s MCS 15 40MHz short GI")
    narrow = station(C, 100, 0, 0, "65.0").replace("65.0 MBit/s", "65.0 MBit/s MCS 7")
    assert "MCS 15" in wide
    assert "MCS 7" in narrow
    mesh = read(written(tmp_path, {"one": wide + narrow}))
    assert (mesh.standard, mesh.radio) == ("802.11n", ('width = "40MHz"', 'guard_interval = "800ns"'))
    assert [link.rate for link in mesh.links if link.source == "one"] == ["270Mbps", "54Mbps"]
