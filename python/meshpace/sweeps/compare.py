"""``meshpace compare``: schemes, scenarios or stores side by side, differences paired by seed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table

from meshpace import reconstructed
from meshpace.cli.tables import show, without_flows
from meshpace.cli.terminal import console
from meshpace.results import RunResult
from meshpace.scenario_files import found as found_at
from meshpace.stats import Estimate, estimate
from meshpace.study.quantities import Quantity
from meshpace.study.record import Maker, Record, running
from meshpace.study.store import Store
from meshpace.sweeps import delays
from meshpace.sweeps.command import Outputs, carry_out, source
from meshpace.sweeps.errors import SweepError
from meshpace.sweeps.figures import of_runs, written
from meshpace.sweeps.make import Swept
from meshpace.sweeps.model import Sweep, schemes_of
from meshpace.sweeps.show import print_table_of_flows

if TYPE_CHECKING:
    from meshpace.report.model import Report


@dataclass(frozen=True, slots=True)
class Column:
    """One of the things compared: its runs by seed, or by whatever else pairs them."""

    name: str
    runs: Mapping[Any, RunResult]

    def value(self, quantity: Quantity) -> Estimate | None:
        """Mean and 95 % confidence."""
        return estimate([value for value in map(quantity, self.runs.values()) if value is not None])

    def difference(self, first: Column, quantity: Quantity) -> Estimate | None:
        """Mean of this less ``first``, paired; over the pairs that both have."""
        pairs = [(quantity(run), quantity(first.runs[key])) for key, run in self.runs.items() if key in first.runs]
        return estimate([one - other for one, other in pairs if one is not None and other is not None])


@dataclass(frozen=True, slots=True)
class Comparison:
    """Columns that are compared with the first of them; ``title`` says of what."""

    title: str
    columns: tuple[Column, ...]


def compare(
    things: Sequence[Path], schemes: Sequence[str] | None, seeds: int, settings: Sequence[str], store: Path,
    threads: int | None, executor: str, outputs: Outputs, flows: bool, as_json: bool,
) -> None:  # fmt: skip
    """Scenarios (files) are run, stores (folders) are read."""
    for thing in things:
        Path(found_at(thing)).stat()  # what is not there is neither
    folders = [thing for thing in things if thing.is_dir()]
    if folders and len(folders) < len(things):
        files = ", ".join(str(thing) for thing in things if thing not in folders)
        stores = ", ".join(map(str, folders))
        raise SweepError(f"compare: found files ({files}) and folders ({stores}); allowed: scenario files, or stores")
    if folders:
        given = {
            "--scheme": schemes, "--set": settings, "--csv": outputs.csv, "--parquet": outputs.parquet,
            "--pdf": outputs.pdf, "--svg": outputs.svg, "--report": outputs.report,
        }  # fmt: skip
        if only := [option for option, value in given.items() if value]:
            raise SweepError(f"{', '.join(only)}: found with stores, which are compared as they are; allowed: --json")
        found = of_stores(folders)
    else:
        chosen = schemes_of(schemes)
        asked = Sweep(tuple(map(source, things)), seeds, (), chosen.names, tuple(settings), chosen.formulas)
        found = [of_sweep(asked, store, threads, executor, outputs)]
    print(json.dumps(_json(found))) if as_json else _print(found, flows)


def of_sweep(asked: Sweep, store: Path, threads: int | None, executor: str, outputs: Outputs) -> Comparison:
    """Every scenario under every scheme.

    Raises:
        SweepError: there is one thing alone.
    """
    if len(list(asked.cells())) < 2:
        raise SweepError(
            f"compare: found one scenario and {'one scheme' if asked.schemes[0] else 'no --scheme'}; allowed: several "
            "scenarios, several schemes (--scheme A,B), or several stores"
        )
    swept = carry_out(asked, store, threads, executor, None, 0.0, outputs, _page, "compare")
    return side_by_side(swept)


def _page(swept: Swept) -> Report:
    from meshpace.sweeps.compare_page import report

    return report(swept)


def side_by_side(swept: Swept) -> Comparison:
    """Runs of a sweep in which nothing varies but scenarios and schemes."""
    asked, names = swept.sweep, swept.scenario_names()
    several, schemes = len(asked.sources) > 1, len(asked.schemes) > 1
    columns = tuple(
        Column(
            ", ".join([*([names[cell.source]] if several else []), *([written(cell.scheme)] if schemes else [])]),
            {run["seed"]: run for run in runs},
        )
        for cell, runs in swept.runs.items()
    )
    what = [*([] if several else [names[asked.sources[0]]]), *([] if schemes else [written(asked.schemes[0])])]
    return Comparison(f"{', '.join(what)}{', ' if what else ''}seeds 1 to {asked.seeds}", columns)


def of_stores(folders: Sequence[Path]) -> list[Comparison]:
    """What every store has an answer to: a comparison a scenario with its settings and scheme, paired by seed.

    Raises:
        SweepError: only one store is given, several engines made its runs, or the stores have nothing in common.
    """
    if len(folders) < 2:
        raise SweepError(f"compare: found the store {folders[0]} alone; allowed: several stores")
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise SweepError(f"compare: found {', '.join(map(str, folders))}; allowed: each store once")
    held = [_held(folder) for folder in folders]
    common = [asked for asked in held[0] if all(asked in other for other in held)]
    if not common:
        raise SweepError(
            f"{', '.join(map(str, folders))}: nothing was asked of all of them; allowed: stores of the same runs"
        )
    return [
        Comparison(
            " ".join([name, *overrides, *([] if scheme is None else [f"scheme {scheme}"])]),
            tuple(
                Column(str(folder), runs[name, text, overrides, scheme])
                for folder, runs in zip(folders, held, strict=True)
            ),
        )
        for name, text, overrides, scheme in common
    ]


_Asked = tuple[str, bytes, tuple[str, ...], str | None]


def _held(folder: Path) -> dict[_Asked, dict[int, RunResult]]:
    store = Store(folder)
    for problem in store.problems:
        print(problem, file=sys.stderr)
    maker = _maker(store)
    found: dict[_Asked, dict[int, RunResult]] = {}
    versions: dict[str, str] = {}
    for record in sorted(_records(store, maker), key=_place):
        job = record.job
        for name, digest in record.formulas:
            if versions.setdefault(name, digest) != digest:
                raise SweepError(
                    f"{folder}: found runs of several versions of the formula {name}; allowed: one; --store keeps "
                    "another version's apart"
                )
        found.setdefault((job.name, job.text, job.overrides, job.scheme), {})[job.seed] = record.run()
    return found


def _place(record: Record) -> tuple[object, ...]:
    """Comparisons come in the order of what was asked, whatever order the runs were stored in."""
    job = record.job
    return (job.name, job.text, job.overrides, job.scheme or "", job.seed)


def _records(store: Store, maker: Maker) -> list[Record]:
    return [record for record in store.get(store.keys()).values() if record.maker == maker]


def _maker(store: Store) -> Maker:
    """The running engine if the store has runs of it, else the only one that made what is there."""
    makers = store.makers()
    if running() in makers or len(makers) == 1:
        return running() if running() in makers else next(iter(makers))
    found = ", ".join(f"runs of {maker}" for maker in makers) or "no runs, so that it is no store"
    raise SweepError(f"{store.directory}: found {found}; allowed: runs of this engine, {running()}, or of one alone")


def compared(comparison: Comparison) -> list[Quantity]:
    """Those that apply to anything."""
    groups = [list(column.runs.values()) for column in comparison.columns]
    return [q for q in of_runs(groups) if any(column.value(q) is not None for column in comparison.columns)]


def rows(comparison: Comparison) -> Iterator[tuple[str, ...]]:
    """The cells of a table: what is compared, the first column's value, and of the others value and difference."""
    first, *others = comparison.columns
    for quantity in compared(comparison):
        unit = (quantity.factor, quantity.decimals)
        cells = [show(first.value(quantity), unit)]
        for column in others:
            cells += [show(column.value(quantity), unit), _signed(column, first, quantity)]
        yield (f"{quantity.title} {quantity.unit}".strip(), *cells)


