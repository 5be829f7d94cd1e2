"""Runs of `meshpace emulate` that a folder keeps: what it has is not made again, what was late is."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", Path(__file__).resolve().parents[1] / "target"))
Result = dict[str, Any]
NICE = "nice -n -5"
"""The hosts' programs go before what else the machine does; the engine has a real-time priority."""


def emulate(scenario: Path, seed: int, name: str, *more: str) -> Result | str:
    """The result of a scenario, or why there is none; `more` are further options."""
    words = [sys.executable, "-m", "meshpace", "emulate", scenario, "--json", "--seed", seed, "--name", name, *more]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return done.stderr
    result: Result = json.loads(done.stdout)
    return result


def arguments(parser: argparse.ArgumentParser, store: str) -> None:
    """What every table of such runs is asked with; `store` is the folder's name beside what is built."""
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--attempts", type=int, default=3)
    parser.add_argument("--meshpaced", type=Path, default=TARGET / "release" / "meshpaced")
    parser.add_argument("--store", type=Path, default=TARGET / store)
    parser.add_argument("--stored", action="store_true", help="make no runs: only show those that the folder has")
    parser.add_argument("--write", action="store_true")


def asked_by(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """What was asked for; ends the program if the daemon that runs need is not built."""
    asked = parser.parse_args()
    if not asked.stored and not asked.meshpaced.exists():
        sys.exit(f"{asked.meshpaced} is missing: cargo build --release -p meshpace-daemon")
    return asked


@dataclass(frozen=True)
class Run:
    """One of those that a table is made of."""

    name: str
    """The file's, without its ending."""
    make: Callable[[], Result | str]
    """The result, or why there is none."""
    shown: Callable[[Result], str]
    """What came of it, in words; ValueError where the result is of no use."""


@dataclass(frozen=True)
class Store:
    """The folder, and how often a run that was late is made again."""

    folder: Path
    attempts: int

    def read(self, name: str) -> Result | None:
        """The result of the last attempt."""
        kept = self._kept(name)
        return kept and kept["result"]

    def make(self, runs: Sequence[Run], at_once: int) -> None:
        """Makes what is missing; late ones are repeated once every run has been made."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for _ in range(self.attempts):
            with ThreadPoolExecutor(at_once) as pool:
                list(pool.map(self._improve, runs))

    def account(self, runs: Sequence[Run]) -> str:
        """How many there are, and how many of them were late."""
        kept = [one for run in runs if (one := self._kept(run.name))]
        again = sum(one["attempts"] > 1 for one in kept)
        invalid = sum(one["result"]["lateness"]["valid"] is not True for one in kept)
        return f"{len(kept)} runs; {again} of them had been late and were made again, {invalid} still were."

    def _kept(self, name: str) -> Result | None:
        file = self.folder / f"{name}.json"
        kept: Result | None = json.loads(file.read_text()) if file.exists() else None
        return kept

    def _improve(self, run: Run) -> None:
        kept = self._kept(run.name)
        attempts = kept["attempts"] if kept else 0
        if attempts >= self.attempts or (kept and kept["result"]["lateness"]["valid"]):
            return
        result = run.make()
        try:
            said = result if isinstance(result, str) else run.shown(result)
        except ValueError as error:
            result, said = str(error), str(error)
        if isinstance(result, str):
            print(f"{run.name}: no result: {said}", file=sys.stderr, flush=True)
            return
        draft = self.folder / f"{run.name}.draft"
        draft.write_text(json.dumps({"attempts": attempts + 1, "result": result}))
        draft.replace(self.folder / f"{run.name}.json")
        lateness = result["lateness"]
        late = f"{lateness['share_late']:.3%} late, {'valid' if lateness['valid'] else 'INVALID'}"
        print(f"{run.name}: {said}, {late}, load {os.getloadavg()[0]:.0f}", file=sys.stderr, flush=True)
