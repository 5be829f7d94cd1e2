"""A judge: how a scenario becomes its input, and how that is run."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Generic, TypeVar

from meshpace.engine import Job
from meshpace.judges.figures import Figures

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Judge(Generic[S]):
    """Another simulator; ``S`` is a scenario in its terms."""

    name: str
    """With the version that its rules were looked up in."""
    express: Callable[[Job], S]
    """Raises what ``meshpace.engine.resolve`` does, and NotExpressibleError with every key that has no counterpart."""
    write: Callable[[S], str]
    """The scenario as the file that it runs."""
    find: Callable[[], object]
    """Makes sure that it can run here; raises a MendableError."""
    run_once: Callable[[S, int], Figures]
    """Runs with a seed; raises a MendableError."""

    def run(
        self, scenarios: Sequence[S], seeds: Sequence[int], progress: Callable[[int], None], threads: int | None = None
    ) -> list[Figures]:
        """Runs each scenario with its seed, as many at a time as there are cores; results in the order given."""
        with ThreadPoolExecutor(max_workers=threads or os.cpu_count() or 1) as pool:
            futures = [pool.submit(self.run_once, *pair) for pair in zip(scenarios, seeds, strict=True)]
            for done, _ in enumerate(as_completed(futures), start=1):
                progress(done)
            return [future.result() for future in futures]
