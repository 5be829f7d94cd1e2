"""Captures of some nodes and flows, and what happens along a run in its trace."""

from __future__ import annotations

import json
import struct
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from commanding import CHAIN, Cli
from test_bad_input import expect_refusal

LONG = CHAIN.replace("hops = 2", "hops = 5").replace('to = "n2"', 'id = "up"\nto = "n5"').replace("static", "aodv")
LONG = LONG.replace('"4s"', '"20s"').replace('"1s"', '"0s"') + '\n[[flow]]\nid = "down"\nfrom = "n5"\nto = "n0"\n'
_ENHANCED = 6


@pytest.fixture
def mesh(tmp_path: Path) -> Path:
    path = tmp_path / "long.toml"
    path.write_text(LONG)
    return path


def frames(path: Path) -> list[tuple[int, bytes]]:
    """Times and frames, without radiotap headers."""
    data, found, at = path.read_bytes(), [], 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == _ENHANCED:
            high, low, captured = struct.unpack_from("<III", data, at + 12)
            packet = data[at + 28 : at + 28 + captured]
            found.append(((high << 32) | low, packet[struct.unpack_from("<H", packet, 2)[0] :]))
        at += length
    return found


def is_data(frame: bytes) -> bool:
    return frame[0] & 0x0C == 0x08


def ends(frame: bytes) -> tuple[bytes, bytes]:
    """Receiver and transmitter of a data frame."""
    return frame[4:10], frame[10:16]


def test_a_capture_of_nodes_and_of_flows(cli: Cli, mesh: Path, tmp_path: Path) -> None:
    asked: dict[str, tuple[str, ...]] = {
        "all": (), "node": ("--pcap-node", "n2"), "up": ("--pcap-flow", "up"), "down": ("--pcap-flow", "down"),
        "both": ("--pcap-flow", "up,down"), "mixed": ("--pcap-flow", "up", "--pcap-node", "n2"),
    }  # fmt: skip
    results, found = set(), {}
    for name, options in asked.items():
        done = cli("run", mesh, "--json", "--pcap", f"{name}.pcapng", *options)
        assert done.returncode == 0, done.stderr
        results.add(json.dumps(json.loads(done.stdout)["flows"]))
        found[name] = frames(tmp_path / f"{name}.pcapng")
    assert len(results) == 1, "who looks on changes nothing"
    everything = Counter(found["all"])
    assert all(Counter(some) <= everything for some in found.values())
    data = [frame for _, frame in found["node"] if is_data(frame)]
    (station,) = set.intersection(*(set(ends(frame)) for frame in data if not frame[4] & 1))
    expected = [frame for _, frame in found["all"] if is_data(frame) and (frame[4] & 1 or station in ends(frame))]
    assert data == expected, "what it sends, and what is meant for it or for all"
    assert any(not is_data(frame) for _, frame in found["node"])
    assert 0 < len(found["node"]) < len(found["all"])
    assert all(is_data(frame) for _, frame in found["both"])
    assert Counter(found["up"]) + Counter(found["down"]) == Counter(found["both"])
    assert 0 < len(found["up"]) != len(found["down"]) > 0
    assert Counter(found["mixed"]) == Counter(found["up"]) & Counter(found["node"])


def test_captures_of_what_is_not_there(cli: Cli, mesh: Path) -> None:
    told = expect_refusal(cli, "run", mesh, "--pcap", "a.pcapng", "--pcap-node", "n2,n9")
    assert told == "--pcap-node: found 'n9'; allowed: n0, n1, n2, n3, n4, n5"
    assert expect_refusal(cli, "run", mesh, "--pcap", "a.pcapng", "--pcap-flow", "1").endswith("allowed: up, down")
    assert "without --pcap" in expect_refusal(cli, "run", mesh, "--pcap-flow", "up")
    assert "commas" in expect_refusal(cli, "run", mesh, "--pcap", "a.pcapng", "--pcap-flow", "up,")
    assert not (mesh.parent / "a.pcapng").exists()


def test_the_trace_has_what_happens(cli: Cli, mesh: Path, tmp_path: Path) -> None:
    done = cli("run", mesh, "--json", "--trace", "t.parquet")
    result = json.loads(done.stdout)
    rows = pq.read_table(tmp_path / "t.parquet").to_pylist()
    for flow in result["flows"]:
        mine = [row for row in rows if row["kind"] == "flow" and row["name"] == flow["id"]]
        assert sum(row["retransmits"] for row in mine) in (flow["retransmits"], flow["retransmits"] - 1)
        assert sum(row["timeouts"] for row in mine) == flow["timeouts"]
        assert all(row["route_failures"] is None for row in mine)
    lost = sum(row["lost"] + row["lost_acks"] for row in rows if row["kind"] == "flow")
    failures = sum(row["route_failures"] for row in rows if row["kind"] == "node")
    assert 0 < failures <= result["routing"]["route_failures"]
    why = json.loads(cli("run", mesh, "--json", "--why").stdout)["why"]
    assert 0 < lost <= sum(loss["packets"] for flow in why for loss in flow["losses"])
