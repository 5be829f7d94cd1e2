"""Claims of the LLAP paper about datagrams (docs/experiments/llap.md): Figs. 3, 4, 11 and 16 to 21."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from meshpace.experiments.llap.claims import DRASTIC, MORE, claim
from meshpace.experiments.llap.figures import LETTER, LLAP
from meshpace.experiments.llap.quantities import (
    DELAY_STD,
    FIRST_DELAY,
    FIRST_DELAY_STD,
    MISSED,
    MISSED_ALL,
    OFFERED_DELIVERED,
    WAIT_AT_SOURCE,
)
from meshpace.experiments.llap.udp import NONE, SIZES, chain_study, load_study, self_similar_study
from meshpace.experiments.throttle.measures import at_least, at_most
from meshpace.stats import Estimate
from meshpace.study.claims import Ask, Claim, Role
from meshpace.study.measures import Measure, change_along, difference, gain, greatest, of, over_axis
from meshpace.study.quantities import DELAY, GOODPUT, flow_goodput
from meshpace.study.rules import NO_GAIN, Rule, Show, equality, order
from meshpace.study.words import count, percent, share

CHAINS = tuple(map(chain_study, SIZES))
OFF, ON = (tuple(load_study(rts, size) for size in SIZES) for rts in ("off", "on"))
LEVEL, CONSTANT = equality(-0.10, 0.10), at_most(0.05)
"""The catalogue's "comparable, level" and "constant"."""
FEWER = order(NO_GAIN, rises=False)
NEVER_ABOVE = Rule("BOUND", high=NO_GAIN)
often: Callable[[Estimate], str] = partial(count, factor=1e3, unit=" per 1,000 s and node")

Curve = Sequence[float]


def peak(goodput: Curve) -> float:
    """The most that arrives, kbit/s, as loads are counted: the knee of an ideal curve."""
    return max(goodput) / 1000


def fall(_: Curve, goodput: Curve) -> float | None:
    """From the peak to the greatest load, as a part of the peak."""
    return 1 - goodput[-1] / max(goodput) if max(goodput) else None


def linear(loads: Curve, goodput: Curve, delivered: Curve) -> float | None:
    """The least part that is delivered at loads up to 0.8 of the peak."""
    low = (part for load, part in zip(loads, delivered, strict=True) if load <= 0.8 * peak(goodput))
    return min(low, default=None)


def least_gain(loads: Curve, theirs: Curve, ours: Curve) -> float | None:
    """The least relative difference at loads above what the first curve carries at most."""
    pairs = [(a, b) for load, a, b in zip(loads, theirs, ours, strict=True) if load > peak(theirs)]
    return min((b / a - 1 for a, b in pairs if a), default=None)


def spread_above(loads: Curve, goodput: Curve) -> float | None:
    """(max - min) / max at loads above the peak."""
    above = [value for load, value in zip(loads, goodput, strict=True) if load > peak(goodput)]
    top = max(above, default=0.0)
    return (top - min(above)) / top if top else None


def at_the_knee(_: Curve, theirs: Curve, ours: Curve) -> float | None:
    """The second curve where the first has its peak, over that peak."""
    best = max(theirs)
    return ours[list(theirs).index(best)] / best if best else None


def saturated(_: Curve, theirs: Curve, ours: Curve) -> float | None:
    """The second curve at the greatest load against the first one's peak."""
    return ours[-1] / max(theirs) - 1 if max(theirs) else None


def _low(loads: Curve, goodput: Curve) -> list[int]:
    """Places of loads at which packets come slower than the four-hop delay, with room."""
    return [place for place, load in enumerate(loads) if load <= 0.7 * peak(goodput)]


def spread_below(loads: Curve, goodput: Curve, delay: Curve) -> float | None:
    """(max - min) / max of a delay at loads up to 0.7 of the peak."""
    values = [delay[place] for place in _low(loads, goodput)]
    top = max(values, default=0.0)
    return (top - min(values)) / top if top else None


def strays_below(loads: Curve, goodput: Curve, theirs: Curve, ours: Curve) -> float | None:
    """The relative difference of two delays that is farthest from none, at loads up to 0.7 of the peak."""
    found = (ours[place] / theirs[place] - 1 for place in _low(loads, goodput) if theirs[place])
    return max(found, key=abs, default=None)


def most_above(loads: Curve, goodput: Curve, theirs: Curve, ours: Curve) -> float | None:
    """The greatest relative difference at loads above the peak."""
    pairs = zip(loads, theirs, ours, strict=True)
    return max((b / a - 1 for load, a, b in pairs if load > peak(goodput) and a), default=None)


def last_two(loads: Curve, delay: Curve) -> float | None:
    """The delay at 3,000 kbit/s against that at 2,000."""
    there = delay[list(loads).index(2000.0)]
    return delay[-1] / there - 1 if there else None


def both(
    studies: tuple[str, ...],
    measure: Callable[[str], Measure],
    rule: Rule,
    show: Show,
    what: str,
    points: tuple[str, ...] | None = None,
    unit: str = "",
) -> tuple[Ask, Ask]:
    """What is asked of LLAP, and beside it of Algorithm 1 to the letter."""
    return (
        Ask(measure(LLAP), rule, show, what, studies, points, unit),
        Ask(measure(LETTER), rule, show, f"{what}, Algorithm 1 to the letter", studies, points, unit, role=Role.BESIDE),
    )


