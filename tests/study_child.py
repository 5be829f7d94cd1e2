"""Runs a small study into a store: `study_child.py STORE [KIND] [WORKERS] [SECONDS]`; prints `go`, then its runs."""

from __future__ import annotations

import sys
from pathlib import Path

from meshpace.study import runner
from meshpace.study.executors import workers
from meshpace.study.model import AODV, STATIC, Axis, Effort, Plan, Point, Study
from meshpace.study.outcome import load, write_table
from meshpace.study.quantities import GOODPUT
from meshpace.study.store import Store


def small(seeds: int = 8, duration: int = 8) -> Study:
    hops = tuple(Point(str(h), (("topology.hops", str(h)),), float(h)) for h in (2, 3, 4))
    measure = (("measure.duration", f"{duration}s"), ("measure.warmup", "1s"))
    return Study(
        name="small",
        title="Small",
        figures=(),
        source="tests",
        shows="A chain.",
        scenario="gap-fig08-chain-up.toml",
        axis=Axis("hops", "", hops),
        schemes=("newreno", "tcp-gap"),
        conditions=(AODV, STATIC),
        quick=Plan(seeds, measure),
        full=Plan(1, measure),
        quantities=(GOODPUT,),
    )


def main(directory: str, kind: str = "threads", count: str = "2", duration: str = "8") -> None:
    runner.FLUSH_S = 0.05
    study, store = small(duration=int(duration)), Store(Path(directory))
    with workers(kind, int(count)) as hands:
        print("go", flush=True)
        tally = runner.make(runner.tasks([study], Effort.QUICK), store, hands)
    write_table(Path(directory), load(store, [study], Effort.QUICK)[0])
    print(tally.made, tally.stored, tally.others, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
