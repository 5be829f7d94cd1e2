"""Claims of the WE TCP-AP paper about chains (docs/experiments/we-tcp-ap.md, Figs. 19 to 21)."""

from __future__ import annotations

from meshpace.experiments.we.asking import MORE, Runs, claim
from meshpace.experiments.we.chains import WE, WINF
from meshpace.study.measures import change_along, difference, gain, of
from meshpace.study.quantities import DELAY, GOODPUT, JAIN
from meshpace.study.rules import NO_FAIRNESS, NO_GAIN, Rule, equality, order, trend
from meshpace.study.words import difference as signed
from meshpace.study.words import megabits, number, percent

SHORT, LONG = ("1", "2", "3"), ("4", "5", "6", "8", "10")
"""Up to four hops both schemes are the same; from five on the factor acts."""
CHAINS = Runs("we-chain")
SWITCHES = "we-switches-chain"
_FAIR = Rule("FAIR", low=0.95)
_GAIN = gain(GOODPUT, WE, WINF)
_FALL = change_along(of(GOODPUT, WINF), ("1", "10"))
_FALLS = trend(NO_GAIN, rises=False)

CLAIMS = (
    claim(
        "F19.1",
        "The throughput of TCP-AP with rt-Winf falls as chains grow.",
        "Fig. 19",
        "falls",
        CHAINS.asks(_FALL, _FALLS, megabits, "Aggregate goodput over 10 nodes less that over one"),
    ),
    claim(
        "F19.2",
        "The throughput of WE TCP-AP is above that of TCP-AP with rt-Winf.",
        "Fig. 19",
        "above",
        CHAINS.at(LONG).asks(_GAIN, MORE, percent, "Gain, five hops and more"),
        switches=SWITCHES,
    ),
    claim(
        "F19.3",
        "Its gain grows with the chain.",
        "Fig. 19",
        "grows",
        CHAINS.asks(change_along(_GAIN, ("4", "10")), trend(NO_GAIN, rises=True), percent, "Gain at 10 less that at 4"),
    ),
    claim(
        "F19.4",
        "WE TCP-AP keeps fairness.",
        "Fig. 19",
        "fair",
        CHAINS.asks(of(JAIN, WE), _FAIR, number, "Jain's index of the four flows"),
        CHAINS.at(LONG).asks(
            difference(JAIN, WE, WINF), Rule("ORDER", low=-NO_FAIRNESS), signed, "Less that of the other"
        ),
    ),
    claim(
        "F19.5",
        "Up to four hops both are the same, by Algorithm 1.",
        "Fig. 19",
        "equal",
        CHAINS.at(SHORT).asks(_GAIN, equality(-1e-12, 1e-12), percent, "Gain, up to four hops"),
    ),
    claim(
        "F20.1",
        "The delay of TCP-AP with rt-Winf rises as chains grow.",
        "Fig. 20",
        "rises",
        CHAINS.asks(
            change_along(of(DELAY, WINF), ("1", "10")),
            trend(0.0, rises=True),
            signed,
            "One-way delay in s over 10 nodes less that over one",
        ),
    ),
    claim(
        "F20.2",
        "The delay of WE TCP-AP is below it.",
        "Fig. 20",
        "below",
        CHAINS.at(LONG).asks(gain(DELAY, WE, WINF), order(NO_GAIN, rises=False), percent, "Delay, five hops and more"),
        switches=SWITCHES,
    ),
    claim(
        "F21.1",
        "TCP-AP with rt-Winf receives fewer packets as chains grow.",
        "Fig. 21",
        "fewer",
        CHAINS.asks(_FALL, _FALLS, megabits, "Received in the same time, as aggregate goodput"),
    ),
    claim(
        "F21.2",
        "WE TCP-AP receives more.",
        "Fig. 21",
        "more",
        CHAINS.at(LONG).asks(_GAIN, MORE, percent, "Received in the same time, five hops and more"),
        switches=SWITCHES,
    ),
)
