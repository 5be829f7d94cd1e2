"""`meshpace import` of what olsrd answered on a chain of four, 1 - 2 - 3 - 4 (tests/fixtures/olsr/README.md)."""

from __future__ import annotations

import json
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

from commanding import Cli
from meshpace.meshes.read import read

RECORDED = Path(__file__).parent / "fixtures" / "olsr"
CHAIN = ["10.9.0.1", "10.9.0.2", "10.9.0.3", "10.9.1.4"]
CHAIN_V6 = ["fd09::1", "fd09::2", "fd09::3", "fd09:1::4"]
WHOLE = {"jsoninfo-all.json": CHAIN, "txtinfo-all.txt": CHAIN, "txtinfo-all-v6.txt": CHAIN_V6}
TOPOLOGY = {"jsoninfo-topology.json": CHAIN, "jsoninfo-topology-v6.json": CHAIN_V6, "txtinfo-top.txt": CHAIN}


@pytest.mark.parametrize(("file", "chain"), [*WHOLE.items(), *TOPOLOGY.items()])
def test_who_hears_whom_and_how_well(file: str, chain: list[str]) -> None:
    mesh = read([RECORDED / file])
    delivered = {(link.source, link.target): link.delivered for link in mesh.links}
    assert set(delivered) == {pair for a, b in pairwise(chain) for pair in ((a, b), (b, a))}
    # A fifth of what the first sends was dropped at the second; olsrd counts over a window.
    assert delivered.pop((chain[0], chain[1])) == pytest.approx(0.8, abs=0.03)
    assert list(delivered.values()) == pytest.approx([1.0] * 5, abs=0.01)
    assert {node.id: node.gateway for node in mesh.nodes} == {
        name: file in WHOLE and name == chain[-1] for name in chain
    }


MID = "10.9.0.3\t\t10.9.1.3"
MAIN = '"main": {"ipAddress": "10.9.0.3",'
# As recorded; as olsrd 0.9.0 wrote it; built with times, and with a second alias.
ALIASES = [
    ("txtinfo-all.txt", MID, MID),
    ("txtinfo-all.txt", MID, "10.9.0.3\t10.9.2.3;10.9.1.3"),
    ("txtinfo-all.txt", MID, "10.9.0.3\t\t10.9.2.3:57.120\t10.9.1.3:58.844"),
    ("jsoninfo-all.json", MAIN, MAIN),
    ("jsoninfo-all.json", MAIN, '"ipAddress": "10.9.0.3","unread": {'),
]


@pytest.mark.parametrize(("file", "recorded", "instead"), ALIASES)
def test_addresses_of_other_interfaces_are_the_same_node(
    file: str, recorded: str, instead: str, tmp_path: Path
) -> None:
    text = (RECORDED / file).read_text()
    assert recorded in text
    path = tmp_path / file
    # Rows whose last hop is node 3 name it by its other address, as those of a router that has no MID message yet.
    other = text.replace("\t10.9.0.3\t", "\t10.9.1.3\t").replace('"lastHopIP": "10.9.0.3"', '"lastHopIP": "10.9.1.3"')
    path.write_text(other.replace(recorded, instead))
    assert {node.id for node in read([path]).nodes} == set(CHAIN)


@pytest.mark.parametrize("file", ["jsoninfo-all.json", "txtinfo-all.txt"])
def test_the_chain_runs(file: str, cli: Cli, tmp_path: Path) -> None:
    done = cli("import", RECORDED / file, "-o", "mesh.toml")
    assert (done.returncode, done.stderr) == (0, "")
    scenario = tomllib.loads((tmp_path / "mesh.toml").read_text())
    assert [node["id"] for node in scenario["node"] if node.get("role") == "gateway"] == ["10.9.1.4"]
    ran = cli("run", "mesh.toml", "--json", "--set", "measure.duration=12s", "--set", "measure.warmup=2s")
    assert ran.returncode == 0, ran.stderr
    flows = json.loads(ran.stdout)["flows"]
    # In so short a time nothing may come over three hops from nodes that do not hear each other.
    assert flows[0]["from"] == CHAIN[0]
    assert sum(flow["goodput_bps"] for flow in flows) > 0
