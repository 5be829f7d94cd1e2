"""What Osipov and Tschudin 2005 read off runs: what flows got of what each would get alone, load on the air, tables.

With X_opt,i = X_alone,i / n and the goodputs X_act,i of a run,

    u = sqrt(sum (X_opt,i - X_act,i)^2) / sqrt(sum X_opt,i^2)

u is no index of fairness alone: an equal shortfall of all flows gives 1 - m, one flow that takes everything
sqrt(n - 1). So m and s, mean and standard deviation of X_act / X_opt over the flows, stand beside it;
u^2 = (1 - m)^2 + s^2 for equal X_opt.
"""

from __future__ import annotations

import csv
import functools
import math
from collections.abc import Callable, Sequence

from meshpace import engine
from meshpace.results import RunResult
from meshpace.study.jackknife import Rows, pseudo_values
from meshpace.study.measures import Measure, Values
from meshpace.study.model import Cell, Condition
from meshpace.study.outcome import Outcome
from meshpace.study.pooled import by_seed
from meshpace.study.quantities import Quantity, Take
from meshpace.study.written.vocabulary import holds as condition
from meshpace.throttle.load import Counting, of_run


def _lost(run: RunResult) -> float | None:
    """TCP packets given up by MACs or dropped by queues, for each data segment sent."""
    sent = sum(flow["segments_sent"] for flow in run["flows"])
    lost = sum(link["data_drops"] + link["ack_drops"] + link["queue_drops"] for link in run["links"])
    return lost / sent if sent else None


def _relayed(counting: Counting) -> Take:
    """Data transmissions of all nodes over those of the source, a hop of the way."""

    def take(run: RunResult) -> float | None:
        flow = run["flows"][0]
        key = "attempts" if counting == "attempts" else "packets"
        counts = {node["node"]: node["data"][key] for node in flow["load"]}  # type: ignore[literal-required]
        source = counts.get(flow["from"], 0)
        return sum(counts.values()) / (source * flow["hops"]) if source and flow["hops"] else None

    return take


def _queued(flow: int) -> Quantity:
    """Data packets of one of the flows that wait at its source, mean over time."""

    def take(run: RunResult) -> float | None:
        if flow >= len(run["flows"]):
            return None
        source, name = run["flows"][flow]["from"], run["flows"][flow]["id"]
        rows = (row["flows"] for row in run.get("queues", []) if row["node"] == source)
        return next((of_flow["data_mean"] for row in rows for of_flow in row if of_flow["id"] == name), None)

    return Quantity(f"queued_{flow + 1}", f"packets of flow {flow + 1} in its source's queue", "", take, decimals=2)


def _ack_part(run: RunResult) -> float | None:
    load = of_run(run)
    return load.ack / load.data if load.data else None


NET_LOAD = Quantity("net_load", "load on the air", "kbit/s", lambda run: of_run(run).net, 1e-3, 0)
DATA_LOAD = Quantity("data_load", "load on the air, data", "kbit/s", lambda run: of_run(run).data, 1e-3, 0)
ACK_PART = Quantity("ack_part", "load of acknowledgements over that of data", "", _ack_part, decimals=3)
LOST = Quantity("lost", "TCP packets lost for each segment sent", "%", _lost, factor=100.0, decimals=2)
RELAYED = Quantity("relayed", "attempts of all nodes a hop, over the source's", "", _relayed("attempts"), decimals=3)
RELAYED_ONCE = Quantity(
    "relayed_once", "packets of all nodes a hop, over the source's", "", _relayed("once"), decimals=3
)
QUEUED = tuple(map(_queued, range(3)))
"""Of the three flows of Tables 2 and 3."""


# Shares of what flows would get alone.

Number = Callable[[Sequence[float], Sequence[float]], float | None]
"""Of the goodputs of a run and those that would be ideal."""
Alone = Callable[[str], Sequence[str]]
"""The points at which the flows of a point run alone, in the order of the flows; one for all if they are alike."""


def unfairness(actual: Sequence[float], ideal: Sequence[float]) -> float | None:
    """u; None where nothing would be ideal."""
    whole = math.sqrt(math.fsum(x * x for x in ideal))
    return math.sqrt(math.fsum((x - y) ** 2 for x, y in zip(actual, ideal, strict=True))) / whole if whole else None


