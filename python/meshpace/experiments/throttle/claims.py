"""What Osipov and Tschudin 2005 state of flows alone and side by side: Figs. 5, 6 and 10 (catalogue, section 3)."""

from __future__ import annotations

from meshpace.experiments.throttle.figures import (
    FLOWS_OF_STRIPS,
    WINDOWS,
    alone,
    lone,
    parallel,
    windowed,
)
from meshpace.experiments.throttle.measures import (
    STRIPS,
    against,
    at_least,
    at_most,
    contrast,
    hops_of,
    is_strip,
    mean,
    over_points,
    part,
    part_of_means,
    relative,
)
from meshpace.experiments.throttle.quantities import ACK_PART, DATA_LOAD, LOST, NET_LOAD, RELAYED, RELAYED_ONCE
from meshpace.experiments.throttle.shares import least_ratio, mean_ratio, part_captured, spread, unfairness
from meshpace.experiments.throttle.strip import HOPS, SEGMENTS
from meshpace.experiments.throttle.study import PAPER
from meshpace.study.claims import Ask, Claim, Role
from meshpace.study.measures import Measure, of, rank_along
from meshpace.study.quantities import GOODPUT
from meshpace.study.rules import Rule, about, equality, order, trend
from meshpace.study.words import difference, number, percent
from meshpace.study.words import share as proportion

_LOAD, _DATA = "throttle-critical-load", "throttle-critical-data"
_PLAIN = "throttle-family-plain"
_WINDOWED = (4, 8)
"""Whose windows the quick plan varies, too."""
_N = tuple(parallel(3, n) for n in FLOWS_OF_STRIPS)


def _claim(identity: str, figure: str, statement: str, printed: str, *asks: Ask, value: float | None = None) -> Claim:
    return Claim(f"throttle {identity}", statement, figure, f"{PAPER}, {figure}", printed, asks, value)


def _best(hops: int) -> Measure:
    """Goodput with a window of 3h/2 over that with the best of the other windows."""
    ours = of(GOODPUT, "newreno")
    labels = tuple(windowed(hops, w) for w in WINDOWS)
    best = over_points(ours, labels.__contains__, max)
    return contrast(ours, alone(hops), best, labels[0], lambda a, b: a / max(a, b) if max(a, b) else None)


def _rank(quantity: Measure, segment: int) -> Measure:
    return rank_along(quantity, tuple(alone(h, segment) for h in HOPS))


def _rises(load: Measure, study: str) -> tuple[Ask, ...]:
    """A load is asked to rise with the path, for each of some segments."""
    return tuple(
        Ask(
            _rank(load, segment),
            trend(0.0, rises=True),
            difference,
            f"Rank correlation with hops, {segment} B",
            (study,),
            tuple(alone(h, segment) for h in HOPS),
        )
        for segment in SEGMENTS
    )


