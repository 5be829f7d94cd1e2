"""``meshpace study list`` and ``meshpace study run``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table as Grid

from meshpace.cli.terminal import console
from meshpace.cli.verdicts import print_verdicts
from meshpace.files import replacing
from meshpace.progress import Progress
from meshpace.study import registry
from meshpace.study.engines import others
from meshpace.study.executors import workers
from meshpace.study.model import Effort, Study
from meshpace.study.outcome import by_name, load, write_table
from meshpace.study.page import page
from meshpace.study.runner import Tally, make, tasks
from meshpace.study.store import Store
from meshpace.study.verdicts import judge_all


def print_studies(as_json: bool) -> None:
    """One row a study, then the beginnings of names that stand for several."""
    if as_json:
        print(json.dumps({"schema": 1, "studies": [_described(study) for study in registry.STUDIES]}))
        return
    terminal = console()
    table = Grid("study", "figures", "what it shows", box=box.SIMPLE_HEAD)
    for heading in ("runs\nquick", "runs\nfull"):
        table.add_column(heading, justify="right")
    for study in registry.STUDIES:
        runs = (f"{_count(study, effort):,}" for effort in Effort)
        table.add_row(study.name, ", ".join(study.figures), study.shows, *runs)
    terminal.print(table)
    groups = (f"{name} ({count})" for name, count in registry.groups().items())
    terminal.print(f"Groups: {', '.join(groups)}", highlight=False)


def _count(study: Study, effort: Effort) -> int:
    """How many runs that is: as many as :func:`tasks` lists, without the keys, which would cost seconds."""
    return len({job for _, job in study.jobs(effort)})


def _described(study: Study) -> dict[str, object]:
    return {
        "name": study.name,
        "title": study.title,
        "figures": study.figures,
        "source": study.source,
        "shows": study.shows,
        "scenario": study.scenario,
        "axis": study.axis.title,
        "points": [point.label for point in study.axis.points],
        "schemes": study.schemes,
        "conditions": [{"routing": c.routing, "reception": c.reception} for c in study.conditions],
        "runs": {effort: _count(study, effort) for effort in Effort},
    }


def run_studies(
    names: Sequence[str], effort: Effort, directory: Path, threads: int | None, executor: str, output: Path | None
) -> None:
    """Makes what is missing, writes the tables, prints the verdicts and writes them to ``output``."""
    studies = registry.find(names)
    store = Store(directory)
    terminal, errors = console(), Console(stderr=True)
    for problem in store.problems:
        errors.print(str(problem), highlight=False, soft_wrap=True)
    wanted = tasks(studies, effort)
    with workers(executor, threads) as hands, Progress(f"{' '.join(names)} ({effort})", len(wanted)) as progress:
        tally = make(wanted, store, hands, progress)
    outcomes = load(store, studies, effort)
    for outcome in outcomes:
        write_table(directory, outcome)
    _print_tally(terminal, tally, directory)
    if kept := others(store):
        terminal.print(kept, highlight=False, soft_wrap=True)
    conditions = list(dict.fromkeys(cell.condition for outcome in outcomes for cell in outcome.records))
    judged = judge_all(by_name(outcomes))
    print_verdicts(terminal, judged, conditions)
    if output is not None:
        with replacing(output) as draft:
            draft.write_text(page(f"meshpace study run {' '.join(names)} --{effort}", judged, conditions))


def _print_tally(terminal: Console, tally: Tally, directory: Path) -> None:
    others = f", {tally.others:,} by other processes" if tally.others else ""
    terminal.print(
        f"{tally.made:,} runs made{others}, {tally.stored:,} were in {directory}; tables in {directory / 'tables'}",
        highlight=False,
        soft_wrap=True,
    )
