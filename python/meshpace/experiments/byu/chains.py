"""The thesis on its chains of 9, 4 and 1 hops (docs/experiments/thesis.md, 3.1 to 3.4): 1, 2 and 5 flows, one way.

Points are numbers of flows with a parameter of the scheme: n of the n-hop delay, a of FeW, a fixed rate. The control
has no such parameter, so that its run at a number of flows is one run for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from meshpace.experiments.byu.cal import CHAINS
from meshpace.experiments.byu.quantities import BY_TIMER, INTERVAL, KHD, LEAST, MOST, SEGMENTS_AN_ACK, SPREAD
from meshpace.experiments.byu.schemes import AD, AP, DA, FEW, FIXED, TAHOE, hops, of_scheme
from meshpace.experiments.byu.study import COUNTS, THESIS, many, on
from meshpace.experiments.byu.topologies import C1, C4, C9, CONDITIONS, Topology, flows
from meshpace.study.model import Axis, Plan, Point, Settings, Study
from meshpace.study.quantities import FLOW_GOODPUT, JAIN, LOG_UTILITY, RESENT, TIMEOUTS, UNFINISHED, Quantity

N = (1, 2, 3, 4)
"""Points of n that are judged; 6 and 8 show where the trend goes."""
ALL_N = (*N, 6, 8)
ALPHAS = (0.01, 0.1, 0.2, 0.25, 0.5, 0.75)
"""Of FeW; 1 is the control itself."""
RATES = (100, 200, 250, 300, 400, 1000, 2000, 3000, 4000, 5000)
"""Fixed rates, kbit/s."""
_COMMON = (FLOW_GOODPUT, JAIN, LOG_UTILITY, LEAST, MOST, TIMEOUTS, RESENT, UNFINISHED)


def with_n(count: int, n: int) -> str:
    """The label of a number of flows with n."""
    return f"{many(count)}, n = {n}"


def with_alpha(count: int, alpha: float) -> str:
    """The label of a number of flows with FeW's a."""
    return f"{many(count)}, a = {alpha:g}"


def with_rate(kbps: int) -> str:
    """The label of five flows at a fixed rate."""
    return f"{many(5)}, {kbps} kbit/s"


def _study(
    kind: str,
    topology: Topology,
    figures: Sequence[str],
    title: str,
    schemes: tuple[str, ...],
    points: Sequence[Point],
    extra: tuple[Quantity, ...] = (),
    quick: tuple[str, ...] | None = None,
) -> Study:
    return on(
        topology,
        kind,
        title,
        f"{title} on a {topology.title} against Tahoe: goodput of a flow, fairness, utility.",
        figures=tuple(figures),
        source=", ".join(figures) or "chapter 5",
        axis=("flows", ""),
        points=points,
        schemes=schemes,
        quick=quick,
        quantities=(*_COMMON, *extra),
    )


def _each(counts: Sequence[int], *parameters: tuple[str, Settings, float]) -> Iterator[Point]:
    for count in counts:
        for label, settings, value in parameters:
            yield Point(f"{many(count)}{label}", (*flows(count), *settings), value)


def _pacing(topology: Topology, figures: Sequence[str]) -> Study:
    points = tuple(_each(COUNTS, *((f", n = {n}", hops(AP, n=n), float(n)) for n in ALL_N)))
    quick = tuple(with_n(count, n) for count in COUNTS for n in (ALL_N if topology is C9 and count > 1 else N))
    return _study("ap", topology, figures, "Pacing by n hops", (TAHOE, AP), points, (INTERVAL, KHD), quick)


def _few(topology: Topology, figures: Sequence[str]) -> Study:
    alphas = ((f", a = {a:g}", of_scheme(FEW, ("few_alpha", f"{a:g}")), a) for a in (*ALPHAS, 1))
    quick = tuple(with_alpha(count, a) for count in COUNTS for a in ALPHAS)
    return _study("few", topology, figures, "FeW", (TAHOE, FEW), tuple(_each(COUNTS, *alphas)), quick=quick)