def ratios(actual: Sequence[float], ideal: Sequence[float]) -> list[float]:
    """X_act / X_opt."""
    return [x / y for x, y in zip(actual, ideal, strict=True) if y]


def mean_ratio(actual: Sequence[float], ideal: Sequence[float]) -> float | None:
    """The mean of X_act / X_opt, m."""
    found = ratios(actual, ideal)
    return math.fsum(found) / len(found) if found else None


def spread(actual: Sequence[float], ideal: Sequence[float]) -> float | None:
    """The population's standard deviation of X_act / X_opt, s."""
    found, middle = ratios(actual, ideal), mean_ratio(actual, ideal)
    return None if middle is None else math.sqrt(math.fsum((x - middle) ** 2 for x in found) / len(found))


def least_ratio(actual: Sequence[float], ideal: Sequence[float]) -> float | None:
    """The flow that got least of what it should."""
    return min(ratios(actual, ideal), default=None)


def part_captured(actual: Sequence[float], ideal: Sequence[float]) -> float | None:
    """The part of the flows with a twentieth of what they should get, or less."""
    found = ratios(actual, ideal)
    return sum(ratio <= 0.05 for ratio in found) / len(found) if found else None


def ratio_of(flow: int) -> Number:
    """X_act / X_opt of one flow."""
    return lambda actual, ideal: actual[flow] / ideal[flow] if ideal[flow] else None


def advantage(actual: Sequence[float], ideal: Sequence[float]) -> float | None:
    """X_act / X_opt of the last flow less that of the first."""
    last, first = ratio_of(-1)(actual, ideal), ratio_of(0)(actual, ideal)
    return None if last is None or first is None else last - first


def excess_of(flow: int) -> Number:
    """X_act less X_opt of one flow, bit/s."""
    return lambda actual, ideal: actual[flow] - ideal[flow]


def of_alone(actual: Sequence[float], ideal: Sequence[float]) -> float | None:
    """The total over the mean of what the flows get alone."""
    return math.fsum(actual) / math.fsum(ideal) if any(ideal) else None


def least_of_tcp(actual: Sequence[float], ideal: Sequence[float]) -> float | None:
    """As :func:`least_ratio`, of the flows that are TCP's: all but the first two."""
    return least_ratio(actual[2:], ideal[2:])


_UNTHROTTLED = "newreno"
"""What runs alone: unthrottled, one queue."""


def same_length(label: str) -> tuple[str, ...]:
    """Flows of equal length, ``3 hops, 5 flows``: each would get alone what the others would."""
    return (f"{label.split(',', maxsplit=1)[0]}, alone",)


def each_of_three(label: str) -> tuple[str, ...]:
    """The flows of 1, 2 and 3 hops from one node, each alone with the same configuration."""
    return tuple(f"{label}, TCP{flow} alone" for flow in (1, 2, 3))


def switched(label: str) -> tuple[str, ...]:
    """Flows of equal length with a switch: alone with the same switch."""
    return (f"{label}, alone",)


def three_switched(label: str) -> tuple[str, ...]:
    """The flows of 1, 2 and 3 hops with a switch: each alone with the same switch."""
    return tuple(f"{label}, alone TCP{flow}" for flow in (1, 2, 3))


_ALONE: dict[str, Alone] = {
    one.__name__: one for one in (same_length, each_of_three, switched, three_switched)
}  # fmt: skip


def _alone(words: tuple[str, ...]) -> Alone:
    """By the name of a rule, or the points themselves, one for all flows or each flow's."""
    if len(words) == 1 and words[0] in _ALONE:
        return _ALONE[words[0]]
    return lambda _: words


def shares(number: Number, scheme: str, alone: tuple[str, ...]) -> Measure:
    """A number of each run of a scheme, of what the flows got and what they would get alone: points of the study."""
    there = _alone(alone)

    def take(outcome: Outcome, condition: Condition, point: str) -> Values:
        means = [_mean_alone(outcome, condition, label) for label in there(point)]
        runs = outcome.results.get(Cell(condition, scheme, point), [])
        return [None if run is None else _number(run, means, number) for run in runs]

    return Measure((scheme,), take, beside=lambda point: [(_UNTHROTTLED, label) for label in there(point)])


