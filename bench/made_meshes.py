"""Three made meshes, as other tools would tell of them: a village (meshviewer), a quarter (olsrd), a valley (CSV).

    .venv/bin/python bench/made_meshes.py            # scenarios/meshes/*, then what `meshpace import` makes of them
    .venv/bin/python bench/made_meshes.py FOLDER     # the same, there

No node of them stands anywhere. Places are drawn; how much of a link arrives falls with distance, over roofs by luck.
"""

from __future__ import annotations

import argparse
import csv
import io
import itertools
import json
import math
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from meshpace.meshes.tq import with_penalty

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"
NORTH, EAST = 111_195.0, 67_700.0
"""Metres of a degree near 52.5 degrees north."""
TQ_SCALE = 255
"""batman-adv tells TQ in so many parts."""


class Site(NamedTuple):
    name: str
    x: float
    y: float


class Link(NamedTuple):
    """What of broadcasts arrives, there and back."""

    a: Site
    b: Site
    there: float
    back: float


def places(draw: random.Random, names: list[str], width: float, height: float, apart: float) -> list[Site]:
    """So many, none nearer to another than `apart` metres."""
    found: list[Site] = []
    while len(found) < len(names):
        one = Site(names[len(found)], round(draw.uniform(0, width)), round(draw.uniform(0, height)))
        if all(math.dist(one[1:], other[1:]) >= apart for other in found):
            found.append(one)
    return found


def links(draw: random.Random, nodes: list[Site], half: float, width: float) -> Iterator[Link]:
    """Half arrives at `half` metres, a quarter 1.1 `width` farther; luck (roofs, trees) moves that by about `width`."""
    for a, b in itertools.combinations(nodes, 2):
        far = math.dist(a[1:], b[1:]) + draw.gauss(0, width)
        there, back = (1 / (1 + math.exp((far + draw.gauss(0, width / 6) - half) / width)) for _ in range(2))
        if min(there, back) >= 0.15:
            yield Link(a, b, round(there, 3), round(back, 3))


def village() -> dict[str, str]:
    """A street village with batman-adv, as its map (meshviewer) has it."""
    draw = random.Random(1)
    names = ["church", "school", "smithy", "mill", "inn", "bakery", "barn", "well", "pond", "oak", "hall", "bridge"]
    names += ["ford", "lane"]
    nodes = places(draw, names, 900, 450, 110)
    shown = [
        {
            "node_id": place.name,
            "hostname": place.name,
            "is_online": True,
            "is_gateway": place.name == "school",
            "location": {"latitude": round(52.5 + place.y / NORTH, 6), "longitude": round(13.4 + place.x / EAST, 6)},
        }
        for place in nodes
    ]
    heard = [
        {
            "type": "wifi",
            "source": link.a.name,
            "target": link.b.name,
            "source_tq": round(TQ_SCALE * with_penalty(link.there, link.back)) / TQ_SCALE,
            "target_tq": round(TQ_SCALE * with_penalty(link.back, link.there)) / TQ_SCALE,
        }
        for link in links(draw, nodes, 260, 40)
    ]
    document = {"timestamp": "2026-01-01T00:00:00Z", "nodes": shown, "links": heard}
    return {"village.json": json.dumps(document, indent=1) + "\n"}


def quarter() -> dict[str, str]:
    """A quarter of a town with olsrd, as its txtinfo plugin has it: LQ is what the last hop gets of the destination."""
    draw = random.Random(2)
    nodes = places(draw, [f"10.2.0.{n}" for n in range(1, 17)], 800, 600, 110)
    rows = [
        f"{one.name}\t{other.name}\t{lq:.3f}\t{nlq:.3f}\t{1 / (lq * nlq):.3f}"
        for link in links(draw, nodes, 250, 45)
        for one, other, lq, nlq in ((link.a, link.b, link.there, link.back), (link.b, link.a, link.back, link.there))
    ]
    text = ["Table: Topology", "Dest. IP\tLast hop IP\tLQ\tNLQ\tCost", *rows, ""]
    return {"quarter.txt": "\n".join([*text, "Table: HNA", "Destination\tGateway", "0.0.0.0/0\t10.2.0.1", "", ""])}


def valley() -> dict[str, str]:
    """A valley of farms, as its keeper has it in two tables: places; loss and rate of each link, as iw tells."""
    draw = random.Random(3)
    names = ["dam", "alder", "brook", "cairn", "dell", "elm", "fir", "gorse", "heath", "isle", "knoll", "larch"]
    nodes = places(draw, names, 2400, 700, 260)
    standing, heard = io.StringIO(), io.StringIO()
    out = csv.writer(standing, lineterminator="\n")
    out.writerow(["id", "x", "y", "gateway"])
    out.writerows([place.name, place.x, place.y, "yes" if place.name == "dam" else ""] for place in nodes)
    out = csv.writer(heard, lineterminator="\n")
    out.writerow(["from", "to", "loss", "rate"])
    for link in links(draw, nodes, 720, 90):
        far = math.dist(link.a[1:], link.b[1:])
        mcs = max(0, min(7, round(9 - far / 90)))
        for one, other, part in ((link.a, link.b, link.there), (link.b, link.a, link.back)):
            # The rate is one at which most of what arrives at all arrives.
            out.writerow([one.name, other.name, round(0.6 * (1 - part), 3), f"MCS {mcs}"])
    return {"valley-nodes.csv": standing.getvalue(), "valley-links.csv": heard.getvalue()}


MESHES = {
    "village": (village, ["--standard", "802.11g", "--rate", "24Mbps"], "A village by its map, batman-adv: 14 nodes"),
    "quarter": (quarter, ["--standard", "802.11b", "--rate", "11Mbps"], "A quarter of a town, olsrd: 16 nodes"),
    "valley": (valley, [], "A valley, a rate a link: 12 nodes"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=SCENARIOS)
    folder = parser.parse_args().folder
    (folder / "meshes").mkdir(parents=True, exist_ok=True)
    for name, (make, words, description) in MESHES.items():
        files = make()
        for file, text in files.items():
            (folder / "meshes" / file).write_text(text, encoding="utf-8")
        paths = [f"meshes/{file}" for file in files]
        scenario = folder / f"mesh-{name}.toml"
        command = [sys.executable, "-m", "meshpace", "import", *paths, *words, "-o", scenario.name]
        subprocess.run(command, cwd=folder, check=True)
        text = scenario.read_text(encoding="utf-8")
        head = f'name = "mesh-{name}"\n'
        about = f'description = "{description}"\nsource = "made: bench/made_meshes.py; docs/radios.md"\n'
        scenario.write_text(text.replace(head, head + about), encoding="utf-8")


if __name__ == "__main__":
    main()