_FIG_5 = (
    _claim(
        "5.1",
        "Fig. 5",
        "A flow alone with a window of 3h/2 loses almost no packet.",
        "no packet",
        Ask(
            of(LOST, "newreno"),
            at_most(0.001),
            proportion,
            "Packets lost for each segment sent",
            (_LOAD,),
            tuple(alone(h, s) for s in SEGMENTS for h in HOPS),
        ),
    ),
    _claim(
        "5.2",
        "Fig. 5",
        "A window of 3h/2 uses the capacity fully.",
        "as much as the network can",
        *(
            Ask(
                _best(h),
                at_least(0.98),
                proportion,
                f"Of the best window's goodput over {h} hops",
                (_LOAD,),
                (windowed(h, 1),),
            )
            for h in HOPS
        ),
    ),
    _claim(
        "5.3",
        "Fig. 5",
        "A window of h/4 is no better than one of 3h/2.",
        "h/4 is refined",
        *(
            Ask(
                contrast(
                    of(GOODPUT, "newreno"), alone(h), of(GOODPUT, "newreno"), windowed(h, max(1, h // 4)), relative
                ),
                order(),
                percent,
                f"Goodput against a window of h/4 over {h} hops",
                (_LOAD,),
                (alone(h),),
            )
            for h in _WINDOWED
        ),
    ),
    _claim(
        "5.4",
        "Fig. 5",
        "The critical load rises with the path (derived).",
        "rises",
        *_rises(of(NET_LOAD, "newreno"), _LOAD),
    ),
)

_FIG_6 = (
    _claim(
        "6.1",
        "Fig. 6",
        "Longer flows have a larger critical load of data.",
        "larger",
        *_rises(of(DATA_LOAD, "newreno"), _DATA),
        *(
            Ask(
                contrast(of(DATA_LOAD, "newreno"), alone(h + 1), of(DATA_LOAD, "newreno"), alone(h), relative),
                order(),
                percent,
                f"Load over {h + 1} hops against {h}",
                (_DATA,),
                (alone(h),),
            )
            for h in (1, 2)
        ),
    ),
    _claim(
        "6.2",
        "Fig. 6",
        "Relays send as many segments as the source: the load is h times the rate (eq. 4).",
        "r h",
        *(
            Ask(of(quantity, "newreno"), about(0.98, 1.02), number, what, (_DATA,), tuple(alone(h) for h in HOPS))
            for quantity, what in ((RELAYED, "Attempts over h times the source's"), (RELAYED_ONCE, "Packets likewise"))
        ),
    ),
    _claim(
        "6.3",
        "Fig. 6",
        "The part of acknowledgements in the load is that of a flow alone, however many flows.",
        "as alone",
        Ask(
            against(of(ACK_PART, "newreno"), of(ACK_PART, "newreno"), lambda _: lone(3), relative),
            equality(-0.02, 0.02),
            percent,
            "Load of acknowledgements over data, against alone",
            (_PLAIN,),
            _N,
        ),
    ),
)

_U, _S = STRIPS.of(unfairness, "newreno"), STRIPS.of(spread, "newreno")


def _mean_spread(lengths: range, what: str) -> Ask:
    """Told beside 10.3."""
    measure = over_points(_S, lambda label: is_strip(label) and hops_of(label) in lengths, mean)
    return Ask(measure, at_least(0.0), number, f"Mean of s, {what}", (_PLAIN,), role=Role.BESIDE)


_FIG_10 = (
    _claim(
        "10.1",
        "Fig. 10",
        "Plain TCP is clearly unfair over the family.",
        "clearly",
        Ask(over_points(_U, is_strip, mean), at_least(0.2), number, "Mean of u over the family", (_PLAIN,)),
        Ask(over_points(_U, is_strip, max), at_least(0.2), number, "Largest u of the family", (_PLAIN,)),
        Ask(
            over_points(_S, is_strip, part(lambda s: s >= 0.2)),
            at_least(0.5),
            proportion,
            "Points with s of 0.2 and more",
            (_PLAIN,),
        ),
        *(
            Ask(
                over_points(STRIPS.of(number_of, "newreno"), is_strip, mean),
                at_least(0.0),
                number,
                f"Mean of {what}",
                (_PLAIN,),
                role=Role.BESIDE,
            )
            for number_of, what in ((mean_ratio, "m"), (spread, "s"))
        ),
    ),
    _claim(
        "10.2",
        "Fig. 10",
        "It is capture: some flows get next to nothing.",
        "capture",
        Ask(
            part_of_means(STRIPS.of(least_ratio, "newreno"), is_strip, lambda least: least <= 0.2),
            Rule("BOUND", low=1 / 3, neutral=0.0),
            proportion,
            "Points at which a flow gets 0.2 of its ideal and less in the mean over seeds",
            (_PLAIN,),
        ),
        Ask(
            over_points(STRIPS.of(least_ratio, "newreno"), is_strip, part(lambda least: least <= 0.2)),
            at_least(0.0),
            proportion,
            "The same run by run",
            (_PLAIN,),
            role=Role.BESIDE,
        ),
        Ask(
            over_points(STRIPS.of(part_captured, "newreno"), is_strip, mean),
            at_least(0.0),
            proportion,
            "Flows with 0.05 of their ideal and less",
            (_PLAIN,),
            role=Role.BESIDE,
        ),
    ),
    _claim(
        "10.3",
        "Fig. 10",
        "Flows of three hops and more are captured, shorter ones less.",
        "from three hops on",
        Ask(
            contrast(
                over_points(_S, lambda label: is_strip(label) and hops_of(label) >= 3, mean),
                _N[0],
                over_points(_S, lambda label: is_strip(label) and hops_of(label) < 3, mean),
                _N[0],
            ),
            order(),
            difference,
            "Mean of s, 3 hops and more less 1 and 2",
            (_PLAIN,),
        ),
        _mean_spread(range(1, 3), "1 and 2 hops"),
        _mean_spread(range(3, 5), "3 and 4 hops: nobody is hidden"),
        _mean_spread(range(5, 10), "5 hops and more: the ends are hidden"),
    ),
)

CLAIMS: tuple[Claim, ...] = (*_FIG_5, *_FIG_6, *_FIG_10)