def shares_less(number: Number, scheme: str, over: str, alone: tuple[str, ...]) -> Measure:
    """The number of one scheme less that of another, paired by seed."""
    ours, theirs = shares(number, scheme, alone), shares(number, over, alone)

    def take(outcome: Outcome, condition: Condition, point: str) -> Values:
        pairs = zip(ours.take(outcome, condition, point), theirs.take(outcome, condition, point), strict=False)
        return [x - y if x is not None and y is not None else None for x, y in pairs]

    return Measure((over, scheme), take, beside=ours.beside)


def _mean_alone(outcome: Outcome, condition: Condition, label: str) -> float | None:
    runs = outcome.results.get(Cell(condition, _UNTHROTTLED, label), [])
    found = [run["flows"][0]["goodput_bps"] for run in runs if run is not None]
    return math.fsum(found) / len(found) if found else None


def _number(run: RunResult, alone: Sequence[float | None], number: Number) -> float | None:
    actual = [flow["goodput_bps"] for flow in run["flows"]]
    each = [*alone] * len(actual) if len(alone) == 1 else alone
    known = [value for value in each if value is not None]
    if len(known) != len(actual):
        return None
    return number(actual, [value / len(actual) for value in known])


def part_of_means(of: Measure, points: tuple[str, ...], holds: str) -> Measure:
    """The part of the points at which something is true of the mean over the seeds: one number of them all."""
    asked = condition(holds)
    assert asked is not None, holds

    def take(outcome: Outcome, condition: Condition, _: str) -> Values:
        labels = [point.label for point in outcome.study.points(outcome.effort) if point.label in points]
        columns = [of.take(outcome, condition, label) for label in labels]
        rows = [[value for value in row if value is not None] for row in zip(*columns, strict=False)]

        def true_of(some: Sequence[Sequence[float]]) -> float | None:
            means = [math.fsum(column) / len(some) for column in zip(*some, strict=True)]
            return sum(map(asked, means)) / len(means) if means else None

        return by_seed([row for row in rows if row and len(row) == len(labels)], true_of)

    return Measure(of.schemes, take, along=points, once=True, beside=of.beside)


def _farthest(rows: Rows) -> float:
    return max(abs(math.fsum(column)) / len(rows) for column in zip(*rows, strict=True))


def farthest_flow(scheme: str, alone: tuple[str, ...], points: tuple[str, ...]) -> Measure:
    """How far the flow whose mean over the seeds lies farthest from its ideal does so, of all points, bit/s.

    It is one number of all seeds, so each seed has the pseudo-value of the jackknife.
    """

    def take(outcome: Outcome, condition: Condition, _: str) -> Values:
        labels = [point.label for point in outcome.study.points(outcome.effort) if point.label in points]
        measures = [(label, shares(excess_of(k), scheme, alone)) for label in labels for k in range(flows_of(label))]
        columns = [measure.take(outcome, condition, label) for label, measure in measures]
        rows = [[value for value in row if value is not None] for row in zip(*columns, strict=False)]
        return pseudo_values([row for row in rows if len(row) == len(columns)], _farthest)

    return Measure((scheme,), take, along=points, once=True, beside=shares(excess_of(0), scheme, alone).beside)


def flows_of(label: str) -> int:
    """Of ``3 hops, 5 flows``."""
    return int(label.split(", ")[1].split(maxsplit=1)[0])


# Comparisons of two numbers.


def of_the_better(a: float, b: float) -> float | None:
    """The first as a part of the greater of both."""
    return a / max(a, b) if max(a, b) else None


def against_half(a: float, b: float) -> float | None:
    """How much more the first is than half the second."""
    return 2 * a / b - 1 if b else None


def steepness(high: float, low: float) -> float | None:
    """D ln L / d ln alpha around alpha = 1, by loads at 1.05 and 0.95."""
    return math.log(high / low) / math.log(1.05 / 0.95) if high > 0 and low > 0 else None


# The tables that ship with the engine (``meshpace calibrate throttle``): critical loads and correction factors.

SEGMENT = 600
"""Of the paper's networks."""

Row = dict[str, float]


def _rows(text: str) -> list[Row]:
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return [{name: float(cell) for name, cell in row.items()} for row in csv.DictReader(lines)]


@functools.cache
def _tables() -> tuple[dict[int, Row], dict[tuple[int, int, int], Row]]:
    critical_loads, factors = map(_rows, engine.throttle_tables())
    loads = {int(row["hops"]): row for row in critical_loads if row["segment"] == SEGMENT}
    return loads, {(int(row["hops"]), int(row["flows"]), int(row["segment"])): row for row in factors}


