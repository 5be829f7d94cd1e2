"""What a command's start costs beside an empty Python's: processor time, medians of rounds in turns.

    bench/start.py [ROUNDS]

Exit status 1 if one takes more than it may: a command that prints text five times an empty Python's, one that loads
Arrow twenty times. Bytecode is kept, as where the package is installed.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROUNDS = 15
ROOT = Path(__file__).resolve().parents[1]
SCENARIO = str(ROOT / "scenarios" / "chain-adhoc.toml")
SHORT = ["--set", "measure.duration=3s", "--set", "measure.warmup=1s"]
EMPTY, TEXT, ARROW = "python -c pass", 5.0, 20.0


class Command(NamedTuple):
    """Words for Python, and how many times an empty Python's processor time they may take."""

    words: list[str]
    most: float


def meshpace(*words: str, most: float = TEXT) -> Command:
    return Command(["-m", "meshpace", *words], most)


COMMANDS = {
    EMPTY: Command(["-c", "pass"], 1.0),
    "meshpace --help": meshpace("--help"),
    "meshpace --version": meshpace("--version"),
    "meshpace check": meshpace("check", SCENARIO),
    "meshpace schemes": meshpace("schemes"),
    "meshpace scenarios": meshpace("scenarios"),
    "meshpace schema": meshpace("schema"),
    "meshpace study list": meshpace("study", "list"),
    "meshpace run --json": meshpace("run", SCENARIO, "--json", *SHORT),
    # Of these the run itself takes a good part.
    "meshpace run": meshpace("run", SCENARIO, *SHORT, most=ARROW),
    "meshpace run --trace": meshpace("run", SCENARIO, "--trace", "x.parquet", *SHORT, most=ARROW),
}


def processor_ms(words: list[str], folder: str) -> float:
    """User and system time of one process."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    with subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL, cwd=folder, env=environment) as process:
        _, ended, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(ended)
    assert process.returncode == 0, words
    return 1e3 * (used.ru_utime + used.ru_stime)


def main(rounds: int = ROUNDS) -> int:
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    with tempfile.TemporaryDirectory() as folder:
        for command in COMMANDS.values():
            processor_ms(command.words, folder)  # compiles what is not compiled yet
        for _ in range(rounds):
            for name, command in COMMANDS.items():
                taken[name].append(processor_ms(command.words, folder))
    empty = statistics.median(taken[EMPTY])
    above = 0
    for name, times in taken.items():
        times_empty, most = statistics.median(times) / empty, COMMANDS[name].most
        above += times_empty > most
        verdict = "" if times_empty <= most else f", MORE THAN {most:g}"
        print(f"{name:20} {statistics.median(times):6.1f} ms, {times_empty:4.1f} x empty{verdict}")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
