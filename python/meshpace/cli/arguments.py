"""What the command line says, as jobs."""

from __future__ import annotations

from meshpace.bounds import MAX_THREADS
from meshpace.cli.declared import Annotated, Argument, Option, Path
from meshpace.cli.failure import InputError
from meshpace.commands import is_formula_file
from meshpace.scenario_files import contents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from meshpace.engine import Job
    from meshpace.formula import Formula

Scenario = Annotated[Path, Argument(metavar="SCENARIO.toml", help="The scenario file.")]
Scheme = Annotated[
    list[str] | None,
    Option(metavar="S", help="Sets every flow's scheme and the gateway's: a name, or a formula, FILE.py:CLASS."),
]
Schemes = Annotated[
    list[str] | None,
    Option("--scheme", metavar="A,B", help="Schemes to run, names or formulas FILE.py:CLASS; may be repeated."),
]
Settings = Annotated[
    list[str] | None, Option("--set", metavar="KEY.PATH=VALUE", help="Replaces a value of the scenario.")
]
Threads = Annotated[int | None, Option(min=1, max=MAX_THREADS, help="Runs at a time; all cores by default.")]
Json = Annotated[bool, Option("--json", help="Print one JSON object and nothing else.")]


def job(
    scenario: Path | str, settings: list[str] | None, scheme: str | type[Formula] | None, seed: int = 1
) -> Job:  # fmt: skip
    """One run of the file ``scenario``.

    Raises:
        OSError: the file cannot be read.
    """
    from meshpace.engine import Job

    name, formulas = (scheme.scheme_name(), (scheme,)) if isinstance(scheme, type) else (scheme, ())
    return Job(str(scenario), contents(scenario), tuple(settings or ()), name, seed, formulas)


def job_of_each_seed(
    scenario: Path | str, settings: list[str] | None, scheme: str | type[Formula] | None, seeds: int
) -> list[Job]:  # fmt: skip
    """Runs of ``scenario`` with the seeds 1 to ``seeds``.

    Raises:
        OSError: the file cannot be read.
    """
    first = job(scenario, settings, scheme)
    return [first._replace(seed=seed) for seed in range(1, seeds + 1)]


_BUDGET = "1h"
_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0}


def seconds_of(budget: str | None) -> float:
    """What ``--budget`` says, an hour by default.

    Raises:
        InputError: it is no time.
    """
    import re

    text = _BUDGET if budget is None else budget
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(s|min|h)\s*", text)
    if found is None:
        raise InputError(f"--budget: found {text!r}; allowed: a number and s, min or h, such as 20min")
    return float(found[1]) * _UNITS[found[2]]


def one_scheme(schemes: list[str] | None, command: str) -> str | None:
    """The scheme of a command that runs one, by name.

    Raises:
        InputError: there are several, or it is a formula.
    """
    word = _one(schemes, command)
    if word is not None and is_formula_file(word):
        raise InputError(
            f"--scheme: found {word}; allowed: the name of a scheme; `meshpace run`, `check`, `sweep`, `compare` and "
            "`advise` take formulas in Python, too"
        )
    return word


def one_scheme_or_formula(schemes: list[str] | None, command: str) -> str | type[Formula] | None:
    """The scheme of a command that runs one: its name, or the formula in a file.

    Raises:
        InputError: there are several.
        FormulaError: there is no such file or class, or it is no formula.
    """
    word = _one(schemes, command)
    if word is None or not is_formula_file(word):
        return word
    from meshpace.formula_files import formula

    return formula(word)


def _one(schemes: list[str] | None, command: str) -> str | None:
    if schemes and len(schemes) > 1:
        raise InputError(
            f"--scheme: found {', '.join(schemes)}; allowed: one, which `meshpace {command}` gives every flow; "
            "`meshpace compare` runs several side by side"
        )
    return schemes[0] if schemes else None
