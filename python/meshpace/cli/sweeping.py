"""``meshpace sweep``, ``compare`` and ``check`` as commands."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from meshpace.bounds import MAX_SEEDS
from meshpace.cli.arguments import (
    Json,
    Scenario,
    Scheme,
    Schemes,
    Settings,
    Threads,
    job,
    one_scheme_or_formula,
    seconds_of,
)
from meshpace.cli.declared import Argument, Option
from meshpace.cli.failure import BAD_INPUT, InputError, reports_failure

Seeds = Annotated[int, Option(min=1, max=MAX_SEEDS, help="Run the seeds 1 to this at each point.")]
Precise = Annotated[
    str | None,
    Option(metavar="FIELD=N%", help="Add seeds until the 95 % interval of FIELD is at most ± N % of its mean."),
]
Budget = Annotated[
    str | None, Option(metavar="TIME", help="For --precision: 90s, 20min, 2h; 1h by default.")
]  # fmt: skip
Kept = Annotated[Path, Option("--store", metavar="DIR", help="Where results are kept.")]
Executor = Annotated[str, Option(metavar="KIND", help="threads, processes or dask://HOST:PORT.")]
CsvFile = Annotated[Path | None, Option("--csv", help="Write every run as CSV, a row a run and flow.")]
ParquetFile = Annotated[Path | None, Option("--parquet", help="Write every run as Parquet, a row a run and flow.")]
PdfFile = Annotated[Path | None, Option("--pdf", help="Write the figures as PDF, a page a quantity.")]
SvgFile = Annotated[Path | None, Option("--svg", help="Write the first figure as SVG, light or dark as its reader is.")]
Flows = Annotated[bool, Option("--flows", help="Print a table by flow, too.")]
ReportFile = Annotated[Path | None, Option("--report", help="Write a report: one HTML file.")]


@reports_failure
def sweep(
    scenario: Scenario,
    vary: Annotated[
        list[str] | None,
        Option(metavar="KEY=V1,V2", help="What varies; KEY1,KEY2=V1:W1,V2:W2 moves keys together; repeatable."),
    ] = None,
    scheme: Schemes = None,
    seeds: Seeds = 5,
    settings: Settings = None,
    precision: Precise = None,
    budget: Budget = None,
    store: Kept = Path("store"),
    threads: Threads = None,
    executor: Executor = "threads",
    csv: CsvFile = None,
    parquet: ParquetFile = None,
    pdf: PdfFile = None,
    svg: SvgFile = None,
    report: ReportFile = None,
    flows: Flows = False,
    json: Json = False,
) -> None:
    """Vary a scenario's keys, with several schemes and seeds; tables, figures, a report."""
    if budget is not None and precision is None:
        raise InputError(f"--budget: found {budget} without --precision; allowed: both, or neither")
    from meshpace.sweeps.command import Outputs
    from meshpace.sweeps.command import sweep as run_sweep

    run_sweep(
        scenario, vary or (), scheme, seeds, settings or (), precision, seconds_of(budget), store, threads, executor,
        Outputs(csv, parquet, pdf, svg, report), flows, json,
    )  # fmt: skip


@reports_failure
def compare(
    things: Annotated[
        list[Path], Argument(metavar="SIDE", help="Scenario files, which are run, or stores, which are read.")
    ],
    scheme: Schemes = None,
    seeds: Seeds = 5,
    settings: Settings = None,
    store: Kept = Path("store"),
    threads: Threads = None,
    executor: Executor = "threads",
    csv: CsvFile = None,
    parquet: ParquetFile = None,
    pdf: PdfFile = None,
    svg: SvgFile = None,
    report: ReportFile = None,
    flows: Flows = False,
    json: Json = False,
) -> None:
    """Put schemes, scenarios or stores side by side, with differences paired by seed."""
    from meshpace.sweeps.command import Outputs
    from meshpace.sweeps.compare import compare as run_compare

    outputs = Outputs(csv, parquet, pdf, svg, report)
    run_compare(things, scheme, seeds, settings or (), store, threads, executor, outputs, flows, json)


@reports_failure
def check(scenario: Scenario, scheme: Scheme = None, settings: Settings = None) -> None:
    """Tell everything that is wrong with a scenario, a line each; exit status 0 or 2."""
    from meshpace.blame import blamed
    from meshpace.engine import complaints

    asked = job(scenario, settings, one_scheme_or_formula(scheme, "check"))
    found = complaints(asked)
    for message in found:
        print(blamed(asked, message), file=sys.stderr)
    if found:
        raise SystemExit(BAD_INPUT)
    print(f"{scenario}: can be run")
