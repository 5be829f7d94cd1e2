"""What other tools write, broken everywhere: a mesh comes of it, or one line with file, key, found and allowed."""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commanding import Cli
from meshpace.meshes.model import MeshFileError
from meshpace.meshes.read import read
from meshpace.meshes.write import scenario
from test_bad_input import expect_refusal
from test_import import FFMAP, MESHVIEWER, NETJSON, VIS, write
from test_import_dumps import BABEL, MESH, TOPOLOGY

OLSR: Any = {
    "topology": [
        {"lastHopIP": "10.0.0.1", "destinationIP": "10.0.0.2", "linkQuality": 0.9, "neighborLinkQuality": 0.8},
        {"lastHopIP": "10.0.0.2", "destinationIP": "10.0.0.3", "linkQuality": 1.0},
    ],
    "hna": [{"destination": "0.0.0.0", "genmask": 0, "gateway": "10.0.0.3"}],
    "mid": [{"main": {"ipAddress": "10.0.0.1"}, "aliases": [{"ipAddress": "10.1.0.1"}]}],
}
DOCUMENTS: dict[str, tuple[Any, ...]] = {
    "netjson": (NETJSON,), "meshviewer": (MESHVIEWER,), "ffmap": FFMAP, "batadv-vis": (VIS,), "olsr": (OLSR,),
}  # fmt: skip
WRONG: tuple[Any, ...] = (None, True, -1, 0, 1e308, float("nan"), "", "x" * 300, "\u202e\n\x00", [], [1], {}, {"a": 1})
Path_ = tuple[str | int, ...]


def paths(value: Any, before: Path_ = ()) -> Iterator[Path_]:
    yield before
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from paths(value[key], (*before, key))


def put(document: Any, path: Path_, value: Any) -> Any:
    if not path:
        return value
    changed = copy.deepcopy(document)
    inside = changed
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    return changed


def survives(files: list[Path]) -> bool:
    """It becomes TOML, or is refused in a line that names a file; whether it is refused."""
    try:
        assert tomllib.loads(scenario(read(files), "mesh"))["node"]
    except MeshFileError as error:
        message = str(error)
        assert re.fullmatch(r"[^\n]*\.(json|csv|txt)[:,][^\n]* found [^\n]*; allowed[^\n]*", message), message
        assert not re.search(
            r"' object|attribute|subscript|indices|NoneType|float\(\)", message.partition("allowed")[0]
        )
        return True
    return False


@pytest.mark.parametrize("form", DOCUMENTS)
def test_a_wrong_value_anywhere(form: str, tmp_path: Path) -> None:
    documents, refused = DOCUMENTS[form], set()
    for at, document in enumerate(documents):
        for path in paths(document):
            for value in WRONG:
                changed = [*documents[:at], put(document, path, value), *documents[at + 1 :]]
                refused.add(survives(write(tmp_path, tuple(changed))))
    assert refused == {True, False}, "some are refused, and some values may be wrong without harm"


