"""``meshpace run``: the JSON contract, determinism, files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from commanding import CHAIN, Cli

RUN = {
    "schema": int, "engine": str, "scenario": str, "scenario_sha256": str, "scheme": str, "seed": int,
    "simulated_s": float, "measured_s": float, "wall_s": float, "events": int, "frames": int,
    "aggregate_goodput_bps": float, "log_utility": float, "flows": list, "links": list, "routing": dict,
    "engine_fingerprint": str, "schemes": dict,
}  # fmt: skip
FLOW = {
    "id", "from", "to", "hops", "scheme", "app", "goodput_bps", "goodput_ci95_bps", "delivered_bytes", "segments_sent",
    "retransmits", "timeouts", "fast_retransmits", "loss_ratio", "delay_mean_s", "delay_std_s", "delay_p50_s",
    "delay_p95_s", "delay_p99_s", "packet_delay_p50_s", "packet_delay_p95_s", "srtt_s", "pacing_rate_bps",
}  # fmt: skip
LINK = {
    "from", "to", "data_drops", "ack_drops", "retry_drops", "queue_drops", "arp_drops", "collisions", "attempts",
    "airtime_s",
}  # fmt: skip


def without_wall(text: str) -> str:
    return re.sub(r'"wall_s":\s*[0-9.e-]+', '"wall_s":0', text)


def test_json_is_one_object_with_the_contract(cli: Cli, chain: Path) -> None:
    done = cli("run", chain, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    for key, kind in RUN.items():
        assert isinstance(result[key], kind), key
    assert result["schema"] == 1
    assert result["seed"] == 1
    assert (result["simulated_s"], result["measured_s"]) == (4.0, 3.0)
    (flow,) = result["flows"]
    assert set(flow) >= FLOW
    assert (flow["from"], flow["to"], flow["hops"], flow["app"]) == ("n0", "n2", 2, "ftp")
    assert 1e6 < flow["goodput_bps"] < 2e6
    assert flow["delivered_bytes"] * 8 / 3 == pytest.approx(flow["goodput_bps"])
    for link in result["links"]:
        assert set(link) >= LINK
    assert {(link["from"], link["to"]) for link in result["links"]} == {
        ("n0", "n1"),
        ("n1", "n0"),
        ("n1", "n2"),
        ("n2", "n1"),
    }
    assert set(result["routing"]) == {"route_failures", "control_packets"}


def test_a_result_says_what_made_it(cli: Cli, two_flows: Path) -> None:
    settings = ["--set", "flow.1.scheme=slow", "--set", "scheme.slow.base=tcp-ap", "--set", "scheme.slow.alpha=0.9"]
    result = json.loads(cli("run", two_flows, "--json", *settings).stdout)
    assert re.fullmatch("[0-9a-f]{16}", result["engine_fingerprint"])
    assert set(result["schemes"]) == {"newreno", "slow"}
    assert (result["schemes"]["slow"]["alpha"], result["schemes"]["slow"]["congestion"]) == (0.9, "newreno")
    table = {row["name"]: row["parameters"] for row in json.loads(cli("schemes", "--json").stdout)["schemes"]}
    assert result["schemes"]["newreno"] == table["newreno"]
    assert result["schemes"]["slow"] == {**table["tcp-ap"], "alpha": 0.9}
    # The mesh's own scheme is in use even where no flow has it.
    mesh = json.loads(
        cli("run", two_flows, "--json", "--set", "flow.0.scheme=tahoe", "--set", "flow.1.scheme=tahoe").stdout
    )
    assert set(mesh["schemes"]) == {"tahoe", mesh["scheme"]}


def test_what_does_not_apply_is_null(cli: Cli, chain: Path) -> None:
    one = json.loads(cli("run", chain, "--json").stdout)
    assert set(one["jain_windows"]) == {"1", "10", "100"}
    assert set(one["jain_windows"].values()) == {None}
    assert one["flows"][0]["goodput_ci95_bps"] is None
    assert one["flows"][0]["pacing_rate_bps"] is None
    paced = json.loads(cli("run", chain, "--json", "--scheme", "tcp-ap").stdout)["flows"][0]
    assert paced["scheme"] == "tcp-ap"
    assert paced["pacing_rate_bps"] > 0
    udp = ["--set", "flow.0.app=cbr", "--set", "flow.0.rate=100kbps", "--set", "flow.0.packet=500"]
    datagrams = json.loads(cli("run", chain, "--json", *udp).stdout)["flows"][0]
    assert datagrams["retransmits"] is datagrams["timeouts"] is datagrams["srtt_s"] is None


def test_two_flows_have_a_fairness(cli: Cli, two_flows: Path) -> None:
    result = json.loads(cli("run", two_flows, "--json").stdout)
    one, other = (flow["goodput_bps"] for flow in result["flows"])
    assert result["jain"] == pytest.approx((one + other) ** 2 / (2 * (one**2 + other**2)))
    assert 0.5 < result["jain_windows"]["1"] < result["jain"], "they take turns"
    assert result["jain_windows"]["100"] is None  # no whole window


def test_the_same_seed_gives_the_same_bytes_alone_and_in_any_number_of_threads(cli: Cli, chain: Path) -> None:
    one = cli("run", chain, "--json", "--seeds", 6, "--threads", 1).stdout
    four = cli("run", chain, "--json", "--seeds", 6, "--threads", 4).stdout
    assert without_wall(one) == without_wall(four)
    third = json.loads(cli("run", chain, "--json", "--seed", 3).stdout)
    assert {**json.loads(four)["runs"][2], "wall_s": 0} == {**third, "wall_s": 0}


def test_seeds_are_a_list_in_order_and_differ(cli: Cli, chain: Path) -> None:
    result = json.loads(cli("run", chain, "--json", "--seeds", 3).stdout)
    assert set(result) == {"schema", "runs"}
    assert result["schema"] == 1
    assert [run["seed"] for run in result["runs"]] == [1, 2, 3]
    assert len({run["events"] for run in result["runs"]}) == 3
    assert list(json.loads(cli("run", chain, "--json", "--seeds", 1).stdout)) == ["schema", "runs"]


def test_settings_change_the_scenario_and_are_recorded(cli: Cli, chain: Path) -> None:
    longer = json.loads(cli("run", chain, "--json", "--set", "topology.hops=3", "--set", "flow.0.to=n3").stdout)
    assert longer["flows"][0]["hops"] == 3
    assert longer["overrides"] == ["topology.hops=3", "flow.0.to=n3"]


def test_the_series_and_the_capture_are_whole_files(cli: Cli, chain: Path, tmp_path: Path) -> None:
    done = cli("run", chain, "--json", "--trace", "t.parquet", "--pcap", "c.pcapng")
    assert done.returncode == 0
    plain = cli("run", chain, "--json").stdout
    assert without_wall(done.stdout) == without_wall(plain)  # looking on changes nothing
    table = pq.read_table(tmp_path / "t.parquet")
    assert {"kind", "name", "t_s", "goodput_bps", "cwnd", "khd_s", "pacing_rate_bps", "queue"} <= set(
        table.column_names
    )
    assert json.loads(table.schema.metadata[b"meshpace"])["seed"] == 1
    flows = [row for row in table.to_pylist() if row["kind"] == "flow"]
    assert len(flows) >= 15  # every 0.25 s
    assert flows[-1]["cwnd"] > 1
    assert flows[-1]["queue"] is None
    assert (tmp_path / "c.pcapng").read_bytes()[:4] == bytes.fromhex("0a0d0d0a")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.pcapng", "chain.toml", "t.parquet"]


def test_the_table_shows_what_the_json_has(cli: Cli, chain: Path) -> None:
    done = cli("run", chain)
    assert done.returncode == 0
    assert "n0 → n2" in done.stdout
    assert "newreno" in done.stdout
    assert "aggregate goodput" in done.stdout
    assert "±" not in done.stdout
    assert "±" in cli("run", chain, "--seeds", 2).stdout


def test_a_scenario_without_flows_has_sums_of_zero(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "nobody.toml"
    path.write_text(CHAIN.replace('[[flow]]\nfrom = "n0"\nto = "n2"\n', ""))
    done = cli("run", path, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert '"aggregate_goodput_bps":0.0,' in done.stdout
    assert '"log_utility":0.0,' in done.stdout
    assert json.loads(done.stdout)["flows"] == []
    table = cli("run", path)
    assert table.returncode == 0
    assert re.search(r"aggregate goodput +0\.0 +kbit/s", table.stdout)
