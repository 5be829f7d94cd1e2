"""The demo's runs by case and scheme, and estimates over their seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from meshpace.demo.plan import SCHEMES, Case
from meshpace.engine import Job, run_many
from meshpace.results import RunResult
from meshpace.stats import Estimate, estimate

Quantity = Callable[[RunResult], float | None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Every run; a list holds the seeds 1, 2, ... of one case and scheme."""

    runs: dict[tuple[Case, str], list[RunResult]]
    jobs: dict[Case, list[Job]]

    def estimate(self, case: Case, scheme: str, quantity: Quantity) -> Estimate | None:
        """Mean and confidence over the seeds in which the quantity applies."""
        return estimate([value for value in map(quantity, self.runs[case, scheme]) if value is not None])

    def gain(self, case: Case, scheme: str, over: str, quantity: Quantity) -> Estimate | None:
        """Relative difference of a quantity between two schemes; paired by seed."""
        pairs = zip(self.runs[case, scheme], self.runs[case, over], strict=True)
        values = [(quantity(a), quantity(b)) for a, b in pairs]
        return estimate([a / b - 1 for a, b in values if a is not None and b])


def run_cases(
    cases: Sequence[Case], seeds: int, threads: int | None, progress: Callable[[int], None] | None
) -> Outcome:
    """Runs every case with every scheme and the seeds 1 to ``seeds``."""
    keys = [(case, scheme) for case in cases for scheme in SCHEMES]
    jobs = [[case.job(scheme, seed) for seed in range(1, seeds + 1)] for case, scheme in keys]
    results = run_many([job for group in jobs for job in group], threads, progress)
    grouped = [results[i * seeds : (i + 1) * seeds] for i in range(len(keys))]
    jobs_of: dict[Case, list[Job]] = {case: [] for case in cases}
    for (case, _), group in zip(keys, jobs, strict=True):
        jobs_of[case] += group
    return Outcome(dict(zip(keys, grouped, strict=True)), jobs_of)


def goodput(run: RunResult) -> float:
    """Aggregate goodput in bit/s."""
    return run["aggregate_goodput_bps"]


def flow_goodput(index: int) -> Quantity:
    """Goodput of one flow in bit/s."""
    return lambda run: run["flows"][index]["goodput_bps"]


def smallest_share(run: RunResult) -> float | None:
    """The weakest flow's part of the aggregate."""
    total = run["aggregate_goodput_bps"]
    return min(flow["goodput_bps"] for flow in run["flows"]) / total if total else None


def delay(run: RunResult) -> float | None:
    """Mean one-way delay of data packets over the flows, in seconds."""
    values = [flow["delay_mean_s"] for flow in run["flows"] if flow["delay_mean_s"] is not None]
    return sum(values) / len(values) if values else None


def jain(window: int) -> Quantity:
    """Jain's index over windows of so many seconds."""
    return lambda run: run["jain_windows"][str(window)]


def retransmissions(run: RunResult) -> float:
    """Retransmitted segments per thousand sent, over the flows."""
    sent = sum(flow["segments_sent"] or 0 for flow in run["flows"])
    return 1000 * sum(flow["retransmits"] or 0 for flow in run["flows"]) / sent if sent else 0.0


def timeouts(run: RunResult) -> float:
    """Retransmission timeouts over the flows."""
    return float(sum(flow["timeouts"] or 0 for flow in run["flows"]))
