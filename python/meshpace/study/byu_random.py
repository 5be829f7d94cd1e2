"""The thesis's transfers between random nodes of a floor (docs/experiments/thesis.md, 2, "MESH", and 3.5; Fig. 5.36).

The floor of Fig. 4.4 was only drawn. Two layouts stand in for it: a grid of 3 x 5 nodes, 20 m apart, without a corner,
and 15 nodes at random places of 70 x 35 m. A seed draws ends, ways (fewest hops over pairs at most 25 m apart; of
several ways one) and losses of the links, the same for every scheme, condition and number of flows.
"""

from __future__ import annotations

import itertools
import math
import random
import statistics
from collections import deque
from collections.abc import Callable, Mapping
from functools import cache, partial

from meshpace.results import RunResult
from meshpace.study.byu_measures import HIGHER, MOSTLY, USEFUL, above, claim, goodput, part, relative, utility
from meshpace.study.byu_schemes import AP, DA, TAHOE, hops, wifu
from meshpace.study.byu_study import FULL_SEEDS, THESIS, many
from meshpace.study.byu_topologies import CAPTURE, CONDITIONS, IDEAL, MESH, RETRIES, attempts, losses, reach
from meshpace.study.claims import Ask, Claim, Role
from meshpace.study.model import Axis, Plan, Point, Settings, Study
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
        if len(_ways(found, "m0", list(found))) == len(found):
            return found


def _ways(places: Places, begin: str, order: list[str]) -> dict[str, tuple[str, ...]]:
    """The way of fewest hops from a node to each that it can reach; of several that by the first nodes in ``order``."""
    found: dict[str, tuple[str, ...]] = {begin: (begin,)}
    waiting = deque(found)
    while waiting:
        here = waiting.popleft()
        for there in order:
            if there not in found and math.dist(places[here], places[there]) <= REACH_M:
                found[there] = (*found[here], there)
                waiting.append(there)
    return found


def _grid(_: random.Random) -> Places:
    return GRID


@cache
def drawn(layout: Callable[[random.Random], Places], point: Point, seed: int) -> Settings:
    """Places, links with their losses, and as many of 32 flows as the point has, of the run of that seed.

    Every scheme and condition asks for the same.
    """
    draw = random.Random(seed)  # noqa: S311
    places = layout(draw)
    pairs = [pair for pair in itertools.permutations(places, 2) if math.dist(*map(places.__getitem__, pair)) <= REACH_M]
    lost = {pair: LEAST_LOSS * (MOST_LOSS / LEAST_LOSS) ** draw.random() for pair in pairs}
    order = draw.sample(list(places), len(places))
    ways = {begin: _ways(places, begin, order) for begin in places}
    ends = [draw.sample(list(places), 2) for _ in range(max(COUNTS))][: int(point.value or 0)]
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


def _study(name: str, where: str, layout: Callable[[random.Random], Places]) -> Study:
    return Study(
        name=name,
        paper="thesis",
        title=f"Random flows, {where}",
        figures=("Fig. 5.36", "Table 5.2"),
        source=f"{THESIS}, Fig. 5.36, Table 5.2",
        shows=f"Transfers of 1 MB between random nodes, {where}: goodput of a flow and utility against Tahoe.",
        scenario="byu-mesh.toml",
        axis=Axis("flows", "", tuple(Point(many(count), (), float(count)) for count in COUNTS)),
        schemes=SCHEMES,
        conditions=CONDITIONS,
        settings=(*wifu(*SCHEMES), *hops(AP, n=4)),
        receptions=(
            (IDEAL.reception, (*CAPTURE, *reach("edge"), *_NO_LOSSES)),
            (MESH.reception, (*CAPTURE, *reach("margin"))),
            (RETRIES.reception, (*CAPTURE, *reach("margin"), *attempts(4))),
        ),
        quick=Plan(5, (), core_s=0.1),
        full=Plan(FULL_SEEDS, (), core_s=0.1),
        quantities=(FLOW_GOODPUT, MEDIAN, LOG_UTILITY, TIMEOUTS, RESENT, UNFINISHED),
        drawn=partial(drawn, layout),
        notes="Losses of a frame of 1,536 bytes log-uniform from 1e-4 to 1e-2 a directed link, but in ideal. No "
        "transfer fails as those of Table 5.2 did: its receivers started after their senders, a fault of the software.",
    )


GRID_STUDY, SCATTERED = "byu-random", "byu-random-scattered"
STUDIES = (
    _study(GRID_STUDY, "a grid of 14 nodes", _grid),
    _study(SCATTERED, "15 nodes at random places", scattered),
)
_ALL = tuple(map(many, COUNTS))
_WHERE = ((GRID_STUDY, Role.CLAIM), (SCATTERED, Role.BESIDE))


def _of_median(scheme: str, rule: Rule, study: str, role: Role) -> Ask:
    return Ask(relative(MEDIAN, scheme), rule, percent, "Median against Tahoe's", (study,), _ALL, role=role)


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
    ),
    claim(
        "5.36.b",
        "Delayed ACKs generally have a higher median than Tahoe.",
        "Fig. 5.36",
        "at 4 of 5 numbers of flows",
        *(
            Ask(
                part(relative(MEDIAN, DA), _ALL, above),
                MOSTLY,
                share,
                "Numbers of flows with a higher median than Tahoe's",
                (study,),
                role=role,
            )
            for study, role in _WHERE
        ),
        *(_of_median(DA, HIGHER, study, Role.BESIDE) for study, _ in _WHERE),
    ),
    claim(
        "5.36.c",
        "Utility of delayed ACKs is very high against Tahoe's at every number of flows.",
        "Fig. 5.36",
        "0.1 a flow at least",
        *(utility(DA, Rule("MUCH", low=USEFUL * count, neutral=0.0), GRID_STUDY, (many(count),)) for count in COUNTS),
    ),
)
