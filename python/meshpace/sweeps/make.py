"""Makes what a sweep lacks, and adds seeds until intervals are narrow enough.

As in ``--decide``, what a step adds follows from results alone, so a sweep that was killed goes the same way
again, over the runs that the store holds already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from meshpace.progress import Progress
from meshpace.results import RunResult
from meshpace.stats import Estimate, estimate
from meshpace.study.executors import Workers
from meshpace.study.quantities import Quantity
from meshpace.study.record import Record, key_of
from meshpace.study.runner import Tally, Task, make
from meshpace.study.store import Store
from meshpace.sweeps.model import Cell, Source, Sweep
from meshpace.sweeps.precision import Precision


@dataclass(slots=True)
class Swept:
    """What came out; the runs of a cell in the order of their seeds."""

    sweep: Sweep
    precision: Precision | None = None
    records: dict[Cell, list[Record]] = field(default_factory=dict)
    runs: dict[Cell, list[RunResult]] = field(default_factory=dict)
    tally: Tally = field(default_factory=lambda: Tally(0, 0, 0))
    ended: bool = False
    """Whether the budget ended before all was precise enough."""

    def estimate(self, cell: Cell, quantity: Quantity) -> Estimate | None:
        """Mean and 95 % confidence over the seeds in which the quantity applies."""
        return estimate([value for value in map(quantity, self.runs[cell]) if value is not None])

    def scenario_names(self) -> dict[Source, str]:
        """What results call the scenarios; the files' paths where two have the same name."""
        names = {cell.source: runs[0]["scenario"] for cell, runs in self.runs.items()}
        return names if len(set(names.values())) == len(names) else {source: source.name for source in names}

    def command(self, cell: Cell) -> str:
        """What repeats the runs of a cell."""
        return self.sweep.job(cell, 1).command(seeds=len(self.runs[cell]))


def run_sweep(
    sweep: Sweep, store: Store, workers: Workers, precision: Precision | None = None,
    budget_s: float = float("inf"), what: str = "sweep",
) -> Swept:  # fmt: skip
    """Every run of the sweep, from the store or made now; progress shows the name ``what``.

    With a precision, seeds are added; ``budget_s`` bounds what the added runs take over the workers, by the times that
    are kept with them.

    Raises:
        ScenarioError: a run cannot be made; said before any is.
        OSError: the store cannot be written.
        KeyboardInterrupt: Ctrl-C; what is finished is stored.
    """
    swept = Swept(sweep, precision)
    wanted = dict.fromkeys(sweep.cells(), sweep.seeds)
    _extend(swept, wanted, store, workers, what)
    spent = 0.0
    while precision is not None and (lacking := _lacking(swept, precision)):
        expected = sum(seeds * _took(swept.records[cell]) for cell, seeds in lacking.items()) / workers.count
        if spent + expected > budget_s:
            swept.ended = True
            break
        spent += _extend(swept, lacking, store, workers, f"more seeds, {precision}") / workers.count
    return swept


def _lacking(swept: Swept, precision: Precision) -> dict[Cell, int]:
    found = {cell: precision.lacking(runs) for cell, runs in swept.runs.items()}
    return {cell: seeds for cell, seeds in found.items() if seeds}


def _took(records: Sequence[Record]) -> float:
    """Processor time of a run."""
    return sum(record.wall_s for record in records) / len(records)


def _extend(swept: Swept, seeds: dict[Cell, int], store: Store, workers: Workers, what: str) -> float:
    """Gives each cell so many more seeds; what those runs took."""
    keys: dict[Cell, list[str]] = {}
    tasks: dict[str, Task] = {}
    for cell, count in seeds.items():
        have = len(swept.runs.get(cell, ()))
        jobs = [swept.sweep.job(cell, seed) for seed in range(have + 1, have + count + 1)]
        keys[cell] = [key_of(job) for job in jobs]
        for key, job in zip(keys[cell], jobs, strict=True):
            tasks[key] = Task(key, job, series=False, weight=1.0)
    # By key, which is as good as shuffled: slow runs are spread evenly over the time.
    ordered = [tasks[key] for key in sorted(tasks)]
    with Progress(what, len(ordered)) as progress:
        made = make(ordered, store, workers, progress)
    before = swept.tally
    swept.tally = Tally(before.stored + made.stored, before.made + made.made, before.others + made.others)
    found = store.get(tasks)
    for cell, mine in keys.items():
        records = [found[key] for key in mine]
        swept.records.setdefault(cell, []).extend(records)
        swept.runs.setdefault(cell, []).extend(record.run() for record in records)
    return sum(found[key].wall_s for key in tasks)
