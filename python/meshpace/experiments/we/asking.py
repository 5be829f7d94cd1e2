"""The words in which claims of the WE TCP-AP paper ask (docs/experiments/we-tcp-ap.md, section 1, "Verdicts")."""

from __future__ import annotations

from dataclasses import dataclass, replace

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
from meshpace.study.measures import Measure, change_along, compared, difference, gain, of
from meshpace.study.model import scheme_name
from meshpace.study.quantities import DELAY, GOODPUT, JAIN, JAIN_10S, Quantity
from meshpace.study.rules import FAIRER, NO_FAIRNESS, NO_GAIN, Rule, Show, order, trend
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


def claim(named: str, statement: str, figure: str, printed: str, *asks: Ask, switches: str | None = None) -> Claim:
    """A claim of this paper; ``switches`` is the study in which to look for the ingredient behind a failure."""
    source = f"{PAPER}, {figure}" if figure else PAPER
    return Claim(f"we {named}", statement, figure, source, printed, asks, cause=switches)


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of a study, or those at some of its points, and what is asked of them."""

    study: str
    points: Points = None

    def at(self, points: Points) -> Runs:
        """At these points alone."""
        return replace(self, points=points)

    def asks(self, measure: Measure, rule: Rule, show: Show, what: str) -> Ask:
        """Any number."""
        return Ask(measure, rule, show, what, (self.study,), self.points)

    def more(self, quantity: Quantity, ours: str, than: str, rule: Rule = MORE) -> Ask:
        """A quantity above another scheme's, as a relative difference."""
        return self.asks(gain(quantity, ours, than), rule, percent, _what(quantity, ours, than))

    def less(self, quantity: Quantity, ours: str, than: str) -> Ask:
        """Below."""
        return self.more(quantity, ours, than, order(NO_GAIN, rises=False))

    def most(self, quantity: Quantity, ours: str, rivals: tuple[str, ...]) -> tuple[Ask, ...]:
        """Above each of several schemes'."""
        return tuple(self.more(quantity, ours, rival) for rival in rivals)

    def least(self, quantity: Quantity, ours: str, rivals: tuple[str, ...]) -> tuple[Ask, ...]:
        """Below each of several schemes'."""
        return tuple(self.less(quantity, ours, rival) for rival in rivals)

    def fairer(self, ours: str, than: str) -> Ask:
        """Jain's index above."""
        return self.asks(difference(JAIN, ours, than), FAIRER, signed, _what(JAIN, ours, than))

    def less_fair(self, ours: str, than: str, quantity: Quantity = JAIN) -> Ask:
        """Jain's index below."""
        rule = order(NO_FAIRNESS, rises=False)
        return self.asks(difference(quantity, ours, than), rule, signed, _what(quantity, ours, than))

    def part_less(self, quantity: Quantity, ours: str, than: str) -> Ask:
        """A part (of packets that are lost) below, by its difference: it may be 0."""
        rule = order(0.0, rises=False)
        return self.asks(difference(quantity, ours, than), rule, percent, _what(quantity, ours, than))

    def part_more(self, quantity: Quantity, ours: str, than: str) -> Ask:
        """A part above, by its difference."""
        return self.asks(difference(quantity, ours, than), order(), percent, _what(quantity, ours, than))

    def unsteadier(self, ours: str, than: str, *, rises: bool = True) -> Ask:
        """Goodput that varies more over windows of 10 s, or less."""
        measure = compared(cvt(ours), cvt(than), _less)
        return self.asks(measure, order(rises=rises), signed, f"Variation in time, {_than(ours, than)}")

    def scattered(self, ours: str, than: str, *, rises: bool = True) -> Ask:
        """Goodput that varies more over seeds, or less."""
        what = f"Variation over seeds, {_than(ours, than)}"
        return self.asks(cvs_difference(ours, than), order(rises=rises), signed, what)

    def close(self, quantity: Quantity, ours: str, to: str) -> Ask:
        """At least nine tenths of another's."""
        what = f"{quantity.title} of {scheme_name(ours)} by {scheme_name(to)}"
        return self.asks(ratio(quantity, ours, to), CLOSE, number, what)

    def ratio_falls(self, quantity: Quantity, ours: str, to: str) -> Ask:
        """The ratio to another scheme's falls along the axis."""
        what = f"{quantity.title} of {scheme_name(ours)} by {scheme_name(to)}"
        what += ", at the end of the axis less at its beginning"
        measure = change_along(ratio(quantity, ours, to))
        return self.asks(measure, trend(NO_GAIN, rises=False), signed, what)

    def kept_by_the_tool(self, ours: str, than: str) -> Ask:
        """How much better one looks in the tool's throughput than in packets received: THR_TOOL's ratio less REC's."""
        measure = compared(compared(tool(ours), tool(than), _by), ratio(RECEIVED, ours, than), _less)
        what = f"Throughput as the tool has it, {_than(ours, than)}, less packets received"
        return self.asks(measure, order(), signed, what)


def guard(ask: Ask) -> Ask:
    """The same: what holds without it holds in part."""
    return replace(ask, role=Role.GUARD)


def beside(ask: Ask) -> Ask:
    """The same, told beside."""
    return replace(ask, role=Role.BESIDE)


def ratio(quantity: Quantity, ours: str, to: str) -> Measure:
    """One scheme's number by another's."""
    return compared(of(quantity, ours), of(quantity, to), _by)


def fall_beside_the_tool(ours: str, to: str) -> Measure:
    """How the ratio of packets received changes along the axis, less how that of the tool's throughput does."""
    return change_along(compared(ratio(RECEIVED, ours, to), compared(tool(ours), tool(to), _by), _less))


def _less(a: float, b: float) -> float:
    return a - b


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
