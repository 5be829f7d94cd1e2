"""What the thesis reads off runs, and what its studies draw (docs/experiments/thesis.md)."""

from __future__ import annotations

import heapq
import itertools
import math
import random
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from meshpace.results import RunResult
from meshpace.study.flows import INTERVAL, LEAST
from meshpace.study.jackknife import Rows, pseudo_values
from meshpace.study.measures import Measure, Values, along, difference, less_over_mean, mean, of, relative
from meshpace.study.model import STATIC, Cell, Condition, Point, Settings
from meshpace.study.outcome import Outcome
from meshpace.study.quantities import FLOW_GOODPUT, JAIN, LOG_UTILITY, Quantity
from meshpace.study.rules import NO_GAIN

TAHOE, AP, FEW, FIXED, DA = "tahoe", "tcp-ap", "few", "fixed-rate", "newreno-dynack"
"""The control; n-hop pacing; FeW; a fixed rate; dynamic delayed acknowledgements."""
COUNTS = (1, 2, 5)
"""Flows on a chain."""

MTU_BITS = 12_000
"""Table 5.1: its rates are one packet of 1500 bytes a delay."""


def _timeouts_a_lost_ack(run: RunResult) -> float | None:
    lost = sum(link["ack_drops"] for link in run["links"])
    return sum(flow["timeouts"] or 0 for flow in run["flows"]) / lost if lost else None


TIMEOUTS_A_LOST_ACK = Quantity(
    "timeouts_a_lost_ack", "timeouts a lost acknowledgement", "", _timeouts_a_lost_ack, decimals=2
)
"""Lost: given up by the MAC, or no place in its queue."""


def many(count: int) -> str:
    """The label of a number of flows."""
    return f"{count} flow{'s' if count > 1 else ''}"


def beside_the_mean_of_the_others(values: list[float]) -> float:
    """The first less the mean of the others."""
    return values[0] - sum(values[1:]) / (len(values) - 1)


# Table 5.1: a packet an interval.


def rate_less_goodput() -> Measure:
    """By seed one packet an interval of pacing less what Tahoe gets, over Tahoe's mean."""

    def take(outcome: Outcome, condition: Condition, point: str) -> Values:
        intervals = outcome.values(Cell(condition, AP, point), INTERVAL)
        theirs = outcome.values(Cell(condition, TAHOE, point), FLOW_GOODPUT)
        return less_over_mean([None if a is None else MTU_BITS / a for a in intervals], theirs)

    return Measure((TAHOE, AP), take, INTERVAL)


def excess() -> Measure:
    """By seed the table's last column: Tahoe's mean over one packet an interval, less 1."""

    def take(outcome: Outcome, condition: Condition, point: str) -> Values:
        intervals = outcome.values(Cell(condition, AP, point), INTERVAL)
        theirs = [x for x in outcome.values(Cell(condition, TAHOE, point), FLOW_GOODPUT) if x is not None]
        middle = math.fsum(theirs) / len(theirs) if theirs else 0.0
        return [None if a is None else middle * a / MTU_BITS - 1 for a in intervals]

    return Measure((TAHOE, AP), take, INTERVAL)


# Fig. 5.10: fixed rates, kbit/s, at points "5 flows, 250 kbit/s".

RATES = (100, 200, 250, 300, 400, 1000, 2000, 3000, 4000, 5000)


def _with_rate(kbps: int) -> str:
    return f"{many(5)}, {kbps} kbit/s"


_ALL = tuple(map(_with_rate, RATES))
_TOP = tuple(map(_with_rate, (200, 250, 300)))
_REST = tuple(label for label in _ALL if label not in _TOP)


def near_the_mean(of: Measure) -> Measure:
    """By seed the mean of a number over those rates that are 0.8 to 1.1 of Tahoe's mean goodput."""

    def take(outcome: Outcome, condition: Condition, _: str) -> Values:
        theirs = [x for x in outcome.values(Cell(condition, TAHOE, _ALL[0]), FLOW_GOODPUT) if x is not None]
        middle = math.fsum(theirs) / len(theirs) if theirs else 0.0
        near = tuple(_with_rate(rate) for rate in RATES if 0.8 * middle <= rate * 1e3 <= 1.1 * middle)
        return along(of, mean, near).take(outcome, condition, "") if near else []

    return Measure(of.schemes, take, of.quantity, along=_ALL, once=True)


