"""What the thesis leaves open, changed one point at a time (docs/experiments/thesis.md, section 5, with its letters).

Which ingredient makes a result: where a claim about one of these topologies does not hold, the switch that moves its
number most towards the thesis's is the one to blame. Chains have two flows here, n is 4 and FeW's a is 0.25. What the
section calls assumptions of simulators, K1 to K8, is in ``byu_assumptions``; the base (T5) in ``byu_base``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from meshpace.experiments.byu.cal import CHAINS
from meshpace.experiments.byu.quantities import INTERVAL, KHD, SEGMENTS_AN_ACK, SHORT_OVER_LONG
from meshpace.experiments.byu.schemes import AD, AP, DA, FEW, TAHOE, hops, of_scheme
from meshpace.experiments.byu.study import COUNTS, many, on
from meshpace.experiments.byu.topologies import (
    ASL,
    ASS,
    PAR,
    REACHES,
    RETRIES,
    Topology,
    attempts,
    flows,
    losses,
    reach,
)
from meshpace.study.model import AS_IS, Point, Settings, Study
from meshpace.study.quantities import FLOW_GOODPUT, FLOWS, JAIN, LOG_UTILITY, TIMEOUTS, UNFINISHED

DOCUMENT = "docs/experiments/thesis.md, section 5"
SCHEMES = (TAHOE, AP, FEW, DA, AD)
TOPOLOGIES = (*CHAINS, PAR, ASL, ASS)


def _of(schemes: tuple[str, ...], *values: tuple[str, str]) -> Settings:
    return tuple(setting for scheme in schemes for setting in of_scheme(scheme, *values))


def _all(*values: tuple[str, str]) -> Settings:
    return _of(SCHEMES, *values)


def _paced(*values: tuple[str, str]) -> Settings:
    return _of((AP, AD), *values)


def _thinned(*values: tuple[str, str]) -> Settings:
    return _of((DA, AD), *values)


def _processing(milliseconds: float) -> Settings:
    time = f"{milliseconds:g}ms"
    return (("routing.processing_delay", time), ("routing.processing_jitter", time))


def _bytes(topology: Topology, count: int) -> Settings:
    ends = 1 if topology in CHAINS else len(topology.paths)
    return tuple((f"flow.{flow}.bytes", str(count)) for flow in range(ends))


def _opposite() -> Settings:
    """The second floor's flow the other way."""
    path = PAR.paths[1][::-1]
    nodes = ", ".join(f'"{node}"' for node in path)
    return (("flow.1.from", path[0]), ("flow.1.to", path[-1]), ("flow.1.path", f"[{nodes}]"))


def _apart(metres: int) -> Settings:
    """The second floor so far from the first; nodes stand in the scenario's file floor by floor."""
    ends = len(PAR.paths[0])
    return tuple((f"node.{ends + i}.y", str(metres)) for i in range(ends))


COMMON: Mapping[str, Settings] = {
    "M1: 1 attempt": attempts(0),
    "M1: 7 attempts": attempts(7),
    "M5: interface queue of 200": (("radio.queue", "200"),),
    "M5: interface queue of 1,000": (("radio.queue", "1000"),),
    "H1: hosts take 1 to 2 ms": _processing(1),
    "H1: hosts take 2.5 to 5 ms": _processing(2.5),
    "T2: timeouts of 0.2 s at least, 1 s at first": _all(("rto_min", "200ms"), ("rto_initial", "1s")),
    "T3: 3 segments at first": _all(("wifu_initial_window", "3")),
    "T4: 4 duplicates": _all(("wifu_duplicates", "4")),
    "P1: a data packet's size counts": _paced(("ap_counts_data", "true")),
    "P1: n at most the path's hops": _paced(("ap_short_path", "h-hop")),
    "P2: without variation": _paced(("ap_variation", "none")),
    "P4: retransmissions pass the limiter": _paced(("ap_queue", "data")),
    "W1: FeW in slow start, too": _of((FEW,), ("few_in_slow_start", "true")),
    "W2: WiFu's integers": _of((FEW,), ("few_arithmetic", "wifu")),
    "W3: windows below one segment": _of((FEW,), ("few_w_min", "0.1")),
    "D1: 1, 2, 3, 4 segments an ACK": _thinned(("ack_steps", "[1, 2, 3, 4]")),
    "D1: from 10, 100 kB and 1 MB on": _thinned(("ack_thresholds", "[10000, 100000, 1000000]")),
    "D1: 2 segments an ACK": _thinned(("ack_steps", "[2, 2, 2, 2]")),
    "D1: 3 segments an ACK": _thinned(("ack_steps", "[3, 3, 3, 3]")),
    "D1: 4 segments an ACK": _thinned(("ack_steps", "[4, 4, 4, 4]")),
    "D2: out of order acknowledged at once": _thinned(("ack_out_of_order", "now")),
    "D3: the oldest timestamp echoed": _thinned(("ack_echo", "oldest")),
}
"""Of every topology."""


