"""What Osipov and Tschudin 2005 state of flows side by side that are throttled: Figs. 8, 9 and 11."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from meshpace.experiments.throttle.figures import FLOWS_OF_STRIPS, lone, parallel
from meshpace.experiments.throttle.measures import (
    STRIPS,
    against,
    at_least,
    at_most,
    constant,
    contrast,
    farthest_flow,
    flows_of,
    is_strip,
    mean,
    over_points,
    relative,
    width,
)
from meshpace.experiments.throttle.quantities import NET_LOAD
from meshpace.experiments.throttle.shares import least_ratio, mean_ratio, of_alone, spread, unfairness
from meshpace.experiments.throttle.sources import GENTLE, SPACED, STEEP, UNIT, otherwise
from meshpace.experiments.throttle.strip import HOPS
from meshpace.experiments.throttle.study import PAPER
from meshpace.experiments.throttle.tables import (
    SEGMENT,
    alpha,
    determination,
    exponential,
    hyperbola,
    line,
    load_ratio,
    segments,
)
from meshpace.study.claims import Ask, Claim, Role
from meshpace.study.measures import Measure, gain, of
from meshpace.study.quantities import GOODPUT
from meshpace.study.rules import Rule, Show, about, order, trend
from meshpace.study.words import difference, kilobits, number, percent
from meshpace.study.words import share as proportion
from meshpace.words import in_hops

_ALPHA, _THREE, _FAMILY = ("throttle-alpha",), ("throttle-three-hops",), ("throttle-family",)
_N = tuple(parallel(3, n) for n in FLOWS_OF_STRIPS)
_EVERY = tuple(parallel(h, n) for h in HOPS for n in FLOWS_OF_STRIPS)


def _claim(identity: str, figure: str, statement: str, printed: str, *asks: Ask, value: float | None = None) -> Claim:
    return Claim(f"throttle {identity}", statement, figure, f"{PAPER}, {figure}", printed, asks, value)


# Fig. 8.

_NET = of(NET_LOAD, "throttle")
_OVER_CRITICAL = against(_NET, of(NET_LOAD, "newreno"), lambda _: lone(3), relative)


def _steepness(flows: int) -> Measure:
    """D ln L / d ln alpha around alpha = 1."""
    step = math.log(1.05 / 0.95)
    return contrast(
        _NET,
        otherwise(flows, STEEP),
        _NET,
        otherwise(flows, GENTLE),
        lambda high, low: math.log(high / low) / step if high > 0 and low > 0 else None,
    )


def _table(hops: int, segment: int = SEGMENT) -> list[float]:
    return [alpha(hops, n, segment) for n in FLOWS_OF_STRIPS]


def _law(hops: int, segment: int, fit: Callable[[Sequence[float], Sequence[float]], list[float]]) -> float:
    return determination(_table(hops, segment), fit(FLOWS_OF_STRIPS, _table(hops, segment)))


def _where(hops: int, segment: int) -> str:
    return f"{in_hops(hops)}" if segment == SEGMENT else f"{in_hops(hops)}, {segment:,} B"


def _of_table(value: float, rule: Rule, what: str, show: Show = number) -> Ask:
    """Of the shipped table: no run changes it."""
    return Ask(constant(value, "throttle", _N[0]), rule, show, what, _ALPHA)


def _exponential(hops: int, segment: int = SEGMENT) -> tuple[Ask, ...]:
    r = _law(hops, segment, exponential)
    others = max(_law(hops, segment, hyperbola), _law(hops, segment, line))
    where = _where(hops, segment)
    return (
        _of_table(r, at_least(0.9), f"R^2 of an exponential fall to 1, {where}"),
        _of_table(r - others, at_least(0.0), f"R^2 less that of 1 + a/N and of a line, {where}", difference),
    )


def _fall(hops: int, segment: int = SEGMENT) -> Ask:
    factors, where = _table(hops, segment), _where(hops, segment)
    return _of_table(
        factors[-1] - factors[0], trend(0.0, rises=False), f"alpha of 9 flows less of 2, {where}", difference
    )


_OTHERS = tuple((h, segment) for segment in segments() for h in (3, 6, 9) if (h, segment) != (3, SEGMENT))
"""Path lengths and segments beside those of Fig. 8."""


_FIG_8 = (
    _claim(
        "8.1",
        "Fig. 8",
        "With alpha = 1 the load is below the critical one for every N.",
        "below",
        Ask(
            _OVER_CRITICAL,
            order(rises=False),
            percent,
            "Load against the critical one",
            _ALPHA,
            tuple(otherwise(n, UNIT) for n in FLOWS_OF_STRIPS),
        ),
        Ask(
            _OVER_CRITICAL,
            at_most(0.0),
            percent,
            "The same with gates by spacing (8.8)",
            _ALPHA,
            tuple(otherwise(n, SPACED) for n in FLOWS_OF_STRIPS),
            role=Role.BESIDE,
        ),
    ),
    _claim(
        "8.2",
        "Fig. 8",
        "alpha is 1 at the least for every N.",
        "at least 1",
        _of_table(min(_table(3)), at_least(1.0), "Smallest alpha of 2 to 9 flows of 3 hops"),
    ),
    _claim(
        "8.3",
        "Fig. 8",
        "alpha falls as N grows.",
        "falls",
        _fall(3),
    ),
    _claim("8.4", "Fig. 8", "The fall is exponential in the number of nodes.", "exponential", *_exponential(3)),
    _claim(
        "8.5",
        "Fig. 8",
        "With the calibrated alpha the load is within 1 % of the critical one for every N.",
        "1 %",
        _of_table(
            max(abs(load_ratio(3, n) - 1) for n in FLOWS_OF_STRIPS),
            at_most(0.01),
            "Farthest load from the critical one, on the seeds of the calibration",
            proportion,
        ),
        Ask(_OVER_CRITICAL, about(-0.01, 0.01), percent, "On other seeds", _ALPHA, _N, role=Role.BESIDE),
    ),
    _claim(
        "8.6",
        "Fig. 8",
        "Longer paths and other segments follow the same law with other values of alpha.",
        "the same law",
        *(ask for place in _OTHERS for ask in (_fall(*place), *_exponential(*place))),
        _of_table(
            max(abs(alpha(h, n, segment) / alpha(3, n) - 1) for h, segment in _OTHERS for n in FLOWS_OF_STRIPS),
            at_least(0.02),
            "Largest difference from alpha of 3 hops and 600 bytes",
            proportion,
        ),
    ),
    _claim(
        "8.7",
        "Fig. 8",
        "At high density a small raise of alpha adds more load than at low density.",
        "more",
        Ask(
            contrast(_steepness(9), otherwise(9, STEEP), _steepness(2), otherwise(2, STEEP)),
            order(),
            difference,
            "d ln L / d ln alpha of 9 flows less that of 2",
            _ALPHA,
            (otherwise(9, STEEP),),
        ),
    ),
)

# Figs. 9 and 11.

_SCHEMES = (("newreno", "plain"), ("throttle", "throttled"))
_U = {scheme: STRIPS.of(unfairness, scheme) for scheme, _ in _SCHEMES}
_S = {scheme: STRIPS.of(spread, scheme) for scheme, _ in _SCHEMES}
_TOTAL = {scheme: STRIPS.of(of_alone, scheme) for scheme, _ in _SCHEMES}
_LESS_UNFAIR = STRIPS.difference(unfairness, "throttle", "newreno")


_FIG_9 = (
    _claim(
        "9.1",
        "Fig. 9",
        "The total of several flows stays below the single flow's, plain and throttled.",
        "below",
        *(
            Ask(_TOTAL[scheme], at_most(1.01), proportion, f"Total over one flow's, {what}", _THREE, _N)
            for scheme, what in _SCHEMES
        ),
    ),
    _claim(
        "9.2",
        "Fig. 9",
        "The throttled total is close to the ideal.",
        "close",
        Ask(_TOTAL["throttle"], at_least(0.97), proportion, "Total over one flow's", _THREE, _N),
    ),
    _claim(
        "9.3",
        "Fig. 9",
        "Throttling raises the total against plain TCP.",
        "higher",
        Ask(gain(GOODPUT, "throttle", "newreno"), order(), percent, "Total against plain", _THREE, _N),
    ),
    _claim(
        "9.4",
        "Fig. 9",
        "Throttling lowers the unfairness against plain TCP.",
        "lower",
        Ask(_LESS_UNFAIR, order(rises=False), difference, "u less plain's", _THREE, _N),
        *(
            Ask(STRIPS.of(take, scheme), at_least(0.0), number, f"{name}, {what}", _THREE, _N, role=Role.BESIDE)
            for take, name in ((mean_ratio, "m"), (spread, "s"))
            for scheme, what in _SCHEMES
        ),
    ),
    _claim(
        "9.5",
        "Fig. 9",
        "No throttled flow is farther than 1.5 kbit/s from its ideal.",
        "±1.5 kbit/s",
        Ask(
            farthest_flow(STRIPS, "throttle", is_strip, flows_of),
            Rule("VALUE", high=2000.0, neutral=5000.0),
            kilobits,
            "Farthest mean of a flow from its ideal",
            _THREE,
        ),
        value=1500.0,
    ),
    _claim(
        "9.6",
        "Fig. 9",
        "Throttled flows of three hops have a mean unfairness of 0.0095.",
        "0.0095",
        Ask(
            over_points(_U["throttle"], is_strip, mean),
            Rule("VALUE", high=0.0195, neutral=0.05),
            number,
            "Mean of u over N",
            _THREE,
        ),
        value=0.0095,
    ),
    _claim(
        "9.7",
        "Fig. 9",
        "Fairness is almost perfect in every network considered.",
        "almost perfect",
        Ask(_U["throttle"], at_most(0.03), number, "u", _THREE, _N),
        Ask(_S["throttle"], at_most(0.03), number, "s", _THREE, _N),
    ),
    _claim(
        "9.8",
        "Fig. 9",
        "Throttled networks behave alike over N, plain ones do not.",
        "homogeneous",
        Ask(
            over_points(_U["throttle"], is_strip, width), at_most(0.02), number, "Range of u over N, throttled", _THREE
        ),
        Ask(
            contrast(
                over_points(_U["newreno"], is_strip, width), _N[0], over_points(_U["throttle"], is_strip, width), _N[0]
            ),
            order(),
            difference,
            "Range of u, plain less throttled",
            _THREE,
        ),
    ),
)

_FIG_11 = (
    _claim(
        "11.1",
        "Fig. 11",
        "With throttling unfairness virtually vanishes over the family.",
        "virtually zero",
        Ask(
            over_points(_U["throttle"], is_strip, mean),
            Rule("BOUND", high=0.02, neutral=0.05),
            number,
            "Mean of u over the family",
            _FAMILY,
        ),
        Ask(_U["throttle"], at_most(0.05), number, "u", _FAMILY, _EVERY, role=Role.GUARD),
        Ask(_S["throttle"], at_most(0.05), number, "s", _FAMILY, _EVERY, role=Role.BESIDE),
    ),
    _claim(
        "11.2",
        "Fig. 11",
        "Throttling lowers the unfairness at every point of the family.",
        "lower",
        Ask(_LESS_UNFAIR, order(rises=False), difference, "u less plain's", _FAMILY, _EVERY),
    ),
    _claim(
        "11.3",
        "Fig. 11",
        "No throttled flow is captured.",
        "none",
        Ask(STRIPS.of(least_ratio, "throttle"), at_least(0.8), number, "Least part of its ideal", _FAMILY, _EVERY),
    ),
    _claim(
        "11.4",
        "Fig. 11",
        "Fairness is not bought with throughput.",
        "good utilisation",
        Ask(gain(GOODPUT, "throttle", "newreno"), at_least(-0.02), percent, "Total against plain", _FAMILY, _EVERY),
        Ask(_TOTAL["throttle"], at_least(0.95), proportion, "Total over one flow's", _FAMILY, _EVERY),
    ),
)

CLAIMS: tuple[Claim, ...] = (*_FIG_8, *_FIG_9, *_FIG_11)
