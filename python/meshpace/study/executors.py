"""Where runs are made: threads of this process, other processes, or a Dask cluster."""

from __future__ import annotations

import difflib
import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

from meshpace.engine import Job
from meshpace.errors import MendableError
from meshpace.study.record import Record, StoppedError, simulate

DASK = "dask://"
KINDS = f"threads, processes, {DASK}HOST:PORT"


class UnknownExecutorError(MendableError):
    """There is no such executor, or what it needs is not installed."""


@dataclass(frozen=True, slots=True)
class Workers:
    """Any executor, and how many runs it makes at a time."""

    executor: Executor
    count: int
    stop: threading.Event = field(default_factory=threading.Event)
    """Set to break off the runs of threads."""
    here: bool = False
    """Whether the workers share this process's memory, and so see ``stop``."""

    def submit(self, job: Job, series: bool) -> Future[Record]:
        """Hands over a run."""
        if self.here:
            return self.executor.submit(execute, job, series, self.stop)
        return self.executor.submit(execute, job, series)


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def workers(kind: str, count: int | None) -> Iterator[Workers]:
    """Workers of a kind (:data:`KINDS`), ``count`` runs at a time (all cores if None). They end with the block.

    Raises:
        UnknownExecutorError: there is no such executor here.
    """
    count = count or cores()
    stop = threading.Event()
    if kind == "threads":
        executor: Executor = ThreadPoolExecutor(count)
    elif kind == "processes":
        context = multiprocessing.get_context("spawn")
        executor = ProcessPoolExecutor(count, mp_context=context, initializer=_prepare_process)
    elif kind.startswith(DASK):
        with _dask(kind.removeprefix(DASK), stop) as found:
            yield found
        return
    else:
        near = difflib.get_close_matches(kind, ("threads", "processes"), n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise UnknownExecutorError(f"--executor: found {kind!r}{hint}; allowed: {KINDS}")
    try:
        yield Workers(executor, count, stop, here=kind == "threads")
    finally:
        stop.set()
        executor.shutdown(wait=kind == "threads", cancel_futures=True)


def execute(job: Job, series: bool, stop: threading.Event | None = None) -> Record:
    """Makes one run; what every executor is given.

    Raises:
        ScenarioError: the job cannot be run.
        EmulationError: it cannot be emulated.
        StoppedError: ``stop`` was set before the end.
    """
    if job.emulated:
        from meshpace.study.emulated import emulate

        return emulate(job, stop)

    def heartbeat(_: int) -> None:
        if stop is not None and stop.is_set():
            raise StoppedError

    return simulate(job, series=series, heartbeat=heartbeat)


def _prepare_process() -> None:
    """Ctrl-C ends a worker without a traceback, and a worker does not outlive the process that it works for."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _dask(address: str, stop: threading.Event) -> Iterator[Workers]:
    try:
        from distributed import Client
    except ImportError:
        raise UnknownExecutorError(f"{DASK} needs Dask: pip install 'meshpace[cluster]'") from None
    try:
        client = Client(address if "://" in address else f"tcp://{address}")
    except (OSError, ValueError) as error:
        raise UnknownExecutorError(f"{DASK}{address}: {error}") from None
    try:
        count = sum(client.nthreads().values())
        if count == 0:
            raise UnknownExecutorError(f"{DASK}{address}: the cluster has no workers")
        yield Workers(client.get_executor(pure=False), count, stop)
    finally:
        stop.set()
        client.close()