def switches(topology: Topology) -> Iterator[tuple[str, Settings]]:
    """All of a topology, by label."""
    yield AS_IS, ()
    yield from COMMON.items()
    yield "T1: 10 MB", _bytes(topology, 10_000_000)
    for name, ranges in REACHES.items():
        if name != topology.retried:
            yield f"M2: {ranges[0]} m decoded, {ranges[1]} m sensed", reach(name)
    yield "M6: losses in bursts of 5 frames", losses(topology.uneven, burst=5)
    if topology is PAR:
        yield "M3: the second floor the other way", _opposite()
        yield "M3: floors 60 m apart", _apart(60)
        yield "M3: floors alike", losses(topology.even(2e-4))


def _study(topology: Topology) -> Study:
    chain = topology in CHAINS
    unlike = () if chain or topology is PAR else (SHORT_OVER_LONG,)
    return on(
        topology,
        "switches",
        f"What the thesis leaves open{': two flows' if chain else ''}",
        "What each decision for what the thesis does not say is worth, one at a time.",
        source=DOCUMENT,
        axis=("switch", ""),
        points=(Point(label, settings) for label, settings in switches(topology)),
        schemes=SCHEMES,
        conditions=(RETRIES,),
        settings=(*hops(AP, AD, n=4), *of_scheme(FEW, ("few_alpha", "0.25")), *(flows(2) if chain else ())),
        seeds=5,
        core_s=0.04,
        quantities=(
            FLOW_GOODPUT, *FLOWS[:2], JAIN, LOG_UTILITY, *unlike, INTERVAL, SEGMENTS_AN_ACK, TIMEOUTS, UNFINISHED,
        ),
        notes="WiFu's TCP; n = 4, a = 0.25. With four attempts a frame.",
    )  # fmt: skip


HOSTS = (0.0, 1.0, 2.5)
"""H1: what hosts take at least, ms; up to twice as much."""


def hosted(count: int, milliseconds: float) -> str:
    """The label of a number of flows over hosts that take so long."""
    return f"{many(count)}, {milliseconds:g} ms"


def _hosts(topology: Topology) -> Study:
    points = (
        Point(hosted(count, time), (*flows(count), *(_processing(time) if time else ())), time)
        for count in COUNTS
        for time in HOSTS
    )
    return on(
        topology,
        "host",
        "Hosts that take their time",
        f"Goodput and the four-hop interval on a {topology.title} by what a host takes for a packet, each way.",
        source=f"Table 5.1; {DOCUMENT}, H1",
        axis=("flows, hosts take at least", "ms"),
        points=points,
        schemes=(TAHOE, AP, DA),
        conditions=(RETRIES,),
        settings=hops(AP, n=4),
        quantities=(FLOW_GOODPUT, JAIN, LOG_UTILITY, INTERVAL, KHD, TIMEOUTS, UNFINISHED),
        notes="A host takes this for each packet that it receives, and up to as much again, uniformly.",
    )


STUDIES = (*map(_study, TOPOLOGIES), *map(_hosts, CHAINS))
