"""The thesis where two flows meet: parallel chains on two floors, and chains of unlike length through one node.

docs/experiments/thesis.md, section 2 (PAR, ASL in two layouts, ASS) and 3.1 to 3.4. Points are values of the scheme's
parameter; both flows start together.
"""

from __future__ import annotations

from collections.abc import Sequence

from meshpace.experiments.byu.chains import ALL_N, ALPHAS, N
from meshpace.experiments.byu.quantities import (
    INTERVAL,
    JAIN_NORM,
    LEAST,
    LOSS,
    MOST,
    RATIO,
    SHORT_OVER_LONG,
    TIMEOUTS_A_LOST_ACK,
)
from meshpace.experiments.byu.schemes import AD, AP, DA, FEW, TAHOE, hops, of_scheme
from meshpace.experiments.byu.study import on
from meshpace.experiments.byu.topologies import ASL, ASL_B, ASS, PAR, Topology
from meshpace.study.model import Point, Study
from meshpace.study.quantities import FLOW_GOODPUT, FLOWS, JAIN, LOG_UTILITY, TIMEOUTS, UNFINISHED, Quantity

TOGETHER = "both flows"
"""The point of schemes without a parameter."""
ALONE = ("first floor alone", "second floor alone")
"""The chains of PAR without the other one's flow."""


def with_n(n: int) -> str:
    """The label of n."""
    return f"n = {n}"


def with_alpha(alpha: float) -> str:
    """The label of FeW's a."""
    return f"a = {alpha:g}"


def _study(
    kind: str,
    topology: Topology,
    figure: str,
    title: str,
    schemes: tuple[str, ...],
    points: Sequence[Point],
    quick: Sequence[str] | None = None,
    extra: tuple[Quantity, ...] = (),
) -> Study:
    alike = topology is PAR
    unlike = () if alike else (JAIN_NORM, SHORT_OVER_LONG)
    paced = (INTERVAL,) if AP in schemes else ()
    return on(
        topology,
        kind,
        title,
        f"{title} against Tahoe, {topology.title}: goodput, each flow's, fairness, utility.",
        figures=(figure,),
        source=figure,
        points=points,
        schemes=schemes,
        quick=None if quick is None else tuple(quick),
        core_s=0.03,
        quantities=(
            FLOW_GOODPUT,
            *FLOWS[:2],
            JAIN,
            *unlike,
            LOG_UTILITY,
            RATIO,
            LEAST,
            MOST,
            TIMEOUTS,
            UNFINISHED,
            *paced,
            *extra,
        ),
    )


def _pacing(topology: Topology, figure: str) -> Study:
    points = [Point(with_n(n), hops(AP, n=n), float(n)) for n in ALL_N]
    return _study("ap", topology, figure, "Pacing by n hops", (TAHOE, AP), points, [with_n(n) for n in N])


def _few(topology: Topology, figure: str) -> Study:
    points = [Point(with_alpha(a), of_scheme(FEW, ("few_alpha", f"{a:g}")), a) for a in (*ALPHAS, 1)]
    return _study("few", topology, figure, "FeW", (TAHOE, FEW), points, [with_alpha(a) for a in ALPHAS])


def _thinned(topology: Topology, figure: str) -> Study:
    alone = [Point(label, ((f"flow.{1 - flow}.count", "0"),)) for flow, label in enumerate(ALONE)]
    points = [Point(TOGETHER), *(alone if topology is PAR else [])]
    extra = (LOSS, TIMEOUTS_A_LOST_ACK) if topology is PAR else ()
    return _study("da", topology, figure, "Dynamic delayed ACKs", (TAHOE, DA), points, extra=extra)


STUDIES = (
    _pacing(PAR, "Fig. 5.7"),
    *(_pacing(layout, "Fig. 5.8") for layout in (ASL, ASL_B)),
    _pacing(ASS, "Fig. 5.9"),
    _few(PAR, "Fig. 5.17"),
    *(_few(layout, "Fig. 5.18") for layout in (ASL, ASL_B)),
    _few(ASS, "Fig. 5.19"),
    _thinned(PAR, "Fig. 5.26"),
    *(_thinned(layout, "Fig. 5.27") for layout in (ASL, ASL_B)),
    _thinned(ASS, "Fig. 5.28"),
    _study(
        "ad",
        ASS,
        "Fig. 5.35",
        "Pacing with dynamic delayed ACKs",
        (TAHOE, AP, DA, AD),
        [Point(with_n(4), hops(AP, AD, n=4), 4.0)],
    ),
)
