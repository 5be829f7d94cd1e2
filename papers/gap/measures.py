"""What the TCP-GAP paper's claims read off runs beside the shared measures (docs/experiments/gap.md, section 3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from meshpace.results import RunResult
from meshpace.study.measures import Measure, Values, of
from meshpace.study.model import Condition
from meshpace.study.outcome import Outcome
from meshpace.study.quantities import GOODPUT, SHARE, Quantity
from meshpace.study.rules import STARVES

# Figs. 10 and 11: chains of which one starves.

_UPPER = frozenset(("A1", "RL1", "RL2", "RL3", "RL4"))


def _loser_and_winner(run: RunResult) -> float | None:
    """Drops a packet sent on the starving chain over those on the other, less 1; None where nobody starves."""
    smallest = SHARE(run)
    if smallest is None or smallest > STARVES.high:
        return None
    drops = {True: 0, False: 0}
    for link in run["links"]:
        upper = bool({link["from"], link["to"]} & _UPPER)
        drops[upper] += link["data_drops"] + link["ack_drops"]
    first, second = run["flows"][:2]
    loser = first["goodput_bps"] < second["goodput_bps"]  # the first flow's chain is the upper one
    sent = {True: first["segments_sent"], False: second["segments_sent"]}
    if not (sent[True] and sent[False] and drops[not loser]):
        return None
    return (drops[loser] / sent[loser]) / (drops[not loser] / sent[not loser]) - 1


LOSING = Quantity("losing", "drops a packet on the losing chain", "", _loser_and_winner)

# Table 2: what links gave up in 1,000 s.

Link = tuple[str, str]

DATA: dict[Link, int] = {
    ("IG", "RL4"): 40, ("RL4", "RL3"): 8, ("RL3", "RL2"): 90, ("RL2", "RL1"): 54, ("RL1", "A1"): 1,
    ("A2", "RL5"): 11, ("RL5", "RL6"): 128, ("RL6", "RL7"): 147, ("RL7", "RL8"): 141, ("RL8", "IG"): 102,
}  # fmt: skip
"""Data packets: on the upper chain the wired-to-wireless flow's, then the wireless-to-wired flow's."""
ACKS: dict[Link, int] = {
    ("A1", "RL1"): 8, ("RL1", "RL2"): 146, ("RL2", "RL3"): 112, ("RL3", "RL4"): 12, ("RL4", "IG"): 40,
    ("IG", "RL8"): 14, ("RL8", "RL7"): 50, ("RL7", "RL6"): 127, ("RL6", "RL5"): 118, ("RL5", "A2"): 7,
}  # fmt: skip
"""TCP ACKs, the other way on each chain."""
UPWARD: tuple[Link, ...] = tuple(DATA)[5:]
"""The links of the wireless-to-wired flow's data."""
_SECONDS = 1000


def data_drops(run: RunResult) -> dict[Link, float]:
    """Data packets given up by each link of the table in 1,000 s."""
    return _drops(run, DATA, "data_drops")


def ack_drops(run: RunResult) -> dict[Link, float]:
    """TCP ACKs given up by each link of the table in 1,000 s."""
    return _drops(run, ACKS, "ack_drops")


def _drops(run: RunResult, links: dict[Link, int], kind: str) -> dict[Link, float]:
    counted = {(link["from"], link["to"]): int(link[kind]) for link in run["links"]}  # type: ignore[literal-required]
    return {link: counted.get(link, 0) * _SECONDS / run["measured_s"] for link in links}


def _both(run: RunResult, link: Link) -> float:
    return data_drops(run).get(link, 0.0) + ack_drops(run).get(link, 0.0)


def drops_ratio(more: tuple[str, ...], less: tuple[str, ...]) -> Quantity:
    """How many times as many packets one link gives up as another, half a drop added to both (Haldane 1956)."""
    one, other = (more[0], more[1]), (less[0], less[1])
    return Quantity("drops_ratio", "", "", lambda run: (_both(run, one) + 0.5) / (_both(run, other) + 0.5))


def agreeing(run: RunResult) -> float:
    """How many of the table's 20 numbers the run has: within a factor of 1.5 where 20 and more are printed, else 15."""
    ours = {**data_drops(run), **ack_drops(run)}
    printed = {**DATA, **ACKS}
    return float(sum(_agrees(ours[link], printed[link]) for link in printed))


def _agrees(ours: float, printed: int) -> bool:
    return printed / 1.5 <= ours <= printed * 1.5 if printed >= 20 else abs(ours - printed) <= 15


def timeouts_lead(run: RunResult) -> float | None:
    """Timeouts of the wireless-to-wired flow less the other's, of both."""
    first, second = (flow["timeouts"] or 0 for flow in run["flows"][:2])
    return (second - first) / (first + second) if first + second else None


def collisions_lead(run: RunResult) -> float | None:
    """Collisions at the gateway of frames from RL8 less those from RL4, of both."""
    found = {link["from"]: link["collisions"] for link in run["links"] if link["to"] == "IG"}
    lower, upper = found.get("RL8", 0), found.get("RL4", 0)
    return (lower - upper) / (lower + upper) if lower + upper else None


