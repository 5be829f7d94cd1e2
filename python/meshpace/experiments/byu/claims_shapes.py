"""Claims of the thesis about parallel and asymmetric chains (docs/experiments/thesis.md, 3.1 to 3.4).

Of the two layouts that fit the lost drawing of Fig. 4.3a, A is judged and B told beside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from meshpace.experiments.byu import chains as byu_chains
from meshpace.experiments.byu.chains import ALPHAS, N
from meshpace.experiments.byu.measures import (
    FAIRER,
    LESS_FAIR,
    LESS_USE,
    LOWER,
    SIGNIFICANT,
    along,
    beside,
    claim,
    fairness,
    goodput,
    relative,
    utility,
)
from meshpace.experiments.byu.quantities import JAIN_NORM, LEAST, LOSS, RATIO, SHORT_OVER_LONG, TIMEOUTS_A_LOST_ACK
from meshpace.experiments.byu.schemes import AD, AP, DA, FEW, TAHOE
from meshpace.experiments.byu.shapes import ALONE as SINGLE
from meshpace.experiments.byu.shapes import TOGETHER, with_alpha, with_n
from meshpace.study.claims import Against, Ask, Claim, Role
from meshpace.study.measures import Measure, Values, change_along, difference, of, rank_along
from meshpace.study.model import Cell, Condition, scheme_name
from meshpace.study.outcome import Outcome
from meshpace.study.quantities import FLOW_GOODPUT, FLOWS, JAIN, LOG_UTILITY
from meshpace.study.rules import NO_FAIRNESS, NO_GAIN, Rule, about, order, trend
from meshpace.study.words import count as counted
from meshpace.study.words import difference as signed
from meshpace.study.words import number, percent

ALL_N = tuple(map(with_n, N))
ALL_A = tuple(map(with_alpha, ALPHAS))
ALONE = (TOGETHER,)
NO_SIGNIFICANT_GAIN = Rule("ORDER", high=0.1)
FALLS, RISES = trend(0.2, rises=False), trend(0.2, rises=True)


def _rank(measure: Measure, rule: Rule, what: str, study: str) -> Ask:
    return Ask(rank_along(measure, ALL_N), rule, signed, f"Spearman's correlation of {what} with n", (study,))


def _norm(scheme: str, rule: Rule, study: str, points: Sequence[str]) -> Ask:
    return Ask(
        difference(JAIN_NORM, scheme, TAHOE), rule, signed, "Normalised index less Tahoe's", (study,), tuple(points)
    )


def _ratio(scheme: str, rule: Rule, study: str) -> Ask:
    what = "Strongest over weakest flow, less Tahoe's"
    return Ask(difference(RATIO, scheme, TAHOE), rule, signed, what, (study,), ALONE)


def _both_layouts(found: Claim) -> Claim:
    """The same asked of layout B, beside."""
    others = tuple(
        replace(ask, studies=tuple(f"{name}-b" for name in ask.studies), what=f"{ask.what}, layout B", role=Role.BESIDE)
        for ask in found.asks
    )
    return replace(found, asks=(*found.asks, *others))


PAR, ASL, ASS = "byu-ap-par", "byu-ap-asl", "byu-ap-ass"
_PACING = (
    claim("5.7.a", "Pacing reduces goodput for every n.", "Fig. 5.7", "reduced", goodput(AP, LOWER, PAR, ALL_N)),
    claim(
        "5.7.b",
        "One hop is best.",
        "Fig. 5.7",
        "best",
        Ask(
            beside(of(FLOW_GOODPUT, AP), lambda _: with_n(1)),
            LOWER,
            percent,
            "Goodput against n = 1",
            (PAR,),
            ALL_N[1:],
        ),
    ),
    claim(
        "5.7.c",
        "It is fairer than Tahoe for n above 1, not for n = 1.",
        "Fig. 5.7",
        "fairer, but for n = 1",
        fairness(AP, FAIRER, PAR, ALL_N[1:]),
        fairness(AP, Rule("ORDER", high=NO_FAIRNESS), PAR, ALL_N[:1]),
    ),
    claim(
        "5.7.d",
        "It gains less fairness than on the chain of 4 hops with 2 flows.",
        "Fig. 5.7",
        "less",
        *(
            Ask(
                difference(JAIN, AP, TAHOE),
                order(NO_FAIRNESS, rises=False),
                signed,
                "Gain of Jain's index less that on the chain",
                (PAR,),
                (with_n(n),),
                against=Against(
                    "byu-ap-c4", byu_chains.with_n(2, n), difference(JAIN, AP, TAHOE), lambda here, there: here - there
                ),
            )
            for n in N
        ),
    ),
    claim(
        "5.7.e",
        "Each of the two flows has more with Tahoe than with any n.",
        "Fig. 5.7",
        "each",
        *(
            Ask(relative(flow, AP), LOWER, percent, f"Flow {index} against Tahoe's", (PAR,), ALL_N)
            for index, flow in enumerate(FLOWS[:2], 1)
        ),
    ),
    claim("5.7.f", "Utility is below Tahoe's.", "Fig. 5.7", "less", utility(AP, LESS_USE, PAR, ALL_N)),
    *map(
        _both_layouts,
        (
            claim(
                "5.8.a",
                "Goodput falls with n.",
                "Fig. 5.8",
                "falls",
                _rank(of(FLOW_GOODPUT, AP), FALLS, "goodput", ASL),
            ),
            claim(
                "5.8.b",
                "Normalised fairness rises with n, above Tahoe's.",
                "Fig. 5.8",
                "rises, above",
                _rank(of(JAIN_NORM, AP), RISES, "the normalised index", ASL),
                _norm(AP, FAIRER, ASL, ALL_N),
            ),
            claim(
                "5.8.c",
                "The two flows approach each other with n.",
                "Fig. 5.8",
                "approach",
                _rank(of(RATIO, AP), FALLS, "the stronger flow over the weaker", ASL),
            ),
            claim("5.8.d", "Utility is below Tahoe's.", "Fig. 5.8", "less", utility(AP, LESS_USE, ASL, ALL_N)),
            claim(
                "5.8.e",
                "Tahoe starves the longer flow.",
                "Fig. 5.8",
                "more than twice",
                Ask(
                    of(SHORT_OVER_LONG, TAHOE),
                    Rule("ORDER", low=2.0),
                    counted,
                    "Shorter flow over longer",
                    (ASL,),
                    ALL_N[:1],
                ),
            ),
        ),
    ),
    claim("5.9.a", "Goodput falls with n.", "Fig. 5.9", "falls", _rank(of(FLOW_GOODPUT, AP), FALLS, "goodput", ASS)),
    claim(
        "5.9.b",
        "The two flows are alike already at a small n.",
        "Fig. 5.9",
        "1.25 at most at n = 2",
        Ask(of(RATIO, AP), Rule("EQUAL", high=1.25), number, "Stronger flow over weaker", (ASS,), ALL_N[1:2]),
    ),
    claim(
        "5.9.c",
        "Normalised fairness rises as the rate drops.",
        "Fig. 5.9",
        "rises dramatically",
        _rank(of(JAIN_NORM, AP), RISES, "the normalised index", ASS),
    ),
    claim(
        "5.9.d",
        "Normalised fairness is far better with four hops than with one.",
        "section 5.6",
        "0.1 at least",
        Ask(
            change_along(of(JAIN_NORM, AP), ALL_N),
            Rule("MUCH", low=0.1, neutral=0.0, margin=NO_FAIRNESS),
            signed,
            "Normalised index at n = 4 less that at n = 1",
            (ASS,),
        ),
    ),
    claim(
        "5.9.e",
        "Utility falls with n and is below Tahoe's.",
        "Fig. 5.9",
        "falls, below",
        _rank(of(LOG_UTILITY, AP), FALLS, "utility", ASS),
        utility(AP, LESS_USE, ASS, ALL_N),
    ),
)


def _no_gain_in_use(study: str) -> Ask:
    return utility(FEW, Rule("ORDER", high=0.2), study, ALL_A)


FEW_PAR, FEW_ASL, FEW_ASS = "byu-few-par", "byu-few-asl", "byu-few-ass"
_FEW = (
    claim(
        "5.17.a",
        "FeW gains nothing significant, in goodput or fairness.",
        "Fig. 5.17",
        "no significant gain",
        goodput(FEW, NO_SIGNIFICANT_GAIN, FEW_PAR, ALL_A),
        fairness(FEW, Rule("ORDER", high=0.05), FEW_PAR, ALL_A),
    ),
    claim(
        "5.17.b",
        "Utility is slightly above Tahoe's for a = 0.5 and 0.75.",
        "Fig. 5.17",
        "slightly more",
        utility(FEW, about(0.0, 0.2, 0.0), FEW_PAR, tuple(map(with_alpha, (0.5, 0.75)))),
    ),
    _both_layouts(
        claim(
            "5.18.a",
            "FeW gains nothing significant, in goodput, normalised fairness or utility.",
            "Fig. 5.18",
            "no significant gain",
            goodput(FEW, NO_SIGNIFICANT_GAIN, FEW_ASL, ALL_A),
            _norm(FEW, Rule("ORDER", high=0.05), FEW_ASL, ALL_A),
            _no_gain_in_use(FEW_ASL),
        )
    ),
    claim(
        "5.19.a",
        "FeW gains nothing significant, in goodput or utility.",
        "Fig. 5.19",
        "no significant gain",
        goodput(FEW, NO_SIGNIFICANT_GAIN, FEW_ASS, ALL_A),
        _no_gain_in_use(FEW_ASS),
    ),
    claim("5.19.b", "Normalised fairness is above Tahoe's.", "Fig. 5.19", "above", _norm(FEW, FAIRER, FEW_ASS, ALL_A)),
    claim(
        "5.19.c",
        "The highest normalised fairness is 0.83.",
        "Fig. 5.19",
        "0.83",
        Ask(of(JAIN_NORM, FEW), about(0.78, 0.88), number, "Normalised index", (FEW_ASS,), ALL_A, best=True),
        value=0.83,
    ),
    claim(
        "5.19.d",
        "Pacing equalises much better.",
        "Fig. 5.19",
        "much better",
        Ask(
            along(of(JAIN_NORM, AP), ALL_N, max),
            Rule("MUCH", low=0.05, neutral=0.0, margin=NO_FAIRNESS),
            signed,
            "Best normalised index of pacing less FeW's",
            (ASS,),
            against=Against(FEW_ASS, ALL_A[0], along(of(JAIN_NORM, FEW), ALL_A, max), lambda a, b: a - b),
        ),
    ),
)


def _weakest_over_mean(outcome: Outcome, condition: Condition, point: str) -> Values:
    """By seed how far the weaker flow with delayed ACKs is above Tahoe's mean, over that."""
    weakest = outcome.values(Cell(condition, DA, point), LEAST)
    theirs = outcome.values(Cell(condition, TAHOE, point), FLOW_GOODPUT)
    return [None if a is None or not b else a / b - 1 for a, b in zip(weakest, theirs, strict=False)]


