"""Every run of a sweep as a table, a row a run and flow: the same bytes however the runs were made."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
from pyarrow import csv

from meshpace.results import RunResult
from meshpace.sweeps.make import Swept
from meshpace.sweeps.vary import Settings

_SKIPPED = ("id", "scheme")
"""Of a flow's fields: they are the columns ``flow`` and ``scheme``."""
_WHOLE = ("hops", "delivered_bytes", "segments_sent", "retransmits", "timeouts", "fast_retransmits", "transfers")
_TEXT = ("from", "to", "app")


def flows_table(runs: Iterable[tuple[str, Settings, RunResult]], keys: Iterable[str] = ()) -> pa.Table:
    """Runs, each with its scenario's name and what varies, as a table.

    Columns: ``scenario``, ``scheme``, ``seed``, the varied keys, ``flow``, then the fields that a flow has in
    ``meshpace run --json``. Lists and objects are JSON text.
    """
    rows = [row for name, point, run in runs for row in _rows(name, point, run)]
    names = list(dict.fromkeys(["scenario", "scheme", "seed", *keys, "flow", *(name for row in rows for name in row)]))
    columns = {name: [row.get(name) for row in rows] for name in names}
    return pa.table({name: _array(name, values, varied=name in keys) for name, values in columns.items()})


def table(swept: Swept) -> pa.Table:
    """Every run of a sweep."""
    names = swept.scenario_names()
    return flows_table(
        ((names[cell.source], cell.point, run) for cell, runs in swept.runs.items() for run in runs), swept.sweep.keys
    )


def as_csv(rows: pa.Table) -> str:
    """The table as CSV, quoted where it must be."""
    text = io.BytesIO()
    csv.write_csv(rows, text, csv.WriteOptions(quoting_style="needed"))
    return text.getvalue().decode()


def _rows(scenario: str, point: Settings, run: RunResult) -> Iterator[dict[str, Any]]:
    for flow in run["flows"]:
        fields = {name: _plain(value) for name, value in flow.items() if name not in _SKIPPED}
        head = {"scenario": scenario, "scheme": flow["scheme"], "seed": run["seed"], **dict(point), "flow": flow["id"]}
        yield {**head, **fields}


def _plain(value: Any) -> Any:
    return json.dumps(value, separators=(",", ":")) if isinstance(value, (list, dict)) else value


def _array(name: str, values: list[Any], *, varied: bool) -> pa.Array:
    """Of a type that follows from the column, not from which values happen to be there."""
    if varied:
        return _numbers(values)
    if name in ("seed", *_WHOLE):
        # A median of hops may lie between two.
        whole = all(value is None or float(value).is_integer() for value in values)
        return pa.array(values, pa.float64() if name == "hops" or not whole else pa.int64())
    if name in ("scenario", "scheme", "flow", *_TEXT) or any(isinstance(value, str) for value in values):
        return pa.array([None if value is None else str(value) for value in values], pa.string())
    return pa.array(values, pa.float64())


def _numbers(texts: list[str]) -> pa.Array:
    """Values of a key as numbers, if all are."""
    for read, kind in ((int, pa.int64()), (float, pa.float64())):
        try:
            return pa.array([read(text) for text in texts], kind)
        except ValueError:
            continue
    return pa.array([text.strip("\"'") for text in texts], pa.string())
