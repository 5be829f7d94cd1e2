"""A comparison as a report: what is side by side, and the differences paired by seed."""

from __future__ import annotations

from dataclasses import replace

from meshpace.report.model import Report, Table
from meshpace.sweeps.compare import reading, rows, side_by_side
from meshpace.sweeps.make import Swept
from meshpace.sweeps.page import page, section


def report(swept: Swept) -> Report:
    """The page: as that of a sweep, with the differences first."""
    compared = side_by_side(swept)
    first, *others = (column.name for column in compared.columns)
    head = ("means, 95 % confidence", first, *(name for other in others for name in (other, "difference")))
    told = section(swept)
    return page(
        swept,
        f"{first} compared with {', '.join(others)}",
        f"{compared.title}. {reading(compared)}",
        replace(told, lead=reading(compared), tables=(Table("Differences", head, tuple(rows(compared))), *told.tables)),
    )
