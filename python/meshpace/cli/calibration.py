"""``meshpace calibrate throttle``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from meshpace.cli.failure import InputError
from meshpace.cli.terminal import console
from meshpace.files import replacing
from meshpace.study.executors import workers
from meshpace.study.record import running
from meshpace.study.store import Store
from meshpace.throttle.calibrate import (
    FIRST_SEED,
    Hands,
    TableEntry,
    alpha_table,
    alphas,
    critical,
    critical_table,
)

WARMUP_S = 12
"""Osipov and Tschudin 2005."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run, as the command line says it."""

    hops: str = "1-9"
    segments: str = "200,400,600,800,1000"
    flows: str = "2-9"
    seeds: int = 30
    alpha_seeds: int = 5
    rounds: int = 10
    duration: int = 132

    def command(self) -> str:
        """The command that repeats it."""
        usual = asdict(Plan())
        told = {name: value for name, value in asdict(self).items() if value != usual[name]}
        words = [f"--{name.replace('_', '-')}={value}" for name, value in told.items()]
        return shlex.join(["meshpace", "calibrate", "throttle", *words])


def numbers(option: str, text: str, least: int, most: int) -> list[int]:
    """``1-3,6`` as 1, 2, 3, 6.

    Raises:
        InputError: that is no list of whole numbers, or one is out of bounds.
    """
    found: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,6})(?:-(\d{1,6}))?\s*", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, -1)
        if not least <= first <= last <= most:
            allowed = f"whole numbers and ranges from {least} to {most}, such as {least},{least + 2}-{least + 4}"
            raise InputError(f"--{option}: found {text!r}; allowed: {allowed}")
        found.update(range(first, last + 1))
    return sorted(found)


def calibrate_throttle(plan: Plan, directory: Path, output: Path, threads: int | None) -> None:
    """Makes the runs that the store does not hold, and writes both tables.

    Raises:
        InputError: the plan makes no sense.
        OSError: a table or the store cannot be written.
    """
    hops, segments = numbers("hops", plan.hops, 1, 30), numbers("segments", plan.segments, 1, 2000)
    flows = numbers("flows", plan.flows, 2, 100)
    places = [TableEntry(h, s) for h in hops for s in segments]
    measure = (("measure.duration", f"{plan.duration}s"), ("measure.warmup", f"{WARMUP_S}s"))
    output.mkdir(parents=True, exist_ok=True)
    terminal = console()

    def say(line: str) -> None:
        terminal.print(line, highlight=False, soft_wrap=True)

    with workers("threads", threads) as hands:
        here = Hands(Store(directory), hands)
        loads = critical(places, plan.seeds, measure, here)
        _write(output / "critical.csv", critical_table(loads, _how(plan, f"seeds 1 to {plan.seeds}")))
        say(f"{len(loads)} critical loads: {output / 'critical.csv'}")
        wanted = [(place, n) for place in places for n in flows]
        found = alphas(wanted, loads, plan.alpha_seeds, plan.rounds, measure, here, say)
    last = FIRST_SEED + plan.alpha_seeds - 1
    _write(output / "alpha.csv", alpha_table(found, _how(plan, f"seeds {FIRST_SEED} to {last}")))
    say(f"{len(found)} correction factors: {output / 'alpha.csv'}")
    say(f"{here.made} runs made, {here.stored} taken from {directory}")


def _how(plan: Plan, seeds: str) -> Sequence[str]:
    seconds = plan.duration - WARMUP_S
    return (plan.command(), f"engine {running()}; {seeds}; {seconds} s measured after {WARMUP_S} s of warm-up")


def _write(path: Path, text: str) -> None:
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8")
