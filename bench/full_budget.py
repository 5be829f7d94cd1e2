"""What the full plan of a paper's studies costs: some runs of each study, drawn and timed, times how many it has.

    bench/full_budget.py PAPER [--runs N] [--only NAME ...]

PAPER is a catalogue of docs/experiments: llap, thesis, ... Processor time of this process, one thread,
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
from meshpace.study.registry import STUDIES


@dataclass(frozen=True, slots=True)
class Sampled:
    """Runs of a study at full length."""

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


def sample(study: Study, runs: int) -> Sampled:
    """Draws that many of a study's full runs, always the same ones, and runs them."""
    jobs = list(dict.fromkeys(job for _, job in study.jobs(Effort.FULL)))
    drawn = random.Random(study.name).sample(jobs, min(runs, len(jobs)))
    seconds = []
    for job in drawn:
        began = time.process_time()
        engine.run_many_json([job], 1)
        seconds.append(time.process_time() - began)
    return Sampled(study.name, len(jobs), tuple(seconds))


def _row(one: Sampled) -> list[str]:
    spread = f"{min(one.seconds):.2f} to {max(one.seconds):.2f}"
    return [one.name, f"{one.runs:,}", f"{len(one.seconds)}", spread, f"{one.total_s / 3600:.2f}"]


def main() -> None:
    """Samples, and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paper", choices=sorted({study.paper for study in STUDIES if study.paper}))
    parser.add_argument("--runs", type=int, default=2, help="drawn of each study")
    parser.add_argument("--only", nargs="+", default=[], help="studies of these names alone")
    given = parser.parse_args()
    wanted = [study for study in STUDIES if study.paper == given.paper and study.schemes]
    sampled = []
    for study in wanted:
        if not given.only or study.name in given.only:
            sampled.append(sample(study, given.runs))
            print(" ".join(_row(sampled[-1])), file=sys.stderr, flush=True)
    if not sampled:
        parser.error(f"{given.paper} has no study of these names")
    total, error = together(sampled)
    rows = [*map(_row, sampled), ["all", f"{sum(one.runs for one in sampled):,}", "", "", f"{total / 3600:.1f}"]]
    print(markdown([["study", "runs", "drawn", "s a run", "hours"], *rows]))
    print(f"\n{total / 3600:.1f} ± {1.96 * error / 3600:.1f} hours of one core.")


if __name__ == "__main__":
    main()
