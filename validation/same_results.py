"""Whether this engine gives the results that a store holds of another one: a run of each study is made again.

    .venv/bin/python validation/same_results.py STORE [STUDY ...]

Of each study of the papers (or of those named) the first run of its quick plan that the store holds, by whichever other
engine. Results are compared as JSON, without the engine's own names. Exit status 1 if one differs, or if none is held.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from meshpace.study.model import Effort, Study
from meshpace.study.outcome import load
from meshpace.study.record import Maker, Record, running, simulate
from meshpace.study.reproduce import papers
from meshpace.study.store import Store

ENGINE = ("engine", "engine_fingerprint")


def said(record: Record) -> dict[str, Any]:
    """The result, without the engine that made it."""
    return {name: value for name, value in json.loads(record.result).items() if name not in ENGINE}


def held(store: Store, studies: list[Study], makers: list[Maker]) -> Iterator[tuple[Study, Record]]:
    """A run of each study, the study with it."""
    for maker in makers:
        for outcome in load(store, studies, Effort.QUICK, maker):
            records = outcome.all_records()
            if records:
                yield outcome.study, records[0]


def main(directory: Path, names: list[str]) -> int:
    """Compares, tells, and returns the exit status."""
    store = Store(directory)
    makers = [maker for maker in store.makers() if maker != running()]
    studies = [study for _, plain, screens in papers(["all"]) for study in (*plain, *screens)]
    wanted = [study for study in studies if not names or study.name in names]
    same = other = 0
    for study, record in held(store, wanted, makers):
        again = simulate(record.job, series=study.series)
        if said(again) == said(record) and again.series == record.series:
            same += 1
        else:
            other += 1
            print(f"{study.name}: {record.job.command()} differs from {record.maker}")
    theirs = " and ".join(map(str, makers)) or "no other engine"
    print(f"{same + other} runs of {theirs} made again by {running()}: {other} differ")
    return 1 if other or not same else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
