"""Whether what a scheme gains over Tahoe it gains over NewReno, too (docs/experiments/thesis.md, X.k).

The thesis has Tahoe as its control in place of NewReno, and takes for granted that nothing hangs on it. Each scheme
runs on both, beside its own base.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from meshpace.experiments.byu.cal import CHAINS
from meshpace.experiments.byu.measures import claim
from meshpace.experiments.byu.schemes import AP, DA, FEW, TAHOE, hops, of_scheme
from meshpace.experiments.byu.study import COUNTS, many, on
from meshpace.experiments.byu.topologies import Topology, flows
from meshpace.study.claims import Ask, Claim
from meshpace.study.jackknife import Rows, pseudo_values
from meshpace.study.measures import Measure, Values
from meshpace.study.model import Cell, Condition, Point, Settings, Study
from meshpace.study.outcome import Outcome
from meshpace.study.quantities import FLOW_GOODPUT, JAIN, LOG_UTILITY, TIMEOUTS, UNFINISHED
from meshpace.study.rules import NO_GAIN, Rule
from meshpace.study.words import share

SCHEMES = (TAHOE, AP, FEW, DA)
"""The control, which at the points of NewReno is NewReno, and what is held against it."""
BASES = ("tahoe", "newreno")
NAMES = {"tahoe": "Tahoe", "newreno": "NewReno"}


def based(count: int, base: str) -> str:
    """The label of a number of flows on a base."""
    return f"{many(count)}, {NAMES[base]}"


def _on(base: str) -> Settings:
    keys = ((scheme, "few_base" if scheme == FEW else "congestion") for scheme in SCHEMES)
    return tuple(setting for scheme, key in keys for setting in of_scheme(scheme, (key, base)))


def _study(topology: Topology) -> Study:
    points = (Point(based(count, base), (*flows(count), *_on(base))) for count in COUNTS for base in BASES)
    return on(
        topology,
        "base",
        "Tahoe or NewReno as the base",
        f"Goodput and fairness on a {topology.title} with Tahoe and with NewReno as control and base of each scheme.",
        source="section 3.3",
        axis=("flows, base", ""),
        points=points,
        schemes=SCHEMES,
        settings=(*hops(AP, n=4), *of_scheme(FEW, ("few_alpha", "0.25"))),
        quantities=(FLOW_GOODPUT, JAIN, LOG_UTILITY, TIMEOUTS, UNFINISHED),
        notes="WiFu's TCP; n = 4, a = 0.25. Tables call the control Tahoe; at the points of NewReno it is NewReno.",
    )


STUDIES = tuple(map(_study, CHAINS))
_LABELS = tuple(based(count, base) for count in COUNTS for base in BASES)


def alike(rows: Rows) -> float:
    """The part of the gains over one base that have the sign of those over the other; within 2 % any sign will do.

    Of each gain a row has four numbers: the control and the scheme on one base, both on the other.
    """
    middles = [math.fsum(column) / len(rows) for column in zip(*rows, strict=True)]
    gains = [b / a - 1 if a else 0.0 for a, b in zip(middles[::2], middles[1::2], strict=True)]
    pairs = list(zip(gains[::2], gains[1::2], strict=True))
    same = sum(one * other > 0 or min(abs(one), abs(other)) <= NO_GAIN for one, other in pairs)
    return same / len(pairs)


def _take(outcome: Outcome, condition: Condition, _: str) -> Values:
    def values(scheme: str, count: int, base: str) -> Sequence[float | None]:
        return outcome.values(Cell(condition, scheme, based(count, base)), FLOW_GOODPUT)

    columns = [
        values(each, count, base)
        for scheme in SCHEMES[1:]
        for count in COUNTS
        for base in BASES
        for each in (TAHOE, scheme)
    ]
    rows = [[value for value in row if value is not None] for row in zip(*columns, strict=False)]
    return pseudo_values([row for row in rows if len(row) == len(columns)], alike)


CLAIMS: tuple[Claim, ...] = (
    claim(
        "X.k",
        "What schemes gain or lose against Tahoe they gain or lose against NewReno.",
        "section 3.3",
        "in 90 % of the cells",
        *(
            Ask(
                Measure(SCHEMES, _take, FLOW_GOODPUT, along=_LABELS, once=True),
                Rule("ORDER", low=0.9),
                share,
                "Gains of the same sign",
                (study.name,),
            )
            for study in STUDIES
        ),
    ),
)
