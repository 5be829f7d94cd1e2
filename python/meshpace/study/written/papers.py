"""The papers: a folder each with studies, claims, and what their numbers are read with (docs/adding-a-part.md)."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from meshpace.keyed import REQUIRED, KeyedFileError, Keys
from meshpace.project import paper_directory, scenario_directory
from meshpace.study.claims import Claim
from meshpace.study.model import Study
from meshpace.study.written.again import again
from meshpace.study.written.axes import Sets
from meshpace.study.written.claims import Setting, claims
from meshpace.study.written.families import parts as parts_of
from meshpace.study.written.families import shared as shared_rows
from meshpace.study.written.parsed import parsed
from meshpace.study.written.screens import screen
from meshpace.study.written.studies import Shelf, studies
from meshpace.study.written.vocabulary import Words, shared, words_of

HEAD = "paper.toml"
_LAST = 1000
"""The place in lists of a paper that says none."""


@dataclass(frozen=True, slots=True)
class Paper:
    """What its folder holds."""

    name: str
    """The folder's."""
    cite: str
    """As studies and claims cite it."""
    catalogue: str
    """The name of its catalogue in docs/experiments, if it has one."""
    order: int
    """Its place in lists."""
    studies: tuple[Study, ...]
    claims: tuple[Claim, ...]
    profiled: tuple[Study, ...]
    """Its studies again, at other readings of what it leaves open (:attr:`Study.profile`), each with its claims."""
    screens: tuple[Study, ...]
    """Its open decisions tried together (:mod:`meshpace.study.screening`), each study with what is asked of it."""
    unjudged: Mapping[str, str]
    """Claims of its catalogue that no study judges, by their numbers, and what holds each instead."""


def folders(directory: Path) -> list[Path]:
    """The folders of papers, by name."""
    return sorted(path.parent for path in directory.glob(f"*/{HEAD}"))


def read_papers(directory: Path | None = None) -> tuple[Paper, ...]:
    """Every paper of a folder, the project's unless given, in the order of lists.

    Raises:
        KeyedFileError: a file says something that it cannot.
        MissingFilesError: there is no such folder.
    """
    found = [read_paper(folder) for folder in folders(directory or paper_directory())]
    return tuple(sorted(found, key=lambda paper: (paper.order, paper.name)))


@functools.cache
def the_papers() -> tuple[Paper, ...]:
    """The project's."""
    return read_papers()


def read_paper(folder: Path) -> Paper:
    """A paper.

    Raises:
        KeyedFileError: a file says something that it cannot.
    """
    files = {
        path: parsed(path) for path in sorted(folder.glob("*.toml"), key=lambda path: (path.name != HEAD, path.name))
    }
    head = files[folder / HEAD].table("paper")
    cite, catalogue = head.text("cite", REQUIRED), head.text("catalogue", "")
    words = _words(head, folder)
    prefix, order = head.text("prefix", ""), int(head.number("order", _LAST))
    reconstructed = head.texts("reconstructed", ())
    head.done()
    beside = files[folder / HEAD].table("unjudged")
    unjudged = {id_: beside.text(id_, REQUIRED) for id_ in beside.names()}
    rows = shared_rows(files.values())
    sets: dict[str, Keys] = {}
    receptions: dict[str, Keys] = {}
    for file in files.values():
        sets |= dict.fromkeys(file.raw("points") or {}, file.table("points"))
        receptions |= {name: file.table("receptions").table(name) for name in file.raw("receptions") or {}}
    receptions = {name: rows.named(table) for name, table in receptions.items()}
    shared_points = Sets(sets, rows)
    shelf = Shelf(_scenario, words, shared_points, rows, cite, catalogue, receptions)
    parts = {path: parts_of(file, rows) for path, file in files.items()}
    defaults = {path: rows.named(file.table("defaults")) for path, file in files.items()}
    by_file = {path: [one for part in parts[path] for one in studies(part, defaults[path], shelf)] for path in files}
    known = _named(study for found in by_file.values() for study in found)
    every_again = {
        path: [again(table, known, shared_points) for table in file.tables("again")] for path, file in files.items()
    }
    more = {path: [one for one in found if not one.profile] for path, found in every_again.items()}
    derived = [one for found in more.values() for one in found]
    every_one = {**known, **_named(study for one in derived for study in one.studies)}
    screens = [screen(table, every_one) for file in files.values() for table in file.tables("screen")]
    setting = Setting({**every_one, **_named(screens)}, words, rows, cite, prefix, tuple(reconstructed))
    stated: list[Claim] = []
    for path in files:
        stated += [claim for part in parts[path] for claim in claims(part, defaults[path], setting)]
        stated += [claim for one in more[path] for claim in one.claims(stated)]
        for part in parts[path]:
            part.done()
    every = [study for path in files for study in (*by_file[path], *(s for one in more[path] for s in one.studies))]
    for id_ in unjudged.keys() & {claim.id.removeprefix(prefix).strip() for claim in stated}:
        beside.fail(id_, "a claim that is judged", "claims of the catalogue that no study judges")
    asked, stated = _apart(stated, {study.name for study in screens})
    profiled = [s for found in every_again.values() for one in found if one.profile for s in one.profiled(stated)]
    _named([*every, *profiled, *screens])
    told = tuple(
        replace(study, claims=tuple(claim for claim in asked if claim.study == study.name)) for study in screens
    )
    return Paper(folder.name, cite, catalogue, order, tuple(every), tuple(stated), tuple(profiled), told, unjudged)


def _apart(stated: Iterable[Claim], screens: set[str]) -> tuple[list[Claim], list[Claim]]:
    """What is asked of screens, and the claims.

    Raises:
        KeyedFileError: something is asked of both.
    """
    asked: list[Claim] = []
    others: list[Claim] = []
    for claim in stated:
        among = set(claim.studies) & screens
        if among and among != set(claim.studies):
            raise KeyedFileError(f"claim {claim.id}: found screens and other studies; allowed: either")
        (asked if among else others).append(claim)
    return asked, others


def _words(head: Keys, folder: Path) -> Words:
    name = head.text("functions")
    return shared() if name is None else words_of(folder / name)


def _scenario(study: Keys, name: str) -> str:
    """Of the project's scenarios by its file's name; or a file of the paper's own, beside it."""
    own = study.file.parent / name
    if own.is_file():
        return str(own.resolve())
    if not (scenario_directory() / name).is_file():
        study.fail("scenario", repr(name), f"a file in {scenario_directory()}, or beside {study.file.name}")
    return name


def _named(found: Iterable[Study]) -> dict[str, Study]:
    by_name: dict[str, Study] = {}
    for study in found:
        if study.name in by_name:
            raise KeyedFileError(f"{study.name}: found two studies of that name; allowed: names that differ")
        by_name[study.name] = study
    return by_name
