"""What the command line says, as jobs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from meshpace.cli.declared import Argument, Option
from meshpace.cli.failure import InputError

if TYPE_CHECKING:
    from meshpace.engine import Job

Scenario = Annotated[Path, Argument(metavar="SCENARIO.toml", help="The scenario file.")]
Scheme = Annotated[
    list[str] | None,
    Option(metavar="TEXT", help="Sets every flow's scheme and the gateway's."),
]
Schemes = Annotated[
    list[str] | None,
    Option("--scheme", metavar="A,B", help="Schemes to run; may be repeated."),
]
Settings = Annotated[
    list[str] | None, Option("--set", metavar="KEY.PATH=VALUE", help="Replaces a value of the scenario.")
]
Threads = Annotated[int | None, Option(min=1, max=1024, help="Runs at a time; all cores by default.")]
Json = Annotated[bool, Option("--json", help="Print one JSON object and nothing else.")]

MAX_SEEDS = 100_000


def job(scenario: Path, settings: list[str] | None, scheme: str | None, seed: int = 1) -> Job:
    """One run of the file ``scenario``.

    Raises:
        OSError: the file cannot be read.
    """
    from meshpace.engine import Job

    return Job(str(scenario), scenario.read_bytes(), tuple(settings or ()), scheme, seed)


def job_of_each_seed(scenario: Path, settings: list[str] | None, scheme: str | None, seeds: int) -> list[Job]:
    """Runs of ``scenario`` with the seeds 1 to ``seeds``.

    Raises:
        OSError: the file cannot be read.
    """
    from meshpace.engine import Job

    first = job(scenario, settings, scheme)
    return [Job(first.name, first.text, first.overrides, scheme, seed) for seed in range(1, seeds + 1)]


_BUDGET = "1h"
_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0}


def seconds_of(budget: str | None) -> float:
    """What ``--budget`` says, an hour by default.

    Raises:
        InputError: it is no time.
    """
    text = _BUDGET if budget is None else budget
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(s|min|h)\s*", text)
    if found is None:
        raise InputError(f"--budget: found {text!r}; allowed: a number and s, min or h, such as 20min")
    return float(found[1]) * _UNITS[found[2]]


def one_scheme(schemes: list[str] | None, command: str) -> str | None:
    """The scheme of a command that runs one.

    Raises:
        InputError: there are several.
    """
    if schemes and len(schemes) > 1:
        raise InputError(
            f"--scheme: found {', '.join(schemes)}; allowed: one, which `meshpace {command}` gives every flow; "
            "`meshpace compare` runs several side by side"
        )
    return schemes[0] if schemes else None
