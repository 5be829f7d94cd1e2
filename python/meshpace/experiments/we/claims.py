"""Claims of the WE TCP-AP paper about chains (docs/experiments/we-tcp-ap.md, Figs. 19 to 21)."""

from __future__ import annotations

from meshpace.experiments.we.chains import PAPER, WE, WINF
from meshpace.study.claims import Ask, Claim
from meshpace.study.measures import change_along, difference, gain, of
from meshpace.study.quantities import DELAY, GOODPUT, JAIN
from meshpace.study.rules import NO_FAIRNESS, NO_GAIN, Rule, equality, order, trend
from meshpace.study.words import difference as signed
from meshpace.study.words import megabits, number, percent

_STUDY = ("we-chain",)
SHORT, LONG = ("1", "2", "3"), ("4", "5", "6", "8", "10")
"""Up to four hops both schemes are the same; from five on the factor acts."""
_FAIR = Rule("FAIR", low=0.95)


def _claim(number: str, statement: str, figure: str, printed: str, *asks: Ask) -> Claim:
    return Claim(f"we {number}", statement, figure, f"{PAPER}, {figure}", printed, asks)


_GAIN = gain(GOODPUT, WE, WINF)

CLAIMS = (
    _claim(
        "F19.1",
        "The throughput of TCP-AP with rt-Winf falls as chains grow.",
        "Fig. 19",
        "falls",
        Ask(
            change_along(of(GOODPUT, WINF), ("1", "10")),
            trend(NO_GAIN, rises=False),
            megabits,
            "Aggregate goodput over 10 nodes less that over one",
            _STUDY,
        ),
    ),
    _claim(
        "F19.2",
        "The throughput of WE TCP-AP is above that of TCP-AP with rt-Winf.",
        "Fig. 19",
        "above",
        Ask(_GAIN, order(NO_GAIN), percent, "Gain, five hops and more", _STUDY, LONG),
    ),
    _claim(
        "F19.3",
        "Its gain grows with the chain.",
        "Fig. 19",
        "grows",
        Ask(change_along(_GAIN, ("4", "10")), trend(NO_GAIN, rises=True), percent, "Gain at 10 less that at 4", _STUDY),
    ),
    _claim(
        "F19.4",
        "WE TCP-AP keeps fairness.",
        "Fig. 19",
        "fair",
        Ask(of(JAIN, WE), _FAIR, number, "Jain's index of the four flows", _STUDY),
        Ask(
            difference(JAIN, WE, WINF), Rule("ORDER", low=-NO_FAIRNESS), signed, "Less that of the other", _STUDY, LONG
        ),
    ),
    _claim(
        "F19.5",
        "Up to four hops both are the same, by Algorithm 1.",
        "Fig. 19",
        "equal",
        Ask(_GAIN, equality(-1e-12, 1e-12), percent, "Gain, up to four hops", _STUDY, SHORT),
    ),
    _claim(
        "F20.1",
        "The delay of TCP-AP with rt-Winf rises as chains grow.",
        "Fig. 20",
        "rises",
        Ask(
            change_along(of(DELAY, WINF), ("1", "10")),
            trend(0.0, rises=True),
            signed,
            "One-way delay in s over 10 nodes less that over one",
            _STUDY,
        ),
    ),
    _claim(
        "F20.2",
        "The delay of WE TCP-AP is below it.",
        "Fig. 20",
        "below",
        Ask(gain(DELAY, WE, WINF), order(NO_GAIN, rises=False), percent, "Delay, five hops and more", _STUDY, LONG),
    ),
    _claim(
        "F21.1",
        "TCP-AP with rt-Winf receives fewer packets as chains grow.",
        "Fig. 21",
        "fewer",
        Ask(
            change_along(of(GOODPUT, WINF), ("1", "10")),
            trend(NO_GAIN, rises=False),
            megabits,
            "Received in the same time, as aggregate goodput",
            _STUDY,
        ),
    ),
    _claim(
        "F21.2",
        "WE TCP-AP receives more.",
        "Fig. 21",
        "more",
        Ask(_GAIN, order(NO_GAIN), percent, "Received in the same time, five hops and more", _STUDY, LONG),
    ),
)
