"""``meshpace store``: which engines made what a store holds, and the choice of one of them."""

from __future__ import annotations

import json
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table as Grid

from meshpace.cli.terminal import console
from meshpace.errors import MendableError
from meshpace.study.record import Maker, running
from meshpace.study.store import Store


class UnknownEngineError(MendableError):
    """No engine, or more than one, is called so in the store."""


def find_engine(store: Store, name: str) -> Maker:
    """The engine of that fingerprint or of that only beginning of one; a version names results without a fingerprint.

    Raises:
        UnknownEngineError: there is none, or there are several.
    """
    made = [maker for maker in store.makers() if maker.name == name]
    found = made or [maker for maker in store.makers() if (maker.fingerprint or "").startswith(name)]
    if len(found) == 1:
        return found[0]
    there = described(store) or "no runs"
    what = f"{len(found)} engines begin with it" if found else "no runs of it"
    raise UnknownEngineError(f"--engine {name}: {what} in {store.directory}, which holds {there}")


def described(store: Store) -> str:
    """In a line: ``240 runs of engine 0.1.0 (0123456789abcdef)``; empty if the store is."""
    return ", ".join(f"{count:,} runs of engine {maker}" for maker, count in _ordered(store))


def others(store: Store) -> str:
    """What of the store the running engine did not make, and what that means; empty if there is nothing."""
    made = [(maker, count) for maker, count in _ordered(store) if maker != running()]
    if not made:
        return ""
    runs = ", ".join(f"{count:,} runs of engine {maker}" for maker, count in made)
    return (
        f"{store.directory} also holds {runs}: kept, and not used for this engine, {running()}; "
        f"`meshpace report --engine {made[0][0].name}` shows them"
    )


def _ordered(store: Store) -> list[tuple[Maker, int]]:
    """The running engine first, then by the number of runs."""
    mine = running()
    return sorted(store.makers().items(), key=lambda pair: (pair[0] != mine, -pair[1], pair[0].name))


def print_store(directory: Path, as_json: bool) -> None:
    """One row an engine."""
    store = Store(directory)
    for problem in store.problems:
        Console(stderr=True).print(str(problem), highlight=False, soft_wrap=True)
    mine, rows = running(), _ordered(store)
    if as_json:
        engines = [
            {"engine": m.version, "engine_fingerprint": m.fingerprint, "runs": count, "running": m == mine}
            for m, count in rows
        ]
        print(json.dumps({"schema": 1, "store": str(directory), "engines": engines}))
        return
    table = Grid("engine", "fingerprint", box=box.SIMPLE_HEAD)
    table.add_column("runs", justify="right")
    table.add_column()
    for maker, count in rows:
        table.add_row(maker.version, maker.fingerprint or "none", f"{count:,}", "this engine" if maker == mine else "")
    terminal = console()
    terminal.print(table)
    if mine not in store.makers():
        terminal.print(f"Nothing in {directory} was made by this engine, {mine}.", highlight=False, soft_wrap=True)
