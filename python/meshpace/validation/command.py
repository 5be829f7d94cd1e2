"""``meshpace validate``."""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import cast

from rich import box
from rich.table import Table

from meshpace import engine
from meshpace.cli.failure import InputError
from meshpace.cli.terminal import console
from meshpace.engine import Job
from meshpace.files import replacing, try_out
from meshpace.progress import Progress
from meshpace.validation.document import document
from meshpace.validation.explained import EXPLAINED
from meshpace.validation.families import FAMILIES
from meshpace.validation.model import Observed, Setup, Verdict

_QUICK_SEEDS = 2
_FAST = ("exchange", "bianchi", "saturation", "ht_saturation", "vht_saturation", "he_saturation", "ht_bianchi")
"""Families that take a few seconds as a whole: --quick leaves no row of them out."""


def validate(
    family: list[str] | None, seeds: int | None, quick: bool, output: Path | None, threads: int | None
) -> None:
    """Runs the families, prints and writes the table; exit status 1 if a row misses its tolerance unexplained."""
    setups = _select(family, quick)
    if quick and seeds is None:
        seeds = _QUICK_SEEDS
    try_out(output)
    began = time.monotonic()
    verdicts = judge(setups, seeds, threads)
    if output is not None:
        with replacing(output) as draft:
            draft.write_text(document(verdicts, time.monotonic() - began), encoding="utf-8")
    unexplained = _print(verdicts)
    if unexplained:
        raise SystemExit(1)


def _select(family: list[str] | None, quick: bool) -> list[Setup]:
    for name in family or []:
        if name not in FAMILIES:
            raise InputError(f"--family {name}: allowed: {', '.join(FAMILIES)}")
    chosen = [name for name in FAMILIES if not family or name in family]
    return [setup for name in chosen for setup in list(FAMILIES[name]())[:: 2 if quick and name not in _FAST else 1]]


def judge(setups: list[Setup], seeds: int | None, threads: int | None) -> list[Verdict]:
    """Runs every set-up with its seeds, or as many as ``seeds``, and holds the means against the reference."""
    jobs = [(setup, setup.job(seed)) for setup in setups for seed in range(1, (seeds or setup.seeds) + 1)]
    with Progress("validation", len(jobs)) as progress:
        runs = zip(jobs, _observe(jobs, threads, progress), strict=True)
    verdicts = []
    for setup, group in itertools.groupby(runs, key=lambda run: run[0][0]):
        (_, first), _ = (observed := list(group))[0]
        for check in setup.checks:
            values = tuple(value for _, run in observed if (value := check.take(run)) is not None)
            verdicts.append(Verdict(setup.family, check, values, first))
    return verdicts


def _observe(jobs: list[tuple[Setup, Job]], threads: int | None, progress: Progress) -> list[Observed]:
    """The result of each job in order, with a film where the set-up wants one."""
    unfilmed = [job for setup, job in jobs if setup.filmed is None]
    results = iter(cast("list[Observed]", engine.run_many(unfilmed, threads, progress)))
    observed: list[Observed] = []
    for setup, job in jobs:
        if (stretch := setup.filmed) is None:
            observed.append(next(results))
        else:
            run, film = engine.film(job, begin_s=stretch.begin_s, length_s=stretch.length_s, frames=stretch.frames)
            observed.append(Observed(**run, film=film))
    return observed


def _print(verdicts: list[Verdict]) -> list[Verdict]:
    terminal = console()
    table = Table(box=box.SIMPLE_HEAD)
    for head, justify in (("row", "left"), ("quantity", "left"), ("ours", "right"), ("reference", "right")):
        table.add_column(head, justify=justify)  # type: ignore[arg-type]
    for head in ("tolerance", "verdict"):
        table.add_column(head)
    for verdict in verdicts:
        check = verdict.check
        ours = "-" if verdict.ours is None else f"{verdict.ours.mean:,.{check.digits}g}"
        word = (
            "[green]pass[/]"
            if verdict.passed
            else "[yellow]explained[/]"
            if verdict.key in EXPLAINED
            else "[red]MISS[/]"
        )
        name = f"{verdict.family}: {check.name}"
        quantity = f"{check.quantity} {check.unit}".strip()
        table.add_row(name, quantity, ours, f"{check.reference:,.{check.digits}g}", str(check.tolerance), word)
    terminal.print(table)
    misses = [verdict for verdict in verdicts if not verdict.passed]
    for verdict in misses:
        if verdict.key in EXPLAINED:
            terminal.print(f"{verdict.key}: {EXPLAINED[verdict.key]}", highlight=False, soft_wrap=True)
    for verdict in verdicts:
        if verdict.passed and verdict.key in EXPLAINED:
            terminal.print(f"{verdict.key}: passes, yet is explained as a miss; drop the explanation", soft_wrap=True)
    unexplained = [verdict for verdict in misses if verdict.key not in EXPLAINED]
    for verdict in unexplained:
        terminal.print(f"MISS {verdict.key}; repeat with: {verdict.job.command()}", highlight=False, soft_wrap=True)
    passed = len(verdicts) - len(misses)
    terminal.print(
        f"validation: {passed} of {len(verdicts)} rows pass, {len(misses) - len(unexplained)} misses explained, "
        f"{len(unexplained)} not",
        highlight=False,
    )
    return unexplained
