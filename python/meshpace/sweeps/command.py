"""``meshpace sweep``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from meshpace.files import distinct, replacing
from meshpace.notes import tell
from meshpace.scenario_files import contents
from meshpace.study.executors import workers
from meshpace.study.store import Store
from meshpace.sweeps import precision as precisions
from meshpace.sweeps.errors import by_vary, naming
from meshpace.sweeps.make import Swept, run_sweep
from meshpace.sweeps.model import Source, Sweep, schemes_of
from meshpace.sweeps.show import as_json, print_flows, print_swept
from meshpace.sweeps.vary import parse

if TYPE_CHECKING:
    from meshpace.report.model import Report


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where results go beside the terminal."""

    csv: Path | None = None
    parquet: Path | None = None
    pdf: Path | None = None
    svg: Path | None = None
    report: Path | None = None


def source(path: Path) -> Source:
    """The scenario in a file.

    Raises:
        OSError: the file cannot be read.
    """
    return Source(str(path), contents(path))


def sweep(
    scenario: Path, vary: Sequence[str], schemes: Sequence[str] | None, seeds: int, settings: Sequence[str],
    precision: str | None, budget_s: float, store: Path, threads: int | None, executor: str, outputs: Outputs,
    flows: bool, json_wanted: bool,
) -> None:  # fmt: skip
    """Makes the runs that the store lacks; prints means over the seeds, writes what is asked for."""
    narrow = None if precision is None else precisions.parse(precision)
    chosen = schemes_of(schemes)
    asked = Sweep(
        (source(scenario),), seeds, tuple(map(parse, vary)), chosen.names, tuple(settings), chosen.formulas
    )  # fmt: skip
    swept = carry_out(asked, store, threads, executor, narrow, budget_s, outputs)
    if json_wanted:
        print(json.dumps(as_json(swept)))
        return
    print_swept(swept)
    if flows:
        print_flows(swept)


def carry_out(
    asked: Sweep, directory: Path, threads: int | None, executor: str, precision: precisions.Precision | None,
    budget_s: float, outputs: Outputs, page: Callable[[Swept], Report] | None = None, what: str = "sweep",
) -> Swept:  # fmt: skip
    """Runs the sweep and writes the files, which take their places together at the end; the report is ``page``.

    ``what`` is the command's name, which progress shows.

    Raises:
        OSError: a file cannot be written, which is said before anything is run.
    """
    store = Store(directory)
    for problem in store.problems:
        print(problem, file=sys.stderr)
    distinct(
        {f"--{name}": path for name, path in zip(Outputs.__slots__, _paths(outputs), strict=True)},
        (Path(source.name) for source in asked.sources),
    )  # fmt: skip
    with ExitStack() as stack:
        drafts = Outputs(*(path and stack.enter_context(replacing(path)) for path in _paths(outputs)))
        if outputs.pdf is not None or outputs.svg is not None:
            from meshpace.report.panels import require_matplotlib

            require_matplotlib("a figure as PDF" if outputs.pdf is not None else "a figure as SVG")
        tell(asked.job(cell, 1) for cell in asked.cells())
        with workers(executor, threads) as hands, naming(by_vary(asked.keys)):
            swept = run_sweep(asked, store, hands, precision, budget_s, what)
        write(swept, drafts, page)
    return swept


def _paths(outputs: Outputs) -> tuple[Path | None, ...]:
    return (outputs.csv, outputs.parquet, outputs.pdf, outputs.svg, outputs.report)


def write(swept: Swept, outputs: Outputs, page: Callable[[Swept], Report] | None = None) -> None:
    """Writes the files in place: a caller who wants them whole or not at all gives drafts.

    Raises:
        MissingPackageError: what a file needs is not installed.
        OSError: a file cannot be written.
    """
    if outputs.csv is not None or outputs.parquet is not None:
        import pyarrow.parquet as pq

        from meshpace.sweeps.table import as_csv, table

        rows = table(swept)
        if outputs.csv is not None:
            outputs.csv.write_text(as_csv(rows), encoding="utf-8")
        if outputs.parquet is not None:
            pq.write_table(rows, outputs.parquet, compression="zstd")
    if outputs.pdf is not None:
        from meshpace.report.papers import write_pages
        from meshpace.sweeps.over_time import stills

        write_pages(outputs.pdf, stills(swept))
    if outputs.svg is not None:
        from meshpace.report.picture import of_view
        from meshpace.sweeps.over_time import stills

        outputs.svg.write_text(of_view(stills(swept)[0], {"made": swept.sweep.command()}), encoding="utf-8")
    if outputs.report is not None:
        from meshpace.report.page import render
        from meshpace.sweeps.page import report

        outputs.report.write_text(render((page or report)(swept)), encoding="utf-8")
