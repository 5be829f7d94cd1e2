"""What Osipov and Tschudin 2005 leave open, one point at a time, and whether conclusions hang on it.

Five networks: 2, 5 and 9 flows of 3 hops side by side, 5 of 6 hops, and the three of Table 1. Flows alone are run with
the same switch. Where the shipped tables do not apply, alpha and critical load are told.
"""

from __future__ import annotations

from meshpace.experiments.throttle.figures import CUSTOM_WINDOWS
from meshpace.experiments.throttle.measures import at_least, at_most
from meshpace.experiments.throttle.quantities import LOST, NET_LOAD
from meshpace.experiments.throttle.shares import Shares, of_alone, spread, unfairness
from meshpace.experiments.throttle.sources import ALPHA, GATE, TABLES
from meshpace.experiments.throttle.strip import STRIP, THREE, strip
from meshpace.experiments.throttle.study import CONDITIONS, FULL, PAPER, QUICK
from meshpace.experiments.throttle.tables import alpha
from meshpace.study.claims import Ask, Claim
from meshpace.study.model import AS_IS, Axis, Plan, Point, Settings, Study
from meshpace.study.quantities import FLOWS, GOODPUT, JAIN, TIMEOUTS
from meshpace.study.rules import order
from meshpace.study.words import difference, number
from meshpace.study.words import share as proportion

_ALONE = ", alone"

_SCHEMES = ("newreno", "split", "throttle")


def _timeouts(*keys: tuple[str, str]) -> Settings:
    """ns-2 before 2.28, or its TCP's other default."""
    return tuple((f"scheme.{scheme}.{key}", value) for scheme in _SCHEMES for key, value in keys)


_COMMON: dict[str, Settings] = {
    AS_IS: (),
    "O1: gates by spacing, alpha 1": ((GATE, "spacing"), (ALPHA, "1")),
    "O4: alpha 1": ((ALPHA, "1"),),
    "O8: these queues at every node": (
        ("scheme.throttle.ot_where", "everywhere"),
        ("scheme.split.ot_where", "everywhere"),
    ),
    "O10: 120 s in all": (("measure.duration", "120s"),),
    "O11: all start at once": (("defaults.start_jitter", "0"),),
    "O12: segments of 200 bytes": (("defaults.segment", "200"),),
    "O12: segments of 1,000 bytes": (("defaults.segment", "1000"),),
    "O15: 28 bytes of MAC header": (("radio.mac_overhead", "28"),),
    "O15: timeouts of 1 s at least": _timeouts(("rto_min", "1s")),
    "O15: first timeout 6 s": _timeouts(("rto_initial", "6s")),
    "O18: backoff as the standard has it": (("radio.backoff_range", "standard"),),
    "O19: RTS/CTS": (("radio.rts", "always"),),
}
_ONCE = {3: "1186542"}
"""L_TCP_crit of 600 bytes with each packet once a hop, by hops: ``meshpace calibrate throttle --segments 600``."""
_STRIPS = {"strip": (3, 5), "strip-3-2": (3, 2), "strip-3-9": (3, 9), "strip-6-5": (6, 5)}
"""By the ends of the studies' names: hops, and flows side by side."""


def _of_strip(hops: int, flows: int) -> dict[str, Settings]:
    corrected = (ALPHA, f"{alpha(hops, flows):.4f}")
    count, critical = "scheme.throttle.ot_count", "scheme.throttle.ot_crit"
    once = {h: ((count, "once"), (critical, load), corrected) for h, load in _ONCE.items()}
    return {
        **({"O3: load counted once a hop": once[hops]} if hops in once else {}),
        "O2: all nodes of competitors count": (("scheme.throttle.ot_rho", "text"), corrected),
        "O5: rows 1 m apart": (("topology.gap", "1m"),),
        "O5: rows over 250 m": (("topology.gap", f"{250 / (flows - 1):g}m"),),
        "O6: window 20": (("flow.0.window", "20"),),
    }


_OF_THREE: dict[str, Settings] = {
    "O6: windows of 20": tuple((f"flow.{k}.window", "20") for k in range(3)),
    "O13: 200 m between nodes": (("topology.spacing", "200m"),),
    "O13: 60 m between nodes": (("topology.spacing", "60m"),),
}


def _one(label: str, base: Settings, alone: Settings, settings: Settings, sinr: bool = False) -> tuple[Point, ...]:
    reception = "sinr" if sinr else None
    return (
        Point(label, (*base, *settings), reception=reception),
        Point(f"{label}{_ALONE}", (*base, *alone, *settings), reception=reception),
    )


def _strip_points(hops: int, flows: int) -> tuple[Point, ...]:
    switched = {**_COMMON, **_of_strip(hops, flows)}
    return tuple(
        point
        for label, settings, sinr in (*((*item, False) for item in switched.items()), ("O18: SINR", (), True))
        for point in _one(label, strip(hops, flows), strip(hops, 1), settings, sinr)
    )


