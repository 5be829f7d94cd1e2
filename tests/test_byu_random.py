"""The thesis's random flows: what a seed draws (docs/experiments/thesis.md, section 2, "MESH")."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

from meshpace import engine
from meshpace.study import registry
from meshpace.study.model import Cell, Condition, Effort, Study
from papers import words

PAPER = words("byu")
TAHOE, AP, DA = PAPER.TAHOE, PAPER.AP, PAPER.DA
COUNTS = (1, 4, 8, 16, 32)
IDEAL, RETRIES = Condition("static", "ideal"), Condition("static", "mesh, 4 attempts")
CONDITIONS = (IDEAL, Condition("static", "mesh"), RETRIES)
STUDIES = [study for study in registry.STUDIES if study.name.startswith("byu-random")]


def resolve(study: Study, condition: Condition, scheme: str, count: int, seed: int) -> dict[str, Any]:
    return engine.resolve(study.job(Cell(condition, scheme, PAPER.many(count)), seed, Effort.QUICK))


def ways(resolved: dict[str, Any]) -> list[list[str]]:
    return [flow["path"] for flow in resolved["flows"]]


def places(resolved: dict[str, Any]) -> dict[str, tuple[float, float]]:
    return {node["id"]: (node["x"], node["y"]) for node in resolved["mesh"]}


BY_NAME = {study.name: study for study in STUDIES}
ALL_COUNTS = [study for study in STUDIES if len(study.axis.points) == len(COUNTS)]


@pytest.mark.parametrize("study", ALL_COUNTS, ids=lambda study: study.name)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_ways_are_the_fewest_hops_between_neighbours(study: Study, seed: int) -> None:
    resolved = resolve(study, RETRIES, TAHOE, max(COUNTS), seed)
    at = places(resolved)
    near = {pair for pair in itertools.permutations(at, 2) if math.dist(at[pair[0]], at[pair[1]]) <= PAPER.REACH_M}
    hops = {(a, b): 0.0 if a == b else 1.0 if (a, b) in near else math.inf for a in at for b in at}
    for via, a, b in itertools.product(at, repeat=3):
        hops[a, b] = min(hops[a, b], hops[a, via] + hops[via, b])
    assert len(resolved["flows"]) == max(COUNTS)
    for way in ways(resolved):
        assert set(itertools.pairwise(way)) <= near
        assert 1 <= len(way) - 1 == hops[way[0], way[-1]]
    lost = {(link["from"], link["to"]): link["loss"] for link in resolved["radio_links"]}
    assert set(lost) == near
    assert all(PAPER.LEAST_LOSS <= loss <= PAPER.MOST_LOSS for loss in lost.values())
    assert sum(lost[a, b] != lost[b, a] for a, b in near) == len(near)


def test_a_seed_draws_the_same_for_every_scheme_condition_and_number_of_flows() -> None:
    for study in ALL_COUNTS:
        most = ways(resolve(study, RETRIES, TAHOE, 32, 1))
        assert all(ways(resolve(study, RETRIES, scheme, 32, 1)) == most for scheme in (AP, DA))
        assert all(ways(resolve(study, condition, AP, 32, 1)) == most for condition in CONDITIONS)
        assert all(ways(resolve(study, RETRIES, DA, count, 1)) == most[:count] for count in COUNTS)
        assert ways(resolve(study, RETRIES, TAHOE, 32, 2)) != most


def test_links_lose_nothing_in_ideal() -> None:
    assert all(resolve(study, IDEAL, TAHOE, 4, 1)["radio_links"] == [] for study in STUDIES)


def test_the_grid_is_the_scenarios_and_lacks_a_corner() -> None:
    grid, scattered, *_ = STUDIES
    assert places(resolve(grid, RETRIES, TAHOE, 1, 1)) == dict(PAPER.GRID)
    assert len(PAPER.GRID) == 14
    from_file = engine.resolve(
        engine.Job("byu-mesh.toml", grid.job(Cell(IDEAL, TAHOE, PAPER.many(1)), 1, Effort.QUICK).text)
    )
    assert places(from_file) == dict(PAPER.GRID)
    found = [places(resolve(scattered, RETRIES, TAHOE, 1, seed)) for seed in (1, 2)]
    assert [len(each) for each in found] == [15, 15]
    assert found[0] != found[1]


def test_surest_ways_cost_the_fewest_transmissions_that_any_way_does() -> None:
    surest = resolve(BY_NAME["byu-random-surest"], RETRIES, TAHOE, 16, 1)
    lost = {(link["from"], link["to"]): link["loss"] for link in surest["radio_links"]}
    sent = {(a, b): 1 / ((1 - p) * (1 - lost[b, a])) for (a, b), p in lost.items()}
    nodes = sorted(places(surest))
    least = {(a, b): 0.0 if a == b else sent.get((a, b), math.inf) for a in nodes for b in nodes}
    for via, a, b in itertools.product(nodes, repeat=3):
        least[a, b] = min(least[a, b], least[a, via] + least[via, b])
    for way in ways(surest):
        assert sum(sent[link] for link in itertools.pairwise(way)) == pytest.approx(least[way[0], way[-1]])
    fewest = ways(resolve(STUDIES[0], RETRIES, TAHOE, 16, 1))
    ends = [(way[0], way[-1]) for way in ways(surest)]
    assert ends == [(way[0], way[-1]) for way in fewest], "the same flows"
    assert any(a != b for a, b in zip(ways(surest), fewest, strict=True))


def test_other_ends_have_no_pair_twice() -> None:
    def pairs(study: str) -> list[tuple[str, str]]:
        runs = (resolve(BY_NAME[study], RETRIES, TAHOE, 16, seed) for seed in range(1, 9))
        found = [[(way[0], way[-1]) for way in ways(run)] for run in runs]
        return [pair for run in found for pair in run if run.count(pair) > 1]

    assert pairs("byu-random-other-ends") == []
    assert pairs("byu-random"), "as the catalogue draws them some come twice"
