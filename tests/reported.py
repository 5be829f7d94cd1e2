"""A small store and what is reported of it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from meshpace.report.command import build
from meshpace.report.model import Report
from meshpace.report.page import render
from meshpace.study import registry
from meshpace.study.executors import workers
from meshpace.study.held import read
from meshpace.study.model import AODV, STATIC, Effort, Plan, Study, timed
from meshpace.study.outcome import Outcome
from meshpace.study.runner import make, tasks
from meshpace.study.store import Store

SEEDS = 2


@dataclass(frozen=True)
class Reported:
    """A store, its outcomes, their report, and its page in a file."""

    store: Store
    outcomes: list[Outcome]
    report: Report
    page: str
    path: Path


def studies() -> list[Study]:
    """One of each form, short: over an axis of numbers, at one point, over time, over an axis of names."""

    def short(name: str, measure: tuple[tuple[str, str], ...], points: tuple[str, ...] | None = None) -> Study:
        study = next(study for study in registry.STUDIES if study.name == name)
        plan = Plan(seeds=SEEDS, measure=measure, points=points)
        return dataclasses.replace(study, quick=plan, conditions=(AODV, STATIC))

    return [
        short("gap-chain-up", timed(8, 2), ("1", "4", "6")),
        short("gap-parallel-mix", timed(8, 2)),
        short("gap-responsiveness", timed(165, 10)),
        short("gap-switches-chain-up", timed(8, 2), ("as it is", "static routes", "window 20")),
    ]


def make_report(folder: Path) -> Reported:
    """Makes the runs and reports them."""
    store = Store(folder / "store")
    with workers("threads", None) as hands:
        make(tasks(studies(), Effort.QUICK), store, hands)
    outcomes = read(store, studies())
    report = build(outcomes)
    page, path = render(report), folder / "report.html"
    path.write_text(page, encoding="utf-8")
    return Reported(store, outcomes, report, page, path)
