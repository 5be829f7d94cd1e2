"""`meshpace import`: files written after the published schema of each form become scenarios that run."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from commanding import Cli
from meshpace.meshes.read import read
from test_bad_input import expect_refusal

NETJSON: Any = {
    "type": "NetworkGraph", "protocol": "OLSR", "version": "0.6", "metric": "ETX",
    "nodes": [
        {"id": "10.0.0.1", "label": "roof"}, {"id": "10.0.0.2"}, {"id": "10.0.0.3", "properties": {"gateway": True}},
    ],
    "links": [
        {"source": "10.0.0.1", "target": "10.0.0.2", "cost": 1.5625},
        {"source": "10.0.0.2", "target": "10.0.0.3", "cost": 1.0},
    ],
}  # fmt: skip
MESHVIEWER: Any = {
    "timestamp": "2026-01-01T00:00:00Z",
    "nodes": [
        {"node_id": "aa", "hostname": "tower", "is_online": True, "is_gateway": True,
         "location": {"latitude": 52.5, "longitude": 13.4}},
        {"node_id": "bb", "hostname": "roof", "is_online": True, "location": {"latitude": 52.501, "longitude": 13.4}},
        {"node_id": "cc", "hostname": "barn", "is_online": True},
        {"node_id": "dd", "hostname": "dark", "is_online": False},
    ],
    "links": [
        {"type": "wifi", "source": "aa", "target": "bb", "source_tq": 0.9, "target_tq": 0.75},
        {"type": "wifi", "source": "bb", "target": "cc", "source_tq": 1.0, "target_tq": 1.0},
        {"type": "vpn", "source": "aa", "target": "cc", "source_tq": 1.0, "target_tq": 1.0},
        {"type": "wifi", "source": "aa", "target": "dd", "source_tq": 1.0, "target_tq": 1.0},
    ],
}  # fmt: skip
FFMAP: Any = (
    {"version": 2, "nodes": [
        {"nodeinfo": {"node_id": "aa", "hostname": "tower"}, "flags": {"online": True, "gateway": True}},
        {"nodeinfo": {"node_id": "bb", "hostname": "roof"}, "flags": {"online": True}},
        {"nodeinfo": {"node_id": "cc", "hostname": "barn"}, "flags": {"online": True}},
    ]},
    {"version": 1, "batadv": {
        "nodes": [{"id": "02:00", "node_id": "aa"}, {"id": "02:01", "node_id": "bb"}, {"id": "02:02", "node_id": "cc"}],
        "links": [
            {"source": 0, "target": 1, "tq": 1.25, "bidirect": True},
            {"source": 1, "target": 2, "tq": 1.0, "bidirect": True},
            {"source": 0, "target": 2, "tq": 1.0, "vpn": True},
        ],
    }},
)  # fmt: skip
VIS: Any = {
    "source_version": "2021.4", "algorithm": 4,
    "vis": [
        {"primary": "02:aa", "neighbors": [{"router": "02:aa", "neighbor": "02:bc", "metric": "1.250"}]},
        {"primary": "02:bb", "secondary": ["02:bc"], "neighbors": [
            {"router": "02:bb", "neighbor": "02:aa", "metric": "1.000"},
            {"router": "02:bb", "neighbor": "02:cc", "metric": "1.000"}]},
        {"primary": "02:cc", "neighbors": [{"router": "02:cc", "neighbor": "02:bb", "metric": "1.000"}]},
    ],
}  # fmt: skip
FORMS: dict[str, tuple[Any, ...]] = {
    "netjson": (NETJSON,), "meshviewer": (MESHVIEWER,), "ffmap": FFMAP, "batadv-vis": (VIS,),
}  # fmt: skip


def write(folder: Path, documents: tuple[Any, ...]) -> list[Path]:
    paths = [folder / f"{index}.json" for index in range(len(documents))]
    for path, document in zip(paths, documents, strict=True):
        path.write_text(json.dumps(document))
    return paths


ROUTES = {
    "static": {"protocol": "static", "metric": "etx"},
    "hops": {"protocol": "static"},
    "aodv": {"protocol": "aodv", "profile": "rfc3561"},
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("routing", ROUTES)
def test_a_mesh_of_three_nodes_runs(routing: str, form: str, cli: Cli, tmp_path: Path) -> None:
    """Each fixture is a line of three nodes; one link loses a fifth or a quarter."""
    done = cli("import", *write(tmp_path, FORMS[form]), "-o", "mesh.toml", "--routing", routing)
    assert (done.returncode, done.stderr) == (0, "")
    scenario = expect_routes(tmp_path / "mesh.toml", routing)
    assert len([node for node in scenario["node"] if node.get("role") != "wired"]) == 3
    assert any(0.08 < link.get("loss", 0.0) < 0.26 for link in scenario["radio_link"])
    ran = cli("run", "mesh.toml", "--json", "--set", "measure.duration=12s", "--set", "measure.warmup=2s")
    assert ran.returncode == 0, ran.stderr
    flows = json.loads(ran.stdout)["flows"]
    # Nodes at two ends that do not hear each other may keep one another from all in so short a time.
    for flow, hops in zip(flows, [1, 1] if form == "batadv-vis" else [2, 1], strict=True):
        assert flow["hops"] in (hops, None)
    assert sum(flow["goodput_bps"] for flow in flows) > 0


def expect_routes(path: Path, routing: str, metric: str | None = None) -> dict[str, Any]:
    """The scenario, which has these routes and says so at its top."""
    text = path.read_text()
    scenario = tomllib.loads(text)
    expected = ROUTES[routing] if metric is None else {"protocol": "static", "metric": metric}
    assert scenario["routing"] == expected
    (said,) = (line for line in text.splitlines() if line.startswith("# Routes are"))
    assert ("RFC 3561 (--routing static" in said) is (routing == "aodv")
    return scenario


def test_what_each_says_of_quality(tmp_path: Path) -> None:
    def delivered(*documents: Any) -> dict[tuple[str, str], float | None]:
        return {(link.source, link.target): link.delivered for link in read(write(tmp_path, documents)).links}

    assert delivered(NETJSON)["10.0.0.1", "10.0.0.2"] == pytest.approx(0.8), "1 / sqrt(ETX)"
    viewer = delivered(MESHVIEWER)
    # By hand: 0.9 = q (1 - (1 - p)^3), 0.75 = p (1 - (1 - q)^3).
    assert viewer["aa", "bb"] == pytest.approx(0.9142, abs=1e-4)
    assert viewer["bb", "aa"] == pytest.approx(0.7505, abs=1e-4)
    assert ("aa", "cc") not in viewer, "a tunnel is no radio link"
    # 0.8 = q (1 - (1 - q)^3)
    assert delivered(*FFMAP)["aa", "bb"] == pytest.approx(0.8059, abs=1e-4)
    assert delivered(VIS)["02:aa", "02:bb"] == pytest.approx(0.8), "an address of another interface is the same node"


def ack_timeout(path: Path) -> tuple[str, str]:
    """What the scenario has, and what it says of it; nothing where the usual time will do."""
    text = path.read_text()
    why = [line.partition("  # ")[2] for line in text.splitlines() if line.startswith("ack_timeout")]
    return tomllib.loads(text)["radio"].get("ack_timeout", ""), "".join(why)


def test_the_longest_link_sets_the_time_to_wait_for_an_answer(cli: Cli, tmp_path: Path) -> None:
    far = json.loads(json.dumps(MESHVIEWER))
    far["nodes"][1]["location"]["latitude"] = 52.53  # 0.03 degrees of a meridian are 3,336 m, 22.3 us there and back
    cli("import", *write(tmp_path, (far,)), "-o", "far.toml")
    assert ack_timeout(tmp_path / "far.toml") == ("23us", "the longest link, 3,336 m, and back")
    assert cli("check", "far.toml").returncode == 0
    cli("import", *write(tmp_path, (MESHVIEWER,)), "-o", "near.toml")
    assert ack_timeout(tmp_path / "near.toml") == ("", "")
    cli("import", *write(tmp_path, (NETJSON,)), "-o", "nowhere.toml")
    assert ack_timeout(tmp_path / "nowhere.toml") == ("", "")
    assert "links of 600 m at the most" in (tmp_path / "nowhere.toml").read_text(), "how long links are is not known"


def test_links_that_are_left_out_are_not_waited_for(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,x,y\na,0,0\nb,0,900\nc,9000,0\n")
    (tmp_path / "links.csv").write_text("from,to,loss\na,b,0.1\nb,c,0.1\na,c,0.99\n")
    cli("import", "nodes.csv", "links.csv", "-o", "mesh.toml")
    assert ack_timeout(tmp_path / "mesh.toml") == ("61us", "the longest link, 9,045 m, and back")
    (tmp_path / "links.csv").write_text("from,to,loss\na,b,0.1\nb,c,0.99\n")
    cli("import", "nodes.csv", "links.csv", "-o", "mesh.toml")
    assert ack_timeout(tmp_path / "mesh.toml") == ("7us", "the longest link, 900 m, and back")
    (tmp_path / "nodes.csv").write_text("id,x,y\na,0,0\nb,0,200\n")
    cli("import", "nodes.csv", "-o", "mesh.toml")
    assert ack_timeout(tmp_path / "mesh.toml") == ("", "")


def test_every_gateway_is_one(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text(
        "id,x,y,gateway\nhall,0,0,yes\nroof,200,0,\ntower,400,0,\nmill,600,0,\nshop,800,0,yes\nbarn,200,200,yes\n"
    )
    done = cli("import", "nodes.csv", "-o", "mesh.toml", "--standard", "802.11g", "--rate", "24Mbps")
    assert done.returncode == 0, done.stderr
    made = tomllib.loads((tmp_path / "mesh.toml").read_text())
    assert (made["radio"]["standard"], made["radio"]["rate"]) == ("802.11g", "24Mbps")
    gateways = {node["id"] for node in made["node"] if node.get("role") == "gateway"}
    assert gateways == {"hall", "shop", "barn"} == {link["a"] for link in made["link"]}
    assert {flow["from"] for flow in made["flow"]} == {"roof", "tower", "mill"}, "none from a gateway"
    assert cli("check", "mesh.toml").returncode == 0
    # Chosen by name: the others are no gateways any more, and the file says so.
    assert cli("import", "nodes.csv", "-o", "two.toml", "--gateway", "hall,shop").returncode == 0
    text = (tmp_path / "two.toml").read_text()
    assert len(tomllib.loads(text)["link"]) == 2
    assert "# Left out: barn as a gateway, which the file marks and --gateway does not name." in text
    assert "no such node" in expect_refusal(cli, "import", "nodes.csv", "--gateway", "hall,nowhere")
    assert "--standard" in expect_refusal(cli, "import", "nodes.csv", "--standard", "802.11z")


def test_what_is_left_out_and_what_is_assumed_stands_at_the_top(cli: Cli, tmp_path: Path) -> None:
    many = "".join(f"far{n},near{n},0.1\n" for n in range(30))
    (tmp_path / "links.csv").write_text(f"from,to,loss\na,b,0.1\nb,c,0.99\n{many}")
    assert cli("import", "links.csv", "-o", "mesh.toml", "--gateway", "a").returncode == 0
    text = (tmp_path / "mesh.toml").read_text()
    head = text.partition("[scenario]")[0]
    assert "# Left out: b - c: delivers less than 5%." in head
    assert all(f"# Left out: far{n}: no way both ways to a gateway." in head for n in range(30)), (
        "all, not the first 20"
    )
    for assumed in ("802.11b (--standard)", "its highest rate (--rate)", "no RTS/CTS", "100 Mbit/s and 10 ms", "60 s"):
        assert assumed in head
    (tmp_path / "rates.csv").write_text("from,to,rate\na,b,54Mbps\nb,c,6Mbps\n")
    told = expect_refusal(cli, "import", "rates.csv", "--standard", "802.11b")
    assert "links with rates of 802.11g" in told


def test_what_import_writes_can_be_crosschecked(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,x,y,gateway\na,0,0,yes\nb,200,0,\nc,400,0,\n")
    assert cli("import", "nodes.csv", "-o", "mesh.toml").returncode == 0
    done = cli("crosscheck", "mesh.toml", "--script", "mesh.tcl")
    assert done.returncode == 0, done.stderr
    assert "Mac/802_11" in (tmp_path / "mesh.tcl").read_text()


def test_what_is_left_out_is_told(cli: Cli, tmp_path: Path) -> None:
    cli("import", *write(tmp_path, (MESHVIEWER,)), "-o", "mesh.toml")
    head = [line for line in (tmp_path / "mesh.toml").read_text().splitlines() if line.startswith("# Left out")]
    assert any("dd is offline" in line for line in head)
    assert any("vpn" in line for line in head)


def test_csv_by_places_and_by_links(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text(
        "id,lat,lon,height,gateway\nroof,52.5,13.4,12,\ntower,52.5015,13.4,30,\nchurch,52.503,13.4,20,yes\n"
    )
    done = cli("import", "nodes.csv", "-o", "places.toml")
    assert (done.returncode, done.stderr) == (0, "")
    assert tomllib.loads((tmp_path / "places.toml").read_text())["node"][0]["lat"] == 52.5
    assert cli("check", "places.toml").returncode == 0
    (tmp_path / "links.csv").write_text(
        "from,to,loss,rate\nroof,tower,0.1,2Mbps\ntower,church,0.3,\nchurch,tower,0.2,\n"
    )
    assert cli("import", "nodes.csv", "links.csv", "-o", "links.toml").returncode == 0
    scenario = tomllib.loads((tmp_path / "links.toml").read_text())
    assert "lat" not in scenario["node"][0], "with links, who hears whom is what was measured"
    assert [link.get("symmetric", True) for link in scenario["radio_link"]] == [True, False, False]
    assert scenario["radio_link"][0]["rate"] == "2Mbps"
    assert cli("import", "links.csv", "--gateway", "roof", "-o", "other.toml").returncode == 0
    text = (tmp_path / "other.toml").read_text()
    assert 'a = "roof"' in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{", "no JSON"),
        ("{}", "allowed: NetJSON"),
        ("[1]", "allowed: NetJSON"),
        (
            '{"type": "NetworkGraph", "nodes": [{}], "links": []}',
            "mesh.json:1: nodes[0].id: found nothing; allowed: a text",
        ),
        (
            '{"type": "NetworkGraph", "nodes": [{"id": "a"}], "links": []}',
            'no node that reaches "a" and is reached from there',
        ),
        ('{"type": "NetworkGraph", "nodes": [], "links": []}', "no nodes"),
        ('{"vis": [{"primary": "a", "neighbors": [{"neighbor": "b", "metric": "far"}]}]}', "far"),
        (
            '{"vis": [\n{"neighbors": []}]}',
            "mesh.json:2: vis[0].primary: found nothing; allowed: a text that is not empty",
        ),
        ("[" * 100_000, "mesh.json:1: found"),
    ],
)
def test_what_cannot_be_imported(text: str, expected: str, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mesh.json").write_text(text)
    assert expected in expect_refusal(cli, "import", "mesh.json")
    assert not (tmp_path / "scenario.toml").exists()
    (tmp_path / "mesh.csv").write_text("name,where\na,b\n")
    assert "columns" in expect_refusal(cli, "import", "mesh.csv")
    assert "found 'ospf'; allowed: static, hops, aodv, babel" in expect_refusal(
        cli, "import", *write(tmp_path, (NETJSON,)), "--routing", "ospf"
    )
    assert "no such node" in expect_refusal(cli, "import", *write(tmp_path, (NETJSON,)), "--gateway", "x")
    told = expect_refusal(cli, "import", *write(tmp_path, (NETJSON,)), "--rate", "11mbs")
    assert told.startswith('--rate: found "11mbs"')
    for rows, said in (
        ("a,1,2\nb,1,2\na,1,3", ":4: id: found the node 'a' again"),
        ("a,1,east", ":2: lon: found 'east'"),
    ):
        (tmp_path / "mesh.csv").write_text(f"id,lat,lon\n{rows}\n")
        assert f"mesh.csv{said}; allowed" in expect_refusal(cli, "import", "mesh.csv")
    assert "which this command reads" in expect_refusal(cli, "import", "mesh.csv", "-o", "mesh.csv")
    assert not (tmp_path / "scenario.toml").exists()


def test_who_is_near_or_too_weak_is_sensed(cli: Cli, tmp_path: Path) -> None:
    """In a row 300 m apart: c and d have no link and are near; a and c lose nearly all; a and d are too far apart."""
    (tmp_path / "nodes.csv").write_text("id,x,y,gateway\na,0,0,yes\nb,0,300,\nc,0,600,\nd,0,850,\ne,0,1150,\n")
    (tmp_path / "links.csv").write_text("from,to,loss\na,b,0.1\nb,c,0\nb,d,0.3\nd,e,0\na,c,0.97\n")
    done = cli("import", "nodes.csv", "links.csv", "-o", "mesh.toml")
    assert (done.returncode, done.stderr) == (0, "")
    text = (tmp_path / "mesh.toml").read_text()
    links = tomllib.loads(text)["radio_link"]
    sensed = {(link["from"], link["to"]) for link in links if not link.get("decoded", True)}
    # The longest links: a and c 300 m, b and d 550 m, e 300 m.
    assert sensed == {("a", "c"), ("c", "d")}
    assert all(link.get("symmetric", True) for link in links if not link.get("decoded", True))
    assert "# Assumed: 2 pairs of nodes sense and do not decode each other" in text
    assert tomllib.loads(text)["routing"] == {"protocol": "static"}, "a CSV has no daemon"
    ran = cli("run", "mesh.toml", "--json", "--set", "measure.duration=12s", "--set", "measure.warmup=2s")
    assert ran.returncode == 0, ran.stderr
