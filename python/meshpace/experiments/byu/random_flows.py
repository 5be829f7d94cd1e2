"""The thesis's transfers between random nodes of a floor (docs/experiments/thesis.md, 2, "MESH", and 3.5; Fig. 5.36).

The floor of Fig. 4.4 was only drawn. Two layouts stand in for it: a grid of 3 x 5 nodes, 20 m apart, without a corner,
and 15 nodes at random places of 70 x 35 m. A seed draws ends, ways (fewest hops over pairs at most 25 m apart; of
several ways one) and losses of the links, the same for every scheme, condition and number of flows.
"""

from __future__ import annotations

import heapq
import itertools
import math
import random
import statistics
from collections import deque
from collections.abc import Callable, Mapping
from functools import cache, partial

from meshpace.experiments.byu.measures import HIGHER, MOSTLY, USEFUL, above, claim, goodput, utility
from meshpace.experiments.byu.schemes import AP, DA, TAHOE, hops, wifu
from meshpace.experiments.byu.study import FULL_SEEDS, THESIS, many
from meshpace.experiments.byu.topologies import CAPTURE, CONDITIONS, IDEAL, MESH, RETRIES, attempts, losses, reach
from meshpace.results import RunResult
from meshpace.study.claims import Ask, Claim, Role
from meshpace.study.model import Axis, Plan, Point, Settings, Study
from meshpace.study.pooled import pooled, pooled_cells, without
from meshpace.study.quantities import FLOW_GOODPUT, LOG_UTILITY, RESENT, TIMEOUTS, UNFINISHED, Quantity
from meshpace.study.rules import NO_GAIN, Rule
from meshpace.study.words import percent, share

Places = Mapping[str, tuple[float, float]]
REACH_M = 25.0
"""Neighbours are no farther apart."""
COUNTS = (1, 4, 8, 16, 32)
GRID: Places = {
    f"m{i}": place
    for i, place in enumerate((20.0 * c, 20.0 * r) for r in range(3) for c in range(5) if (r, c) != (2, 4))
}
"""As scenarios/byu-mesh.toml has it."""
LEAST_LOSS, MOST_LOSS = 1e-4, 1e-2


def scattered(draw: random.Random) -> Places:
    """15 nodes at random places, drawn again until every node has a way to every other."""
    while True:
        found = {f"m{i}": (round(draw.uniform(0, 70), 2), round(draw.uniform(0, 35), 2)) for i in range(15)}
        if len(_fewest(dict.fromkeys(_neighbours(found), 0.0), "m0", list(found))) == len(found):
            return found


Pair = tuple[str, str]
Ways = Callable[[Mapping[Pair, float], str, list[str]], dict[str, tuple[str, ...]]]
"""Over links with their losses, from a node to each in reach; of ways alike that by the first nodes in a list."""


def _fewest(links: Mapping[Pair, float], begin: str, order: list[str]) -> dict[str, tuple[str, ...]]:
    """The ways of fewest hops."""
    found: dict[str, tuple[str, ...]] = {begin: (begin,)}
    waiting = deque(found)
    while waiting:
        here = waiting.popleft()
        for there in order:
            if there not in found and (here, there) in links:
                found[there] = (*found[here], there)
                waiting.append(there)
    return found


def _surest(links: Mapping[Pair, float], begin: str, order: list[str]) -> dict[str, tuple[str, ...]]:
    """Those of fewest expected transmissions, 1 / ((1 - p)(1 - p back)) a link (De Couto et al., MobiCom 2003, 3)."""
    found: dict[str, tuple[str, ...]] = {}
    waiting: list[tuple[float, int, tuple[str, ...]]] = [(0.0, 0, (begin,))]
    while waiting:
        cost, _, way = heapq.heappop(waiting)
        here = way[-1]
        if here in found:
            continue
        found[here] = way
        for rank, there in enumerate(order):
            if there not in found and (here, there) in links:
                more = 1 / ((1 - links[here, there]) * (1 - links[there, here]))
                heapq.heappush(waiting, (cost + more, rank, (*way, there)))
    return found


