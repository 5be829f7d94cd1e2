"""The compiled engine with types: scenarios in, results out."""

from __future__ import annotations

from meshpace import _engine
from meshpace._engine import ScenarioError
from meshpace.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from typing import Any, TypeVar

    from meshpace.formula import Formula
    from meshpace.results import FlowLoss, RunResult

    _T = TypeVar("_T")
    _Formulated = tuple[
        tuple[str, bytes, list[str], str | None, int], list[tuple[str, Callable[[], object], bool, bool, bool, bool]]
    ]
    """A job as the engine takes it, and of each formula its name, its class, and what it decides as."""

__all__ = [
    "Columns", "Job", "ScenarioError", "about", "any_gateway", "complaints", "film", "fingerprint", "resolve",
    "routings", "run_many", "run_many_json", "run_watched", "schema", "schemes", "schemes_in_use", "throttle_tables",
    "version", "why", "winf",
]  # fmt: skip

version = _engine.version
fingerprint = _engine.fingerprint
"""Of the sources that the engine was built of: equal for engines whose results are equal."""

Columns = dict[str, bytes | list[str]]
"""Numbers as bytes of little-endian 64-bit floats, names as lists."""


class Job(NamedTuple):
    """One run: a scenario's text, what is set differently, and the seed."""

    name: str
    text: bytes
    overrides: tuple[str, ...] = ()
    """``key.path=value``, in the order applied."""
    scheme: str | None = None
    seed: int = 1
    formulas: tuple[type[Formula], ...] = ()
    """Formulas in Python; each is a scheme of its name."""
    emulated: bool = False
    """Whether it is ``meshpace emulate`` that runs it, not the simulator."""
    in_memory: bool = False
    """Whether there is no file ``name``: the text was given in Python."""

    def command(self, seeds: int | None = None) -> str:
        """The command that repeats this run, or it with the seeds 1 to ``seeds``; ``name`` is the file's path.

        If the text has to be saved as a file first, a shell comment before the command says so.
        """
        from meshpace.commands import schemes_in_words, spoken

        words = ["meshpace", "emulate" if self.emulated else "run", self.name]
        for assignment in self.overrides:
            words += ["--set", assignment]
        schemes, unsaved = schemes_in_words((self.scheme,), self.formulas)
        words += [*schemes, *(("--seed", str(self.seed)) if seeds is None else ("--seeds", str(seeds)))]
        return spoken(words, [*([self.name] if self.in_memory else []), *unsaved])

    def __reduce__(self) -> tuple[Any, ...]:
        """To worker processes formulas of files go as the files' text."""
        if not self.formulas:
            return Job, tuple(self)
        from meshpace.formula_files import packed

        return _with_formulas, (tuple(self._replace(formulas=())), tuple(map(packed, self.formulas)))

    def _tuple(self) -> tuple[str, bytes, list[str], str | None, int]:
        bases = [setting for formula in self.formulas for setting in formula.settings()]
        return (self.name, self.text, [*bases, *self.overrides], self.scheme, self.seed)

    def _formulated(self) -> _Formulated:
        own: list[tuple[str, Callable[[], object], bool, bool, bool, bool]] = [
            (formula.scheme_name(), formula, *formula.decides()) for formula in self.formulas
        ]
        return self._tuple(), own


def _with_formulas(fields: tuple[Any, ...], formulas: tuple[Any, ...]) -> Job:
    from meshpace.formula_files import unpacked

    return Job(*fields)._replace(formulas=tuple(map(unpacked, formulas)))


def _decoded(text: str) -> Any:
    """What the engine says as JSON. Its reader is loaded here: printing a result as it came takes none."""
    import json

    return json.loads(text)


def _telling(jobs: Sequence[Job], call: Callable[[], _T]) -> _T:
    """Errors as users see them: with the setting that causes them, and the line of a formula's file."""
    formulas = tuple(dict.fromkeys(formula for job in jobs for formula in job.formulas))
    try:
        if not formulas:
            return call()
        from meshpace.formula_files import blaming

        with blaming(formulas):
            return call()
    except ScenarioError as error:
        raise _blamed(jobs, error) from None


def run_many_json(
    jobs: Sequence[Job], threads: int | None = None, progress: Callable[[int], None] | None = None
) -> list[str]:
    """Runs every job, as many at a time as ``threads`` (all cores if None); each result as JSON, in the order given.

    ``progress`` gets the number of finished runs about ten times a second.

    Raises:
        ScenarioError: the first job in order that cannot be run.
    """
    return _telling(jobs, lambda: _engine.run_many([job._formulated() for job in jobs], threads, progress))


def _blamed(jobs: Sequence[Job], error: ScenarioError) -> ScenarioError:
    """The same error of the first job that has it, with the setting that brings it about."""
    from meshpace.blame import blamed

    for job in dict.fromkeys(job._replace(seed=1) for job in jobs):
        message = _by_class(job, str(error))
        if (job.overrides or job.scheme) and message in complaints(job):
            return ScenarioError(blamed(job, message))
    return error


