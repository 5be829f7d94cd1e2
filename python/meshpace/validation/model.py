"""What a validation consists of: set-ups that are run, and checks of what they give."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from meshpace.engine import Job
from meshpace.project import reference_directory, scenario_directory, shown
from meshpace.results import LinkResult, RunResult
from meshpace.stats import Estimate

Film = dict[str, Any]
"""What was on the air, as :func:`meshpace.engine.film` gives it."""


class Observed(RunResult, total=False):
    """A run's result, and its film if the set-up asks for one."""

    film: Film


Quantity = Callable[[Observed], float | None]
Row = dict[str, str]
"""A line of a reference file."""


@dataclass(frozen=True, slots=True)
class Relative:
    """Within a share of the reference."""

    share: float

    def within(self, ours: float, reference: float) -> bool:
        """True if the two agree."""
        return abs(ours - reference) <= self.share * abs(reference)

    def __str__(self) -> str:
        return f"{self.share * 100:.0f} %"


@dataclass(frozen=True, slots=True)
class Count:
    """Within a factor of 1.5 where the reference is at least 20 a run, else within 15 of it."""

    def within(self, ours: float, reference: float) -> bool:
        """True if the two agree."""
        if reference >= 20:
            return reference / 1.5 <= ours <= reference * 1.5
        return abs(ours - reference) <= 15

    def __str__(self) -> str:
        return "factor 1.5 or 15"


@dataclass(frozen=True, slots=True)
class Absolute:
    """Within a distance of the reference."""

    distance: float

    def within(self, ours: float, reference: float) -> bool:
        """True if the two agree."""
        return abs(ours - reference) <= self.distance

    def __str__(self) -> str:
        return f"± {self.distance:g}"


@dataclass(frozen=True, slots=True)
class SameSide:
    """On the same side of 1: the same flow wins."""

    def within(self, ours: float, reference: float) -> bool:
        """True if the two agree."""
        return (ours > 1) == (reference > 1)

    def __str__(self) -> str:
        return "same winner"


Tolerance = Relative | Count | Absolute | SameSide


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
    """A check, what came out over the seeds, and the job that repeats the first of them."""

    family: str
    check: Check
    ours: Estimate | None
    job: Job

    @property
    def passed(self) -> bool:
        """True if our mean is within the tolerance."""
        return self.ours is not None and self.check.tolerance.within(self.ours.mean, self.check.reference)

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
    count = Count()
    return (
        Check(name, "data given up", "", mean(row, "ret_tcp"), count, data_drops),
        Check(name, "TCP ACKs given up", "", mean(row, "ret_ack"), count, ack_drops),
        Check(name, "collisions", "", sum(mean(row, column) for column in _COLLISIONS), count, collisions),
    )


def recovery_checks(name: str, row: Row) -> Sequence[Check]:
    """Retransmissions and timeouts of a run with one flow.

    The specification does not ask for these; its rule for counts is applied. Without them the table cannot tell Tahoe
    from NewReno, whose goodputs hardly differ on chains, in ns-2 as here (validation/sensitivity.py).
    """
    count = Count()
    return (
        Check(name, "retransmissions", "", mean(row, "rexmitpack"), count, _sum_of_flows("retransmits")),
        Check(name, "timeouts", "", mean(row, "timeouts"), count, _sum_of_flows("timeouts")),
    )
