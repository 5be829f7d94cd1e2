"""What a validation consists of: set-ups that are run, and checks of what they give."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from meshpace.engine import Job
from meshpace.project import reference_directory, scenario_directory, shown
from meshpace.results import LinkResult, RunResult
from meshpace.stats import Estimate, estimate, student_t

Film = dict[str, Any]
"""What was on the air, as :func:`meshpace.engine.film` gives it."""


class Observed(RunResult, total=False):
    """A run's result, and its film if the set-up asks for one."""

    film: Film


Quantity = Callable[[Observed], float | None]
Row = dict[str, str]
"""A line of a reference file."""


@dataclass(frozen=True, slots=True)
class Scatter:
    """Mean and standard deviation over so many seeds; one value without any is exact."""

    count: int
    mean: float
    deviation: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Self:
        """That of these values."""
        mean = math.fsum(values) / len(values)
        variance = math.fsum((value - mean) ** 2 for value in values) / max(len(values) - 1, 1)
        return cls(len(values), mean, math.sqrt(variance))

    @classmethod
    def exact(cls, value: float) -> Self:
        """A number that does not scatter, or of which the scatter is unknown."""
        return cls(1, value, 0.0)

    @property
    def variance_of_mean(self) -> float:
        """The square of the mean's standard error."""
        return self.deviation**2 / self.count


def reach(a: Scatter, b: Scatter, confidence: float) -> float:
    """How far two means may be apart by chance, at that confidence (Welch's test)."""
    variances = (a.variance_of_mean, b.variance_of_mean)
    total = sum(variances)
    if total == 0:
        return 0.0
    shares = sum(v**2 / (s.count - 1) for v, s in zip(variances, (a, b), strict=True) if s.count > 1)
    degrees = max(1, int(total**2 / shares)) if shares else 1
    return student_t(min(degrees, 200), confidence) * math.sqrt(total)


@dataclass(frozen=True, slots=True)
class Relative:
    """Within a share of the reference."""

    share: float

    def within(self, ours: Scatter, reference: Scatter) -> bool:
        """True if the two agree."""
        return abs(ours.mean - reference.mean) <= self.share * abs(reference.mean)

    def __str__(self) -> str:
        return f"{self.share * 100:.0f} %"


@dataclass(frozen=True, slots=True)
class Count:
    """Within a factor of 1.5 where the reference is at least 20 a run, else within 15 of it."""

    def within(self, ours: Scatter, reference: Scatter) -> bool:
        """True if the two agree."""
        if reference.mean >= 20:
            return reference.mean / 1.5 <= ours.mean <= reference.mean * 1.5
        return abs(ours.mean - reference.mean) <= 15

    def __str__(self) -> str:
        return "factor 1.5 or 15"


@dataclass(frozen=True, slots=True)
class Absolute:
    """Within a distance of the reference."""

    distance: float

    def within(self, ours: Scatter, reference: Scatter) -> bool:
        """True if the two agree."""
        return abs(ours.mean - reference.mean) <= self.distance

    def __str__(self) -> str:
        return f"± {self.distance:g}"


@dataclass(frozen=True, slots=True)
class SameSide:
    """On the same side of 1: the same flow wins."""

    def within(self, ours: Scatter, reference: Scatter) -> bool:
        """True if the two agree."""
        return (ours.mean > 1) == (reference.mean > 1)

    def __str__(self) -> str:
        return "same winner"


@dataclass(frozen=True, slots=True)
class Equivalent:
    """No farther apart than a margin beyond what both sides' scatter explains; within the specification's tolerance.

    The margin is a share of the reference, at least ``least``; the scatter is taken at 99 %.
    """

    share: float
    least: float = 0.0
    outer: Relative | Count | Absolute | None = None

    def within(self, ours: Scatter, reference: Scatter) -> bool:
        """True if the two agree."""
        margin = max(self.share * abs(reference.mean), self.least)
        apart = abs(ours.mean - reference.mean)
        return apart <= margin + reach(ours, reference, 0.99) and self._specified(ours, reference)

    def _specified(self, ours: Scatter, reference: Scatter) -> bool:
        return self.outer is None or self.outer.within(ours, reference)

    def __str__(self) -> str:
        share = f"{self.share * 100:g} %" if self.share else ""
        least = f"{self.least:g}" if self.least else ""
        return " or ".join(filter(None, (share, least))) + " + scatter"


@dataclass(frozen=True, slots=True)
class Consistent:
    """No farther apart than both sides' scatter explains, at 99.9 % since hundreds of rows are judged.

    What does not scatter may be ``share`` of the reference or ``least`` apart.
    """

    least: float = 0.0
    share: float = 0.0
    outer: Relative | Count | None = None

    def within(self, ours: Scatter, reference: Scatter) -> bool:
        """True if the two agree."""
        apart = abs(ours.mean - reference.mean)
        by_chance = apart <= max(self.least, self.share * abs(reference.mean), reach(ours, reference, 0.999))
        return by_chance and (self.outer is None or self.outer.within(ours, reference))

    def __str__(self) -> str:
        return "scatter" if self.outer is None else f"scatter, {self.outer}"


Tolerance = Relative | Count | Absolute | SameSide | Equivalent | Consistent


@dataclass(frozen=True, slots=True)
class Check:
    """One row of the table: a quantity, what the reference has, how far off it may be."""

    name: str
    quantity: str
    unit: str
    reference: float
    tolerance: Tolerance
    take: Quantity
    source: str = "ns-2.35"
    digits: int = 4
    """Significant digits in the table."""
    deviation: float = 0.0
    """The reference's standard deviation over its seeds."""
    seeds: int = 1
    """How many seeds the reference has."""

    @property
    def known(self) -> Scatter:
        """The reference with its scatter."""
        return Scatter(self.seeds, self.reference, self.deviation)


