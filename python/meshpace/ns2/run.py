"""Runs a script where ``ns`` is installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from meshpace.errors import MendableError
from meshpace.judges.figures import BrokenRunError, Figures
from meshpace.judges.judge import Judge
from meshpace.ns2.express import express
from meshpace.ns2.model import Ns2Scenario
from meshpace.ns2.parse import parse_run
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


NS2 = Judge("ns-2.35", express, write_script, find_ns, run_once)