def fairer_without_loss() -> Measure:
    """By seed how much fairer than Tahoe a rate is that keeps 97 % of its goodput; -1 where it does not."""

    def take(outcome: Outcome, condition: Condition, point: str) -> Values:
        kept = relative(FLOW_GOODPUT, FIXED, TAHOE).take(outcome, condition, point)
        fairer = difference(JAIN, FIXED, TAHOE).take(outcome, condition, point)
        pairs = zip(kept, fairer, strict=False)
        return [None if k is None or f is None else f if k >= -0.03 else -1.0 for k, f in pairs]

    return Measure((TAHOE, FIXED), take, JAIN)


def fairest() -> Measure:
    """By seed the best index of the rates from 200 to 300 kbit/s less the best of all others."""

    def take(outcome: Outcome, condition: Condition, _: str) -> Values:
        best, others = (along(of(JAIN, FIXED), max, points).take(outcome, condition, "") for points in (_TOP, _REST))
        return [None if a is None or b is None else a - b for a, b in zip(best, others, strict=False)]

    return Measure((FIXED,), take, JAIN, along=_ALL, once=True)


# X.l: the best n, at points "2 flows, n = 3".

ALL_N = (1, 2, 3, 4, 6, 8)


def best_n(quantity: Quantity) -> Measure:
    """By seed the n with the most of a quantity, the mean over numbers of flows."""

    def take(outcome: Outcome, condition: Condition, _: str) -> Values:
        found = []
        for count in COUNTS[1:]:
            columns = [outcome.values(Cell(condition, AP, f"{many(count)}, n = {n}"), quantity) for n in ALL_N]
            found.append([None if None in row else _arg_max(row) for row in zip(*columns, strict=False)])
        return [None if None in row else math.fsum(filter(None, row)) / len(row) for row in zip(*found, strict=False)]

    points = tuple(f"{many(count)}, n = {n}" for count in COUNTS[1:] for n in ALL_N)
    return Measure((AP,), take, quantity, along=points, once=True)


def _arg_max(values: Sequence[float | None]) -> float:
    """The smallest n at which the greatest value stands."""
    return float(ALL_N[values.index(max(value for value in values if value is not None))])


# FeW, at points "2 flows, a = 0.25".

ALPHAS = (0.01, 0.1, 0.2, 0.25, 0.5, 0.75)
"""Of FeW; 1 is the control itself."""


def lead(alpha: float) -> Measure:
    """Over the best other value of a, by how much goodput a value's exceeds that, at its own point."""

    def others(point: str) -> list[str]:
        return [point.replace(f"a = {alpha:g}", f"a = {a:g}") for a in ALPHAS if a != alpha]

    def take(outcome: Outcome, condition: Condition, point: str) -> Values:
        ours = outcome.values(Cell(condition, FEW, point), FLOW_GOODPUT)
        theirs = [outcome.values(Cell(condition, FEW, other), FLOW_GOODPUT) for other in others(point)]
        rows = zip(ours, *theirs, strict=False)
        return [None if None in row else row[0] - max(x for x in row[1:] if x is not None) for row in rows]

    return Measure((FEW,), take, FLOW_GOODPUT, beside=lambda point: [(FEW, other) for other in others(point)])


def moved_together() -> Measure:
    """By seed 1 where FeW's utility and goodput moved the same way from Tahoe's, else 0."""

    def take(outcome: Outcome, condition: Condition, point: str) -> Values:
        use = difference(LOG_UTILITY, FEW, TAHOE).take(outcome, condition, point)
        gains = relative(FLOW_GOODPUT, FEW, TAHOE).take(outcome, condition, point)
        pairs = zip(use, gains, strict=False)
        return [None if u is None or g is None else float((u > 0) == (g > 0)) for u, g in pairs]

    return Measure((TAHOE, FEW), take, LOG_UTILITY)


def weakest_over_mean() -> Measure:
    """By seed how far the weaker flow with delayed ACKs is above Tahoe's mean, over that."""

    def take(outcome: Outcome, condition: Condition, point: str) -> Values:
        weakest = outcome.values(Cell(condition, DA, point), LEAST)
        theirs = outcome.values(Cell(condition, TAHOE, point), FLOW_GOODPUT)
        return [None if a is None or not b else a / b - 1 for a, b in zip(weakest, theirs, strict=False)]

    return Measure((TAHOE, DA), take, LEAST)


