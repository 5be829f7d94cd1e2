"""What a report consists of, free of HTML."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from meshpace.stats import Estimate


class Verdict(StrEnum):
    """What the numbers say about a claim."""

    HOLDS = "holds"
    PART = "holds in part"
    FAILS = "does not hold"
    OPEN = "undecided"
    """The confidence intervals allow both: more seeds are needed. Not the same as refuted."""
    BORDER = "at the border"
    """Undecided still when the budget for more seeds was spent."""
    UNTESTABLE = "not testable (reconstructed)"
    """It is about a scheme whose law is not printed: what was built in its place says little of the original."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of a paper, where it stands, and what came out under each condition."""

    statement: str
    source: str
    findings: tuple[Finding, ...]
    printed: str = ""
    """The paper's number, as printed; empty if it prints none."""
    tolerance: str = ""
    """What counts as holding."""
    analysis: tuple[str, ...] = ()
    """Why it does not hold where it does not, a paragraph each."""
    id: str = ""
    """As in the paper's catalogue."""
    figure: str = ""
    value: float | None = None
    """The paper's number in the unit of the findings' values, if it prints one."""
    again_of: tuple[str, str] | None = None
    """For a claim that repeats another one, at other readings of the paper's open points:

    the study that the other one is shown with, and its id.
    """


@dataclass(frozen=True, slots=True)
class Finding:
    """One verdict with its reason in numbers; ``condition`` says under which routing, for example."""

    condition: str
    verdict: Verdict
    reason: str
    measured: str = ""
    """Our number beside the printed one."""
    note: str = ""
    """Of what holds in part: how."""
    value: Estimate | None = None
    """Our number as one: the one nearest to what would refute the claim, where there are several."""
    ratio: float | None = None
    """Ours over the paper's, if it prints one."""
    seeds: int = 0
    """Behind the value."""
    seeds_to_decide: int | None = None
    """The number of seeds that would decide the claim, if it is undecided and the number can be told."""

    @property
    def told(self) -> str:
        """The verdict with how it holds in part."""
        return f"{self.verdict}, {self.note}" if self.note else str(self.verdict)


@dataclass(frozen=True, slots=True)
class Series:
    """One line or one colour of bars; ``values`` match the axis of the chart, None where there is none."""

    name: str
    values: tuple[Estimate | None, ...]
    commands: tuple[str, ...] = ()
    """What repeats each value: none, one for all, or as many as values."""
    place: int | None = None
    """Its look (:mod:`meshpace.report.looks`); if None, its place in the chart decides."""


_DENSE = 40


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines over an axis (``bars`` false) or groups of bars, with 95 % confidence intervals.

    Values are in the unit of the results; ``factor`` makes ``unit`` of them.
    """

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
    x: tuple[float, ...] | None = None
    """Where the labels of ``axis`` lie; side by side if None."""
    log: bool = False
    """Whether distances on the axis are ratios."""
    over_time: bool = False
    """Whether the axis is time, and values follow one another as lines without marks."""

    def places(self) -> list[int]:
        """The place of each series, which decides what it looks like."""
        return [index if series.place is None else series.place for index, series in enumerate(self.series)]

    @property
    def dense(self) -> bool:
        """Whether there are too many points to mark each."""
        return self.over_time or len(self.axis) > _DENSE

    def peak(self) -> float:
        """The greatest value that must fit in, in ``unit``."""
        if self.top is not None:
            return self.top
        found = [v.mean + (v.half_width or 0.0) for series in self.series for v in series.values if v is not None]
        return max(0.0, *found) * self.factor if found else 0.0

    def low(self) -> float:
        """The least value that must fit in, in ``unit``; 0 where none is negative."""
        found = [v.mean - (v.half_width or 0.0) for series in self.series for v in series.values if v is not None]
        means = [v.mean for series in self.series for v in series.values if v is not None]
        return min(found) * self.factor if min(means, default=0.0) < 0 else 0.0


@dataclass(frozen=True, slots=True)
class View:
    """Charts that are seen together: one quantity under each condition, for example."""

    name: str
    charts: tuple[Chart, ...]
    shared: bool = False
    """Whether all of a unit have the same scale of values."""
    over: int = 1
    """So many charts, one after another, stand over each other in a still: in a column while there is room for one."""

    @property
    def series(self) -> dict[str, int]:
        """Names of all series with their places, for the legend."""
        return {
            one.name: place for chart in self.charts for one, place in zip(chart.series, chart.places(), strict=True)
        }


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of ready text; the first ``keys`` columns name the row, the others are numbers."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    keys: int = 1
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Download:
    """A file that the page holds."""

    name: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class MeshNode:
    """A node of the mesh; metres."""

    name: str
    x: float
    y: float
    gateway: bool
    placed: bool = True
    """Whether it stands there; else it is only drawn there, and ranges say nothing of it."""


@dataclass(frozen=True, slots=True)
class Topology:
    """A network to draw: nodes with their ranges, wired links by name, flows as pairs of names."""

    caption: str
    nodes: tuple[MeshNode, ...]
    tx_range: float
    cs_range: float
    links: tuple[tuple[str, str], ...]
    flows: tuple[tuple[str, str], ...]
    heard: tuple[tuple[str, str], ...] = ()
    """Radio links that the scenario lists, whatever the ranges."""


@dataclass(frozen=True, slots=True)
class Film:
    """A short stretch of a run, frame by frame, as :func:`meshpace.engine.film` gives it."""

    title: str
    shots: dict[str, Any]
    command: str


@dataclass(frozen=True, slots=True)
class Section:
    """A study: what was asked, the topology, claims, figures, numbers, the commands that repeat its runs."""

    title: str
    lead: str
    views: tuple[View, ...] = ()
    tables: tuple[Table, ...] = ()
    commands: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    """Told in full here; the front page shows their verdicts."""
    topology: Topology | None = None
    films: tuple[Film, ...] = ()
    """Played side by side."""
    downloads: tuple[Download, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """The whole page; ``facts`` are name and value pairs for its head."""

    title: str
    lead: str
    facts: tuple[tuple[str, str], ...]
    claims: tuple[Claim, ...]
    """Told in full on the front page."""
    sections: tuple[Section, ...]
    notes: tuple[str, ...] = ()
    interactive: bool = False
    """Whether charts can be zoomed, asked and switched, which takes a library of 2 MB."""
