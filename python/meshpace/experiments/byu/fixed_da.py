"""The thesis's conjecture: the right pacing rate with delayed ACKs gains (docs/experiments/thesis.md, X.m).

Rates are parts of Table 5.1's means, so that they lie about what delayed ACKs get alone under ``mesh, 4 attempts``;
under the conditions with one attempt a frame, in which flows get a fiftieth of the printed means, none is a limit.
"""

from __future__ import annotations

import math

from meshpace.experiments.byu.cal import CHAINS, PRINTED
from meshpace.experiments.byu.measures import FAIRER, SIGNIFICANT, claim, relative
from meshpace.experiments.byu.quantities import SEGMENTS_AN_ACK, SPREAD
from meshpace.experiments.byu.schemes import DA, FIXED, TAHOE, of_scheme
from meshpace.experiments.byu.study import COUNTS, many, on
from meshpace.experiments.byu.topologies import Topology, flows
from meshpace.study.claims import Ask, Claim
from meshpace.study.measures import Measure, Values, difference
from meshpace.study.model import Condition, Point, Study
from meshpace.study.outcome import Outcome
from meshpace.study.quantities import FLOW_GOODPUT, JAIN, LOG_UTILITY, TIMEOUTS, UNFINISHED
from meshpace.study.words import difference as signed
from meshpace.study.words import percent

SCHEMES = (TAHOE, DA, FIXED)
"""What paces at a fixed rate has dynamic delayed acknowledgements here."""
PARTS = (0.8, 1.0, 1.2, 1.5, 2.0, 2.5)
"""Of Tahoe's printed mean."""


def at(count: int, part: float) -> str:
    """The label of a number of flows at a part of Tahoe's printed mean."""
    return f"{many(count)}, {part:g} of Tahoe's"


def _study(topology: Topology) -> Study:
    points = (
        Point(at(count, part), (*flows(count), *of_scheme(FIXED, ("fixed_rate", f"{part * mean:.0f}bps"))), part)
        for count, mean in zip(COUNTS, PRINTED[topology.name], strict=True)
        for part in PARTS
    )
    return on(
        topology,
        "fixed-da",
        "Fixed rates with dynamic delayed ACKs",
        f"Goodput and fairness of fixed rates with delayed ACKs on a {topology.title} against Tahoe and delayed ACKs "
        "alone.",
        source="chapters 1 and 6",
        axis=("flows, part of Tahoe's printed mean", ""),
        points=points,
        schemes=SCHEMES,
        settings=of_scheme(FIXED, ("profile", "byu-literal"), ("ack_policy", "dynamic-delayed")),
        quantities=(FLOW_GOODPUT, JAIN, LOG_UTILITY, SPREAD, SEGMENTS_AN_ACK, TIMEOUTS, UNFINISHED),
        notes="WiFu's TCP, literal parameters; the fixed interval has delayed ACKs, too.",
    )


STUDIES = tuple(map(_study, CHAINS))


def at_the_best(measure: Measure, count: int) -> Measure:
    """A number at the rate with the greatest goodput, which the odd seeds choose and the even ones estimate."""
    labels = tuple(at(count, part) for part in PARTS)

    def take(outcome: Outcome, condition: Condition, _: str) -> Values:
        gains = {label: relative(FLOW_GOODPUT, FIXED).take(outcome, condition, label)[::2] for label in labels}
        means = {label: _mean([x for x in values if x is not None]) for label, values in gains.items()}
        best = max(labels, key=means.__getitem__)
        found = measure.take(outcome, condition, best)
        return [value if index % 2 else None for index, value in enumerate(found)]

    return Measure(measure.schemes, take, measure.quantity, along=labels, once=True)


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values) if values else -math.inf


CLAIMS: tuple[Claim, ...] = (
    claim(
        "X.m",
        "At the right rate pacing with delayed ACKs has considerably more goodput than Tahoe, and is fairer.",
        "chapters 1, 6",
        "a considerable improvement",
        *(
            Ask(
                at_the_best(relative(FLOW_GOODPUT, FIXED), count),
                SIGNIFICANT,
                percent,
                f"Goodput against Tahoe at the best rate, {many(count)}",
                (study.name,),
            )
            for study in STUDIES
            for count in COUNTS
        ),
        *(
            Ask(
                at_the_best(difference(JAIN, FIXED, TAHOE), count),
                FAIRER,
                signed,
                f"Jain's index less Tahoe's there, {many(count)}",
                (study.name,),
            )
            for study in STUDIES
            for count in COUNTS[1:]
        ),
    ),
)
