"""What the full plan of a paper's studies costs: some runs of each study, drawn and timed, times how many it has.

    bench/full_budget.py PAPER [--quick] [--page] [--runs N] [--only NAME ...]

PAPER is a catalogue of docs/experiments: llap, thesis, ... With --quick the quick plan; with --page also what else a
page of `make reproduction` takes, its studies as printed and its screens. Processor time of this process, one thread,
so that other work on the machine weighs little. Runs that several studies share are counted once in each. As Markdown.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from compare import markdown
from meshpace import engine
from meshpace.study.model import Effort, Study
from meshpace.study.registry import PROFILED, SCREENS, STUDIES


@dataclass(frozen=True, slots=True)
class Sampled:
    """Runs of a study's plan."""

    name: str
    runs: int
    """All of them."""
    seconds: tuple[float, ...]
    """Of those that were drawn."""

    @property
    def total_s(self) -> float:
        """Of all runs, as the mean of those drawn has it."""
        return self.runs * statistics.fmean(self.seconds)

    @property
    def error_s(self) -> float:
        """Its standard error; with one run drawn as large as that run."""
        few = len(self.seconds)
        deviation = statistics.stdev(self.seconds) if few > 1 else self.seconds[0]
        return self.runs * deviation / math.sqrt(few) * math.sqrt(max(0.0, 1 - few / self.runs))


def together(sampled: Sequence[Sampled]) -> tuple[float, float]:
    """Processor time of all studies, s, and its standard error."""
    return math.fsum(one.total_s for one in sampled), math.sqrt(math.fsum(one.error_s**2 for one in sampled))


def sample(study: Study, runs: int, effort: Effort = Effort.FULL) -> Sampled:
    """Draws that many of a study's runs, always the same ones, and runs them."""
    jobs = list(dict.fromkeys(job for _, job in study.jobs(effort)))
    drawn = random.Random(study.name).sample(jobs, min(runs, len(jobs)))
    seconds = []
    for job in drawn:
        began = time.process_time()
        engine.run_many_json([job], 1)
        seconds.append(time.process_time() - began)
    return Sampled(study.name, len(jobs), tuple(seconds))


def _row(one: Sampled, unit_s: float) -> list[str]:
    spread = f"{min(one.seconds):.2f} to {max(one.seconds):.2f}"
    return [one.name, f"{one.runs:,}", f"{len(one.seconds)}", spread, f"{one.total_s / unit_s:.2f}"]


def main() -> None:
    """Samples, and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paper", choices=sorted({study.paper for study in STUDIES if study.paper}))
    parser.add_argument("--runs", type=int, default=2, help="drawn of each study")
    parser.add_argument("--only", nargs="+", default=[], help="studies of these names alone")
    parser.add_argument("--quick", action="store_true", help="the quick plan")
    parser.add_argument("--page", action="store_true", help="also as printed, and the screens")
    given = parser.parse_args()
    effort = Effort.QUICK if given.quick else Effort.FULL
    unit, unit_s = ("minutes", 60.0) if given.quick else ("hours", 3600.0)
    every = (*STUDIES, *PROFILED, *SCREENS) if given.page else STUDIES
    wanted = [study for study in every if study.paper == given.paper and study.schemes]
    sampled = []
    for study in wanted:
        if not given.only or study.name in given.only:
            sampled.append(sample(study, given.runs, effort))
            print(" ".join(_row(sampled[-1], unit_s)), file=sys.stderr, flush=True)
    if not sampled:
        parser.error(f"{given.paper} has no study of these names")
    total, error = together(sampled)
    rows = [_row(one, unit_s) for one in sampled]
    rows.append(["all", f"{sum(one.runs for one in sampled):,}", "", "", f"{total / unit_s:.1f}"])
    print(markdown([["study", "runs", "drawn", "s a run", unit], *rows]))
    print(f"\n{total / unit_s:.1f} ± {1.96 * error / unit_s:.1f} {unit} of one core.")


if __name__ == "__main__":
    main()