def reading(comparison: Comparison) -> str:
    """How the differences are to be read."""
    return f"Differences are to {comparison.columns[0].name}, paired by seed; * leaves zero outside its interval."


def starved(comparison: Comparison) -> list[str]:
    """What is left out of the delays."""
    return delays.told((column.name, list(column.runs.values())) for column in comparison.columns)


def _print(comparisons: Sequence[Comparison], flows: bool) -> None:
    terminal = console()
    for comparison in comparisons:
        first, *others = comparison.columns
        table = Table(title=comparison.title, title_justify="left", box=box.SIMPLE_HEAD)
        table.add_column("means, 95 % confidence")
        table.add_column(first.name, justify="right")
        for column in others:
            table.add_column(column.name, justify="right")
            table.add_column("difference", justify="right")
        for row in rows(comparison):
            table.add_row(*row)
        terminal.print(table)
        for line in starved(comparison):
            terminal.print(line, highlight=False, soft_wrap=True)
        for column in comparison.columns if flows else ():
            print_table_of_flows(column.name, list(column.runs.values()))
    terminal.print(reading(comparisons[0]), highlight=False)
    runs = [run for comparison in comparisons for column in comparison.columns for run in column.runs.values()]
    if not any(run["flows"] for run in runs):
        terminal.print(without_flows(runs[0]), highlight=False, soft_wrap=True, markup=False)
    for line in reconstructed.told(runs):
        terminal.print(line, highlight=False, soft_wrap=True)


def _signed(column: Column, first: Column, quantity: Quantity) -> str:
    value = column.difference(first, quantity)
    if value is None:
        return "-"
    text = f"{value.mean * quantity.factor:+,.{quantity.decimals}f}"
    if value.half_width is None:
        return text
    mark = " *" if abs(value.mean) > value.half_width else ""
    return f"{text} ± {value.half_width * quantity.factor:,.{quantity.decimals}f}{mark}"


def _json(comparisons: Sequence[Comparison]) -> dict[str, Any]:
    return {
        "schema": 1,
        "engine_fingerprint": running().fingerprint,
        "comparisons": [
            {
                "title": comparison.title,
                "columns": [
                    {
                        "name": column.name,
                        "runs": len(column.runs),
                        "quantities": {
                            q.name: {
                                "value": _pair(column.value(q)),
                                "difference": None
                                if column is comparison.columns[0]
                                else _pair(column.difference(comparison.columns[0], q)),
                            }
                            for q in compared(comparison)
                        },
                    }
                    for column in comparison.columns
                ],
            }
            for comparison in comparisons
        ],
    }


def _pair(value: Estimate | None) -> dict[str, float | None] | None:
    return None if value is None else {"mean": value.mean, "ci95": value.half_width}