Ends = Callable[[random.Random, list[str]], list[list[str]]]
"""As many pairs of nodes as the most flows that are run."""


def _any_ends(draw: random.Random, nodes: list[str]) -> list[list[str]]:
    return [draw.sample(nodes, 2) for _ in range(max(COUNTS))]


def _other_ends(draw: random.Random, nodes: list[str]) -> list[list[str]]:
    """No pair twice."""
    return [list(pair) for pair in draw.sample(list(itertools.permutations(nodes, 2)), max(COUNTS))]


def _neighbours(places: Places) -> list[Pair]:
    pairs = itertools.permutations(places, 2)
    return [(a, b) for a, b in pairs if math.dist(places[a], places[b]) <= REACH_M]


def _grid(_: random.Random) -> Places:
    return GRID


@cache
def drawn(layout: Callable[[random.Random], Places], way: Ways, pick: Ends, point: Point, seed: int) -> Settings:
    """Places, links with their losses, and as many of 32 flows as the point has, of the run of that seed.

    Every scheme and condition asks for the same.
    """
    draw = random.Random(seed)  # noqa: S311
    places = layout(draw)
    lost = {pair: LEAST_LOSS * (MOST_LOSS / LEAST_LOSS) ** draw.random() for pair in _neighbours(places)}
    order = draw.sample(list(places), len(places))
    ways = {begin: way(lost, begin, order) for begin in places}
    ends = pick(draw, list(places))[: int(point.value or 0)]
    nodes = [f'{{id = "{name}", x = {x}, y = {y}}}' for name, (x, y) in places.items()]
    return (
        ("node", f"[{', '.join(nodes)}]"),
        ("flow", f"[{', '.join(_transfer(ways[begin][end]) for begin, end in ends)}]"),
        *losses(lost),
    )


def _transfer(way: tuple[str, ...]) -> str:
    path = ", ".join(f'"{node}"' for node in way)
    return f'{{from = "{way[0]}", to = "{way[-1]}", app = "transfer", bytes = 1000000, path = [{path}]}}'


def _median(run: RunResult) -> float:
    return statistics.median(flow["goodput_bps"] for flow in run["flows"])


MEDIAN = Quantity("flow_median", "goodput of a flow, the median of a run", "kbit/s", _median, 1e-3, 0)
_NO_LOSSES: Settings = (("radio_link", "[]"),)
SCHEMES = (TAHOE, AP, DA)
FAILED = {1: 0.10, 4: 0.10, 8: 0.26, 16: 0.12, 32: 0.21}
"""Table 5.2: the part of the transfers of so many that failed, since receivers started after their senders."""


def _study(
    name: str,
    where: str,
    layout: Callable[[random.Random], Places],
    way: Ways = _fewest,
    pick: Ends = _any_ends,
    counts: tuple[int, ...] = COUNTS,
    seeds: int = 5,
) -> Study:
    return Study(
        name=name,
        paper="thesis",
        title=f"Random flows, {where}",
        figures=("Fig. 5.36", "Table 5.2"),
        source=f"{THESIS}, Fig. 5.36, Table 5.2",
        shows=f"Transfers of 1 MB between random nodes, {where}: goodput of a flow and utility against Tahoe.",
        scenario="byu-mesh.toml",
        axis=Axis("flows", "", tuple(Point(many(count), (), float(count)) for count in counts)),
        schemes=SCHEMES,
        conditions=CONDITIONS,
        settings=(*wifu(*SCHEMES), *hops(AP, n=4)),
        receptions=(
            (IDEAL.reception, (*CAPTURE, *reach("edge"), *_NO_LOSSES)),
            (MESH.reception, (*CAPTURE, *reach("margin"))),
            (RETRIES.reception, (*CAPTURE, *reach("margin"), *attempts(4))),
        ),
        quick=Plan(seeds, (), core_s=0.1),
        full=Plan(FULL_SEEDS, (), core_s=0.1),
        quantities=(FLOW_GOODPUT, MEDIAN, LOG_UTILITY, TIMEOUTS, RESENT, UNFINISHED),
        drawn=partial(drawn, layout, way, pick),
        notes="Losses of a frame of 1,536 bytes log-uniform from 1e-4 to 1e-2 a directed link, but in ideal. No "
        "transfer fails as those of Table 5.2 did: its receivers started after their senders, a fault of the software.",
    )


