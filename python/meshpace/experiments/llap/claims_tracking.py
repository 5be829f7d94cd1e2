"""Claims of the LLAP paper about the estimate of the four-hop delay (docs/experiments/llap.md, Figs. 7 to 9)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from meshpace.experiments.llap.claims import beside, claim
from meshpace.experiments.llap.figures import LLAP
from meshpace.experiments.llap.tracking import (
    AFTER,
    AT_MOST_FOUR,
    BEFORE,
    CORES,
    DEPARTURES,
    DURING,
    ESTIMATE,
    FOUR_HOPS,
    RATES,
    TRUTH,
    Window,
)
from meshpace.experiments.throttle.measures import at_least
from meshpace.results import RunResult
from meshpace.stats import Estimate
from meshpace.study.claims import Ask, Claim, Role
from meshpace.study.measures import Measure, of
from meshpace.study.quantities import Quantity
from meshpace.study.rules import NO_GAIN, Rule, about, equality, order
from meshpace.study.words import number, percent, share

STUDY = "llap-fhd-tracking"
milliseconds: Callable[[Estimate], str] = partial(number, factor=1e3, decimals=2, unit=" ms")
SIX = about(0.005, 0.007)
RISES = Rule("MUCH", low=0.10, neutral=0.0, margin=NO_GAIN)
FIGURES = {str(rate): f"Fig. {7 + place}" for place, rate in enumerate(RATES)}


def change(quantity: dict[Window, Quantity], before: Window, after: Window, scheme: str) -> Measure:
    """From one window of a run to another, as a part of the first."""

    def take(run: RunResult) -> float | None:
        begin, end = (quantity[window](run) for window in (before, after))
        return end / begin - 1 if begin and end is not None else None

    return of(Quantity("change", "change", "", take), scheme)


def _of_rate(rate: str) -> tuple[Claim, Claim]:
    figure = FIGURES[rate]
    prefix = figure.removeprefix("Fig. ")
    return (
        claim(
            f"F{prefix}.2",
            f"While flow 2 sends at {rate} kbit/s the estimate at node 0 rises significantly.",
            figure,
            "rises",
            *beside(
                STUDY,
                lambda scheme: change(ESTIMATE, BEFORE, DURING, scheme),
                RISES,
                percent,
                "35 to 60 s against 10 to 30 s",
                (rate,),
            ),
            cause="llap-switches-tracking",
        ),
        claim(
            f"F{prefix}.3",
            "Then flow 1 leaves the ingress more slowly.",
            figure,
            "falls",
            *beside(
                STUDY,
                lambda scheme: change(DEPARTURES, BEFORE, DURING, scheme),
                order(NO_GAIN, rises=False),
                percent,
                "Packets a second, 35 to 60 s against 10 to 30 s",
                (rate,),
            ),
            cause="llap-switches-tracking",
        ),
    )


_CLAIMS = (
    claim(
        "F7.1",
        "Without flow 2 the estimate at node 0 is about 6 ms.",
        "Fig. 7",
        "6 ms",
        *beside(STUDY, lambda scheme: of(ESTIMATE[BEFORE], scheme), SIX, milliseconds, "10 to 30 s", None, " kbit/s"),
        value=0.006,
        cause="llap-switches-tracking",
    ),
    *(one for rate in FIGURES for one in _of_rate(rate)),
    claim(
        "F7.4",
        "Afterwards it comes down to about 6 ms again, and flow 1 sends faster.",
        "Figs. 7 to 9",
        "6 ms",
        *beside(STUDY, lambda scheme: of(ESTIMATE[AFTER], scheme), SIX, milliseconds, "70 to 90 s", None, " kbit/s"),
        *beside(
            STUDY,
            lambda scheme: change(ESTIMATE, BEFORE, AFTER, scheme),
            equality(-0.15, 0.15),
            percent,
            "70 to 90 s against 10 to 30 s",
            None,
            " kbit/s",
        ),
        *beside(
            STUDY,
            lambda scheme: change(DEPARTURES, DURING, AFTER, scheme),
            order(NO_GAIN),
            percent,
            "Packets a second, 70 to 90 s against 35 to 60 s",
            None,
            " kbit/s",
        ),
        value=0.006,
    ),
    claim(
        "F7.5",
        "Congestion anywhere in the path, here five nodes on, is seen at the ingress.",
        "Figs. 7 to 9",
        "seen",
        *beside(
            STUDY,
            lambda scheme: change(ESTIMATE, BEFORE, DURING, scheme),
            RISES,
            percent,
            "35 to 60 s against 10 to 30 s",
            None,
            " kbit/s",
        ),
        *(
            Ask(
                change(ESTIMATE, BEFORE, DURING, core),
                RISES,
                percent,
                f"Core law {core.removeprefix('llap-')}",
                (STUDY,),
                None,
                " kbit/s",
                role=Role.BESIDE,
            )
            for core in CORES
        ),
        *(
            Ask(
                of(TRUTH[window], LLAP),
                about(0.8, 1.2),
                number,
                f"Estimate over truth, {window[0]} to {window[1]} s (F7.7)",
                (STUDY,),
                None,
                " kbit/s",
                role=Role.BESIDE,
            )
            for window in (BEFORE, DURING, AFTER)
        ),
        cause="llap-switches-tracking",
    ),
    claim(
        "F7.6",
        "Uncongested, the estimate is four times the one-hop transmission delay.",
        "section 5",
        "four times",
        *beside(
            STUDY, lambda scheme: of(FOUR_HOPS, scheme), equality(-0.1, 0.1), percent, "Against 4 x access and "
            "transmission a hop, 10 to 30 s", None, " kbit/s",
        ),
    ),
    claim(
        "X.10",
        "The four-hop delay is at most four times the largest time in a node.",
        "section 2",
        "at most 4 times",
        *beside(
            STUDY,
            lambda scheme: of(AT_MOST_FOUR, scheme),
            at_least(0.95),
            share,
            "Packets of which it is",
            None,
            " kbit/s",
        ),
    ),
)  # fmt: skip

CLAIMS = _CLAIMS
