"""What the thesis says of all its experiments together (docs/experiments/thesis.md, section 4)."""

from __future__ import annotations

from meshpace.experiments.byu import chains
from meshpace.experiments.byu.chains import ALPHAS, N
from meshpace.experiments.byu.measures import (
    COMPARABLE,
    FAIRER,
    LOWER,
    SIGNIFICANT,
    USEFUL,
    above,
    at_most_of,
    claim,
    fairness,
    goodput,
    relative,
    utility,
)
from meshpace.experiments.byu.quantities import LEAST
from meshpace.experiments.byu.schemes import AP, DA, FEW
from meshpace.experiments.byu.study import COUNTS, many
from meshpace.study.claims import Ask, Claim
from meshpace.study.quantities import FLOW_GOODPUT
from meshpace.study.rules import Rule
from meshpace.study.words import percent

CHAINS = ("c9", "c4", "c1")
NO_BETTER = Rule("ORDER", high=SIGNIFICANT.low)
SHAPES = ("par", "asl", "ass")
_DA = tuple(f"byu-da-{where}" for where in (*CHAINS, *SHAPES))
_FEW = tuple(f"byu-few-{where}" for where in (*CHAINS, *SHAPES))
_FLOWS = tuple(map(many, COUNTS))
_ALL_A = tuple(chains.with_alpha(count, a) for count in COUNTS for a in ALPHAS)
_SHARED_A = tuple(chains.with_alpha(count, a) for count in COUNTS[1:] for a in ALPHAS)
_FOUR = tuple(chains.with_n(count, 4) for count in COUNTS)


def _best(scheme: str, rule: Rule, studies: tuple[str, ...]) -> Ask:
    """The greatest gain over Tahoe of all cells."""
    return Ask(relative(FLOW_GOODPUT, scheme), rule, percent, "Goodput against Tahoe", studies, best=True)


CLAIMS: tuple[Claim, ...] = (
    claim(
        "X.a",
        "Pacing benefits fairness, on every chain.",
        "chapters 1, 6",
        "fairer",
        *(
            fairness(AP, FAIRER, f"byu-ap-{chain}", tuple(chains.with_n(k, n) for k in (2, 5) for n in N))
            for chain in CHAINS
        ),
    ),
    claim(
        "X.c",
        "In static networks FeW is no better than Tahoe, in goodput or fairness.",
        "chapter 6",
        "no better",
        *(goodput(FEW, NO_BETTER, f"byu-few-{chain}", _ALL_A) for chain in CHAINS),
        *(fairness(FEW, Rule("ORDER", high=COMPARABLE.high), f"byu-few-{chain}", _SHARED_A) for chain in CHAINS),
    ),
    claim(
        "X.d",
        "Delayed ACKs raise goodput considerably on chains, fairness not.",
        "chapter 6",
        "considerably",
        *(goodput(DA, SIGNIFICANT, f"byu-da-{chain}", _FLOWS) for chain in CHAINS),
        *(fairness(DA, COMPARABLE, f"byu-da-{chain}", _FLOWS[1:]) for chain in CHAINS),
    ),
    claim(
        "X.e",
        "Delayed ACKs gain up to 86 % over Tahoe.",
        "chapter 6",
        "up to 86 %",
        _best(DA, Rule("UP-TO", 0.65, 1.07, neutral=0.0), _DA),
        value=0.86,
    ),
    claim(
        "X.f",
        "That exceeds the 20 to 40 % of their authors.",
        "chapter 6",
        "above 40 %",
        _best(DA, Rule("MUCH", low=0.4, neutral=0.0), _DA),
    ),
    claim(
        "X.g",
        "With delayed ACKs the weakest flow, too, tends to gain, and utility rises significantly.",
        "chapter 6",
        "tends to gain; significantly",
        *(
            at_most_of(relative(LEAST, DA), f"byu-da-{chain}", _FLOWS, above, "Cells in which the weakest flow gains")
            for chain in CHAINS
        ),
        *(
            utility(DA, Rule("MUCH", low=USEFUL * k, neutral=0.0), f"byu-da-{chain}", (many(k),))
            for chain in CHAINS
            for k in COUNTS
        ),
    ),
    claim(
        "X.h",
        "The gains of 84 % of TCP-AP are not seen: on short paths it loses, on the long one it gains little at best.",
        "chapter 6",
        "none on 1 and 4 hops, minor on 9",
        goodput(AP, LOWER, "byu-ap-c4", _FOUR),
        goodput(AP, LOWER, "byu-ap-c1", _FOUR),
        goodput(AP, Rule("UP-TO", high=0.2), "byu-ap-c9", _FOUR),
    ),
    claim(
        "X.i",
        "FeW's 90 % are not seen.",
        "chapter 6",
        "at most 20 %",
        _best(FEW, Rule("UP-TO", high=0.2), _FEW),
    ),
)
