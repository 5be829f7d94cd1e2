"""Tables on the terminal: a number is whole, however many columns there are; progress says which command it is of."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich import box
from rich.table import Table

import meshpace
from commanding import Cli
from meshpace.cli.terminal import console
from meshpace.progress import Progress
from meshpace.sweeps import make as sweeping


@pytest.mark.parametrize("columns", [3, 30])
def test_no_cell_is_cut(columns: int) -> None:
    table = Table(box=box.SIMPLE_HEAD)
    for number in range(columns):
        table.add_column(f"head\n{number}", no_wrap=True)
    table.add_column("words that may wrap")
    cells = [f"{number:,} ± 0.0{number}" for number in range(1000, 1000 + columns)]
    table.add_row(*cells, "a longer sentence about all of them")
    terminal = console()
    terminal.file = io.StringIO()
    before = terminal.width
    terminal.print(table)
    shown = terminal.file.getvalue()
    assert all(cell in shown for cell in cells)
    assert "…" not in shown
    assert terminal.width == before


def test_a_sweep_of_two_keys_shows_its_numbers_whole(cli: Cli) -> None:
    words = ("--vary", "radio.rate=2Mbps,11Mbps", "--vary", "radio.rts=always,never", "--scheme", "newreno,tcp-ap")
    short = ("--set", "measure.duration=4s", "--set", "measure.warmup=1s", "--seeds", "2")
    done = cli("sweep", "scenarios/gap-fig10-parallel-up.toml", *words, *short)
    assert done.returncode == 0, done.stderr
    assert "…" not in done.stdout
    assert "always" in done.stdout
    assert "NewReno" in done.stdout


def test_progress_has_the_name_of_the_command_that_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named: list[str] = []

    class Named(Progress):
        def __init__(self, what: str, total: int) -> None:
            named.append(what)
            super().__init__(what, total)

    monkeypatch.setattr(sweeping, "Progress", Named)
    links = tmp_path / "links.csv"
    links.write_text("from,to,loss\nhall,roof,0.1\nroof,tower,0.05\n")
    meshpace.advise(links, gateway="hall", nodes=1, seeds=1, precision="900%", store=tmp_path / "store")
    assert named[0] == "advise, pacing"
    assert "advise, windows of 8 segments" in named