_FALL = over_axis(fall, of(GOODPUT, NONE))
_LINEAR = over_axis(linear, of(GOODPUT, NONE), of(OFFERED_DELIVERED, NONE))


def _linear(number: str, figure: str, studies: tuple[str, ...], what: str) -> Claim:
    ask = Ask(_LINEAR, at_least(0.98), share, "Least part delivered up to 0.8 of the peak", studies)
    return claim(number, f"At low load the throughput is linear, RTS/CTS {what}.", figure, "linear", ask)


_LOAD = (
    _linear("F3.1", "Fig. 3", OFF, "off"),
    claim(
        "F3.2",
        "Beyond capacity the throughput falls significantly, RTS/CTS off.",
        "Fig. 3",
        "significantly",
        Ask(_FALL, Rule("MUCH", low=0.10, neutral=0.0, margin=NO_GAIN), percent, "Fall from the peak", OFF),
    ),
    _linear("F4.1", "Fig. 4", ON, "on"),
    claim(
        "F4.2",
        "Beyond capacity the throughput falls drastically, RTS/CTS on.",
        "Fig. 4",
        "drastically",
        Ask(_FALL, Rule("MUCH", low=0.25, neutral=0.0, margin=NO_GAIN), percent, "Fall from the peak", ON),
    ),
    claim(
        "F4.3",
        "RTS/CTS cannot prevent the fall.",
        "Fig. 4",
        "falls with it, too",
        Ask(_FALL, Rule("ORDER", low=0.05), percent, "Fall from the peak, RTS/CTS on", ON),
        Ask(_FALL, Rule("ORDER", low=0.05), percent, "RTS/CTS off", OFF, role=Role.BESIDE),
    ),
)

_CHAIN = (
    claim(
        "F16.1",
        "Up to the knee the throughput is linear, with LLAP and without.",
        "Fig. 16",
        "linear",
        Ask(_LINEAR, at_least(0.98), share, "Least part delivered up to 0.8 of the peak, without LLAP", CHAINS),
        *both(
            CHAINS,
            lambda scheme: over_axis(linear, of(GOODPUT, NONE), of(OFFERED_DELIVERED, scheme)),
            at_least(0.98),
            share,
            "With LLAP",
        ),
    ),
    claim(
        "F16.2",
        "Beyond it the throughput falls without LLAP.",
        "Fig. 16",
        "falls",
        Ask(_FALL, DRASTIC, percent, "Fall from the peak", CHAINS),
    ),
    claim(
        "F16.3",
        "Beyond it the throughput stays constant with LLAP.",
        "Fig. 16",
        "constant",
        *both(
            CHAINS,
            lambda scheme: over_axis(spread_above, of(GOODPUT, scheme)),
            CONSTANT,
            share,
            "(Max - min) / max above the knee",
        ),
    ),
    claim(
        "F16.4",
        "At every load above the knee LLAP delivers more.",
        "Fig. 16",
        "more",
        *both(
            CHAINS,
            lambda scheme: over_axis(least_gain, of(GOODPUT, NONE), of(GOODPUT, scheme)),
            MORE,
            percent,
            "Least gain above the knee",
        ),
    ),
    claim(
        "F17.1",
        "As long as packets come slower than the four-hop delay, delay does not change with load and LLAP adds none.",
        "Fig. 17",
        "level",
        Ask(
            over_axis(spread_below, of(GOODPUT, NONE), of(DELAY, NONE)),
            CONSTANT,
            share,
            "(Max - min) / max of the delay up to 0.7 of the peak, without LLAP",
            CHAINS,
        ),
        *both(
            CHAINS,
            lambda scheme: over_axis(strays_below, of(GOODPUT, NONE), of(DELAY, NONE), of(DELAY, scheme)),
            LEVEL,
            percent,
            "LLAP against none there, where it differs most",
        ),
    ),
    claim(
        "F17.2",
        "Then delay grows and saturates.",
        "Fig. 17",
        "saturates",
        Ask(over_axis(last_two, of(DELAY, NONE)), LEVEL, percent, "3,000 against 2,000 kbit/s, without LLAP", CHAINS),
        *both(CHAINS, lambda scheme: over_axis(last_two, of(DELAY, scheme)), LEVEL, percent, "With LLAP"),
    ),
    claim(
        "F17.3",
        "LLAP's mean delay is never above that without it.",
        "Fig. 17",
        "below",
        *both(CHAINS, lambda scheme: gain(DELAY, scheme), NEVER_ABOVE, percent, "Delay against none", None, " kbit/s"),
        cause="llap-switches-cbr",
    ),
    claim(
        "F17.4",
        "With LLAP packets wait at the ingress; without, also in the path.",
        "Fig. 17",
        "at the ingress",
        *both(
            CHAINS,
            lambda scheme: of(WAIT_AT_SOURCE, scheme),
            at_least(0.8),
            share,
            "Part of the delay that packets wait at node 0",
            ("3000",),
            " kbit/s",
        ),
        *both(
            CHAINS,
            lambda scheme: difference(WAIT_AT_SOURCE, scheme, NONE),
            order(NO_GAIN),
            percent,
            "The same less that without LLAP",
            ("3000",),
            " kbit/s",
        ),
    ),
    claim(
        "F18.1",
        "Above the knee LLAP's delay deviates less.",
        "Fig. 18",
        "less",
        *both(
            CHAINS,
            lambda scheme: over_axis(most_above, of(GOODPUT, NONE), of(DELAY_STD, NONE), of(DELAY_STD, scheme)),
            FEWER,
            percent,
            "Standard deviation against none, at the load where it is worst",
        ),
    ),
)