def _others_off(flow: int) -> Settings:
    return tuple((f"flow.{other}.count", "0") for other in range(3) if other != flow)


_THREE_POINTS = tuple(
    point
    for label, settings, reception in (
        *((label, settings, None) for label, settings in {**_COMMON, **_OF_THREE}.items()),
        ("O18: SINR", (), "sinr"),
    )
    for point in (
        Point(label, (*CUSTOM_WINDOWS, *settings), reception=reception),
        *(
            Point(f"{label}{_ALONE} TCP{k + 1}", (*CUSTOM_WINDOWS, *_others_off(k), *settings), reception=reception)
            for k in range(3)
        ),
    )
)


_QUICK = Plan(3, QUICK, core_s=0.06)
_FIRST = Plan(
    2,
    QUICK,
    tuple(
        f"{label}{end}"
        for label in {**_COMMON, **_of_strip(3, 5)}
        if label.startswith((AS_IS, "O1:", "O2", "O3", "O4", "O5"))
        for end in ("", _ALONE)
    ),
    core_s=0.1,
)
"""Those that the catalogue has first, on the networks beside five flows of 3 hops."""


def _study(
    name: str, title: str, scenario: str, points: tuple[Point, ...], schemes: tuple[str, ...], quick: Plan = _QUICK
) -> Study:
    return Study(
        name=f"throttle-switches-{name}",
        paper="ingress-throttling",
        title=f"Open points: {title}",
        figures=(),
        source="docs/experiments/ingress-throttling.md, section 5",
        shows=f"What the decisions on open points change: {title}.",
        scenario=scenario,
        axis=Axis("open point", "", points),
        schemes=schemes,
        conditions=CONDITIONS[:1],
        quick=quick,
        full=Plan(10, FULL, core_s=0.1),
        quantities=(GOODPUT, JAIN, NET_LOAD, LOST, TIMEOUTS, *FLOWS[:5]),
        notes=f"{TABLES} One at a time; with other MAC headers and RTS/CTS, too, the tables stay.",
    )


STUDIES = (
    *(
        _study(
            name,
            f"{flows} flows of {hops} hops side by side",
            STRIP,
            _strip_points(hops, flows),
            _SCHEMES[::2],
            _QUICK if name == "strip" else _FIRST,
        )
        for name, (hops, flows) in _STRIPS.items()
    ),
    _study("three", "three flows from one node", THREE, _THREE_POINTS, _SCHEMES),
)

_STRIP_SHARES = Shares(lambda label: (f"{label}{_ALONE}",))
_THREE_SHARES = Shares(lambda label: tuple(f"{label}{_ALONE} TCP{k + 1}" for k in range(3)))
_STRIP_LABELS, _THREE_LABELS = (
    tuple(point.label for point in study.axis.points if _ALONE not in point.label)
    for study in (STUDIES[0], STUDIES[-1])
)
_ONCE_LABELS = tuple(label for label in _STRIP_LABELS if label.startswith("O3"))


def _claim(identity: str, statement: str, *asks: Ask) -> Claim:
    return Claim(f"throttle {identity}", statement, "", f"{PAPER}; section 5 of the catalogue", "", asks)


_HERE = (
    (
        tuple(f"throttle-switches-{name}" for name in _STRIPS),
        tuple(label for label in _STRIP_LABELS if label not in _ONCE_LABELS),
    ),
    (tuple(f"throttle-switches-{name}" for name, (hops, _) in _STRIPS.items() if hops in _ONCE), _ONCE_LABELS),
)
_THERE = (("throttle-switches-three",), _THREE_LABELS)
CLAIMS = (
    _claim(
        "open 1",
        "Whatever is decided on an open point, throttled flows side by side are fair and carry as much (our question).",
        *(
            ask
            for here in _HERE
            for ask in (
                Ask(_STRIP_SHARES.of(unfairness, "throttle"), at_most(0.05), number, "u, throttled", *here),
                Ask(_STRIP_SHARES.of(spread, "throttle"), at_most(0.05), number, "s, throttled", *here),
                Ask(_STRIP_SHARES.of(of_alone, "throttle"), at_least(0.95), proportion, "Total over one flow's", *here),
                Ask(
                    _STRIP_SHARES.difference(unfairness, "throttle", "newreno"),
                    order(rises=False),
                    difference,
                    "u less plain's",
                    *here,
                ),
            )
        ),
    ),
    _claim(
        "open 2",
        "Whatever is decided on an open point, throttling makes the three flows of Table 1 fairer (our question).",
        Ask(
            _THREE_SHARES.difference(unfairness, "throttle", "split"),
            order(rises=False),
            difference,
            "u less that without",
            *_THERE,
        ),
    ),
)
