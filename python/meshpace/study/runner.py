"""Makes the runs of studies that the store does not hold yet.

Finished runs go to the store every few seconds, so an interruption loses little and repeats nothing that was stored.
Several processes may work on one store: each run is claimed by one of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import nullcontext
from dataclasses import dataclass

from meshpace.emulation.ending import ended_by_signals
from meshpace.engine import Job
from meshpace.study.executors import Workers
from meshpace.study.model import NOTHING_MORE, Effort, More, Study
from meshpace.study.record import Record, key_of
from meshpace.study.store import Store

FLUSH_S = 3.0
"""Finished runs wait at most so long for their file."""
_POLL_S = 0.1
_OTHERS_POLL_S = 0.5
"""How often to look for what other processes have claimed."""
_AHEAD = 8
"""Runs handed to an executor for each that it makes at a time: enough that it does not wait while a file is written."""


@dataclass(frozen=True, slots=True)
class Task:
    """A run that a study asks for."""

    key: str
    job: Job
    series: bool
    weight: float
    """Roughly its processor time."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of the runs that were asked for."""

    stored: int
    """Were there already."""
    made: int
    """Made now."""
    others: int
    """Made by other processes meanwhile."""
    left: int = 0
    """Not made, since it was enough."""


Progress = Callable[[int, float], None]
"""Gets the number of finished runs and the part of the work that is done."""


def tasks(studies: Iterable[Study], effort: Effort, more: More = NOTHING_MORE) -> list[Task]:
    """Every run of the studies once, in the order of the studies and, within one, of the keys.

    ``more`` says which cells have more seeds than planned. Keys are as good as shuffled: a study's quick and slow runs
    are spread evenly over its time.
    """
    found: dict[str, Task] = {}
    for study in studies:
        weight = study.plan(effort).core_s
        mine = {}
        for _, job in study.jobs(effort, more):
            key = key_of(job, series=study.series)
            mine[key] = Task(key, job, study.series, weight)
        for key in sorted(mine):
            found.setdefault(key, mine[key])
    return list(found.values())


def _never() -> bool:
    return False


def make(
    wanted: Sequence[Task], store: Store, workers: Workers, progress: Progress | None = None,
    enough: Callable[[], bool] = _never,
) -> Tally:  # fmt: skip
    """Makes what is missing. Whatever ends it, finished runs are stored; once it is ``enough`` no other is handed over.

    Raises:
        ScenarioError: a run cannot be made.
        OSError: the store cannot be written.
        KeyboardInterrupt: Ctrl-C.
    """
    # Real hosts last: simulations beside them would make their packets late.
    missing = sorted((task for task in wanted if task.key not in store), key=lambda task: task.job.emulated)
    work = _Work(store, workers, missing, enough)
    total = sum(task.weight for task in missing)
    # Hosts would outlive a command that SIGTERM just ends: their runs are processes of their own.
    hosted = any(task.job.emulated for task in missing)
    with ended_by_signals() if hosted else nullcontext():
        try:
            while not work.finished:
                work.submit()
                work.collect()
                if progress is not None:
                    progress(len(wanted) - len(missing) + work.done, work.weight / total)
        finally:
            work.drain()
    return Tally(len(wanted) - len(missing), work.made, work.others, len(missing) - work.done)


class _Work:
    def __init__(self, store: Store, workers: Workers, missing: Sequence[Task], enough: Callable[[], bool]) -> None:
        self._store, self._workers, self._enough = store, workers, enough
        self._waiting = list(reversed(missing))
        self._elsewhere: list[Task] = []
        """Claimed by other processes."""
        self._looked = 0.0
        self._running: dict[Future[Record], Task] = {}
        self._unwritten: list[tuple[Task, Record]] = []
        self._flushed = time.monotonic()
        self.made = self.others = 0
        self.weight = 0.0

    @property
    def done(self) -> int:
        return self.made + self.others

    @property
    def finished(self) -> bool:
        return not (self._waiting or self._elsewhere or self._running)

    def submit(self) -> None:
        """Keeps the executor busy with runs that no other process makes."""
        if (self._waiting or self._elsewhere) and self._enough():
            self._waiting, self._elsewhere = [], []
        if not self._waiting and self._elsewhere and time.monotonic() - self._looked >= _OTHERS_POLL_S:
            # Theirs are stored by now, or theirs died: then the claim is free.
            self._looked = time.monotonic()
            self._waiting, self._elsewhere = self._elsewhere, []
        while self._waiting and len(self._running) < self._workers.count * _AHEAD:
            task = self._waiting.pop()
            if not self._store.claim(task.key):
                self._elsewhere.append(task)
                continue
            # A worker stores a run before it gives the claim back, so what is not there now is ours to make.
            self._store.refresh()
            if task.key in self._store:
                self._store.release(task.key)
                self.others += 1
                self.weight += task.weight
                continue
            future = self._workers.submit(task.job, task.series)
            self._running[future] = task

    def collect(self) -> None:
        """Takes finished runs; returns after a moment at the latest."""
        if not self._running:
            time.sleep(_POLL_S if not self.finished else 0)
        for future in wait(self._running, _POLL_S, FIRST_COMPLETED).done:
            self._take(future)
        if time.monotonic() - self._flushed >= FLUSH_S:
            self.flush()

    def _take(self, future: Future[Record]) -> None:
        task = self._running.pop(future)
        self._unwritten.append((task, future.result()))
        self.made += 1
        self.weight += task.weight

    def drain(self) -> None:
        """At the end, whatever brings it: stores every run that is finished."""
        for future in list(self._running):
            if future.done() and not future.cancelled() and future.exception() is None:
                self._take(future)
        self.flush()

    def flush(self) -> None:
        """Stores what is finished and gives its claims back."""
        self._store.add([record for _, record in self._unwritten])
        for task, _ in self._unwritten:
            self._store.release(task.key)
        self._unwritten = []
        self._flushed = time.monotonic()