GRID_STUDY, SCATTERED, SUREST, OTHER = (
    "byu-random", "byu-random-scattered", "byu-random-surest", "byu-random-other-ends"
)  # fmt: skip
_FEW_AND_MANY = (4, 16)
STUDIES = (
    _study(GRID_STUDY, "a grid of 14 nodes", _grid),
    _study(SCATTERED, "15 nodes at random places", scattered),
    _study(SUREST, "a grid of 14 nodes, ways by losses (F2)", _grid, _surest, counts=_FEW_AND_MANY, seeds=3),
    _study(OTHER, "a grid of 14 nodes, no ends twice (F2)", _grid, pick=_other_ends, counts=_FEW_AND_MANY, seeds=3),
)
_ALL = tuple(map(many, COUNTS))
_WHERE = ((GRID_STUDY, Role.CLAIM), (SCATTERED, Role.BESIDE))


def _of_median(scheme: str, rule: Rule, study: str, role: Role, counts: tuple[str, ...] = _ALL) -> Ask:
    what = "Median of all flows against Tahoe's"
    return Ask(pooled(0.5, scheme, TAHOE), rule, percent, what, (study,), counts, role=role)


def _otherwise_drawn(scheme: str, rule: Rule) -> tuple[Ask, ...]:
    """F2: ways by losses, and ends of which none comes twice."""
    counts = tuple(map(many, _FEW_AND_MANY))
    return tuple(_of_median(scheme, rule, study, Role.BESIDE, counts) for study in (SUREST, OTHER))


def _without_failed(scheme: str, rule: Rule) -> tuple[Ask, ...]:
    """F1: the flows that Table 5.2 counts as failed left out."""
    return tuple(
        Ask(
            pooled(0.5, scheme, TAHOE, without(failed)), rule, percent,
            f"The same without the {failed:.0%} that failed (Table 5.2)", (GRID_STUDY,), (many(count),),
            role=Role.BESIDE,
        )
        for count, failed in FAILED.items()
    )  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    claim(
        "5.36.a",
        "With random flows pacing does not raise goodput, in the mean or the median, at any number of flows.",
        "Fig. 5.36",
        "not",
        *(
            ask
            for study, role in _WHERE
            for ask in (
                goodput(AP, Rule("ORDER", high=NO_GAIN), study, _ALL, role=role),
                _of_median(AP, Rule("ORDER", high=NO_GAIN), study, role),
            )
        ),
        *_without_failed(AP, Rule("ORDER", high=NO_GAIN)),
        *_otherwise_drawn(AP, Rule("ORDER", high=NO_GAIN)),
    ),
    claim(
        "5.36.b",
        "Delayed ACKs generally have a higher median than Tahoe.",
        "Fig. 5.36",
        "at 4 of 5 numbers of flows",
        *(
            Ask(
                pooled_cells(0.5, DA, TAHOE, _ALL, above),
                MOSTLY,
                share,
                "Numbers of flows with a higher median of all flows than Tahoe's",
                (study,),
                role=role,
            )
            for study, role in _WHERE
        ),
        *(_of_median(DA, HIGHER, study, Role.BESIDE) for study, _ in _WHERE),
        *_without_failed(DA, HIGHER),
        *_otherwise_drawn(DA, HIGHER),
    ),
    claim(
        "5.36.c",
        "Utility of delayed ACKs is very high against Tahoe's at every number of flows.",
        "Fig. 5.36",
        "0.1 a flow at least",
        *(utility(DA, Rule("MUCH", low=USEFUL * count, neutral=0.0), GRID_STUDY, (many(count),)) for count in COUNTS),
    ),
)