DA_PAR, DA_ASL, DA_ASS = "byu-da-par", "byu-da-asl", "byu-da-ass"
_THINNED = (
    claim(
        "5.26.a", "Delayed ACKs have less goodput than Tahoe.", "Fig. 5.26", "less", goodput(DA, LOWER, DA_PAR, ALONE)
    ),
    claim("5.26.b", "Flows are more unequal than with Tahoe.", "Fig. 5.26", "more", _ratio(DA, order(), DA_PAR)),
    claim("5.26.c", "They are less fair.", "Fig. 5.26", "less", fairness(DA, LESS_FAIR, DA_PAR, ALONE)),
    claim("5.26.d", "Utility is below Tahoe's.", "Fig. 5.26", "less", utility(DA, LESS_USE, DA_PAR, ALONE)),
    claim(
        "5.26.e",
        "Interference raises each flow's loss, and a lost delayed ACK costs more timeouts than one of Tahoe's.",
        "Fig. 5.26",
        "reason given",
        *(
            Ask(
                along(of(LOSS, scheme), (TOGETHER, *SINGLE), lambda loss: loss[0] - (loss[1] + loss[2]) / 2),
                order(),
                percent,
                f"Loss of a flow less that of the chains alone, {scheme_name(scheme)}",
                (DA_PAR,),
            )
            for scheme in (DA, TAHOE)
        ),
        Ask(
            difference(TIMEOUTS_A_LOST_ACK, DA, TAHOE),
            order(),
            signed,
            "Timeouts a lost acknowledgement, less Tahoe's",
            (DA_PAR,),
            ALONE,
        ),
    ),
    *map(
        _both_layouts,
        (
            claim(
                "5.27.a",
                "Goodput is dramatically above Tahoe's.",
                "Fig. 5.27",
                "dramatically (+20 %)",
                goodput(DA, Rule("MUCH", low=0.2, neutral=0.0, margin=NO_GAIN), DA_ASL, ALONE),
                value=0.2,
            ),
            claim(
                "5.27.b",
                "With delayed ACKs the shorter flow has eight times the longer one's goodput.",
                "Fig. 5.27",
                "4 and 0.5 Mbit/s",
                Ask(of(SHORT_OVER_LONG, DA), about(6.0, 10.0), counted, "Shorter flow over longer", (DA_ASL,), ALONE),
                value=8.0,
            ),
            claim(
                "5.27.c",
                "With Tahoe it has four times.",
                "Fig. 5.27",
                "3 and 0.75 Mbit/s",
                Ask(of(SHORT_OVER_LONG, TAHOE), about(3.0, 5.0), counted, "Shorter flow over longer", (DA_ASL,), ALONE),
                value=4.0,
            ),
            claim(
                "5.27.d",
                "Delayed ACKs are less fair than Tahoe.",
                "Fig. 5.27",
                "less",
                _norm(DA, LESS_FAIR, DA_ASL, ALONE),
                _ratio(DA, order(), DA_ASL),
            ),
        ),
    ),
    claim(
        "5.28.a",
        "Goodput is significantly higher.",
        "Fig. 5.28",
        "significantly",
        goodput(DA, SIGNIFICANT, DA_ASS, ALONE),
    ),
    claim(
        "5.28.b",
        "It is shared out no better than with Tahoe.",
        "Fig. 5.28",
        "unfairly",
        _ratio(DA, Rule("ORDER", low=0.0), DA_ASS),
    ),
    claim(
        "5.28.c",
        "The weaker flow has more than Tahoe's mean.",
        "Fig. 5.28",
        "more",
        Ask(
            Measure((TAHOE, DA), _weakest_over_mean, LEAST),
            order(NO_GAIN),
            percent,
            "Weaker flow against Tahoe's mean",
            (DA_ASS,),
            ALONE,
        ),
    ),
)