# X.k: gains over two bases, at points "2 flows, Tahoe" and "2 flows, NewReno".

_BASED = (TAHOE, AP, FEW, DA)
_BASES = ("Tahoe", "NewReno")


def alike(rows: Rows) -> float:
    """The part of the gains over one base that have the sign of those over the other; within 2 % any sign will do.

    Of each gain a row has four numbers: the control and the scheme on one base, both on the other.
    """
    middles = [math.fsum(column) / len(rows) for column in zip(*rows, strict=True)]
    gains = [b / a - 1 if a else 0.0 for a, b in zip(middles[::2], middles[1::2], strict=True)]
    pairs = list(zip(gains[::2], gains[1::2], strict=True))
    same = sum(one * other > 0 or min(abs(one), abs(other)) <= NO_GAIN for one, other in pairs)
    return same / len(pairs)


def signs_alike() -> Measure:
    """That part of the schemes' gains at every number of flows: one number of all seeds."""

    def take(outcome: Outcome, condition: Condition, _: str) -> Values:
        columns = [
            outcome.values(Cell(condition, each, f"{many(count)}, {base}"), FLOW_GOODPUT)
            for scheme in _BASED[1:]
            for count in COUNTS
            for base in _BASES
            for each in (TAHOE, scheme)
        ]
        rows = [[value for value in row if value is not None] for row in zip(*columns, strict=False)]
        return pseudo_values([row for row in rows if len(row) == len(columns)], alike)

    points = tuple(f"{many(count)}, {base}" for count in COUNTS for base in _BASES)
    return Measure(_BASED, take, FLOW_GOODPUT, along=points, once=True)


# X.m: the best of some fixed rates.


def at_the_best(of: Measure, points: tuple[str, ...]) -> Measure:
    """A number at the rate with the greatest goodput, which the odd seeds choose and the even ones estimate."""

    def take(outcome: Outcome, condition: Condition, _: str) -> Values:
        gains = {label: relative(FLOW_GOODPUT, FIXED, TAHOE).take(outcome, condition, label)[::2] for label in points}
        means = {label: _mean_of([x for x in values if x is not None]) for label, values in gains.items()}
        best = max(points, key=means.__getitem__)
        found = of.take(outcome, condition, best)
        return [value if index % 2 else None for index, value in enumerate(found)]

    return Measure(of.schemes, take, of.quantity, along=points, once=True)


def _mean_of(values: list[float]) -> float:
    return math.fsum(values) / len(values) if values else -math.inf


# Which reach and losses come nearest to what the thesis measured.

REACHES = ("edge", "margin", "one")
TABLES = ("L0", "L1", "L2", "L3")
PRINTED: Mapping[str, tuple[float, float, float]] = {
    "c9": (1_750_000, 900_000, 250_000),
    "c4": (2_750_000, 1_400_000, 400_000),
    "c1": (11_000_000, 7_000_000, 2_750_000),
}
"""Table 5.1, the column of estimates: mean goodput of a flow of Tahoe, bit/s, with 1, 2 and 5 flows."""


def calibrated(reach: str, table: str, attempts: int, count: int) -> str:
    """A place on the axis of ``byu-cal-...``."""
    tries = f"{attempts} attempts, " if attempts > 1 else ""
    return f"{reach}, {table}, {tries}{many(count)}"


def misfit(outcomes: Mapping[str, Outcome], attempts: int = 1) -> dict[tuple[str, str], float]:
    """Mean ``|ln(simulated / printed)|`` over the nine means by reach and table, the best first; the outcomes by study.

    A cell without goodput counts as a thousandth of what is printed. Pairs of which runs are missing are left out.
    """
    found = {}
    for name, table in itertools.product(REACHES, TABLES):
        terms = [
            _term(outcomes[f"byu-cal-{chain}"], calibrated(name, table, attempts, count), printed)
            for chain, means in PRINTED.items()
            for count, printed in zip(COUNTS, means, strict=True)
        ]
        known = [term for term in terms if term is not None]
        if len(known) == len(terms):
            found[name, table] = math.fsum(known) / len(known)
    return dict(sorted(found.items(), key=lambda item: item[1]))


