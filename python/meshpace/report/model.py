"""What a report consists of, free of HTML."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from meshpace.stats import Estimate


class Verdict(StrEnum):
    """What the numbers say about a claim."""

    HOLDS = "holds"
    PART = "holds in part"
    FAILS = "does not hold"
    OPEN = "undecided"
    """The confidence intervals allow both: more seeds are needed. Not the same as refuted."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of a paper, where it stands, and what came out under each condition."""

    statement: str
    source: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One verdict with its reason in numbers; ``condition`` says under which routing, for example."""

    condition: str
    verdict: Verdict
    reason: str


@dataclass(frozen=True, slots=True)
class Series:
    """One line or one colour of bars; ``values`` match the axis of the chart, None where there is none."""

    name: str
    values: tuple[Estimate | None, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines over an axis (``bars`` false) or groups of bars; whiskers are 95 % confidence intervals."""

    title: str
    axis: tuple[str, ...]
    axis_title: str
    unit: str
    series: tuple[Series, ...]
    factor: float = 1.0
    decimals: int = 1
    bars: bool = False
    top: float | None = None
    """End of the value axis; the data decide if None."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of ready text; the first ``keys`` columns name the row, the others are numbers."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    keys: int = 1


@dataclass(frozen=True, slots=True)
class Section:
    """A study: what was asked, the figures, the numbers, the commands that repeat its runs."""

    title: str
    lead: str
    charts: tuple[Chart, ...] = ()
    tables: tuple[Table, ...] = ()
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """The whole page; ``facts`` are name and value pairs for its head."""

    title: str
    lead: str
    facts: tuple[tuple[str, str], ...]
    claims: tuple[Claim, ...]
    sections: tuple[Section, ...]
    notes: tuple[str, ...] = field(default=())
