"""What Tables 2 and 3 of Osipov and Tschudin 2005 print of three flows from one node, and what is said of them."""

from __future__ import annotations

from meshpace.experiments.throttle.figures import CUSTOM, DEFAULT, RTS_ON, lone, parallel, with_rts
from meshpace.experiments.throttle.measures import against, at_least, contrast, less, relative, three
from meshpace.experiments.throttle.quantities import QUEUED
from meshpace.experiments.throttle.shares import advantage, mean_ratio, ratio_of, spread, unfairness
from meshpace.experiments.throttle.strip import HOPS
from meshpace.experiments.throttle.study import PAPER
from meshpace.stats import Estimate
from meshpace.study.claims import Against, Ask, Claim, Role
from meshpace.study.measures import gain, of
from meshpace.study.quantities import GOODPUT
from meshpace.study.rules import Rule, about, equality, order
from meshpace.study.words import difference, number, percent

_RTS, _WINDOW, _QUEUES = "throttle-rts", "throttle-window", "throttle-queues"
_THREE = three(lambda label: label)
_ONE_ALONE = three(lambda _: CUSTOM)
"""O9: the same flows alone for all tables, without RTS/CTS and with windows of 3h/2."""


def _kilobits(value: Estimate) -> str:
    width = "" if value.half_width is None else f" ± {value.half_width / 1e3:.0f}"
    return f"{value.mean / 1e3:.0f}{width} kbit/s"


def _claim(identity: str, table: str, statement: str, printed: str, *asks: Ask, value: float | None = None) -> Claim:
    return Claim(f"throttle {identity}", statement, table, f"{PAPER}, {table}", printed, asks, value)


def total(identity: str, table: str, what: str, study: str, scheme: str, point: str, printed: float) -> Claim:
    """A total as printed, within 10 %."""
    low, high = 0.9 * printed * 1e3, 1.1 * printed * 1e3
    return _claim(
        identity,
        table,
        f"The total is {printed:.0f} kbit/s, {what}.",
        f"{printed:.0f} kbit/s",
        Ask(of(GOODPUT, scheme), about(low, high), _kilobits, "Total", (study,), (point,)),
        value=printed * 1e3,
    )


def unfair(identity: str, table: str, what: str, study: str, scheme: str, point: str, printed: float) -> Claim:
    """An unfairness as printed, within 0.05."""
    return _claim(
        identity,
        table,
        f"The unfairness is {printed:.2f}, {what}.",
        f"{printed:.2f}",
        Ask(_THREE.of(unfairness, scheme), about(printed - 0.05, printed + 0.05), number, "u", (study,), (point,)),
        *(
            Ask(_THREE.of(part, scheme), at_least(0.0), number, what, (study,), (point,), role=Role.BESIDE)
            for part, what in ((mean_ratio, "m"), (spread, "s"))
        ),
        Ask(
            _ONE_ALONE.of(unfairness, scheme),
            at_least(0.0),
            number,
            "u by flows alone without RTS/CTS, windows of 3h/2 (O9)",
            (study,),
            (point,),
            role=Role.BESIDE,
        ),
        value=printed,
    )


def _ordered(scheme: str, study: str, point: str, flows: tuple[int, int, int]) -> tuple[Ask, ...]:
    pairs = ((flows[0], flows[1]), (flows[1], flows[2]))
    return tuple(
        Ask(
            contrast(_THREE.of(ratio_of(a), scheme), point, _THREE.of(ratio_of(b), scheme), point),
            order(),
            difference,
            f"X_act/X_opt of TCP{a + 1} less that of TCP{b + 1}",
            (study,),
            (point,),
        )
        for a, b in pairs
    )


