"""Runs a script where ``ns`` is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from meshpace.errors import MendableError
from meshpace.ns2.model import Ns2Scenario
from meshpace.ns2.parse import BrokenRunError, Figures, parse_run
from meshpace.ns2.script import write_script


class MissingNs2Error(MendableError):
    """No ``ns`` on the search path."""

    def __init__(self) -> None:
        super().__init__(
            'no "ns" on the search path: install ns-2.35 (Debian package ns2), or write the script with --script'
        )


def find_ns() -> str:
    """The path of ``ns``.

    Raises:
        MissingNs2Error: if it is not installed.
    """
    path = shutil.which("ns")
    if path is None:
        raise MissingNs2Error
    return path


def run_once(scenario: Ns2Scenario, seed: int) -> Figures:
    """Runs ``scenario`` with ns-2's random ``seed``; leaves nothing behind.

    Raises:
        MissingNs2Error, BrokenRunError
    """
    with tempfile.TemporaryDirectory(prefix="meshpace-ns2-") as directory:
        script = Path(directory, "scenario.tcl")
        drops = Path(directory, "drops.tr")
        script.write_text(write_script(scenario))
        done = subprocess.run(
            [find_ns(), str(script), str(seed), str(drops)],
            cwd=directory, capture_output=True, text=True, errors="replace", check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise BrokenRunError((done.stdout + done.stderr).strip()[-400:])
        with drops.open(errors="replace") as lines:
            return parse_run(scenario, done.stdout, lines)


def run_seeds(
    scenarios: Sequence[Ns2Scenario], seeds: Sequence[int], progress: Callable[[int], None], threads: int | None = None
) -> list[Figures]:
    """Runs each scenario with its seed, as many at a time as there are cores; results in the order given."""
    with ThreadPoolExecutor(max_workers=threads or os.cpu_count() or 1) as pool:
        futures = [pool.submit(run_once, *pair) for pair in zip(scenarios, seeds, strict=True)]
        for done, _ in enumerate(as_completed(futures), start=1):
            progress(done)
        return [future.result() for future in futures]
