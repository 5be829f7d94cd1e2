"""``meshpace study claims``: what is printed and what is asked, as Markdown tables made of the papers' data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from meshpace.cli.failure import InputError
from meshpace.files import replacing
from meshpace.study import registry
from meshpace.study.claims import Claim
from meshpace.study.model import Study
from meshpace.study.telling import unjudged
from meshpace.study.verdicts import CLAIMS, claims_of
from meshpace.study.written.papers import Paper, the_papers

MARK = "<!-- Below this line: written by `meshpace study claims all --write docs/experiments`. -->"

_OF_DECISIONS = (
    "Made of the same files (`decisions`). Names are section 5's, bare numbers those of schemes.md, section 19."
)


def print_claims(names: Sequence[str], profile: str | None = None) -> None:
    """The claims that are shown with these studies.

    Raises:
        UnknownStudyError: a name stands for none.
        KeyedFileError: a file says something that no study can.
        OSError: a file cannot be read.
    """
    studies = registry.find(names, profile)
    chosen = {study.name for study in studies}
    print("\n".join(table(claim for claim in claims_of(studies) if claim.study in chosen)))


def write_claims(names: Sequence[str], folder: Path) -> None:
    """Puts each paper's table at the end of its catalogue, in place of what stands below :data:`MARK`.

    Of the papers that have one of these studies.

    Raises:
        InputError: a paper's catalogue is not there.
        OSError: a file cannot be written.
    """
    named = {study.paper for study in registry.find(names)} - {""}
    for paper in (one for one in the_papers() if one.catalogue in named):
        path = folder / f"{paper.catalogue}.md"
        if not path.is_file():
            raise InputError(f"--write {folder}: found no {path.name}; allowed: a folder with the papers' catalogues")
        with replacing(path) as draft:
            draft.write_text(below(path.read_text(encoding="utf-8"), paper), encoding="utf-8")


def below(prose: str, paper: Paper) -> str:
    """A catalogue that an author wrote, with the paper's table in place of what stands below :data:`MARK`."""
    above = prose.partition(MARK)[0].rstrip("\n")
    claims = [claim for claim in CLAIMS if claim in paper.claims]
    head = (
        f"Made of `papers/{paper.name}/`: what is printed, and what is asked of which runs. Words: gap.md, section 1."
    )
    lines = [above, "", MARK, "", "## Claims as they are judged", "", head, "", *table(claims)]
    if paper.unjudged:
        lines += ["", *unjudged(paper.unjudged)]
    lines += ["", "## Which studies turn the open decisions", "", _OF_DECISIONS, "", *turned(paper.studies)]
    return "\n".join(lines) + "\n"


def turned(studies: Iterable[Study]) -> Iterator[str]:
    """A row a decision: the studies that turn it, and in brackets at which points, if not as a whole."""
    found: dict[str, dict[str, list[str]]] = {}
    for study in studies:
        for decision, points in study.turned().items():
            found.setdefault(decision, {}).setdefault("; ".join(points), []).append(study.name)
    yield "| decision | turned by |"
    yield "|---|---|"
    for decision in sorted(found, key=_in_order):
        each = (", ".join(names) + (f" ({points})" if points else "") for points, names in found[decision].items())
        yield f"| {decision} | {'; '.join(each)} |"


def _in_order(decision: str) -> tuple[str, int, str]:
    """``O2`` before ``O12``, ``O12`` before ``O12b``, numbers of the register last."""
    letter, number, more = re.fullmatch(r"(\D*)(\d+)(\D*)", decision).groups()  # type: ignore[union-attr]
    return letter or "~", int(number), more


def table(claims: Iterable[Claim]) -> Iterator[str]:
    """A row a claim."""
    yield "| claim | statement | printed | asked | of |"
    yield "|---|---|---|---|---|"
    for claim in claims:
        printed = ": ".join(filter(None, (claim.figure, claim.printed)))
        cells = (claim.id, claim.statement, printed or "-", claim.tolerance, ", ".join(claim.studies))
        yield f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
