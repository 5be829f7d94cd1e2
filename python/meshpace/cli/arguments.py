"""What the command line says, as jobs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from meshpace.engine import Job

Scenario = Annotated[Path, typer.Argument(metavar="SCENARIO.toml", help="The scenario file.", show_default=False)]
Scheme = Annotated[str | None, typer.Option(help="Sets every flow's scheme and the gateway's.", show_default=False)]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY.PATH=VALUE", help="Replaces a value of the scenario.")
]
Threads = Annotated[int | None, typer.Option(min=1, max=1024, help="Runs at a time; all cores by default.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]

MAX_SEEDS = 100_000


def job(scenario: Path, settings: list[str] | None, scheme: str | None, seed: int = 1) -> Job:
    """One run of the file ``scenario``.

    Raises:
        OSError: the file cannot be read.
    """
    return Job(str(scenario), scenario.read_bytes(), tuple(settings or ()), scheme, seed)


def job_of_each_seed(scenario: Path, settings: list[str] | None, scheme: str | None, seeds: int) -> list[Job]:
    """Runs of ``scenario`` with the seeds 1 to ``seeds``.

    Raises:
        OSError: the file cannot be read.
    """
    first = job(scenario, settings, scheme)
    return [Job(first.name, first.text, first.overrides, scheme, seed) for seed in range(1, seeds + 1)]
