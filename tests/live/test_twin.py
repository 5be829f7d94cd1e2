"""A run of the study of twins: real hosts make it, and what came of them is stored as another study's runs are."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from net import wait_for

from meshpace.engine import Job
from meshpace.study.executors import execute
from meshpace.study.model import Effort
from meshpace.study.quantities import LATE
from meshpace.study.record import StoppedError
from meshpace.study.store import Store
from meshpace.study.written.vocabulary import functions_of

MEASURES = functions_of(Path(__file__).resolve().parents[2] / "papers" / "twin" / "measures.py")


def a_run(seed: int) -> Job:
    """Of the study of twins, of the kernel's Reno."""
    from meshpace.study import registry  # loads for half a second: processes that only list this file do without

    (twin,) = registry.find(["twin"])
    cell = next(cell for cell in twin.cells(Effort.QUICK) if cell.scheme == "kernel-reno")
    return twin.job(cell, seed, Effort.QUICK)


def test_a_real_transfer_is_stored_with_its_verdict_and_its_machine(tmp_path: Path) -> None:
    job = a_run(1)
    shorter = tuple(
        one.replace("(5, 15)", "(1, 3)").replace("duration=17s", "duration=5s").replace("warmup=6s", "warmup=2s")
        for one in job.overrides
    )
    store = Store(tmp_path / "store")
    made = execute(job._replace(overrides=shorter), series=False)
    store.add([made])
    (record,) = Store(tmp_path / "store").get([made.key]).values()
    run = record.run()
    assert record.job.emulated
    # One hop at 11 Mbit/s carries 3.4 Mbit/s (docs/emulation.md).
    goodput, late = MEASURES.GOODPUT(run), LATE(run)
    assert goodput is not None
    assert 1e6 < goodput < 4e6
    assert late is not None
    assert MEASURES.DELAY_50(run) is not None
    assert MEASURES.SENT_AGAIN(run) is not None
    assert 1 <= run["attempts"] <= 3  # type: ignore[typeddict-item]
    assert set(run["machine"]) == {"kernel", "processor", "processors", "load_1min"}  # type: ignore[typeddict-item]


def test_a_study_that_is_broken_off_leaves_no_hosts() -> None:
    stop = threading.Event()

    def mine() -> set[str]:
        return {path.name for path in Path("/run/netns").glob(f"mp-s{os.getpid()}-*")}

    def interrupt() -> None:
        wait_for(mine, 60)
        time.sleep(0.5)
        stop.set()

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(StoppedError):
        execute(a_run(2), series=False, stop=stop)
    thread.join()
    assert mine() == set()


def test_a_study_that_is_told_to_end_leaves_no_hosts(tmp_path: Path) -> None:
    """As a system's shutdown or `timeout` tells it: by SIGTERM, to it alone."""
    words = [sys.executable, "-m", "meshpace", "study", "run", "twin-files", "--threads", "2", "--store", tmp_path]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as study:

        def hosts() -> list[Path]:
            return list(Path("/run/netns").glob(f"mp-s{study.pid}-*"))

        wait_for(lambda: len(hosts()) == 4, 120)
        study.terminate()
        _, err = study.communicate(timeout=60)
        assert (study.returncode, err.splitlines()[-1]) == (130, "interrupted")
        assert hosts() == []
