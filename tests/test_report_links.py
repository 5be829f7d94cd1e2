"""Meshes without places, of which a scenario lists who hears whom: drawn by their links, and no range is claimed."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

import meshpace
from meshpace.emulation.view.page import scene
from meshpace.engine import Job, resolve
from meshpace.report.model import MeshNode, Topology
from meshpace.report.places import ranges, reach_in_words, topology
from meshpace.report.topology import _Picture, draw
from meshpace.sweeps.page import drawn

RING = """\
[measure]
duration = "4s"
warmup = "1s"

[routing]
protocol = "static"

[[flow]]
from = "hall"
to = "barn"
"""
NODES = ("hall", "roof", "tower", "barn")


def mesh(places: bool) -> str:
    """Four in a line of links; drawn in a circle, the first and the last are neighbours."""
    nodes = "".join(
        f'[[node]]\nid = "{name}"\n' + (f"x = {200 * at}\ny = 0\n" if places else "") + "\n"
        for at, name in enumerate(NODES)
    )
    pairs = pairwise(NODES)
    links = "".join(f'[[radio_link]]\nfrom = "{a}"\nto = "{b}"\nloss = 0.1\n\n' for a, b in pairs)
    return nodes + ("" if places else links) + RING


@pytest.mark.parametrize("places", [False, True])
def test_edges_are_who_hears_whom(places: bool) -> None:
    resolved = resolve(Job("mesh.toml", mesh(places).encode()))
    found = {frozenset(pair) for pair in _Picture(topology(resolved, ""))._near()}
    assert found == {frozenset(pair) for pair in pairwise(NODES)}
    svg = draw(drawn(resolved))
    assert len(re.findall('class="edge"', svg)) == 3
    assert len(re.findall('class="range', svg)) == (2 if places else 0)


def test_a_caption_claims_no_range_where_there_is_none() -> None:
    without, within = (resolve(Job("mesh.toml", mesh(places).encode())) for places in (False, True))
    assert "decoded within 250 m" in reach_in_words(within)
    assert "no places" in drawn(without).caption
    assert "decoded" not in drawn(without).caption
    assert ranges(within) == {"decode": 250.0, "sense": 550.0}
    assert ranges(without) == {"decode": 0.0, "sense": 0.0}
    assert "decoded" not in str(meshpace.Scenario(mesh(places=False)).draw())


def test_an_arrow_ends_at_the_border_of_a_wired_nodes_box() -> None:
    """Whichever way it comes from: of a wide box the upper and the lower side are near."""
    nodes = (MeshNode("hall", 0, 0, gateway=True), MeshNode("barn", -150, -400, gateway=False))
    flows = (("barn", "a-long-name"), ("hall", "a-long-name"))
    picture = _Picture(Topology("", nodes, 250.0, 550.0, (("hall", "a-long-name"),), flows))
    x, y = picture.places["a-long-name"]
    for _, _, tip in picture.arcs:
        across, up = abs(tip[0] - x) - picture._half("a-long-name"), abs(tip[1] - y) - 11.0
        assert 0 < max(across, up) <= 3.001


def test_the_live_view_claims_none_either() -> None:
    resolved = resolve(Job("mesh.toml", mesh(places=False).encode()))
    assert scene(resolved, set(), 1.0)["ranges"] == {"decode": 0.0, "sense": 0.0}