AD_ASS = "byu-ad-ass"
_FOUR = (with_n(4),)
_BOTH = (
    claim(
        "5.35.a",
        "Pacing with delayed ACKs gains no goodput.",
        "Fig. 5.35",
        "no gain",
        goodput(AD, Rule("ORDER", high=NO_GAIN), AD_ASS, _FOUR),
    ),
    claim(
        "5.35.b",
        "Normalised fairness is slightly below Tahoe's.",
        "Fig. 5.35",
        "0 to 0.1 below",
        _norm(AD, about(-0.1, 0.0, 0.0, NO_FAIRNESS), AD_ASS, _FOUR),
        *(
            Ask(
                of(JAIN_NORM, scheme),
                Rule("ORDER", low=0.0),
                number,
                f"Normalised index, {name}",
                (AD_ASS,),
                _FOUR,
                role=Role.BESIDE,
            )
            for scheme, name in ((TAHOE, "Tahoe"), (AP, "pacing"), (DA, "delayed ACKs"), (AD, "both"))
        ),
    ),
    claim("5.35.c", "Utility is below Tahoe's.", "Fig. 5.35", "less", utility(AD, LESS_USE, AD_ASS, _FOUR)),
)

CLAIMS: tuple[Claim, ...] = (*_PACING, *_FEW, *_THINNED, *_BOTH)
