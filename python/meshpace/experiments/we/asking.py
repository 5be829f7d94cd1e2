"""The words in which claims of the WE TCP-AP paper ask (docs/experiments/we-tcp-ap.md, section 1, "Verdicts")."""

from __future__ import annotations

from collections.abc import Callable

from meshpace.experiments.we.chains import PAPER
from meshpace.experiments.we.quantities import (
    LOSS,
    PACKET_DELAY,
    QUEUES,
    RECEIVED,
    USE,
    WE_DROPS,
    cvs_difference,
    cvt,
    tool,
)
from meshpace.study.claims import Ask, Claim, Role
from meshpace.study.measures import Measure, change_along, compared, difference, gain, mean_along, of
from meshpace.study.model import scheme_name
from meshpace.study.quantities import DELAY, GOODPUT, JAIN, JAIN_10S, Quantity
from meshpace.study.rules import FAIRER, NO_FAIRNESS, NO_GAIN, Rule, order, trend
from meshpace.study.words import difference as signed
from meshpace.study.words import number, percent

CLEARLY = Rule("MUCH", low=0.05, neutral=0.0, margin=NO_GAIN)
"""At least 5 % more."""
SIGNIFICANT = Rule("MUCH", low=0.10, neutral=0.0, margin=NO_GAIN)
"""At least 10 % more."""
MORE = order(NO_GAIN)
CLOSE = Rule("EQUALITY", low=0.9)
"""At least 0.9 of the other: "close", "good against"."""
Points = tuple[str, ...] | None


def claim(
    named: str, statement: str, figure: str, printed: str, *asks: Ask, value: float | None = None, otherwise: str = ""
) -> Claim:
    """A claim of this paper."""
    source = f"{PAPER}, {figure}" if figure else PAPER
    return Claim(f"we {named}", statement, figure, source, printed, asks, value, otherwise=otherwise)


def more(quantity: Quantity, ours: str, than: str, *studies: str, rule: Rule = MORE, points: Points = None) -> Ask:
    """A quantity above another scheme's, as a relative difference."""
    return Ask(gain(quantity, ours, than), rule, percent, _what(quantity, ours, than), studies, points)


def less(quantity: Quantity, ours: str, than: str, *studies: str, points: Points = None) -> Ask:
    """Below."""
    return more(quantity, ours, than, *studies, rule=order(NO_GAIN, rises=False), points=points)


def fairer(ours: str, than: str, *studies: str, quantity: Quantity = JAIN, points: Points = None) -> Ask:
    """Jain's index above."""
    return Ask(difference(quantity, ours, than), FAIRER, signed, _what(quantity, ours, than), studies, points)


def less_fair(ours: str, than: str, *studies: str, quantity: Quantity = JAIN, points: Points = None) -> Ask:
    """Jain's index below."""
    rule = order(NO_FAIRNESS, rises=False)
    return Ask(difference(quantity, ours, than), rule, signed, _what(quantity, ours, than), studies, points)


def part_less(quantity: Quantity, ours: str, than: str, *studies: str, points: Points = None) -> Ask:
    """A part (of packets that are lost) below, by its difference: it may be 0."""
    rule = order(0.0, rises=False)
    return Ask(difference(quantity, ours, than), rule, percent, _what(quantity, ours, than), studies, points)


def part_more(quantity: Quantity, ours: str, than: str, *studies: str, points: Points = None) -> Ask:
    """A part above, by its difference."""
    return Ask(difference(quantity, ours, than), order(), percent, _what(quantity, ours, than), studies, points)


def unsteadier(ours: str, than: str, *studies: str, rises: bool = True, points: Points = None) -> Ask:
    """Goodput that varies more over windows of 10 s, or less."""
    measure = compared(cvt(ours), cvt(than), lambda a, b: a - b)
    return Ask(measure, order(rises=rises), signed, f"Variation in time, {_than(ours, than)}", studies, points)


def scattered(ours: str, than: str, *studies: str, rises: bool = True, points: Points = None) -> Ask:
    """Goodput that varies more over seeds, or less."""
    what = f"Variation over seeds, {_than(ours, than)}"
    return Ask(cvs_difference(ours, than), order(rises=rises), signed, what, studies, points)


def close(quantity: Quantity, ours: str, to: str, *studies: str, points: Points = None) -> Ask:
    """At least nine tenths of another's."""
    measure = ratio(quantity, ours, to)
    return Ask(measure, CLOSE, number, f"{quantity.title} of {scheme_name(ours)} by {scheme_name(to)}", studies, points)


def ratio(quantity: Quantity, ours: str, to: str) -> Measure:
    """One scheme's number by another's."""
    return compared(of(quantity, ours), of(quantity, to), _by)


def ratio_falls(quantity: Quantity, ours: str, to: str, *studies: str, role: Role = Role.CLAIM) -> Ask:
    """The ratio to another scheme's falls along the axis."""
    what = f"{quantity.title} of {scheme_name(ours)} by {scheme_name(to)}, at the end of the axis less at its beginning"
    measure = change_along(ratio(quantity, ours, to))
    return Ask(measure, trend(NO_GAIN, rises=False), signed, what, studies, role=role)


def kept_by_the_tool(ours: str, than: str, *studies: str, points: Points = None) -> Ask:
    """How much better one looks in the tool's throughput than in packets received: THR_TOOL's ratio less REC's."""
    tools = compared(tool(ours), tool(than), _by)
    measure = compared(tools, ratio(RECEIVED, ours, than), lambda a, b: a - b)
    what = f"Throughput as the tool has it, {_than(ours, than)}, less packets received"
    return Ask(measure, order(), signed, what, studies, points)


def mean_gain(quantity: Quantity, ours: str, than: str, rule: Rule, *studies: str) -> Ask:
    """The mean over the axis of a relative difference."""
    return Ask(mean_along(gain(quantity, ours, than)), rule, percent, f"Mean over points, {_than(ours, than)}", studies)


def beside(ask: Ask) -> Ask:
    """The same, told beside."""
    return Ask(ask.measure, ask.rule, ask.show, ask.what, ask.studies, ask.points, role=Role.BESIDE)


def all_against(make: Callable[..., Ask], ours: str, rivals: tuple[str, ...], *studies: str) -> tuple[Ask, ...]:
    """The same against each of several schemes."""
    return tuple(make(ours, rival, *studies) for rival in rivals)


def throughput(ours: str, than: str, *studies: str) -> Ask:
    """Aggregate goodput above."""
    return more(GOODPUT, ours, than, *studies)


def packets(ours: str, than: str, *studies: str) -> Ask:
    """Packets received above."""
    return more(RECEIVED, ours, than, *studies)


def slower(ours: str, than: str, *studies: str) -> Ask:
    """Delay of packets above."""
    return more(PACKET_DELAY, ours, than, *studies)


def _by(a: float, b: float) -> float | None:
    return a / b if b else None


def _than(ours: str, than: str) -> str:
    return f"{scheme_name(ours)} against {scheme_name(than)}"


def _what(quantity: Quantity, ours: str, than: str) -> str:
    words = {
        GOODPUT.name: "Throughput", RECEIVED.name: "Packets received", PACKET_DELAY.name: "Delay", DELAY.name: "Delay",
        LOSS.name: "Loss", WE_DROPS.name: "Drops", QUEUES.name: "Packets in queues", USE.name: "Use of the medium",
        JAIN_10S.name: "Jain's index over 10 s",
    }  # fmt: skip
    return f"{words.get(quantity.name, quantity.title)}, {_than(ours, than)}"
