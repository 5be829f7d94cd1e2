"""Claims of the LLAP paper about its tables and the window (docs/experiments/llap.md): Tables 1 and 2, Figs. 5, 22."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

from meshpace.experiments.llap.claims import FEWER, LOST_LESS, MORE, beside, claim
from meshpace.experiments.llap.figures import LLAP, OFF, ON, TCP_AP
from meshpace.experiments.llap.quantities import (
    BY_TIMEOUT,
    COLLISIONS_DATA,
    DATA_GIVEN_UP,
    G_PAPER,
    LOSS_MAC,
    LOSS_MAC2,
    LOSS_REX,
    MAC_OVER_QUEUE,
    TIMEOUTS_250,
)
from meshpace.stats import Estimate
from meshpace.study.claims import Against, Ask, Claim, Role
from meshpace.study.measures import Measure, compared, difference, from_series, gain, of
from meshpace.study.quantities import GOODPUT, Quantity
from meshpace.study.rules import NO_GAIN, Rule, about, equality, order
from meshpace.study.words import count, percent, share
from meshpace.study.words import difference as signed

kilobits: Callable[[Estimate], str] = partial(count, factor=1e-3, unit=" kbit/s")
"""Bit/s as ``96.6 ± 2.0 kbit/s``."""


def within(printed: float, tolerance: float) -> Rule:
    """A printed number with a two-sided tolerance, a part of it."""
    return about(printed * (1 - tolerance), printed * (1 + tolerance))


def _factor_two(printed: float) -> Rule:
    return about(printed / 2, printed * 2)


def _on_against_off(
    study: str, quantity: Quantity, scheme: str, rule: Rule, what: str, role: Role = Role.CLAIM
) -> Ask:  # fmt: skip
    """A quantity with RTS/CTS against the same without, paired by seed."""
    without = Against(study, OFF, of(quantity, scheme), lambda on, off: on / off - 1 if off else None)
    return Ask(of(quantity, scheme), rule, percent, what, (study,), (ON,), role=role, against=without)


_T1, _T2 = "llap-table1", "llap-table2"


def _printed(study: str, scheme: str, point: str, rows: tuple[tuple[str, float, float, float], ...]) -> list[Claim]:
    """Goodput or timeouts of a row: claim, goodput (0: of timeouts), tolerance, timeouts."""
    figure = "Table 1" if study == _T1 else "Table 2"
    name = {"newreno": "NewReno", TCP_AP: "TCP-AP", LLAP: "NewReno with LLAP"}[scheme]
    found = []
    for identity, goodput, tolerance, timeouts in rows:
        if goodput:
            found.append(
                claim(
                    identity,
                    f"{name}, {point}: {goodput} kbit/s.",
                    figure,
                    f"{goodput} kbit/s",
                    Ask(
                        of(G_PAPER, scheme),
                        within(1e3 * goodput, tolerance),
                        kilobits,
                        "Goodput less what was resent",
                        (study,),
                        (point,),
                    ),
                    Ask(
                        of(GOODPUT, scheme),
                        within(1e3 * goodput, tolerance),
                        kilobits,
                        "Goodput",
                        (study,),
                        (point,),
                        role=Role.BESIDE,
                    ),
                    value=1e3 * goodput,
                    cause="llap-switches-table2" if (scheme, point) == (LLAP, OFF) else None,
                )
            )
        else:
            rule = within(timeouts, tolerance) if tolerance < 1 else _factor_two(timeouts)
            found.append(
                claim(
                    identity,
                    f"{name}, {point}: {timeouts} timeouts in 250 s.",
                    figure,
                    f"{timeouts}",
                    Ask(of(TIMEOUTS_250, scheme), rule, count, "Timeouts in 250 s", (study,), (point,)),
                    value=timeouts,
                )
            )
    return found


def _losses(study: str, scheme: str, points: tuple[str, ...], printed: str) -> Iterator[Ask]:
    """The paper's loss in three readings, none of which fits all it prints: no verdict (O12)."""
    for quantity in (LOSS_REX, LOSS_MAC, LOSS_MAC2):
        what = f"Loss (printed: {printed}), {quantity.title}"
        yield Ask(of(quantity, scheme), Rule("BOUND"), share, what, (study,), points, role=Role.BESIDE)


def window_at_one(windows: dict[str, list[float]]) -> float | None:
    """Part of the time at a window below 2 segments."""
    samples = [value for flow in windows.values() for value in flow]
    return sum(value < 2 for value in samples) / len(samples) if samples else None


def unevenness(windows: dict[str, list[float]]) -> float | None:
    """Coefficient of variation of the first flow's window after 20 s, as far as 64 segments allow it to act."""
    samples = [min(value, 64.0) for value in next(iter(windows.values()))[80:]]
    middle = math.fsum(samples) / len(samples) if samples else 0.0
    return math.sqrt(math.fsum((x - middle) ** 2 for x in samples) / len(samples)) / middle if middle else None


def _smoother(scheme: str) -> Measure:
    ours, theirs = (from_series(unevenness, name, "cwnd") for name in (scheme, "newreno"))
    return compared(ours, theirs, lambda a, b: a - b)


