"""``meshpace advise``."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from meshpace.advice.errors import AdviceError
from meshpace.advice.make import Advice, Question
from meshpace.advice.make import advise as make_advice
from meshpace.advice.show import as_json, print_advice
from meshpace.files import replacing
from meshpace.scenario_files import contents
from meshpace.study.executors import workers
from meshpace.study.store import Store
from meshpace.sweeps.model import Source

_NODES = 1000


def source(
    files: Sequence[Path], gateway: str | None, standard: str | None, rate: str | None, routing: str | None
) -> Source:  # fmt: skip
    """A scenario, or what ``meshpace import`` makes of other tools' files.

    Raises:
        AdviceError: a scenario is given with what only an import takes, or several.
        MeshFileError: a file cannot be imported.
        OSError: a file cannot be read.
    """
    if any(file.suffix == ".toml" for file in files):
        if len(files) > 1:
            raise AdviceError(f"found {', '.join(map(str, files))}; allowed: one scenario, or what import reads")
        given = {"--gateway": gateway, "--standard": standard, "--rate": rate, "--routing": routing}
        if only := [option for option, value in given.items() if value is not None]:
            raise AdviceError(f"{files[0]}: found {', '.join(only)}; allowed with a scenario: --set")
        return Source(str(files[0]), contents(files[0]))
    from meshpace.meshes.read import read
    from meshpace.meshes.routes import ROUTING
    from meshpace.meshes.write import scenario

    mesh = read(files)
    text = scenario(mesh, files[-1].stem, gateway=gateway, standard=standard, rate=rate, routing=routing or ROUTING)
    return Source(f"{files[-1].stem}.toml", text.encode(), in_memory=True)


def nodes_of(words: str) -> int | tuple[str, ...]:
    """What ``--nodes`` says: how many, or which.

    Raises:
        AdviceError: it is no such number, or names nothing.
    """
    names = tuple(name.strip() for name in words.split(","))
    if len(names) == 1 and re.fullmatch(r"[+-]?[0-9]+", names[0]):
        if not 1 <= int(names[0]) <= _NODES:
            raise AdviceError(f"--nodes: found {words}; allowed: 1 to {_NODES}, or nodes by name")
        return int(names[0])
    if not all(names):
        raise AdviceError(f"--nodes: found {words!r}; allowed: 1 to {_NODES}, or nodes by name, commas between")
    return names


def parts(precision: str) -> float:
    """What ``--precision`` says.

    Raises:
        AdviceError: it is no percentage.
    """
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*%\s*", precision)
    if found is None or float(found[1]) == 0:
        raise AdviceError(
            f"--precision: found {precision!r}; allowed: a percentage of the baseline's goodput, such as 3%"
        )
    return float(found[1]) / 100


def advise(
    question: Question, store: Path, threads: int | None, executor: str, report: Path | None, json_wanted: bool
) -> None:  # fmt: skip
    """Makes the runs that the store lacks, prints what they say, and writes the report if one is asked for."""
    held = Store(store)
    for problem in held.problems:
        print(problem, file=sys.stderr)
    with ExitStack() as stack:
        draft = None if report is None else stack.enter_context(replacing(report))
        with workers(executor, threads) as hands:
            advice = make_advice(question, held, hands)
        if draft is not None:
            _write(advice, draft)
    print(json.dumps(as_json(advice))) if json_wanted else print_advice(advice)


def _write(advice: Advice, draft: Path) -> None:
    from meshpace.advice.page import report
    from meshpace.report.page import render

    draft.write_text(render(report(advice)), encoding="utf-8")