@pytest.mark.parametrize(
    "text", [*BABEL.values(), *MESH.values(), TOPOLOGY, "id,lat,lon,gateway\na,52,13,yes\nb,52.001,13,\n",
             "from,to,loss,rate\na,b,0.1,2Mbps\n"],
)  # fmt: skip
def test_a_text_that_ends_or_breaks_anywhere(text: str, tmp_path: Path) -> None:
    file = tmp_path / ("mesh.csv" if "," in text.partition("\n")[0] else "mesh.txt")
    refused = set()
    for at in range(0, len(text), 11):
        for broken in (
            text[:at],
            text[:at] + text[at + 7 :],
            f"{text[:at]}nan{text[at:]}",
            f"{text[:at]}\0\n{text[at:]}",
        ):
            file.write_bytes(broken.encode())
            refused.add(survives([file]))
    assert refused == {True, False}, "some are refused, and some lines may go without harm"


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        (("nodes", 0, "location", "latitude"), "north",
         'nodes[0].location.latitude: found "north"; allowed: a number from -90 to 90'),
        (("links", 1, "source_tq"), -0.5, "links[1].source_tq: found -0.5; allowed: a number from 0 to 1.1"),
        (("nodes", 1, "hostname"), ["a"], 'nodes[1].hostname: found ["a"]; allowed: a text that is not empty'),
        (("nodes", 2), "cc", 'nodes[2]: found "cc"; allowed: an object'),
        (("links",), {"a": 1}, 'links: found {"a": 1}; allowed: a list'),
    ],
)  # fmt: skip
def test_it_names_line_and_key(key: Path_, value: Any, told: str, cli: Cli, tmp_path: Path) -> None:
    text = json.dumps(put(MESHVIEWER, key, value), indent=1)
    (tmp_path / "mesh.json").write_text(text)
    line = expect_refusal(cli, "import", "mesh.json")
    found = re.fullmatch(r"mesh\.json:(\d+): (.*)", line)
    assert found is not None
    assert found[2] == told
    word = f'"{key[-1]}":' if isinstance(key[-1], str) else '"cc"'
    assert word in text.splitlines()[int(found[1]) - 1]


def test_what_is_wrong_in_nodes_json_is_told_of_nodes_json(cli: Cli, tmp_path: Path) -> None:
    nodes = put(FFMAP[0], ("nodes", 1, "nodeinfo"), None)
    line = expect_refusal(cli, "import", *write(tmp_path, (nodes, FFMAP[1])))
    assert re.search(r"/0\.json:1: nodes\[1\]\.nodeinfo: found nothing; allowed: an object$", line)
    assert "0.json: found nodes.json alone" in expect_refusal(cli, "import", *write(tmp_path, (nodes,)))


def test_flows_go_where_acknowledgements_come_back_from(cli: Cli, tmp_path: Path) -> None:
    deaf = put(MESHVIEWER, ("links", 1, "target_tq"), 0)
    assert cli("import", *write(tmp_path, (deaf,)), "--gateway", "aa", "-o", "mesh.toml").stderr == ""
    found = tomllib.loads((tmp_path / "mesh.toml").read_text())
    assert [flow["from"] for flow in found["flow"]] == ["roof"], "barn is heard of, and hears nobody"
    assert cli("check", "mesh.toml").returncode == 0


def test_csv_of_a_spreadsheet(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text("\ufefffrom, to, loss, rate\nroof, tower, 0.1, 54Mbps\n", encoding="utf-8")
    assert cli("import", "links.csv", "-o", "mesh.toml").returncode == 0
    found = tomllib.loads((tmp_path / "mesh.toml").read_text())
    assert (found["radio"]["standard"], found["radio_link"][0]["rate"]) == ("802.11g", "54Mbps")
    assert cli("check", "mesh.toml").returncode == 0
    for rows, told in (
        ("a,b,0.1,54Mbps\n\nb,c,,11Mbps", ":4: rate: found '11Mbps'; allowed: 6Mbps, 9Mbps"),
        ("a,b,0.1,2M", """:2: rate: found '2M'; allowed: a rate with its unit, such as "11Mbps\""""),
        ("a,b,1.5,", ":2: loss: found '1.5'; allowed: a number from 0 to 1"),
        ("a,,0.5,", ":2: to: found nothing; allowed: a text that is not empty"),
    ):
        (tmp_path / "links.csv").write_text(f"from,to,loss,rate\n{rows}\n")
        assert f"links.csv{told}" in expect_refusal(cli, "import", "links.csv")
    for rows, told in (
        ("a,52.5,,", ":2: lon: found nothing; allowed: a number, since lat is given"),
        ("a,52.5,nan,", ":2: lon: found 'nan'; allowed: a number from -180 to 180"),
        ("a,52.5,13,perhaps", ":2: gateway: found 'perhaps'; allowed: 1, true, yes, 0, false, no, or nothing"),
    ):
        (tmp_path / "nodes.csv").write_text(f"id,lat,lon,gateway\n{rows}\n")
        assert f"nodes.csv{told}" in expect_refusal(cli, "import", "nodes.csv")
