"""What Table 1 of Osipov and Tschudin 2005 prints of three flows of unequal length, and what is said of it."""

from __future__ import annotations

from meshpace.experiments.throttle.claims_tables import total, unfair
from meshpace.experiments.throttle.figures import CUSTOM, alone, parallel
from meshpace.experiments.throttle.measures import STRIPS, at_least, contrast, less, relative, three
from meshpace.experiments.throttle.quantities import NET_LOAD
from meshpace.experiments.throttle.shares import ratio_of, unfairness
from meshpace.experiments.throttle.sources import COMMON
from meshpace.experiments.throttle.study import PAPER
from meshpace.study.claims import Against, Ask, Claim, Role
from meshpace.study.measures import gain, of
from meshpace.study.quantities import GOODPUT
from meshpace.study.rules import about, order
from meshpace.study.words import difference, number, percent

_LENGTHS = "throttle-lengths"
_HERE = ((_LENGTHS,), (CUSTOM,))
_THREE = three(lambda _: CUSTOM)
_U = _THREE.of(unfairness, "throttle")


def _claim(identity: str, statement: str, printed: str, *asks: Ask, value: float | None = None) -> Claim:
    return Claim(f"throttle {identity}", statement, "Table 1", f"{PAPER}, Table 1", printed, asks, value)


CLAIMS: tuple[Claim, ...] = (
    total("T1.1", "Table 1", "without throttling", _LENGTHS, "split", CUSTOM, 554),
    unfair("T1.2", "Table 1", "without throttling", _LENGTHS, "split", CUSTOM, 0.31),
    total("T1.3", "Table 1", "throttled", _LENGTHS, "throttle", CUSTOM, 605),
    unfair("T1.4", "Table 1", "throttled", _LENGTHS, "throttle", CUSTOM, 0.09),
    _claim(
        "T1.5",
        "Throttling raises the total by 9.2 %.",
        "+9.2 %",
        Ask(gain(GOODPUT, "throttle", "split"), about(0.022, 0.162, 0.0), percent, "Total against none", *_HERE),
        value=0.092,
    ),
    _claim(
        "T1.6",
        "Throttling lowers the unfairness by 0.22.",
        "0.22",
        Ask(
            _THREE.difference(unfairness, "split", "throttle"),
            about(0.12, 0.32, 0.0),
            difference,
            "u without less u with",
            *_HERE,
        ),
        value=0.22,
    ),
    _claim(
        "T1.7",
        "Some unfairness remains, more than with flows of equal length.",
        "0.09 against 0.0095",
        Ask(
            _U,
            order(),
            difference,
            "u less that of three flows of 3 hops",
            *_HERE,
            against=Against("throttle-three-hops", parallel(3, 3), STRIPS.of(unfairness, "throttle"), less),
        ),
    ),
    _claim(
        "T1.8",
        "The reason is that the critical load grows with length, so that too much is admitted.",
        "the rest of unfairness",
        Ask(
            of(NET_LOAD, "throttle"),
            order(),
            percent,
            "Load against the critical one of one hop",
            *_HERE,
            against=Against("throttle-critical-load", alone(1), of(NET_LOAD, "newreno"), relative),
        ),
        Ask(
            contrast(_U, COMMON, _U, CUSTOM),
            order(rises=False),
            difference,
            "u with the critical load of one hop for all, less u",
            (_LENGTHS,),
            (CUSTOM,),
        ),
        *(
            Ask(
                _THREE.of(ratio_of(k), "throttle"),
                at_least(0.0),
                number,
                f"X_act/X_opt of TCP{k + 1}",
                *_HERE,
                role=Role.BESIDE,
            )
            for k in range(3)
        ),
    ),
)