@dataclass(frozen=True, slots=True)
class FilmedStretch:
    """The part of a run that is filmed: from when, for how long at most, how many frames at most."""

    begin_s: float
    length_s: float
    frames: int


@dataclass(frozen=True, slots=True)
class Setup:
    """Runs of one scenario and the checks of their means; ``seeds`` is what the reference used.

    ``folder`` gives the folder of the scenario; runs are filmed if ``filmed`` says when.
    """

    family: str
    scenario: str
    settings: tuple[str, ...]
    scheme: str | None
    seeds: int
    checks: tuple[Check, ...]
    folder: Callable[[], Path] = scenario_directory
    filmed: FilmedStretch | None = None

    def job(self, seed: int) -> Job:
        """The run with this seed."""
        path = self.folder() / self.scenario
        return Job(shown(path), path.read_bytes(), self.settings, self.scheme, seed)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A check, what came out, a value a seed, and the job that repeats the first of them."""

    family: str
    check: Check
    values: tuple[float, ...]
    job: Job

    @property
    def ours(self) -> Estimate | None:
        """Mean and confidence interval of what came out."""
        return estimate(self.values)

    @property
    def passed(self) -> bool:
        """True if what came out is within the tolerance."""
        return bool(self.values) and self.check.tolerance.within(Scatter.of(self.values), self.check.known)

    @property
    def key(self) -> str:
        """The row's name, by which misses are explained."""
        return f"{self.family}: {self.check.name}: {self.check.quantity}"


def reference(name: str) -> Iterator[Row]:
    """The rows of one reference file."""
    with (reference_directory() / f"{name}.csv").open(newline="") as lines:
        yield from csv.DictReader(lines)


def mean(row: Row, column: str) -> float:
    """A column's mean over the reference's seeds."""
    return float(row[f"{column}_mean"])


def measured(
    name: str, quantity: str, unit: str, row: Row, columns: str | Sequence[str], tolerance: Tolerance, take: Quantity
) -> Check:
    """The check of a column, or of a sum of columns, with the reference's scatter.

    A sum's deviation is that of columns that rise and fall together: the largest there can be.
    """
    columns = [columns] if isinstance(columns, str) else columns
    value = sum(mean(row, column) for column in columns)
    deviation = sum(float(row[f"{column}_std"]) for column in columns)
    return Check(name, quantity, unit, value, tolerance, take, deviation=deviation, seeds=int(row["n_seeds"]))


def goodput_tolerance(routing: str, specified: Relative) -> Tolerance:
    """2 % beyond the scatter with routes that stay; what the scatter explains with AODV's."""
    return Consistent(share=0.005, outer=specified) if routing == "AODV" else Equivalent(0.02, outer=specified)


def count_tolerance(routing: str) -> Tolerance:
    """10 % or three beyond the scatter with routes that stay; what the scatter explains with AODV's."""
    return Consistent(3, outer=Count()) if routing == "AODV" else Equivalent(0.10, 3, Count())


def goodput_kbps(flow: int = 0) -> Quantity:
    """Goodput of one flow."""
    return lambda run: run["flows"][flow]["goodput_bps"] / 1e3


def aggregate_kbps(run: RunResult) -> float:
    """Goodput of all flows."""
    return run["aggregate_goodput_bps"] / 1e3


def data_drops(run: RunResult) -> float:
    """Packets with payload that a MAC of the mesh gave up."""
    return float(sum(link["data_drops"] for link in _wireless(run)))


def ack_drops(run: RunResult) -> float:
    """TCP ACKs that a MAC of the mesh gave up."""
    return float(sum(link["ack_drops"] for link in _wireless(run)))


def collisions(run: RunResult) -> float:
    """Frames lost to overlap, over the mesh."""
    return float(sum(link["collisions"] for link in run["links"]))


def _wireless(run: RunResult) -> list[LinkResult]:
    """The links of the mesh: a wired link, whose drops are queue drops, has an end in the wired part."""
    wired = {"RT1", "RT2", "B"}
    return [link for link in run["links"] if not {link["from"], link["to"]} & wired]


_COLLISIONS = ("col_dst_rts", "col_dst_cts", "col_dst_data", "col_dst_ack80211")
"""Frames addressed to one node; `col_all` also counts AODV's broadcasts, at each receiver."""


def _sum_of_flows(key: Literal["retransmits", "timeouts"]) -> Quantity:
    return lambda run: float(sum(flow[key] or 0 for flow in run["flows"]))


def mac_checks(name: str, row: Row) -> Sequence[Check]:
    """Packets given up and collisions of a run against the reference's."""
    count = count_tolerance(row["routing"])
    return (
        measured(name, "data given up", "", row, "ret_tcp", count, data_drops),
        measured(name, "TCP ACKs given up", "", row, "ret_ack", count, ack_drops),
        measured(name, "collisions", "", row, _COLLISIONS, count, collisions),
    )


def recovery_checks(name: str, row: Row) -> Sequence[Check]:
    """Retransmissions and timeouts of a run with one flow.

    The specification does not ask for these; its rule for counts is applied. Without them the table cannot tell Tahoe
    from NewReno, whose goodputs hardly differ on chains, in ns-2 as here (validation/sensitivity.py).
    """
    count = count_tolerance(row["routing"])
    return (
        measured(name, "retransmissions", "", row, "rexmitpack", count, _sum_of_flows("retransmits")),
        measured(name, "timeouts", "", row, "timeouts", count, _sum_of_flows("timeouts")),
    )
