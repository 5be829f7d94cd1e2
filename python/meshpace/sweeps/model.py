"""A sweep as data: which runs it consists of follows from it alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from meshpace.commands import schemes_in_words, spoken
from meshpace.engine import Job
from meshpace.formula import Formula
from meshpace.formula_files import scheme_of
from meshpace.sweeps.errors import SweepError
from meshpace.sweeps.vary import Settings, Vary, combinations


@dataclass(frozen=True, slots=True)
class Source:
    """A scenario: what commands call it, and its text."""

    name: str
    text: bytes
    in_memory: bool = False
    """Whether there is no file of that name: the text was given in Python."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What the seeds are averaged over."""

    source: Source
    scheme: str | None
    """None: the schemes that the scenario gives its flows."""
    point: Settings = ()
    """What varies, and its value here."""

    @property
    def scheme_name(self) -> str:
        """For readers."""
        return self.scheme or AS_WRITTEN


AS_WRITTEN = "as written"
"""The schemes of flows in a sweep that names none."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """Scenarios, varied along keys, each with several schemes and seeds."""

    sources: tuple[Source, ...]
    seeds: int
    """Runs the seeds 1 to this."""
    varies: tuple[Vary, ...] = ()
    schemes: tuple[str | None, ...] = (None,)
    settings: tuple[str, ...] = ()
    """``key.path=value`` of every run."""
    formulas: tuple[type[Formula], ...] = ()
    """Schemes that are formulas in Python, among ``schemes``."""
    _points: tuple[Settings, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Raises SweepError where it says something twice."""
        object.__setattr__(self, "_points", tuple(combinations(self.varies)))
        if len(set(self.schemes)) < len(self.schemes):
            raise SweepError(f"--scheme: found {', '.join(map(str, self.schemes))}; allowed: each scheme once")
        names = [source.name for source in self.sources]
        if len(set(names)) < len(names):
            raise SweepError(f"found {', '.join(names)}; allowed: each scenario once")
        fixed = {assignment.partition("=")[0].strip() for assignment in self.settings}
        for key in self.keys:
            if key in fixed:
                raise SweepError(f"--vary {key}: --set gives the same key; allowed: one of them")

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that vary, in order."""
        return tuple(key for vary in self.varies for key in vary.keys)

    def cells(self) -> Iterator[Cell]:
        """In the order of tables: by scenario, by what varies, by scheme."""
        for source in self.sources:
            for point in self._points:
                for scheme in self.schemes:
                    yield Cell(source, scheme, point)

    def command(self, precision: str | None = None) -> str:
        """What makes it again."""
        beside = not self.varies and precision is None and len(self.sources) * len(self.schemes) > 1
        words = ["meshpace", "compare" if beside else "sweep", *(source.name for source in self.sources)]
        words += [word for vary in self.varies for word in ("--vary", str(vary))]
        schemes, unsaved = schemes_in_words(self.schemes, self.formulas)
        words += schemes
        words += [word for assignment in self.settings for word in ("--set", assignment)]
        words += ["--seeds", str(self.seeds), *(() if precision is None else ("--precision", precision))]
        return spoken(words, [*(source.name for source in self.sources if source.in_memory), *unsaved])

    def job(self, cell: Cell, seed: int) -> Job:
        """One run."""
        varied = (f"{key}={value}" for key, value in cell.point)
        formulas = tuple(formula for formula in self.formulas if formula.scheme_name() == cell.scheme)
        source = cell.source
        return Job(
            source.name, source.text, (*self.settings, *varied), cell.scheme, seed, formulas, in_memory=source.in_memory
        )  # fmt: skip


class Schemes(NamedTuple):
    """Names of schemes, and the formulas among them."""

    names: tuple[str | None, ...]
    formulas: tuple[type[Formula], ...]


def schemes_of(words: Sequence[str] | None) -> Schemes:
    """Schemes as ``--scheme`` gives them: repeated, or with commas between; those of the scenario if none is given.

    Raises:
        SweepError: a name is empty.
        FormulaError: a formula's file or class is not there, or is none.
    """
    given = [name.strip() for word in words or () for name in word.split(",")]
    if not all(given):
        raise SweepError(f"--scheme: found {','.join(words or ())!r}; allowed: names with commas between")
    return schemes_in(scheme_of(name) for name in given)


def schemes_in(found: Iterable[str | type[Formula] | None]) -> Schemes:
    """Names of schemes and formulas, in the order given.

    Raises:
        SweepError: two formulas have the same name.
    """
    names: list[str | None] = []
    formulas: dict[str, type[Formula]] = {}
    for scheme in found:
        if not isinstance(scheme, type):
            names.append(scheme)
            continue
        name = scheme.scheme_name()
        if formulas.setdefault(name, scheme) is not scheme:
            raise SweepError(f"--scheme: found two formulas called {name}; allowed: a name of its own for each")
        names.append(name)
    return Schemes(tuple(names) or (None,), tuple(formulas.values()))
