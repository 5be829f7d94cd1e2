"""The outcome of a study: its runs by cell, estimates over the seeds, and its table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from meshpace.engine import Job
from meshpace.files import replacing
from meshpace.results import RunResult
from meshpace.stats import Estimate, estimate
from meshpace.study import quantities
from meshpace.study.model import NOTHING_MORE, Cell, Effort, More, Plan, Study
from meshpace.study.quantities import Quantity
from meshpace.study.record import Maker, Record, key_of, question_of
from meshpace.study.store import Store


@dataclass(frozen=True, slots=True)
class Outcome:
    """The runs of a study that are there; a list holds the seeds of one cell in order, None where one is missing."""

    study: Study
    effort: Effort
    records: dict[Cell, list[Record | None]]
    results: dict[Cell, list[RunResult | None]]

    @property
    def missing(self) -> int:
        """Runs that are not there."""
        return sum(record is None for group in self.records.values() for record in group)

    @property
    def plan(self) -> Plan:
        """What was to be run at least."""
        return self.study.plan(self.effort)

    @property
    def plan_seeds(self) -> int:
        """How many seeds every cell has at least; those beyond were added to decide."""
        return self.plan.seeds

    @property
    def complete(self) -> bool:
        """Whether every run is there."""
        return self.missing == 0

    def values(self, cell: Cell, quantity: Quantity) -> list[float | None]:
        """The quantity by seed."""
        return [None if run is None else quantity(run) for run in self.results.get(cell, [])]

    def estimate(self, cell: Cell, quantity: Quantity) -> Estimate | None:
        """Mean and 95 % confidence over the seeds in which the quantity applies."""
        return estimate([value for value in self.values(cell, quantity) if value is not None])

    def all_records(self) -> list[Record]:
        """Every run that is there, once, sorted by key."""
        found = {record.key: record for group in self.records.values() for record in group if record is not None}
        return [found[key] for key in sorted(found)]


def load(
    store: Store, studies: Sequence[Study], effort: Effort, maker: Maker | None = None, more: More = NOTHING_MORE
) -> list[Outcome]:
    """The studies' runs that the store holds, made by the engine ``maker`` (the running one unless given).

    Runs that studies share are read once. ``more`` says which cells have more seeds than the plan.

    Raises:
        OSError: the store is damaged.
    """
    made = None if maker is None else store.answers(maker)

    def key(job: Job, series: bool) -> str:
        if made is None:
            return key_of(job, series=series)
        asked = question_of(job, series=series)
        return made.get(asked, asked)  # what was asked is no key: that run is missing

    keys = [_grouped((cell, key(job, study.series)) for cell, job in study.jobs(effort, more)) for study in studies]
    found = store.get({key for mine in keys for group in mine.values() for key in group})
    return _outcomes(studies, effort, keys, found)


def _grouped(runs: Iterable[tuple[Cell, str]]) -> dict[Cell, list[str]]:
    groups: dict[Cell, list[str]] = {}
    for cell, key in runs:
        groups.setdefault(cell, []).append(key)
    return groups


def _outcomes(
    studies: Sequence[Study], effort: Effort, keys: Sequence[Mapping[Cell, list[str]]], found: Mapping[str, Record]
) -> list[Outcome]:
    decoded = {key: record.run() for key, record in found.items()}
    return [
        Outcome(
            study,
            effort,
            {cell: [found.get(key) for key in group] for cell, group in mine.items()},
            {cell: [decoded.get(key) for key in group] for cell, group in mine.items()},
        )
        for study, mine in zip(studies, keys, strict=True)
    ]


def to_table(outcome: Outcome) -> pa.Table:
    """One row a run and cell, sorted by key and cell: the same bytes however the runs were made."""
    rows = []
    for cell, group in outcome.records.items():
        for record, run in zip(group, outcome.results[cell], strict=True):
            if record is None or run is None:
                continue
            point = outcome.study.point(cell.point)
            rows.append(
                {
                    "key": record.key,
                    "study": outcome.study.name,
                    "routing": cell.condition.routing,
                    "reception": cell.condition.reception,
                    "scheme": cell.scheme,
                    "point": cell.point,
                    "value": point.value,
                    "seed": record.job.seed,
                    "engine": record.maker.version,
                    "fingerprint": record.maker.fingerprint,
                    "measured_s": run["measured_s"],
                    **{quantity.name: quantity(run) for quantity in quantities.ALL},
                    "command": record.job.command(),
                }
            )
    rows.sort(key=lambda row: (row["key"], row["point"]))
    return pa.Table.from_pylist(rows, schema=_TABLE)


_TEXT = ("key", "study", "routing", "reception", "scheme", "point")
_TABLE = pa.schema(
    [
        *((name, pa.string()) for name in _TEXT),
        ("value", pa.float64()),
        ("seed", pa.uint64()),
        ("engine", pa.string()),
        ("fingerprint", pa.string()),
        ("measured_s", pa.float64()),
        *((quantity.name, pa.float64()) for quantity in quantities.ALL),
        ("command", pa.string()),
    ]
)


def table_path(directory: Path, study: Study, effort: Effort) -> Path:
    """Where :func:`write_table` puts the table of a study in the store ``directory``."""
    return directory / "tables" / f"{study.name}-{effort}.parquet"


def write_table(directory: Path, outcome: Outcome) -> Path:
    """Writes the study's table into the store's folder and returns its path.

    Raises:
        OSError: the file cannot be written.
    """
    path = table_path(directory, outcome.study, outcome.effort)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path, durable=True) as draft:
        pq.write_table(to_table(outcome), draft, compression="zstd")
    return path


def by_name(outcomes: Sequence[Outcome]) -> dict[str, Outcome]:
    """Outcomes by the name of their study."""
    return {outcome.study.name: outcome for outcome in outcomes}