def _term(outcome: Outcome, point: str, printed: float) -> float | None:
    values = [value for value in outcome.values(Cell(STATIC, TAHOE, point), FLOW_GOODPUT) if value is not None]
    if not values:
        return None
    return abs(math.log(max(math.fsum(values) / len(values) / printed, 1e-3)))


# Fig. 5.36: transfers between random nodes of a floor. The floor of Fig. 4.4 was only drawn. Two layouts stand in for
# it: a grid of 3 x 5 nodes, 20 m apart, without a corner, and 15 nodes at random places of 70 x 35 m. A seed draws
# ends, ways (fewest hops over pairs at most 25 m apart; of several ways one) and losses of the links, the same for
# every scheme, condition and number of flows.

MPDU = 1536
"""The length that the losses are said of: a full segment with its headers."""


def losses(table: Mapping[tuple[str, str], float]) -> Settings:
    """The links that lose frames, MAC acknowledgements included, the longer the more; none if none loses any."""
    entries = [
        f'{{from = "{a}", to = "{b}", symmetric = false, loss = {loss!r}, loss_length = {MPDU}}}'
        for (a, b), loss in table.items()
        if loss > 0
    ]
    return (("radio_link", f"[{', '.join(entries)}]"),) if entries else ()


Places = Mapping[str, tuple[float, float]]
REACH_M = 25.0
"""Neighbours are no farther apart."""
MOST_FLOWS = 32
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
        if len(fewest(dict.fromkeys(_neighbours(found), 0.0), "m0", list(found))) == len(found):
            return found


Pair = tuple[str, str]
Ways = Callable[[Mapping[Pair, float], str, list[str]], dict[str, tuple[str, ...]]]
"""Over links with their losses, from a node to each in reach; of ways alike that by the first nodes in a list."""


def fewest(links: Mapping[Pair, float], begin: str, order: list[str]) -> dict[str, tuple[str, ...]]:
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


def surest(links: Mapping[Pair, float], begin: str, order: list[str]) -> dict[str, tuple[str, ...]]:
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


def any_ends(draw: random.Random, nodes: list[str]) -> list[list[str]]:
    """Any two nodes, flow by flow."""
    return [draw.sample(nodes, 2) for _ in range(MOST_FLOWS)]


def other_ends(draw: random.Random, nodes: list[str]) -> list[list[str]]:
    """No pair twice."""
    return [list(pair) for pair in draw.sample(list(itertools.permutations(nodes, 2)), MOST_FLOWS)]


def _neighbours(places: Places) -> list[Pair]:
    pairs = itertools.permutations(places, 2)
    return [(a, b) for a, b in pairs if math.dist(places[a], places[b]) <= REACH_M]


def grid(_: random.Random) -> Places:
    """The grid."""
    return GRID


def random_flows(
    point: Point,
    seed: int,
    layout: Callable[[random.Random], Places],
    ways: Ways,
    ends: Ends,
) -> Settings:
    """Places, links with their losses, and as many of 32 flows as the point has, of the run of that seed.

    Every scheme and condition asks for the same.
    """
    return _drawn(layout, ways, ends, int(point.value or 0), seed)


@cache
def _drawn(layout: Callable[[random.Random], Places], way: Ways, pick: Ends, count: int, seed: int) -> Settings:
    draw = random.Random(seed)  # noqa: S311
    places = layout(draw)
    lost = {pair: LEAST_LOSS * (MOST_LOSS / LEAST_LOSS) ** draw.random() for pair in _neighbours(places)}
    order = draw.sample(list(places), len(places))
    ways = {begin: way(lost, begin, order) for begin in places}
    ends = pick(draw, list(places))[:count]
    nodes = [f'{{id = "{name}", x = {x}, y = {y}}}' for name, (x, y) in places.items()]
    return (
        ("node", f"[{', '.join(nodes)}]"),
        ("flow", f"[{', '.join(_transfer(ways[begin][end]) for begin, end in ends)}]"),
        *losses(lost),
    )


def _transfer(way: tuple[str, ...]) -> str:
    path = ", ".join(f'"{node}"' for node in way)
    return f'{{from = "{way[0]}", to = "{way[-1]}", app = "transfer", bytes = 1000000, path = [{path}]}}'