_TABLE_2 = (
    total("T2.1", "Table 2", "with RTS/CTS", _RTS, "newreno", RTS_ON, 431),
    unfair("T2.2", "Table 2", "with RTS/CTS", _RTS, "newreno", RTS_ON, 0.28),
    total("T2.3", "Table 2", "without RTS/CTS", _RTS, "newreno", DEFAULT, 525),
    unfair("T2.4", "Table 2", "without RTS/CTS", _RTS, "newreno", DEFAULT, 0.31),
    _claim(
        "T2.5",
        "Table 2",
        "Without RTS/CTS the total is almost 100 kbit/s higher.",
        "+94 kbit/s",
        Ask(
            contrast(of(GOODPUT, "newreno"), DEFAULT, of(GOODPUT, "newreno"), RTS_ON),
            about(54e3, 134e3, neutral=0.0),
            _kilobits,
            "Total without less with",
            (_RTS,),
            (DEFAULT,),
        ),
        value=94e3,
    ),
    _claim(
        "T2.6",
        "Table 2",
        "Without RTS/CTS the unfairness is slightly larger.",
        "+0.03",
        Ask(
            contrast(_THREE.of(unfairness, "newreno"), DEFAULT, _THREE.of(unfairness, "newreno"), RTS_ON),
            about(0.0, 0.08, neutral=0.0),
            difference,
            "u without less u with",
            (_RTS,),
            (DEFAULT,),
        ),
        value=0.03,
    ),
    _claim(
        "T2.8",
        "Table 2",
        "Without RTS/CTS the total is higher on all topologies.",
        "on all",
        Ask(
            against(of(GOODPUT, "newreno"), of(GOODPUT, "newreno"), with_rts, relative),
            order(),
            percent,
            "Total without against with",
            ("throttle-rts-family",),
            (*map(lone, HOPS), parallel(3, 5), parallel(6, 5)),
        ),
    ),
)

_TABLE_3A = (
    total("T3a.1", "Table 3(a)", "one queue, windows of 3h/2", _WINDOW, "newreno", CUSTOM, 496),
    unfair("T3a.2", "Table 3(a)", "one queue, windows of 3h/2", _WINDOW, "newreno", CUSTOM, 0.47),
    _claim(
        "T3a.3",
        "Table 3(a)",
        "Windows of 3h/2 lower the total by 5.5 %.",
        "-5.5 %",
        *(
            Ask(
                contrast(of(GOODPUT, "newreno"), CUSTOM, of(GOODPUT, "newreno"), DEFAULT, relative),
                rule,
                percent,
                what,
                (_WINDOW,),
                (CUSTOM,),
            )
            for rule, what in (
                (about(-0.125, 0.015), "Total against windows of 20"),
                (order(rises=False), "The same, lower"),
            )
        ),
        value=-0.055,
    ),
    _claim(
        "T3a.4",
        "Table 3(a)",
        "and raise the unfairness by 0.16.",
        "+0.16",
        Ask(
            contrast(_THREE.of(unfairness, "newreno"), CUSTOM, _THREE.of(unfairness, "newreno"), DEFAULT),
            about(0.1, 0.26, neutral=0.0),
            difference,
            "u less that with windows of 20",
            (_WINDOW,),
            (CUSTOM,),
        ),
        value=0.16,
    ),
    _claim(
        "T3a.5",
        "Table 3(a)",
        "In one queue longer flows, with larger windows, gain over shorter ones.",
        "3 > 2 > 1",
        *_ordered("newreno", _WINDOW, CUSTOM, (2, 1, 0)),
    ),
    _claim(
        "T3a.6",
        "Table 3(a)",
        "The common queue is the reason: their packets fill it in the order of the windows. With separate queues the "
        "gain of longer flows goes.",
        "3 > 2 > 1",
        *(
            Ask(
                contrast(of(QUEUED[a], "newreno"), CUSTOM, of(QUEUED[b], "newreno"), CUSTOM),
                order(),
                difference,
                f"Packets of TCP{a + 1} in the queue less those of TCP{b + 1}",
                (_WINDOW,),
                (CUSTOM,),
            )
            for a, b in ((2, 1), (1, 0))
        ),
        Ask(
            _THREE.of(advantage, "split"),
            Rule("BOUND", high=0.0),
            difference,
            "X_act/X_opt of TCP3 less that of TCP1, separate queues",
            (_QUEUES,),
            (CUSTOM,),
        ),
        Ask(
            _THREE.difference(advantage, "split", "newreno"),
            order(rises=False),
            difference,
            "The same less that with one queue",
            (_QUEUES,),
            (CUSTOM,),
            role=Role.BESIDE,
        ),
    ),
)

_SPLIT_U, _FIFO_U = _THREE.of(unfairness, "split"), _THREE.of(unfairness, "newreno")
_SPLIT, _FIFO = of(GOODPUT, "split"), of(GOODPUT, "newreno")
_AS_UNFAIR = Ask(
    contrast(_SPLIT_U, CUSTOM, _FIFO_U, DEFAULT),
    equality(-0.05, 0.05),
    difference,
    "u less that of one queue and windows of 20",
    (_QUEUES,),
    (CUSTOM,),
)