def run_many(
    jobs: Sequence[Job], threads: int | None = None, progress: Callable[[int], None] | None = None
) -> list[RunResult]:
    """As :func:`run_many_json`, decoded."""
    return [_decoded(text) for text in run_many_json(jobs, threads, progress)]


def run_watched(
    job: Job, *, series: bool, capture: Path | None, nodes: Sequence[str] = (), flows: Sequence[str] = (),
    progress: Callable[[int], None] | None = None,
) -> tuple[str, Columns | None]:  # fmt: skip
    """Runs one job; its result as JSON, and its time series by column as :mod:`meshpace.traces` takes them.

    A packet capture (pcapng) goes to the file ``capture``: the frames of these nodes, and of these flows, by name; all
    where none are named.

    Raises:
        ScenarioError: the scenario cannot be run; no file is made.
        OSError: the capture cannot be written.
    """
    target = None if capture is None else (str(capture), list(nodes), list(flows))
    return _telling([job], lambda: _engine.run_watched(job._formulated(), series, target, progress))


def winf(path: Path, *, window_s: float, min_bytes: int) -> dict[str, Any]:
    """Links of a capture in monitor mode: what they can carry, and what is free of it.

    Raises:
        OSError: the file cannot be read.
        ValueError: nothing can be made of it.
    """
    found: dict[str, Any] = _decoded(_engine.winf(str(path), window_s, min_bytes))
    return found


def film(
    job: Job, *, begin_s: float, length_s: float, frames: int, progress: Callable[[int], None] | None = None
) -> tuple[RunResult, dict[str, Any]]:
    """Runs one job; its result, and what was on the air from ``begin_s`` on for ``length_s`` or until ``frames``.

    The film has the mesh nodes with their places, the frames and the losses as columns: nodes by index, times in
    nanoseconds after ``begin_s``.

    Raises:
        ScenarioError: the scenario cannot be run.
        ValueError: a time is negative.
    """
    result, shots = _telling([job], lambda: _engine.film(job._formulated(), begin_s, length_s, frames, progress))
    return _decoded(result), _decoded(shots)


def complaints(job: Job) -> list[str]:
    """Everything that is wrong with a scenario, a message each; empty if it can be run."""
    return [_by_class(job, message) for message in _engine.complaints(job._formulated())]


def _by_class(job: Job, message: str) -> str:
    """The same message, with the class of a formula in place of the settings that make its base of it."""
    import re

    for formula in job.formulas:
        keys = f"--set scheme.{formula.scheme_name()}."
        message = message.replace(f"{keys}base:", f"{formula.__qualname__}.base:")
        message = re.sub(rf"{re.escape(keys)}([\w.]+):", rf"{formula.__qualname__}.parameters, \1:", message)
    return message


def why(job: Job, progress: Callable[[int], None] | None = None) -> tuple[str, list[FlowLoss]]:
    """Runs one job; its result as JSON, and what its flows lost, where and why.

    Raises:
        ScenarioError: the scenario cannot be run.
    """
    text, losses = _telling([job], lambda: _engine.why(job._formulated(), progress))
    return text, _decoded(losses)


def resolve(job: Job) -> dict[str, Any]:
    """The scenario with every default filled in and every draw of the seed made.

    Raises:
        ScenarioError: the scenario cannot be run.
    """
    resolved: dict[str, Any] = _decoded(_telling([job], lambda: _engine.resolve(job._tuple())))
    return resolved


def schemes_in_use(job: Job) -> dict[str, dict[str, Any]]:
    """The schemes of the job's flows and of its mesh with every parameter as it acts, whatever the seed.

    Raises:
        ScenarioError: the scenario cannot be run.
    """
    found: dict[str, dict[str, Any]] = _decoded(_telling([job], lambda: _engine.schemes_in_use(job._tuple())))
    return found


def any_gateway(job: Job) -> bool:
    """Whether a scheme in use has a gateway part. Where this is false, none has.

    It is asked of the text: most runs have none, and JSON's reader takes longer to load than a small scenario to run.

    Raises:
        ScenarioError: the scenario cannot be run.
    """
    text = _telling([job], lambda: _engine.schemes_in_use(job._tuple()))
    return text.count('"gateway":') != text.count('"gateway":"none"')


def routings() -> list[dict[str, Any]]:
    """The routing protocols, each in all its profiles: word, protocol, profile, title, doc, source.

    The word is for conditions of studies; the profile is None where the protocol has but one.
    """
    table: list[dict[str, Any]] = _decoded(_engine.routings())
    return table


def schemes() -> list[dict[str, Any]]:
    """The table of schemes: name, summary, source, parameters."""
    table: list[dict[str, Any]] = _decoded(_engine.schemes())
    return table


def throttle_tables() -> tuple[str, str]:
    """What ingress throttling goes by, as it ships: critical loads and load correction factors, as CSV."""
    return _engine.throttle_tables()


def about(path: Path) -> tuple[str, str]:
    """What a scenario file says that it is: its description and its source, empty where it says none.

    Raises:
        OSError: the file cannot be read.
        ScenarioError: it is no TOML, or its table ``scenario`` has something that is not allowed.
    """
    return _engine.about(str(path), path.read_bytes())


def schema() -> str:
    """The JSON Schema of the scenario file."""
    return _engine.schema()
