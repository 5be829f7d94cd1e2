"""Which reach and losses come nearest to what the thesis measured: Tahoe alone, before other schemes are judged.

Its building cannot be known (docs/experiments/thesis.md, section 2). Tahoe's nine means of Table 5.1 can: each of three
reaches with each of four tables of losses is run on the three chains with 1, 2 and 5 flows, and the pair with the
smallest mean ``|ln(simulated / printed)|`` is the stand-in.

Beside it stands the same with four attempts a frame (M1 of section 5: did the driver really use no retries?): with one,
two stations whose backoffs end in the same slot lose both frames for good, and at windows of two or three segments each
loss is a timeout of a second for WiFu's Tahoe.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

from meshpace.experiments.byu.schemes import TAHOE
from meshpace.experiments.byu.study import COUNTS, on
from meshpace.experiments.byu.topologies import C1, C4, C9, CAPTURE, REACHES, Topology, flows, losses, reach
from meshpace.experiments.byu.topologies import attempts as tries
from meshpace.study.model import STATIC, Cell, Point, Settings, Study
from meshpace.study.outcome import Outcome
from meshpace.study.quantities import FLOW_GOODPUT, JAIN, LOG_UTILITY, RESENT, TIMEOUTS, UNFINISHED

ATTEMPTS = (1, 4)
"""Transmissions of a frame: the thesis's, and those of M1."""
PRINTED: Mapping[str, tuple[float, float, float]] = {
    "C9": (1_750_000, 900_000, 250_000),
    "C4": (2_750_000, 1_400_000, 400_000),
    "C1": (11_000_000, 7_000_000, 2_750_000),
}
"""Table 5.1, the column of estimates: mean goodput of a flow of Tahoe, bit/s, with 1, 2 and 5 flows."""


def tables(topology: Topology) -> dict[str, Settings]:
    """The catalogue's tables of losses on a chain."""
    return {
        "L0": (),
        "L1": losses(topology.even(2e-4)),
        "L2": losses(topology.uneven),
        "L3": losses(topology.even(2e-3)),
    }


def label(reach_name: str, table: str, attempts: int, count: int) -> str:
    """A place on the axis."""
    tries = f"{attempts} attempts, " if attempts > 1 else ""
    return f"{reach_name}, {table}, {tries}{count} flow{'s' if count > 1 else ''}"


def _chain(topology: Topology) -> Study:
    points = tuple(
        Point(
            label(name, table, attempts, count),
            (*CAPTURE, *reach(name), *lost, *tries(attempts), *flows(count)),
        )
        for attempts in ATTEMPTS
        for name in REACHES
        for table, lost in tables(topology).items()
        for count in COUNTS
    )
    means = ", ".join(f"{mean / 1e6:g}" for mean in PRINTED[topology.name])
    return on(
        topology,
        "cal",
        "Calibration",
        f"Tahoe's mean goodput on a {topology.title} over reach, losses and flows; printed for 1, 2 and 5 flows: "
        f"{means} Mbit/s.",
        figures=("Table 5.1",),
        source="Table 5.1",
        axis=("reach, losses, attempts, flows", ""),
        points=points,
        schemes=(TAHOE,),
        conditions=(STATIC,),
        seeds=3,
        core_s=0.1,
        quantities=(FLOW_GOODPUT, JAIN, LOG_UTILITY, TIMEOUTS, RESENT, UNFINISHED),
        notes="Tahoe is WiFu's.",
    )


CHAINS = (C9, C4, C1)
STUDIES = tuple(map(_chain, CHAINS))


def misfit(outcomes: Mapping[str, Outcome], attempts: int = ATTEMPTS[0]) -> dict[tuple[str, str], float]:
    """Mean ``|ln(simulated / printed)|`` over the nine means by reach and table, the best first; the outcomes by study.

    A cell without goodput counts as a thousandth of what is printed. Pairs of which runs are missing are left out.
    """
    found = {}
    for name, table in itertools.product(REACHES, tables(C1)):
        terms = [
            _term(outcomes[study.name], label(name, table, attempts, count), printed)
            for study, topology in zip(STUDIES, CHAINS, strict=True)
            for count, printed in zip(COUNTS, PRINTED[topology.name], strict=True)
        ]
        known = [term for term in terms if term is not None]
        if len(known) == len(terms):
            found[name, table] = math.fsum(known) / len(known)
    return dict(sorted(found.items(), key=lambda item: item[1]))


def _term(outcome: Outcome, point: str, printed: float) -> float | None:
    values = [value for value in outcome.values(Cell(STATIC, TAHOE, point), FLOW_GOODPUT) if value is not None]
    if not values:
        return None
    return abs(math.log(max(math.fsum(values) / len(values) / printed, 1e-3)))
