"""Studies by name. The beginning of names stands for all of them: ``gap-chain``, ``gap``; ``all`` for every study.

A study whose name others' names begin with is that study alone: ``gap-http-parallel``. A name that ends with ``.toml``
is a file with studies of one's own; the path of a folder with a ``paper.toml`` is a paper of one's own.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

from meshpace.errors import MendableError
from meshpace.study.model import Study
from meshpace.study.written.own import read_file, read_folder, read_screens
from meshpace.study.written.papers import HEAD, the_papers

STUDIES: tuple[Study, ...] = tuple(study for paper in the_papers() for study in paper.studies)
"""Of the papers, in their order."""
PROFILED: tuple[Study, ...] = tuple(study for paper in the_papers() for study in paper.profiled)
"""Those again at other readings of what the papers leave open: beside the others, where their profile is asked for."""
SCREENS: tuple[Study, ...] = tuple(study for paper in the_papers() for study in paper.screens)
"""The papers' open decisions tried together, each with what is asked of it: run by ``meshpace study screen`` alone."""
ALL = "all"
"""Stands for every study."""


class UnknownStudyError(MendableError):
    """No study has that name; the message says which are near."""


def groups() -> dict[str, int]:
    """Every beginning of a name that stands for more than one study, with their number."""
    names = {study.name for study in STUDIES}
    counts: dict[str, int] = {}
    for study in STUDIES:
        words = study.name.split("-")
        for length in range(1, len(words)):
            beginning = "-".join(words[:length])
            counts[beginning] = counts.get(beginning, 0) + 1
    return {name: count for name, count in counts.items() if count > 1 and name not in names}


def _is_paper(folder: Path) -> bool:
    try:
        return (folder / HEAD).is_file()
    except OSError:  # no name of a file, such as one that is too long
        return False


def find(names: Iterable[str], profile: str | None = None) -> tuple[Study, ...]:
    """The studies of those names and those that their claims are about, each once, in the order of the list.

    Those of files come last, in the order in which they are named. With a ``profile`` those that are run again in it
    stand behind them all.

    Raises:
        UnknownStudyError: a name stands for none, none is run again in the profile, or a file's study has the name of
            another.
        KeyedFileError: a file says something that no study can.
        OSError: a file cannot be read.
    """
    known = [*groups(), *(study.name for study in STUDIES)]
    chosen = set()
    own: dict[str, Study] = {}
    again: dict[str, Study] = {study.name: study for study in PROFILED}
    for name in names:
        own_file = name.endswith(".toml")
        if own_file or (name not in {ALL, *known} and _is_paper(Path(name))):
            found, profiled = (read_file(Path(name)), ()) if own_file else read_folder(Path(name))
            again |= {study.name: study for study in profiled}
            for study in found:
                if study.name in own or study.name in {one.name for one in STUDIES}:
                    raise UnknownStudyError(
                        f"{name}: study.name: found {study.name!r}, which another study has; allowed: a name of its own"
                    )
                own[study.name] = study
            continue
        mine = {study.name for study in STUDIES if name in {study.name, ALL}}
        mine = mine or {study.name for study in STUDIES if study.name.startswith(f"{name}-")}
        mine |= {read for study in STUDIES if study.name in mine for read in study.reads}
        if not mine:
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
            hint = f"did you mean {', '.join(near)}?" if near else "meshpace study list shows them all"
            raise UnknownStudyError(f"no study {name!r}: {hint}")
        chosen |= mine
    listed = (*(study for study in STUDIES if study.name in chosen), *own.values())
    return listed if profile is None else (*listed, *again_in(listed, tuple(again.values()), profile))


def find_screens(names: Iterable[str]) -> tuple[Study, ...]:
    """The screens of those names, or whose names they begin; of the folder of a paper of one's own all.

    Raises:
        UnknownStudyError: a name stands for none.
        KeyedFileError: a file says something that no study can.
        OSError: a file cannot be read.
    """
    found: dict[str, Study] = {}
    for name in names:
        mine = [one for one in SCREENS if name in {one.name, ALL} or one.name.startswith(f"{name}-")]
        if not mine and _is_paper(Path(name)):
            mine = list(read_screens(Path(name)))
        if not mine:
            there = ", ".join(one.name for one in SCREENS) or "none"
            raise UnknownStudyError(f"no screen {name!r}; allowed: {ALL}, the beginning of one of {there}")
        found |= {one.name: one for one in mine}
    return tuple(found.values())


def profiles(studies: Iterable[Study] = PROFILED) -> tuple[str, ...]:
    """What the readings are called at which studies are run again."""
    return tuple(dict.fromkeys(study.profile for study in studies))


def again_in(listed: Iterable[Study], again: tuple[Study, ...], profile: str) -> tuple[Study, ...]:
    """Those of the studies that are run again in a profile.

    Raises:
        UnknownStudyError: none is.
    """
    names = {study.name for study in listed}
    found = tuple(study for study in again if study.profile == profile and study.again_of in names)
    if not found:
        there = profiles(study for study in again if study.again_of in names)
        allowed = ", ".join(there) or "none of them is run again in a profile"
        raise UnknownStudyError(f"--profile: found {profile!r}; allowed: {allowed}")
    return found