def critical(hops: int) -> int:
    """L_TCP_crit of that path length, bit/s."""
    return int(_tables()[0][hops]["data_bps"])


def segments() -> tuple[int, ...]:
    """The segments of the factors that ship."""
    return tuple(sorted({segment for _, _, segment in _tables()[1]}))


def alpha(hops: int, flows: int, segment: int = SEGMENT) -> float:
    """The load correction factor of so many flows of that path length."""
    return _tables()[1][hops, flows, segment]["alpha"]


def load_ratio(hops: int, flows: int, segment: int = SEGMENT) -> float:
    """Their load with that factor over the critical one, on the seeds of the calibration."""
    return _tables()[1][hops, flows, segment]["load_ratio"]


Curve = Callable[[float], float]


def determination(actual: Sequence[float], fitted: Sequence[float]) -> float:
    """R^2: how much of the variance a fit explains."""
    middle = math.fsum(actual) / len(actual)
    rest = math.fsum((x - y) ** 2 for x, y in zip(actual, fitted, strict=True))
    return 1 - rest / math.fsum((x - middle) ** 2 for x in actual)


def exponential(places: Sequence[float], values: Sequence[float]) -> list[float]:
    """1 + a exp(-b n) with least squares: of each b the best a, and of the b the best of a fine grid."""
    return _best(values, [[math.exp(-b * n) for n in places] for b in (k / 1000 for k in range(1, 3001))])


def hyperbola(places: Sequence[float], values: Sequence[float]) -> list[float]:
    """1 + a / n with least squares."""
    return _best(values, [[1 / n for n in places]])


def line(places: Sequence[float], values: Sequence[float]) -> list[float]:
    """A straight line with least squares."""
    x, y = math.fsum(places) / len(places), math.fsum(values) / len(values)
    slope = math.fsum((p - x) * (v - y) for p, v in zip(places, values, strict=True))
    slope /= math.fsum((p - x) ** 2 for p in places)
    return [y + slope * (p - x) for p in places]


def _best(values: Sequence[float], shapes: Sequence[Sequence[float]]) -> list[float]:
    def fit(shape: Sequence[float]) -> list[float]:
        a = math.fsum(s * (v - 1) for s, v in zip(shape, values, strict=True)) / math.fsum(s * s for s in shape)
        return [1 + a * s for s in shape]

    return max(map(fit, shapes), key=lambda fitted: determination(values, fitted))


FLOWS = tuple(range(2, 10))
"""Flows side by side, in the tables of factors."""


def _factors(hops: int, segment: int) -> list[float]:
    return [alpha(hops, n, segment) for n in FLOWS]


def _law(hops: int, segment: int, fit: Callable[[Sequence[float], Sequence[float]], list[float]]) -> float:
    return determination(_factors(hops, segment), fit(FLOWS, _factors(hops, segment)))


def _others() -> list[tuple[int, int]]:
    """Path lengths and segments beside those of Fig. 8."""
    return [(h, segment) for segment in segments() for h in (3, 6, 9) if (h, segment) != (3, SEGMENT)]


def of_table(table: str, scheme: str, here: str, hops: int = 3, segment: int = SEGMENT) -> Measure:
    """A number of the shipped tables, which no run changes; ``table`` is one of the names below."""
    take: dict[str, Callable[[], float]] = {
        "least factor": lambda: min(_factors(hops, segment)),
        "last less first factor": lambda: _factors(hops, segment)[-1] - _factors(hops, segment)[0],
        "fit of an exponential": lambda: _law(hops, segment, exponential),
        "fit of an exponential less others": lambda: (
            _law(hops, segment, exponential) - max(_law(hops, segment, hyperbola), _law(hops, segment, line))
        ),
        "farthest load": lambda: max(abs(load_ratio(hops, n) - 1) for n in FLOWS),
        "largest difference": lambda: max(
            abs(alpha(h, n, size) / alpha(3, n) - 1) for h, size in _others() for n in FLOWS
        ),
    }
    value = functools.cache(take[table])

    def by_seed(outcome: Outcome, condition: Condition, _: str) -> Values:
        return [value()] * len(outcome.results.get(Cell(condition, scheme, here), []))

    return Measure((scheme,), by_seed, along=(here,), once=True)
