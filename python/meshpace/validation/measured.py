"""What another simulator gave at points of our own choice: reference files with a row a point and quantity."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from meshpace.files import replacing
from meshpace.project import reference_directory
from meshpace.validation.model import Row, Scatter, reference

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Table(Generic[_Value]):
    """A file of validation/reference, and how its columns are a value."""

    name: str
    """Without ``.csv``."""
    columns: tuple[str, ...]
    """Of the value."""
    value: Callable[[Row], _Value]
    cells: Callable[[_Value], tuple[object, ...]]

    def read(self) -> dict[str, dict[str, _Value]]:
        """The measurements so far, by point and quantity; none without a file."""
        found: dict[str, dict[str, _Value]] = {}
        if (reference_directory() / f"{self.name}.csv").exists():
            for row in reference(self.name):
                found.setdefault(row["point"], {})[row["quantity"]] = self.value(row)
        return found

    def write(self, measured: Mapping[str, Mapping[str, _Value]], points: Iterable[str]) -> None:
        """Writes the file, in the order of the points.

        Raises:
            OSError: it cannot be written.
        """
        path = reference_directory() / f"{self.name}.csv"
        with replacing(path) as draft, draft.open("w", newline="") as out:
            rows = csv.writer(out, lineterminator="\n")
            rows.writerow(("point", "quantity", *self.columns))
            for point in points:
                for quantity, value in measured.get(point, {}).items():
                    rows.writerow((point, quantity, *self.cells(value)))


def of_seeds(name: str) -> Table[Scatter]:
    """A file with means and deviations over seeds."""
    return Table(
        name,
        ("n_seeds", "mean", "std"),
        lambda row: Scatter(int(row["n_seeds"]), float(row["mean"]), float(row["std"])),
        lambda scatter: (scatter.count, f"{scatter.mean:.7g}", f"{scatter.deviation:.5g}"),
    )
