"""What Osipov and Tschudin 2005 state beside their figures and tables (catalogue, section 4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from meshpace.experiments.throttle.figures import CUSTOM, FLOWS_OF_STRIPS, lone, parallel
from meshpace.experiments.throttle.measures import (
    STRIPS,
    against,
    at_least,
    at_most,
    contrast,
    is_strip,
    over_points,
    relative,
    three,
)
from meshpace.experiments.throttle.quantities import LOST
from meshpace.experiments.throttle.shares import Shares, least_ratio, of_alone, unfairness
from meshpace.experiments.throttle.strip import HOPS, window
from meshpace.experiments.throttle.study import PAPER
from meshpace.experiments.throttle.text import (
    ALL_BUSY,
    ALONE,
    BOTH_WAYS,
    COUNTED,
    FACTORS,
    FIXED,
    LENGTHS,
    MIXED,
    ONE_GATE,
    ONE_WAY,
    OWN_GATES,
    SPREAD,
    STAYS,
    TCP_ONLY,
    TOLD,
    TUNED,
    WIDE,
    WORST,
    counted,
    directed,
    loaded,
    tuned,
)
from meshpace.study.claims import Ask, Claim, Role
from meshpace.study.measures import Measure, of
from meshpace.study.quantities import GOODPUT, flow_goodput
from meshpace.study.rules import Rule, equality, order
from meshpace.study.words import difference, number, percent
from meshpace.study.words import share as proportion

_EVERY = tuple(parallel(h, n) for h in HOPS for n in FLOWS_OF_STRIPS)
_SIX, _ALONE, _THREE_HOPS = Shares(lambda _: (lone(6),)), Shares(lambda _: (ALONE,)), Shares(lambda _: (lone(3),))
_PLACES = Shares(lambda label: (f"{WIDE}, alone",) if label == WIDE else (lone(3),))
_LENGTHS_SHARES = Shares(lambda label: (lone(1), lone(2), lone(3)) if label == LENGTHS else (lone(3),))
_SCHEMES = (("newreno", "plain"), ("throttle", "throttled"))


def _text(identity: str, section: str, statement: str, printed: str, *asks: Ask) -> Claim:
    return Claim(f"throttle {identity}", statement, "", f"{PAPER}, {section}", printed, asks)


_U = STRIPS.of(unfairness, "throttle")

_CAPTURE = _text(
    "X1",
    "abstract and section 6",
    "With the bound TCP capture does not occur.",
    "does not occur",
    Ask(
        STRIPS.of(least_ratio, "throttle"),
        at_least(0.8),
        number,
        "Least part of its ideal",
        ("throttle-family",),
        _EVERY,
    ),
    Ask(
        three(lambda label: label).of(least_ratio, "throttle"),
        at_least(0.7),
        number,
        "Least part of its ideal, three flows from one node",
        ("throttle-lengths",),
        (CUSTOM,),
    ),
)
_TUNING = _text(
    "X3",
    "section 2.1",
    "Capture cannot be avoided by tuning the window.",
    "cannot",
    *(
        Ask(
            contrast(_SIX.of(unfairness, "newreno"), tuned(w), _SIX.of(unfairness, "throttle"), tuned(window(6))),
            order(),
            difference,
            f"u, plain with window {w}, less throttled",
            ("throttle-tuning",),
            (tuned(w),),
        )
        for w in TUNED
    ),
)
_KNEE = _text(
    "X4",
    "sections 1.2 and 2.3.1",
    "Beyond the critical load flows lose packets and fairness breaks.",
    "beyond it",
    *(
        Ask(
            contrast(_U, loaded(h, 1.5), _U, loaded(h, 1.0)),
            Rule("ORDER", low=0.05, neutral=0.0),
            difference,
            f"u at 1.5 times the calibrated alpha less at it, {h} hops",
            ("throttle-knee",),
            (loaded(h, 1.5),),
        )
        for h in (3, 6)
    ),
    *(
        Ask(
            contrast(of(LOST, "throttle"), loaded(h, 2.0), of(LOST, "throttle"), loaded(h, 1.0)),
            order(),
            percent,
            f"Packets lost for each sent at twice the calibrated alpha less at it, {h} hops",
            ("throttle-knee",),
            (loaded(h, 2.0),),
        )
        for h in (3, 6)
    ),
    *(
        Ask(measure, at_least(0.0), show, what, ("throttle-knee",), points, role=Role.BESIDE)
        for points in (tuple(loaded(h, f) for h in (3, 6) for f in FACTORS),)
        for measure, show, what in ((_U, number, "u"), (of(LOST, "throttle"), proportion, "Packets lost for each sent"))
    ),
)


def _either(scheme: str, what: str) -> tuple[Ask, ...]:
    u, total = STRIPS.of(unfairness, scheme), of(GOODPUT, scheme)
    return tuple(
        ask
        for h in (3, 6)
        for here, there in ((directed(h, BOTH_WAYS), directed(h, ONE_WAY)),)
        for ask in (
            Ask(
                contrast(total, here, total, there, relative),
                equality(-0.03, 0.03),
                percent,
                f"Total, {what}, {h} hops",
                ("throttle-directions",),
                (here,),
            ),
            Ask(
                contrast(u, here, u, there),
                equality(-0.03, 0.03),
                difference,
                f"u, {what}, {h} hops",
                ("throttle-directions",),
                (here,),
            ),
        )
    )


_DIRECTIONS = _text(
    "X5",
    "section 2.3.2",
    "The relative directions of the flows do not matter.",
    "do not matter",
    *_either("newreno", "plain"),
    *_either("throttle", "throttled"),
)


def _milder(shares: Shares, where: str, worst: str, study: str) -> Ask:
    u = shares.of(unfairness, "throttle")
    return Ask(contrast(u, where, u, worst), at_most(0.02), difference, f"u, {where}, less the worst case's", (study,))


_PLACEMENT = _text(
    "X6",
    "section 2.3.2",
    "The worst case bounds other placements.",
    "bounds",
    _milder(_PLACES, SPREAD, WORST, "throttle-placement"),
    _milder(_PLACES, WIDE, WORST, "throttle-placement"),
    _milder(_LENGTHS_SHARES, LENGTHS, parallel(3, 3), "throttle-placement-lengths"),
)
_MOST = _text(
    "X7",
    "section 2.4",
    "The load of one flow alone is the most that the network can carry.",
    "the most",
    *(
        Ask(
            over_points(STRIPS.of(of_alone, scheme), is_strip, max),
            at_most(1.01),
            proportion,
            f"Largest total over one flow's, {what}",
            ("throttle-family",),
        )
        for scheme, what in _SCHEMES
    ),
)


def _rate(flow: int, here: str, there: str, what: str, study: str) -> Ask:
    goodput = of(flow_goodput(flow), "throttle")
    return Ask(
        contrast(goodput, here, goodput, there, relative),
        equality(-0.03, 0.03),
        percent,
        f"Flow {flow + 1}, {what}",
        (study,),
    )


def _half(flow: int, how: str, point: str, role: Role = Role.CLAIM) -> Ask:
    ours, alone = of(flow_goodput(flow), "throttle"), of(flow_goodput(0), "newreno")
    return Ask(
        contrast(ours, point, alone, ALONE, lambda a, b: 2 * a / b - 1 if b else None),
        equality(-0.05, 0.05),
        percent,
        f"Flow {flow + 1} against half of a flow alone, {how}",
        ("throttle-idle",),
        role=role,
    )


_IDLE = _text(
    "X9",
    "section 4.2",
    "The share of a silent flow is wasted until N is updated.",
    "wasted",
    *(_rate(flow, FIXED, STAYS, "N as before, against before", "throttle-idle") for flow in (0, 1)),
    *(_half(flow, "N updated", TOLD) for flow in (0, 1)),
    *(_half(flow, "N counted along the way", COUNTED, Role.BESIDE) for flow in (0, 1)),
)
_IDLE_SOURCE = _text(
    "X9 source",
    "section 4.2",
    "Flows of the same source can use what a silent one leaves.",
    "can be used",
    *(
        Ask(
            contrast(of(flow_goodput(k), "throttle"), ONE_GATE, of(flow_goodput(k), "throttle"), OWN_GATES, relative),
            order(),
            percent,
            f"Flow {k + 1}, one gate against a gate each",
            ("throttle-idle-source",),
        )
        for k in (1, 2)
    ),
    *(_rate(k, OWN_GATES, ALL_BUSY, "a gate each, against before", "throttle-idle-source") for k in (1, 2)),
)


def _least_of_tcp(actual: Sequence[float], ideal: Sequence[float]) -> float | None:
    return least_ratio(actual[2:], ideal[2:])


def _tcp_part(scheme: str) -> Measure:
    return _ALONE.of(_least_of_tcp, scheme)


_UDP = _text(
    "X10",
    "section 4.2",
    "UDP under the same bound coexists with TCP fairly.",
    "fairly",
    Ask(_ALONE.of(unfairness, "throttle"), at_most(0.05), number, "u", ("throttle-udp",), (MIXED,)),
    Ask(
        _tcp_part("throttle"),
        at_least(0.9),
        number,
        "Least part of its ideal of a TCP flow",
        ("throttle-udp",),
        (MIXED,),
    ),
    Ask(
        contrast(_tcp_part("newreno"), MIXED, _tcp_part("newreno"), TCP_ONLY),
        order(rises=False),
        difference,
        "The same, unthrottled, less that beside TCP",
        ("throttle-udp",),
    ),
)


def _as_told(measure: Measure, compare: Callable[[float, float], float | None]) -> Measure:
    return against(measure, measure, lambda label: label.removesuffix(", N counted"), compare)


_COUNTED = tuple(counted(n) for n in FLOWS_OF_STRIPS)
_ALONG = _text(
    "X11",
    "section 4.1 (proposed, not measured: our own question)",
    "N counted along the way does what N set by hand does.",
    "proposed",
    Ask(
        _as_told(of(GOODPUT, "throttle"), relative),
        equality(-0.03, 0.03),
        percent,
        "Total against N by the oracle",
        ("throttle-text",),
        _COUNTED,
    ),
    Ask(
        _as_told(_THREE_HOPS.of(unfairness, "throttle"), lambda a, b: a - b),
        equality(-0.03, 0.03),
        difference,
        "u less with N by the oracle",
        ("throttle-text",),
        _COUNTED,
    ),
)

CLAIMS: tuple[Claim, ...] = (
    _CAPTURE,
    _TUNING,
    _KNEE,
    _DIRECTIONS,
    _PLACEMENT,
    _MOST,
    _IDLE,
    _IDLE_SOURCE,
    _UDP,
    _ALONG,
)