def _thinned(topology: Topology, figures: Sequence[str]) -> Study:
    points = tuple(_each(COUNTS, ("", (), 0.0)))
    extra = (SEGMENTS_AN_ACK, BY_TIMER)
    return _study("da", topology, figures, "Dynamic delayed ACKs", (TAHOE, DA), points, extra)


def _both(topology: Topology, figures: Sequence[str], n: Sequence[int] = (4,)) -> Study:
    points = tuple(_each(COUNTS, *((f", n = {each}", hops(AP, AD, n=each), float(each)) for each in n)))
    extra = (INTERVAL, SEGMENTS_AN_ACK, BY_TIMER)
    return _study("ad", topology, figures, "Pacing with dynamic delayed ACKs", (TAHOE, AP, DA, AD), points, extra)


def with_table(count: int, table: str) -> str:
    """The label of a number of flows with segments an ACK."""
    return f"{many(count)}, {table}"


TABLES = ("1, 3, 3, 4", "1, 2, 3, 4")
"""Segments an ACK as WiFu had them, and as was meant."""


def _tables(topology: Topology) -> Study:
    tables = ((f", {table}", of_scheme(DA, ("ack_steps", f"[{table}]")), 0.0) for table in TABLES)
    points = tuple(_each(COUNTS, *tables))
    extra = (SEGMENTS_AN_ACK, BY_TIMER)
    return _study("da-table", topology, ("section 3.6",), "Two tables of segments an ACK", (DA,), points, extra)


def _fixed(topology: Topology, figures: Sequence[str]) -> Study:
    rates = ((f", {rate} kbit/s", of_scheme(FIXED, ("fixed_rate", f"{rate}kbps")), float(rate)) for rate in RATES)
    return _study("fixed", topology, figures, "Fixed rates", (TAHOE, FIXED), tuple(_each((5,), *rates)), (SPREAD,))


FHD = Study(
    name="byu-fhd",
    paper="thesis",
    title="Four-hop delays and rates",
    figures=("Table 5.1",),
    source=f"{THESIS}, Table 5.1",
    shows="The interval of TCP-AP with n = 4 against Tahoe's mean, by the runs of byu-ap-c9, -c4 and -c1.",
    scenario=C9.scenario,
    axis=Axis("", "", (Point(""),)),
    schemes=(),
    conditions=CONDITIONS,
    quick=Plan(1, ()),
    full=Plan(1, ()),
    quantities=(FLOW_GOODPUT, INTERVAL),
    receptions=C9.profiles,
    reads=tuple(f"byu-ap-{topology.name.lower()}" for topology in CHAINS),
)

STUDIES = (
    *(
        _pacing(t, figures)
        for t, figures in (
            (C9, ("Fig. 5.1", "Fig. 5.2")),
            (C4, ("Fig. 5.3", "Fig. 5.4")),
            (C1, ("Fig. 5.5", "Fig. 5.6")),
        )
    ),
    *(_fixed(t, figures) for t, figures in ((C9, ("Fig. 5.10",)), (C4, ()), (C1, ()))),
    FHD,
    *(
        _few(t, figures)
        for t, figures in (
            (C9, ("Fig. 5.11", "Fig. 5.12")),
            (C4, ("Fig. 5.13", "Fig. 5.14")),
            (C1, ("Fig. 5.15", "Fig. 5.16")),
        )
    ),
    *(
        _thinned(t, figures)
        for t, figures in (
            (C9, ("Fig. 5.20", "Fig. 5.21")),
            (C4, ("Fig. 5.22", "Fig. 5.23")),
            (C1, ("Fig. 5.24", "Fig. 5.25")),
        )
    ),
    *map(_tables, CHAINS),
    _both(C9, ("Fig. 5.29", "Fig. 5.30")),
    _both(C4, ("Fig. 5.31", "Fig. 5.32")),
    _both(C1, ("Fig. 5.33", "Fig. 5.34"), (4, 1)),
)