_CONGESTION = ("llap-cbr-congestion",)
_BESIDE_RATE = ("llap-cbr-congestion-300",)
_SECOND = flow_goodput(1)


def _congestion(number: str, figure: str, statement: str, quantity: object, what: str) -> Claim:
    def measure(scheme: str) -> Measure:
        return gain(quantity, scheme)  # type: ignore[arg-type]

    return claim(
        number,
        statement,
        figure,
        "lower",
        *both(_CONGESTION, measure, FEWER, percent, what, None, " kbit/s"),
        Ask(measure(LLAP), FEWER, percent, "Flow 1 at 300 kbit/s", _BESIDE_RATE, None, " kbit/s", role=Role.BESIDE),
        Ask(
            gain(_SECOND, LLAP),
            FEWER,
            percent,
            "Throughput of flow 2 against none",
            _CONGESTION,
            ("250", "1000", "2000"),
            " kbit/s",
            role=Role.BESIDE,
        ),
    )


_BESIDE = (
    _congestion("F19.1", "Fig. 19", "Beside flow 2 flow 1's delay is lower with LLAP.", FIRST_DELAY, "Delay of flow 1"),
    _congestion(
        "F20.1", "Fig. 20", "And so is its standard deviation.", FIRST_DELAY_STD, "Standard deviation of flow 1's delay"
    ),
)

_SELF_SIMILAR = tuple(map(self_similar_study, SIZES))
_BURSTS = (
    claim(
        "F21.1",
        "LLAP raises the throughput of self-similar traffic as the load grows.",
        "Fig. 21",
        "higher",
        *both(
            _SELF_SIMILAR,
            lambda scheme: over_axis(least_gain, of(GOODPUT, NONE), of(GOODPUT, scheme)),
            MORE,
            percent,
            "Least gain at loads above the most that arrives without LLAP",
        ),
        Ask(
            gain(GOODPUT, LLAP),
            Rule("BOUND", low=-NO_GAIN),
            percent,
            "Against none",
            _SELF_SIMILAR,
            None,
            " kbit/s",
            role=Role.GUARD,
        ),
    ),
)

_NONE_AT_ALL = Rule("EQUAL", high=0.0, neutral=0.01)
"""No expiry in any run; fewer than 0.01 per second and node hold in part."""
_GRID = ("llap-overhear-grid-125",)
_OVERHEARD = (
    claim(
        "F11.1",
        "On a chain the overhear timer never expires.",
        "section 6.2",
        "never",
        *both(
            ("llap-overhear-chain",),
            lambda scheme: greatest(of(MISSED, scheme)),
            _NONE_AT_ALL,
            often,
            "Expiries, in the run with the most",
            None,
            " kbit/s",
        ),
        Ask(
            of(MISSED_ALL, LLAP),
            at_most(0.0),
            count,
            "In a whole run",
            ("llap-overhear-chain",),
            None,
            " kbit/s",
            role=Role.BESIDE,
        ),
    ),
    claim(
        "F11.2",
        "On the grid it expires less than once a second and node.",
        "Fig. 11",
        "< 1",
        *both(
            _GRID,
            lambda scheme: of(MISSED, scheme),
            at_most(1.0),
            often,
            "Expiries",
            None,
            " kbit/s",
        ),
        Ask(
            change_along(of(MISSED, LLAP)),
            order(),
            often,
            "From the least load to the greatest (F11.3)",
            _GRID,
            role=Role.BESIDE,
        ),
        Ask(
            of(MISSED, LLAP),
            at_most(1.0),
            often,
            "With 1,000 bytes",
            ("llap-overhear-grid-1000",),
            None,
            " kbit/s",
            role=Role.BESIDE,
        ),
    ),
)

_ORACLE = (
    Claim(
        "llap oracle-cbr",
        "A source that offers far too much delivers with LLAP what the best rate would, less 16 % at most.",
        "",
        "Not in the paper",
        "",
        both(
            CHAINS,
            lambda scheme: over_axis(saturated, of(GOODPUT, NONE), of(GOODPUT, scheme)),
            Rule("VALUE", low=-0.16),
            percent,
            "3,000 kbit/s offered with LLAP against the best offered rate without",
        ),
    ),
)

CLAIMS = (*_LOAD, *_CHAIN, *_BESIDE, *_BURSTS, *_OVERHEARD, *_ORACLE)
