#!/usr/bin/env python3
"""A sweep of 2,000 runs that is killed (`kill -9`) at ten random moments, and one on Dask that loses a worker of two.

    bench/sweep_kills.py                    both; Dask only where it is installed (pip install 'meshpace[cluster]')
    bench/sweep_kills.py --seeds 20 --kills 3 --seconds 5

Held against the same sweep undisturbed: nothing that was stored is lost or run twice, CSV and Parquet have the same
bytes. Exit status 1 if not.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq

from meshpace.study.store import RUNS, Store

SCENARIO = Path(__file__).resolve().parents[1] / "scenarios" / "chain-adhoc.toml"
POINTS = "topology.hops,flow.0.to=2:n2,3:n3,4:n4,5:n5,6:n6"
SCHEMES = "newreno,tcp-ap"
CELLS = 10
FILES = ("csv", "parquet")
OFTEN = "from meshpace.cli import main; from meshpace.study import runner; runner.FLUSH_S = 0.1; main()"
"""The command line, storing finished runs at once: what is stored tells how far it is, however fast the machine."""


class BrokenPromiseError(AssertionError):
    """A promise that is not kept."""


def command(seeds: int, seconds: int, store: str, *more: str) -> list[str]:
    """The sweep, into a store of that name and files of that name."""
    words = [sys.executable, "-m", "meshpace", "sweep", str(SCENARIO), "--vary", POINTS, "--scheme", SCHEMES]
    words += ["--seeds", str(seeds), "--set", f"measure.duration={seconds}s", "--set", "measure.warmup=2s"]
    words += [word for kind in FILES for word in (f"--{kind}", f"{store}.{kind}")]
    return [*words, "--json", "--store", store, *more]


def whole(words: list[str], folder: Path) -> tuple[dict[str, int], float]:
    """Runs it to the end: what it says of its runs, and how long it took."""
    began = time.monotonic()
    done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    runs: dict[str, int] = json.loads(done.stdout)["runs"]
    return runs, time.monotonic() - began


def stored(folder: Path, store: str) -> set[str]:
    """The keys in a store, every file of which can be read."""
    found = Store(folder / store)
    if found.problems:
        raise BrokenPromiseError(f"files that cannot be read: {found.problems}")
    return set(found.keys())


def held_against(folder: Path, store: str, count: int) -> None:
    """Every run is stored once, and the files are those of the undisturbed sweep."""
    keys = [key for path in (folder / store / RUNS).glob("*.parquet") for key in pq.read_table(path)["key"].to_pylist()]
    if len(keys) != count or len(set(keys)) != count:
        raise BrokenPromiseError(
            f"{len(keys)} runs stored, {len(set(keys))} of them different; wanted {count}, each once"
        )
    for kind in FILES:
        if (folder / f"{store}.{kind}").read_bytes() != (folder / f"whole.{kind}").read_bytes():
            raise BrokenPromiseError(f"{store}.{kind} differs from the undisturbed sweep's")


def killed(folder: Path, seeds: int, seconds: int, kills: int, took_s: float, draw: random.Random) -> list[int]:
    """Kills the sweep at random moments, then lets it end; how many runs were stored after each kill."""
    words, counts = command(seeds, seconds, "killed"), []
    seen: set[str] = set()
    for _ in range(kills):
        with (folder / "killed.log").open("a") as log:
            child = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=log, start_new_session=True)
        # From before it has begun until it has done a good part of the rest.
        time.sleep(draw.uniform(0.2, 1.0 + 1.5 * took_s / kills))
        if child.poll() is not None:
            raise BrokenPromiseError(
                "it ended before it was killed: more runs or longer ones are needed (--seeds, --seconds)"
            )
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        now = stored(folder, "killed")
        if not seen <= now:
            raise BrokenPromiseError(f"{len(seen - now)} runs are lost")
        seen = now
        counts.append(len(seen))
    runs, _ = whole(words, folder)
    if runs != {"made": CELLS * seeds - len(seen), "stored": len(seen), "others": 0}:
        raise BrokenPromiseError(f"the last of them says {runs}, with {len(seen)} runs stored before")
    held_against(folder, "killed", CELLS * seeds)
    return counts


@contextmanager
def started(*words: str) -> Iterator[subprocess.Popen[str]]:
    """A process of Dask's, which ends with the block."""
    child = subprocess.Popen([sys.executable, "-m", *words], stderr=subprocess.PIPE, text=True)
    try:
        yield child
    finally:
        child.kill()
        child.wait()


def said(child: subprocess.Popen[str], pattern: str) -> str:
    """Waits for a line on its standard error; what the group in the pattern is."""
    assert child.stderr is not None
    for line in child.stderr:
        if found := re.search(pattern, line):
            return found[1]
    raise BrokenPromiseError(f"Dask's process ended without {pattern!r}")


def on_dask(folder: Path, seeds: int, seconds: int) -> int:
    """The sweep on two workers, one of which is killed once a tenth is stored; the runs that were stored then."""
    scheduler_words = ("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    with started(*scheduler_words) as scheduler:
        address = said(scheduler, r"Scheduler at:\s+(tcp://\S+)")
        worker = ("distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard")
        with started(*worker) as one, started(*worker) as other:
            for child in (one, other):
                said(child, r"(Registered to)")
            words = [sys.executable, "-c", OFTEN]
            words += command(seeds, seconds, "dask", "--executor", f"dask://{address}")[3:]
            sweep = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            while len(Store(folder / "dask")) < CELLS * seeds // 10:
                if sweep.poll() is not None:
                    raise BrokenPromiseError("it ended before a worker was killed")
                time.sleep(0.05)
            one.kill()
            at = len(stored(folder, "dask"))
            out, _ = sweep.communicate()
    if sweep.returncode:
        raise BrokenPromiseError(f"exit status {sweep.returncode} after a worker was killed")
    if json.loads(out)["runs"] != {"made": CELLS * seeds, "stored": 0, "others": 0}:
        raise BrokenPromiseError(f"it says {json.loads(out)['runs']}")
    held_against(folder, "dask", CELLS * seeds)
    return at


def main() -> None:
    """Runs both and prints what came out."""
    parser = argparse.ArgumentParser(description="A sweep under kill -9, and on Dask with a worker killed.")
    parser.add_argument("--seeds", type=int, default=200, help="ten times as many runs")
    parser.add_argument("--seconds", type=int, default=20, help="simulated, of a run")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--only", choices=("kills", "dask"))
    parser.add_argument("--draw", type=int, default=1, help="seed of the moments")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runs, took = whole(command(options.seeds, options.seconds, "whole"), folder)
        print(f"undisturbed: {runs['made']:,} runs in {took:.0f} s", flush=True)
        if options.only != "dask":
            counts = killed(folder, options.seeds, options.seconds, options.kills, took, random.Random(options.draw))
            stages = ", ".join(f"{count:,}" for count in counts)
            print(f"killed {options.kills} times, stored after each: {stages}; nothing lost, nothing twice, same bytes")
        if options.only == "kills":
            return
        if importlib.util.find_spec("distributed") is None:
            print("Dask: not installed, not run")
            return
        at = on_dask(folder, options.seeds, options.seconds)
        print(f"Dask, one of two workers killed at {at:,} runs: nothing twice, same bytes as threads")


if __name__ == "__main__":
    try:
        main()
    except BrokenPromiseError as broken:
        sys.exit(f"broken: {broken}")
