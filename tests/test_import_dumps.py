"""`meshpace import` of what babeld and the kernel print as text, written after what each prints.

The packages of parsers on PyPI ship no such files (netdiff 1.3.1 has parsers and tests, not its tests' data; none reads
babeld or iw), so these are ours: babeld's local.c, iw's station.c and mpath.c say the form. OLSR's are recorded:
test_import_olsr.py.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commanding import Cli
from meshpace.meshes.read import read
from test_bad_input import expect_refusal
from test_import import ROUTES, expect_routes

TOPOLOGY = "Table: Topology\nDest. IP\tLast hop IP\tLQ\tNLQ\tCost\n10.0.0.2\t10.0.0.1\t0.800\t1.000\t1.250\n"
BABEL = {
    "roof": "BABEL 1.0\nversion babeld-1.13.1\nhost roof\nmy-id 02:00:00:ff:fe:00:00:01\nok\n"
    "add interface wlan0 up true ipv6 fe80::1 ipv4 10.0.0.1\n"
    "add neighbour 55a0 address fe80::2 if wlan0 reach ffff ureach 0000 rxcost 256 txcost 320 rtt 2.104 rttcost 0 "
    "cost 320\n"
    "add xroute 10.0.0.1/32-::/0 prefix 10.0.0.1/32 from ::/0 metric 0\n"
    "add route 55b0 prefix 0.0.0.0/0 from ::/0 installed yes id 02:00:00:ff:fe:00:00:03 metric 576 refmetric 256 "
    "via fe80::2 if wlan0\nok\n",
    "tower": "BABEL 1.0\nhost tower\nok\nadd interface wlan0 up true ipv6 fe80::2 ipv4 10.0.0.2\n"
    "add interface eth0 up true ipv6 fe80::22\n"
    "add neighbour 55a1 address fe80::1 if wlan0 reach fbff ureach 0000 rxcost 320 txcost 256 cost 320\n"
    "add neighbour 55a2 address fe80::3 if wlan0 reach ffff ureach 0000 rxcost 256 txcost 256 cost 256\n"
    "add neighbour 55a3 address fe80::9 if eth0 reach ffff ureach 0000 rxcost 96 txcost 96 cost 96\n"
    "add route 55b1 prefix 0.0.0.0/0 from ::/0 installed yes id 02:00:00:ff:fe:00:00:03 metric 256 refmetric 0 "
    "via fe80::3 if wlan0\nok\n",
}
STATION = """\
Station {other} (on mesh0)
\tinactive time:\t10 ms
\trx packets:\t50030
\ttx packets:\t{packets}
\ttx retries:\t{retries}
\ttx failed:\t{failed}
\tsignal:  \t-52 [-54, -56] dBm
\ttx bitrate:\t{bitrate} MBit/s
\trx bitrate:\t57.8 MBit/s MCS 11 short GI
\texpected throughput:\t42.388Mbps
\tmesh plink:\t{plink}
\tconnected time:\t1429 seconds
"""
INFO = "Interface mesh0\n\tifindex 4\n\twdev 0x2\n\taddr {addr}\n\ttype mesh point\n\twiphy 0\n"
MPATH = (
    "DEST ADDR         NEXT HOP          IFACE\tSN\tMETRIC\tQLEN\t"
    "EXPTIME\t\tDTIM\tDRET\tFLAGS\tHOP_COUNT\tPATH_CHANGE\n"
)
A, B, C, D = (f"40:a5:ef:00:00:0{n}" for n in range(1, 5))


def station(other: str, packets: int, retries: int, failed: int, bitrate: str, plink: str = "ESTAB") -> str:
    return STATION.format(other=other, packets=packets, retries=retries, failed=failed, bitrate=bitrate, plink=plink)


MESH = {
    "a": INFO.format(addr=A) + station(B, 800, 200, 0, "115.6") + station(D, 0, 3, 3, "1.0", "OPN_SNT"),
    "b": INFO.format(addr=B)
    + station(A, 900, 100, 0, "26.0")
    + MPATH
    + f"{A} {A} mesh0\t2\t340\t0\t0\t0\t0\t0x14\t1\t1\n{C} {C} mesh0\t5\t512\t0\t100\t0\t0\t0x14\t1\t1\n"
    + f"{D} {C} mesh0\t11\t18786\t0\t200\t0\t1\t0x4\t2\t1\n",
}


def written(folder: Path, texts: dict[str, str]) -> list[Path]:
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text)
    return [folder / f"{name}.txt" for name in texts]


DUMPS = {"babeld": BABEL, "802.11s": MESH}


@pytest.mark.parametrize("form", DUMPS)
@pytest.mark.parametrize("routing", ROUTES)
def test_a_mesh_of_three_nodes_runs(routing: str, form: str, cli: Cli, tmp_path: Path) -> None:
    done = cli("import", *written(tmp_path, DUMPS[form]), "-o", "mesh.toml", "--routing", routing)
    assert (done.returncode, done.stderr) == (0, "")
    by_daemon = "airtime" if form == "802.11s" else "etx"
    scenario = expect_routes(tmp_path / "mesh.toml", routing, by_daemon if routing == "static" else None)
    assert len([node for node in scenario["node"] if node.get("role") != "wired"]) == 3
    assert any(link.get("loss", 0.0) == pytest.approx(0.2) for link in scenario["radio_link"])
    ran = cli("run", "mesh.toml", "--json", "--set", "measure.duration=12s", "--set", "measure.warmup=2s")
    assert ran.returncode == 0, ran.stderr
    assert sum(flow["goodput_bps"] for flow in json.loads(ran.stdout)["flows"]) > 0


def test_dumps_of_babeld_are_put_together_by_addresses(tmp_path: Path) -> None:
    mesh = read(written(tmp_path, BABEL))
    assert [(node.id, node.gateway) for node in mesh.nodes] == [("roof", False), ("tower", False), ("fe80::3", True)]
    delivered = {(link.source, link.target): link.delivered for link in mesh.links}
    assert delivered["tower", "roof"] == 1.0, "rxcost 256 at roof"
    assert delivered["roof", "tower"] == 0.8, "rxcost 320 at tower, which is txcost at roof"
    assert delivered["fe80::3", "tower"] == 1.0
    assert mesh.skipped == ("tower - fe80::9 costs less than 256: a wire or a tunnel, no radio",)


def test_stations_tell_loss_and_rate_and_paths_where_there_is_no_station(tmp_path: Path) -> None:
    mesh = read(written(tmp_path, MESH))
    links = {(link.source, link.target): link for link in mesh.links}
    assert {node.id for node in mesh.nodes} == {A, B, C}, "what is not established is no link"
    assert (links[A, B].delivered, links[A, B].rate) == (0.8, "115.555555Mbps"), "MCS 13, short GI"
    assert (links[B, A].delivered, links[B, A].rate) == (0.9, "21.666666Mbps")
    # 8192 bits in 512 us are 16 Mbit/s: MCS 2 is the slowest that carries them.
    assert (links[B, C].delivered, links[B, C].rate) == (pytest.approx(16 / 21.6667, 1e-4), "21.666666Mbps")
    assert links[C, B].delivered == links[B, C].delivered, "nobody dumped there"
    assert (mesh.standard, mesh.radio[1]) == ("802.11n", 'guard_interval = "400ns"')
    assert any("OPN_SNT" in reason for reason in mesh.skipped)


def test_slow_stations_stay_at_802_11b(tmp_path: Path) -> None:
    mesh = read(written(tmp_path, {"one": station(B, 100, 0, 0, "5.5") + station(C, 100, 0, 0, "1.2")}))
    assert mesh.standard == "802.11b"
    assert [link.rate for link in mesh.links if link.source == "one"] == ["5.5Mbps", "1Mbps"]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ({"a": BABEL["roof"], "b": MESH["b"]}, "allowed together: dumps of one kind"),
        ({"a": BABEL["roof"], "b": '{"vis": []}'}, "allowed together: dumps of one kind"),
        ({"a": BABEL["roof"].replace("rxcost 256", "rxcost much")}, "found 'much'; allowed: a number"),
        ({"a": MESH["a"].replace(INFO.format(addr=A), ""), "b": MESH["b"]}, "`iw dev IF info`"),
        ({"b": MESH["b"].replace("\t512\t", "\t0\t")}, "found the metric 0"),
        ({"a": TOPOLOGY.replace("\t1.000\t1.250", "\tgood\t1.250")}, "a.txt:3: found 'good'"),
    ],
)
def test_what_cannot_be_imported(texts: dict[str, str], expected: str, cli: Cli, tmp_path: Path) -> None:
    assert expected in expect_refusal(cli, "import", *written(tmp_path, texts))
    assert not (tmp_path / "scenario.toml").exists()