def upward_share(run: RunResult) -> float | None:
    """Of the data packets given up, the part of the wireless-to-wired flow's."""
    drops = data_drops(run)
    total = sum(drops.values())
    return sum(drops[link] for link in UPWARD) / total if total else None


AGREEING = Quantity("agreeing", "numbers of Table 2 that agree", "", agreeing)
TIMEOUTS_LEAD = Quantity("timeouts_lead", "flow 2's timeouts less flow 1's, of both", "", timeouts_lead)
COLLISIONS_LEAD = Quantity("collisions_lead", "RL8's collisions less RL4's, of both", "", collisions_lead)
UPWARD_SHARE = Quantity("upward_share", "part of the data drops that are upward", "", upward_share)

# Figs. 13 and 14: goodput second by second, by flow. Flow 3 is the second one's return.

Bins = dict[str, list[float]]
QUICKLY, MOVING = 10, 5
"""Seconds within which something is quick, and of the moving mean that shows it."""
_BEFORE, _FREE = (100, 130), (140, 160)
"""Before the second flow stops, and when the first is alone."""


def _mean(bins: list[float], begin: int, end: int) -> float:
    return sum(bins[begin:end]) / (end - begin)


def _second(bins: Bins, begin: int, end: int) -> float:
    """What the second flow gets, as either of its connections."""
    return sum(_mean(bins[flow], begin, end) for flow in ("2", "3") if flow in bins)


def rate(begin: int, end: int) -> Callable[[Bins], float]:
    """Mean goodput of the first flow."""
    return lambda bins: _mean(bins["1"], begin, end)


def second_share(begin: int, end: int) -> Callable[[Bins], float | None]:
    """The second flow's part of what both get."""

    def take(bins: Bins) -> float | None:
        first, second = _mean(bins["1"], begin, end), _second(bins, begin, end)
        return second / (first + second) if first + second else None

    return take


def quickest(begin: int, what: Callable[[int, int], Callable[[Bins], float | None]]) -> Callable[[Bins], float | None]:
    """The greatest moving mean that ends soon after ``begin``."""

    def greatest(bins: Bins) -> float | None:
        starts = range(begin, begin + QUICKLY - MOVING + 1)
        found = [value for start in starts if (value := what(start, start + MOVING)(bins)) is not None]
        return max(found, default=None)

    return greatest


def change_when_alone(bins: Bins) -> float | None:
    """The first flow's goodput when it is alone against that before."""
    before = rate(*_BEFORE)(bins)
    return rate(*_FREE)(bins) / before - 1 if before else None


# Fig. 15: what the wired links carry.

_PAYLOAD = 1460 / 1500
"""Of a packet at IP."""


def of_the_wire(scheme: str) -> Measure:
    """Goodput as a part of what the wired links carry, whose rate is the place on the axis, Mbit/s."""
    measure = of(GOODPUT, scheme)

    def take(outcome: Outcome, condition: Condition, point: str) -> Values:
        values = measure.take(outcome, condition, point)
        rate = outcome.study.point(point).value
        if rate is None:  # a study of switches, whose points are no rates
            return [None] * len(values)
        carried = rate * 1e6 * _PAYLOAD
        return [None if v is None else v / carried for v in values]

    return replace(measure, take=take)


# Figs. 20 and 21: some flows among several.


def parts(first: tuple[int, ...], others: tuple[int, ...]) -> Quantity:
    """What some flows get over what others get, means of each; flows count from 0."""

    def take(run: RunResult) -> float | None:
        rates = [flow["goodput_bps"] for flow in run["flows"]]
        a, b = (sum(rates[index] for index in group) / len(group) for group in (first, others))
        return a / b if b else None

    return Quantity("ratio", "some flows over others", "", take)


def of_an_equal_share(rank: int, flows: int | None = None) -> Quantity:
    """The flow of that rank from below, among the first so many, as a part of an equal share."""

    def take(run: RunResult) -> float | None:
        rates = [flow["goodput_bps"] for flow in run["flows"]]
        return sorted(rates[:flows])[rank] * len(rates) / sum(rates) if sum(rates) else None

    return Quantity("of_equal", "of an equal share", "%", take, factor=100.0)


# Section 4.4: goodput control.

_BIN_S, _FROM_S, _EXCESS = 5, 30, 1.1 + 0.05


def within_the_threshold(bins: Bins) -> float | None:
    """The part of 5 s intervals in which the flow into the mesh exceeds the mean of both by no more than a tenth."""
    length = min(len(series) for series in bins.values())
    starts = range(_FROM_S, length - _BIN_S + 1, _BIN_S)
    pairs = [[sum(bins[flow][start : start + _BIN_S]) for flow in ("1", "2")] for start in starts]
    kept = [2 * first / (first + second) <= _EXCESS for first, second in pairs if first + second]
    return sum(kept) / len(kept) if kept else None