_TABLE_3B = (
    total("T3b.1", "Table 3(b)", "a queue each, windows of 20", _QUEUES, "split", DEFAULT, 794),
    unfair("T3b.2", "Table 3(b)", "a queue each, windows of 20", _QUEUES, "split", DEFAULT, 0.75),
    total("T3b.3", "Table 3(b)", "a queue each, windows of 3h/2", _QUEUES, "split", CUSTOM, 554),
    unfair("T3b.4", "Table 3(b)", "a queue each, windows of 3h/2", _QUEUES, "split", CUSTOM, 0.31),
    _claim(
        "T3b.5",
        "Table 3(b)",
        "Separate queues raise the total, by 51 % with windows of 20, by 12 % with 3h/2.",
        "+51 %, +12 %",
        Ask(
            gain(GOODPUT, "split", "newreno"),
            about(0.36, 0.66, neutral=0.0),
            percent,
            "Total, windows of 20",
            (_QUEUES,),
            (DEFAULT,),
        ),
        Ask(
            gain(GOODPUT, "split", "newreno"),
            about(0.04, 0.20, neutral=0.0),
            percent,
            "Total, windows of 3h/2",
            (_QUEUES,),
            (CUSTOM,),
        ),
    ),
    _claim(
        "T3b.6",
        "Table 3(b)",
        "With windows of 3h/2 separate queues lower the unfairness, to that of one queue and 20.",
        "0.47 to 0.31",
        Ask(
            _THREE.difference(unfairness, "split", "newreno"),
            Rule("MUCH", high=-0.1, neutral=0.0),
            difference,
            "u less that of one queue",
            (_QUEUES,),
            (CUSTOM,),
        ),
        _AS_UNFAIR,
    ),
    _claim(
        "T3b.7",
        "Table 3(b)",
        "Separate queues with windows of 20 are the most unfair, with the highest total.",
        "0.75, 794 kbit/s",
        *(
            Ask(
                contrast(one, DEFAULT, other, there, compare), order(), show, f"{what}, {where}", (_QUEUES,), (DEFAULT,)
            )
            for there, scheme, where in (
                (CUSTOM, "split", "less windows of 3h/2"),
                (DEFAULT, "newreno", "less one queue"),
                (CUSTOM, "newreno", "less one queue, windows of 3h/2"),
            )
            for one, other, compare, show, what in (
                (_SPLIT_U, _SPLIT_U if scheme == "split" else _FIFO_U, less, difference, "u"),
                (_SPLIT, _SPLIT if scheme == "split" else _FIFO, relative, percent, "Total"),
            )
        ),
    ),
    _claim(
        "T3b.8",
        "Table 3(b)",
        "Shorter flows have an extra advantage with separate queues and windows of 20.",
        "1 > 2 > 3",
        *_ordered("split", _QUEUES, DEFAULT, (0, 1, 2)),
    ),
    _claim(
        "T3b.9",
        "Table 3(b)",
        "Windows of 3h/2 and separate queues together raise the total, u as before.",
        "554, 0.31",
        Ask(
            contrast(_SPLIT, CUSTOM, _FIFO, DEFAULT, relative),
            order(),
            percent,
            "Total against one queue, windows of 20",
            (_QUEUES,),
            (CUSTOM,),
        ),
        _AS_UNFAIR,
    ),
    _claim(
        "T3b.10",
        "Table 3(b)",
        "Step by step the configuration raises the total by 29 %, and unfairness stays.",
        "+29 %",
        Ask(
            _SPLIT,
            about(0.14, 0.44, neutral=0.0),
            percent,
            "Total against RTS/CTS, one queue, windows of 20",
            (_QUEUES,),
            (CUSTOM,),
            against=Against(_RTS, RTS_ON, _FIFO, relative),
        ),
        Ask(
            _SPLIT_U,
            Rule("BOUND", low=-0.05),
            difference,
            "u less that with RTS/CTS, one queue, windows of 20",
            (_QUEUES,),
            (CUSTOM,),
            against=Against(_RTS, RTS_ON, _FIFO_U, less),
        ),
        value=0.29,
    ),
)

CLAIMS: tuple[Claim, ...] = (*_TABLE_2, *_TABLE_3A, *_TABLE_3B)
