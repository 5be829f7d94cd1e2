"""What the numbers of the papers' pages stand on: for each page its engine, and hashes of its runs and of its text.

A page has parts that commands write: the verdicts below a mark, and what decisions do together between two others. The
manifest lies beside the pages, so that a reader with the repository alone can tell whether a number was changed by
hand, and by how many engines the pages were made.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from meshpace.errors import MendableError
from meshpace.files import replacing
from meshpace.study.outcome import Outcome
from meshpace.study.page import BEGIN, END, MARK
from meshpace.study.record import Maker

MANIFEST = "manifest.json"
_ENGINE = re.compile(r"\bengine (\S+) \(([0-9a-f]{16}|without a fingerprint)\)")


class BrokenManifestError(MendableError):
    """This version cannot read the manifest."""


def parts(text: str) -> dict[str, str]:
    """The parts of a page that commands wrote, by their kind: ``verdicts``, ``screens``."""
    found = {}
    _, mark, verdicts = text.partition(MARK)
    if mark:
        found["verdicts"] = verdicts
    between = re.search(f"{re.escape(BEGIN)}(.*){re.escape(END)}", text, re.DOTALL)
    if between:
        found["screens"] = between[1]
    return found


def digest(text: str) -> str:
    """SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()


def runs_of(outcomes: Iterable[Outcome]) -> dict[str, dict[str, Any]]:
    """By study its effort, how many different runs it has, and the SHA-256 over their keys and results."""
    found = {}
    for outcome in outcomes:
        records = outcome.all_records()
        if records:
            told = "".join(f"{one.key} {digest(f'{one.result} {one.series}')}\n" for one in records)
            found[outcome.study.name] = {"effort": str(outcome.effort), "runs": len(records), "sha256": digest(told)}
    return found


def note(folder: Path, page: str, part: str, maker: Maker, outcomes: Sequence[Outcome] | None) -> None:
    """Notes what a part of a page stands on; without ``outcomes`` that its runs are not there any more.

    Raises:
        BrokenManifestError: what is there is no manifest.
        OSError: a file cannot be read or written.
    """
    found = read(folder)
    text = parts((folder / f"{page}.md").read_text(encoding="utf-8"))[part]
    studies = None if outcomes is None else runs_of(outcomes)
    entry = {"engine": maker.version, "fingerprint": maker.fingerprint, "text": digest(text), "studies": studies}
    found.setdefault(page, {})[part] = entry
    ordered = {name: dict(sorted(found[name].items())) for name in sorted(found)}
    with replacing(folder / MANIFEST) as draft:
        draft.write_text(json.dumps({"schema": 1, "pages": ordered}, indent=1) + "\n", encoding="utf-8")


def note_if_kept(folder: Path, page: str, part: str, maker: Maker, outcomes: Sequence[Outcome]) -> None:
    """As :func:`note`, in a folder that has a manifest."""
    if (folder / MANIFEST).is_file():
        note(folder, page, part, maker, outcomes)


def read(folder: Path) -> dict[str, dict[str, Any]]:
    """Pages and their parts; empty where there is no manifest.

    Raises:
        BrokenManifestError: what is there is none.
        OSError: it cannot be read.
    """
    path = folder / MANIFEST
    if not path.is_file():
        return {}
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        pages: dict[str, dict[str, Any]] = kept["pages"]
        whole = kept["schema"] == 1 and all(
            isinstance(entry, Mapping) and {"engine", "fingerprint", "text", "studies"} <= set(entry)
            for page in pages.values()
            for entry in page.values()
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        whole = False
    if not whole:
        raise BrokenManifestError(f"{path}: found no manifest of schema 1; allowed: one that `make reproduction` wrote")
    return pages


@dataclass(frozen=True, slots=True)
class Checked:
    """What a folder of pages holds against its manifest."""

    wrong: tuple[str, ...]
    """Parts that are not what the manifest names, a line each."""
    older: tuple[str, ...]
    """Parts that another engine than the running one made, a line each."""


def check(folder: Path, maker: Maker) -> Checked:
    """Holds each page's text against the manifest, and its engine against ``maker``.

    Raises:
        BrokenManifestError: the manifest is missing or cannot be read.
        OSError: a page cannot be read.
    """
    if not (folder / MANIFEST).is_file():
        raise BrokenManifestError(f"{folder}: found no {MANIFEST}; allowed: a folder that `make reproduction` wrote")
    kept = read(folder)
    texts = {path.stem: parts(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.md"))}
    wrong = [*_missing(kept, texts)]
    older = []
    for page, part, text in ((page, part, text) for page, found in texts.items() for part, text in found.items()):
        entry = kept.get(page, {}).get(part)
        if entry is None:
            wrong.append(f"{page}.md: {part}: not in {MANIFEST}: written without it")
            continue
        named = Maker(entry["engine"], entry["fingerprint"])
        if digest(text) != entry["text"]:
            wrong.append(f"{page}.md: {part}: other numbers or words than {MANIFEST} names: changed by hand")
        if said := sorted(set(_makers(text)) - {str(named)}):
            wrong.append(f"{page}.md: {part}: says engine {', '.join(said)}, {MANIFEST} {named}")
        if named != maker:
            older.append(f"{page}.md: {part}: made by engine {named}, not by this one, {maker}")
    return Checked(tuple(wrong), tuple(older))


def _missing(kept: Mapping[str, Mapping[str, Any]], texts: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    for page, entries in kept.items():
        yield from (
            f"{page}.md: {part}: in {MANIFEST}, not there" for part in entries if part not in texts.get(page, {})
        )


def _makers(text: str) -> Iterator[str]:
    return (f"{version} ({fingerprint})" for version, fingerprint in _ENGINE.findall(text))


def print_checked(folder: Path, maker: Maker, *, release: bool) -> bool:
    """Tells what is wrong, and whose engine is older; whether that will do. For a ``release`` older ones will not.

    Raises:
        BrokenManifestError: there is no manifest.
        OSError: a page cannot be read.
    """
    found = check(folder, maker)
    for line in (*found.wrong, *found.older):
        print(line)
    pages = len({line.partition(":")[0] for line in found.older})
    if not found.wrong:
        verdict = f"{pages} pages are an older engine's" if pages else f"all by engine {maker}"
        print(
            f"{folder}: as {MANIFEST} has it; {verdict}" + ("; a release needs one engine" if pages and release else "")
        )
    return not found.wrong and not (release and found.older)
