"""What a command's start costs beside an empty Python's: processor time, shortest and median of 15, in turns."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
from pathlib import Path

ROUNDS = 15
SCENARIO = str(Path(__file__).resolve().parents[1] / "scenarios" / "chain-adhoc.toml")
SHORT = ["--set", "measure.duration=3s", "--set", "measure.warmup=1s"]
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "meshpace --help": ["-m", "meshpace", "--help"],
    "meshpace --version": ["-m", "meshpace", "--version"],
    "meshpace check": ["-m", "meshpace", "check", SCENARIO],
    "meshpace run --json": ["-m", "meshpace", "run", SCENARIO, "--json", *SHORT],
    "meshpace schemes": ["-m", "meshpace", "schemes"],
    "meshpace run": ["-m", "meshpace", "run", SCENARIO, *SHORT],
}


def processor_ms(words: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main() -> None:
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for words in COMMANDS.values():
        processor_ms(words)  # compiles what is not compiled yet
    for _ in range(ROUNDS):
        for name, words in COMMANDS.items():
            taken[name].append(processor_ms(words))
    empty = min(taken["python -c pass"])
    for name, times in taken.items():
        shortest = min(times)
        print(f"{name:20} {shortest:6.1f} ms, median {statistics.median(times):6.1f}; {shortest / empty:4.1f} x empty")


if __name__ == "__main__":
    main()