_TABLE_1 = (
    *_printed(_T1, "newreno", OFF, (("T1.1", 96.64, 0.15, 0), ("T1.2", 0, 0.25, 27.33))),
    *_printed(_T1, "newreno", ON, (("T1.3", 88.50, 0.15, 0), ("T1.4", 0, 0.25, 53.8))),
    *_printed(_T1, TCP_AP, OFF, (("T1.5", 244.56, 0.10, 0), ("T1.6", 0, 1, 9.56))),
    claim(
        "T1.7",
        "RTS/CTS does not help NewReno: no more goodput, more timeouts and losses.",
        "Table 1",
        "×0.92, ×1.97, ×2.5",
        _on_against_off(_T1, G_PAPER, "newreno", Rule("ORDER", high=NO_GAIN), "Goodput with RTS/CTS against without"),
        _on_against_off(_T1, TIMEOUTS_250, "newreno", order(), "Timeouts"),
        _on_against_off(_T1, LOSS_REX, "newreno", order(), "Loss"),
    ),
    claim(
        "T1.8",
        "TCP-AP has more goodput than NewReno, and fewer timeouts and losses.",
        "Table 1",
        "×2.53, ×0.35, ×0.06",
        Ask(gain(G_PAPER, TCP_AP), MORE, percent, "Goodput against NewReno", (_T1,), (OFF,)),
        Ask(difference(TIMEOUTS_250, TCP_AP), FEWER, signed, "Timeouts less NewReno's", (_T1,), (OFF,)),
        Ask(difference(LOSS_REX, TCP_AP), LOST_LESS, percent, "Loss less NewReno's", (_T1,), (OFF,)),
    ),
    claim(
        "T1.9",
        "Losses are the MAC's, not the queues'.",
        "Table 1",
        "more",
        Ask(
            of(MAC_OVER_QUEUE, "newreno"),
            order(),
            signed,
            "TCP packets given up by the MAC less those dropped by queues",
            (_T1,),
        ),
        *_losses(_T1, "newreno", (OFF, ON), "3.11, 7.93 %"),
        *_losses(_T1, TCP_AP, (OFF,), "TCP-AP: 0.18 %"),
    ),
    claim(
        "T1.10",
        "RTS/CTS removes some collisions of data, and not the losses by contention.",
        "Table 1",
        "fewer",
        _on_against_off(
            _T1, COLLISIONS_DATA, "newreno", FEWER, "Collisions of data frames with RTS/CTS against without"
        ),
        Ask(of(DATA_GIVEN_UP, "newreno"), order(), count, "Data packets given up in 250 s", (_T1,), (ON,)),
    ),
    claim(
        "F5.1",
        "NewReno's window goes back to 1 most of the time.",
        "Fig. 5",
        "most",
        Ask(of(BY_TIMEOUT, "newreno"), Rule("ORDER", low=0.5), share, "Reductions by timeout", (_T1,)),
        Ask(
            from_series(window_at_one, "newreno", "cwnd"),
            Rule("BOUND", low=0.5),
            share,
            "Time at a window below 2",
            (_T1,),
            role=Role.BESIDE,
        ),
    ),
)


def _both(number: str, statement: str, printed: str, figure: str = "Table 2") -> Claim:
    asks = [
        *beside(_T2, lambda scheme: gain(G_PAPER, scheme), MORE, percent, "Goodput against NewReno"),
        *beside(_T2, lambda scheme: difference(TIMEOUTS_250, scheme), FEWER, signed, "Timeouts less NewReno's"),
        *beside(_T2, lambda scheme: difference(LOSS_REX, scheme), LOST_LESS, percent, "Loss less NewReno's"),
    ]
    asks += _losses(_T2, LLAP, (OFF, ON), "0.83, 2.43 %")
    return claim(number, statement, figure, printed, *asks, cause="llap-switches-table2")


_TABLE_2 = (
    *_printed(_T2, LLAP, OFF, (("T2.1", 248.75, 0.10, 0), ("T2.3", 0, 1, 2.66))),
    *_printed(_T2, LLAP, ON, (("T2.2", 160.38, 0.10, 0), ("T2.4", 0, 1, 9.16))),
    _both(
        "T2.6",
        "LLAP raises NewReno's goodput and lowers its timeouts and losses, with RTS/CTS and without.",
        "×2.57, ×1.81; ×0.10, ×0.17; ×0.27, ×0.31",
    ),
    claim(
        "T2.7",
        "With LLAP, RTS/CTS off beats on.",
        "Table 2",
        "×1.55",
        _on_against_off(_T2, G_PAPER, LLAP, FEWER, "Goodput with RTS/CTS against without"),
        _on_against_off(_T2, LOSS_MAC, LLAP, order(), "Loss at the MAC", Role.BESIDE),
    ),
    claim(
        "T2.8",
        "Without RTS/CTS LLAP delivers what TCP-AP does.",
        "Table 2",
        "+1.7 %",
        *beside(
            _T2,
            lambda scheme: gain(G_PAPER, scheme, TCP_AP),
            equality(-0.05, 0.05),
            percent,
            "Goodput against TCP-AP",
            (OFF,),
        ),
    ),
    claim(
        "F22.1",
        "With LLAP there are far fewer timeouts.",
        "Fig. 22",
        "fewer",
        *beside(
            _T2,
            lambda scheme: gain(TIMEOUTS_250, scheme),
            Rule("MUCH", high=-0.10, neutral=0.0, margin=NO_GAIN),
            percent,
            "Timeouts against NewReno",
        ),
    ),
    claim(
        "F22.2",
        "With LLAP the window is smooth.",
        "Fig. 22",
        "smooth",
        *beside(_T2, _smoother, FEWER, signed, "Coefficient of variation of the window less NewReno's"),
    ),
)


CLAIMS = (*_TABLE_1, *_TABLE_2)
