"""A file, or a folder, with studies of one's own and their claims (docs/studies.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from meshpace import engine
from meshpace.keyed import KeyedFileError, Keys, read
from meshpace.study.claims import Claim
from meshpace.study.model import Effort, ReplacedSchemeError, Study
from meshpace.study.written.axes import Sets
from meshpace.study.written.claims import Setting, claims
from meshpace.study.written.families import parts as parts_of
from meshpace.study.written.families import shared as shared_rows
from meshpace.study.written.papers import HEAD, read_paper
from meshpace.study.written.studies import Shelf, studies
from meshpace.study.written.vocabulary import shared, words_of
from meshpace.sweeps.errors import naming


def read_study(path: Path) -> Study:
    """The only study of a file, with its claims.

    Raises:
        KeyedFileError: it says something that no study can, or has several.
        OSError: the file or its scenario cannot be read.
    """
    found = read_file(path)
    if len(found) != 1:
        raise KeyedFileError(f"{path}:1: study: found {len(found)} studies; allowed: one")
    return found[0]


def read_file(path: Path) -> tuple[Study, ...]:
    """The studies of a file, each with the claims that are shown with it.

    Raises:
        KeyedFileError: it says something that no study can.
        OSError: the file or a scenario cannot be read.
    """
    file = read(path)
    name = file.text("functions")
    words = shared() if name is None else words_of(path.parent / name)
    rows = shared_rows([file])
    sets = dict.fromkeys(file.raw("points") or {}, file.table("points"))
    receptions = {name: rows.named(file.table("receptions").table(name)) for name in file.raw("receptions") or {}}
    shelf = Shelf(_beside, words, Sets(sets, rows), rows, receptions=receptions)
    defaults = rows.named(file.table("defaults"))
    parts = parts_of(file, rows)
    found = [one for part in parts for one in studies(part, defaults, shelf)]
    if not found:
        file.fail("study", "nothing", "[study], or several [study.NAME]")
    setting = Setting({one.name: one for one in found}, words, rows)
    stated = [claim for part in parts for claim in claims(part, defaults, setting)]
    _ids_differ(file, stated)
    for part in parts:
        part.done()
    for one in found:
        try:
            _check(one, path)
        except ReplacedSchemeError as error:
            where, key = (file.table("study"), "schemes") if len(found) == 1 else (file, "study")
            where.fail(key, error.found, f"set = {{ {error.key} = ... }}, or replaces_schemes = true")
    return tuple(replace(one, claims=_told_with(one, stated)) for one in found)


def read_folder(folder: Path) -> tuple[tuple[Study, ...], tuple[Study, ...]]:
    """The studies of a folder that is laid out like a paper's, each with the claims that are shown with it.

    Then those that are run again in a profile.

    Raises:
        KeyedFileError: a file says something that it cannot.
        OSError: a file or a scenario cannot be read.
    """
    paper = read_paper(folder)
    studies = tuple(replace(one, paper="", claims=_told_with(one, paper.claims)) for one in paper.studies)
    profiled = tuple(replace(one, paper="") for one in paper.profiled)
    _check_all((*studies, *profiled), folder)
    return studies, profiled


def read_screens(folder: Path) -> tuple[Study, ...]:
    """The screens of a folder that is laid out like a paper's, each with what is asked of it.

    Raises:
        KeyedFileError: a file says something that it cannot.
        OSError: a file or a scenario cannot be read.
    """
    screens = read_paper(folder).screens
    _check_all(screens, folder)
    return screens


def _check_all(studies: Sequence[Study], folder: Path) -> None:
    for one in studies:
        try:
            _check(one, folder / HEAD)
        except ReplacedSchemeError as error:
            raise KeyedFileError(f"{folder / HEAD}:1: {error}") from None


def _told_with(study: Study, stated: Sequence[Claim]) -> tuple[Claim, ...]:
    return tuple(claim for claim in stated if claim.study == study.name)


def _ids_differ(file: Keys, stated: Sequence[Claim]) -> None:
    ids = [claim.id for claim in stated]
    if twice := next((one for one in ids if ids.count(one) > 1), None):
        file.fail("claim", f"two claims {twice!r}", "ids that differ")


def _beside(study: Keys, name: str) -> str:
    """A scenario beside the study's file."""
    path: Path = (study.file.parent / name).resolve()
    if not path.is_file():
        study.fail("scenario", repr(name), f"a scenario file, named as seen from {study.file.parent.resolve()}")
    return str(path)


def _check(study: Study, file: Path) -> None:
    """Every point can be run under every condition; said before anything is.

    Raises:
        KeyedFileError: one cannot.
        ReplacedSchemeError: it does not say what becomes of a flow's own scheme.
    """
    jobs = {study.job(cell, 1, effort): None for effort in Effort for cell in study.cells(effort)}
    given = {"study.set": study.settings}
    given |= {f"condition[{index}].set": settings for index, (_, settings) in enumerate(study.receptions)}
    given |= {"axis": tuple(setting for point in study.axis.points for setting in point.settings)}
    given |= {f"{effort.value}.set": study.plan(effort).measure for effort in Effort}
    places = {key: f"{where}, {key}" for where, settings in given.items() for key, _ in settings}
    for job in jobs:
        try:
            with naming(places):
                engine.schemes_in_use(job)
        except engine.ScenarioError as error:
            raise KeyedFileError(f"{file}: {error}") from None
