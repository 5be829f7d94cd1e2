"""Points of our own choice: which scenario, which settings, and what ns-2.35 gave there.

``validation/points/points.toml`` lists them, ``validation/points/measure.py`` runs them in ns-2.35, and
``validation/reference/crosscheck.csv`` holds what came out, a row a point and quantity.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from meshpace.engine import Job
from meshpace.judges.figures import Figures
from meshpace.project import points_directory, shown
from meshpace.results import RunResult
from meshpace.validation.measured import of_seeds
from meshpace.validation.model import Quantity, Scatter, ack_drops, collisions, data_drops, goodput_kbps

MEASURED = of_seeds("crosscheck")
"""What ns-2.35 gave."""


@dataclass(frozen=True, slots=True)
class Point:
    """One set-up that both simulators run."""

    name: str
    scenario: str
    settings: tuple[str, ...]
    scheme: str
    seeds: int

    @property
    def aodv(self) -> bool:
        """True if routes can break, so that goodput scatters over the seeds."""
        return "routing.protocol=aodv" in self.settings

    @property
    def saturated(self) -> bool:
        """True for one sender that always has a packet: nothing scatters but backoffs."""
        return self.name.startswith("saturated hop")


@dataclass(frozen=True, slots=True)
class SharedQuantity:
    """A quantity that both simulators tell."""

    name: str
    unit: str
    ours: Quantity
    theirs: Callable[[Figures], float | None]
    flow: int | None = None

    @property
    def is_count(self) -> bool:
        """True if it is counted, not measured."""
        return self.name in {"timeouts", "retransmissions", "data given up", "TCP ACKs given up", "collisions"}


def _srtt_ms(flow: int) -> Quantity:
    def take(run: RunResult) -> float | None:
        seconds = run["flows"][flow]["srtt_s"]
        return None if seconds is None else seconds * 1e3

    return take


def _counted(key: str) -> SharedQuantity:
    """A counter of the senders, summed over the flows that have it."""

    def ours(run: RunResult) -> float | None:
        return _sum([flow[key] for flow in run["flows"]])  # type: ignore[literal-required]

    def theirs(run: Figures) -> float | None:
        return _sum([getattr(flow, key) for flow in run.flows])

    return SharedQuantity({"retransmits": "retransmissions"}.get(key, key), "", ours, theirs)


def _sum(values: Sequence[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return float(sum(there)) if there else None


def told(flows: int) -> Iterator[SharedQuantity]:
    """The quantities compared for runs with so many flows."""
    for flow in range(flows):
        yield SharedQuantity(
            f"goodput of flow {flow + 1}", "kbit/s", goodput_kbps(flow),
            lambda run, flow=flow: run.flows[flow].goodput_bps / 1e3, flow,  # type: ignore[misc]
        )  # fmt: skip
        yield SharedQuantity(
            f"RTT of flow {flow + 1}", "ms", _srtt_ms(flow),
            lambda run, flow=flow: None if run.flows[flow].srtt_s is None else run.flows[flow].srtt_s * 1e3,  # type: ignore[misc]
            flow,
        )  # fmt: skip
    if flows > 1:
        yield SharedQuantity(
            "aggregate goodput", "kbit/s", lambda run: run["aggregate_goodput_bps"] / 1e3,
            lambda run: run.aggregate_goodput_bps / 1e3,
        )  # fmt: skip
        yield SharedQuantity("Jain's index", "", lambda run: run["jain"], lambda run: run.jain)
        yield SharedQuantity(
            "Jain's index over 1 s", "", lambda run: run["jain_windows"]["1"], lambda run: run.jain_windows["1"]
        )
    yield _counted("timeouts")
    yield _counted("retransmits")
    yield SharedQuantity("data given up", "", data_drops, lambda run: run.data_drops)
    yield SharedQuantity("TCP ACKs given up", "", ack_drops, lambda run: run.ack_drops)
    yield SharedQuantity("collisions", "", collisions, lambda run: run.collisions)


def measured(figures: Sequence[Figures]) -> dict[str, Scatter]:
    """What ns-2.35 gave at one point, by quantity: of the runs of its seeds."""
    found = {}
    for quantity in told(len(figures[0].flows)):
        values = [value for run in figures if (value := quantity.theirs(run)) is not None]
        if values:
            found[quantity.name] = Scatter.of(values)
    return found


def points() -> list[Point]:
    """All points, in the order of the file."""
    with (points_directory() / "points.toml").open("rb") as file:
        listed = tomllib.load(file)["point"]
    return [Point(p["name"], p["scenario"], tuple(p.get("settings", ())), p["scheme"], p["seeds"]) for p in listed]


def point_jobs(point: Point) -> list[Job]:
    """The runs of a point, seed by seed."""
    path: Path = points_directory() / point.scenario
    text = path.read_bytes()
    return [Job(shown(path), text, point.settings, point.scheme, seed) for seed in range(1, point.seeds + 1)]
