"""docs/experiments: nothing that a paper printed gets lost. docs/schemes.md: what code cites is there."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from meshpace.study import registry
from meshpace.study.page import MARK as PAGE_MARK
from meshpace.study.stated import MARK
from meshpace.study.verdicts import CLAIMS
from meshpace.study.written.papers import the_papers

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
OPEN: dict[str, Any] = tomllib.loads((DOCS / "experiments/open.toml").read_text(encoding="utf-8"))
CATALOGUES = sorted(path.stem for path in (DOCS / "experiments").glob("*.md"))
STUDIES = [study.name for study in registry.STUDIES]

BEGINNINGS = sorted({study.name.split("-")[0] for study in registry.STUDIES if study.paper})
FULL_NAME = re.compile(rf"\b(?:{'|'.join(BEGINNINGS)})-[a-z0-9-]*[a-z0-9-]")


def rows(catalogue: str) -> Iterator[list[str]]:
    """The cells of the checklist's rows; drawings are nothing to run."""
    text = (DOCS / "experiments" / f"{catalogue}.md").read_text(encoding="utf-8")
    checklist = re.split(r"^## \d+\. Checklist$", text.partition(MARK)[0], flags=re.MULTILINE)[1]
    table = [line for line in checklist.splitlines() if line.startswith("|")][2:]
    for line in table:
        cells = [re.sub("[`*]", "", cell).strip() for cell in line.strip("|").split("|")]
        if not cells[1].startswith("(drawings"):
            yield cells


def key(cells: list[str]) -> str:
    return f"{cells[0]}: {cells[1]}"


TESTED = {
    "we-rtwinf-nav": "crates/mesh/tests/engine/winf.rs: the_durations_of_rts_and_cts_are_the_rest_of_the_exchange",
}
"""What a checklist asks for as a test: its file, and its name there."""


def exists(name: str) -> bool:
    """Whether there is a study of that name, or that begins with it, as the command line has it; or a test."""
    if name in TESTED:
        file, _, test = TESTED[name].partition(": ")
        return f"fn {test}()" in (ROOT / file).read_text(encoding="utf-8")
    return any(study == name or study.startswith(name.rstrip("-") + "-") for study in STUDIES)


def figures(text: str) -> set[str]:
    """`Figs. 7, 8 and 9` as {Fig. 7, Fig. 8, Fig. 9}; a bare number is a figure, `1-4` a range."""
    found = set()
    for kind, numbers in re.findall(
        r"(Figs?\.?|Tables?|)\s*((?:\d+(?:\.\d+)?(?:\([ab]\))?(?:-\d+)?(?:, | and |; )?)+)", text
    ):
        for number in re.findall(r"\d+(?:\.\d+)?(?:\([ab]\))?(?:-\d+)?", numbers):
            first, _, last = number.partition("-")
            each = [first] if not last else map(str, range(int(first), int(last) + 1))
            found |= {f"{'Table' if kind.startswith('Table') else 'Fig.'} {one}" for one in each}
    return found


@pytest.mark.parametrize("catalogue", CATALOGUES)
def test_every_row_of_a_checklist_has_its_studies_or_is_listed_as_open(catalogue: str) -> None:
    listed = dict(OPEN[catalogue]["rows"])
    assert OPEN[catalogue]["issue"].startswith(("to come: ", "settled: "))
    for cells in rows(catalogue):
        names = FULL_NAME.findall(cells[1])
        assert names, cells
        why = listed.pop(key(cells), None)
        absent = [name for name in names if not exists(name)]
        if why == "missing":
            assert absent, f"{key(cells)}: its studies exist now: take the row out of open.toml, or say how they differ"
        else:
            assert not absent, (
                f"{key(cells)}: no study {', '.join(absent)}, and open.toml does not say that it is missing"
            )
            assert why is None or why.startswith("differs: "), f"{key(cells)}: {why!r}; allowed: missing, differs: ..."
    assert not listed, f"open.toml has rows that the checklist of {catalogue}.md has not: {sorted(listed)}"


# A claim of a catalogue: `- 8.1 ...`, `- 18.1, 19.1, 20.1 ...`, `- A1 (...`, `- T2.3 ...`; and `Claims 11.1 to 11.5`.
LISTED = re.compile(r"^- ((?:(?:T?\d+\.\d+|A\d+)(?:, )?)+)[ .]", re.MULTILINE)
RANGE = re.compile(r"Claims (\d+)\.(\d+) to \1\.(\d+) = ")
TESTS_NOT_STUDIES = {"A14"}
"""Of which the catalogue says so."""


def stated(catalogue: str) -> set[str]:
    """The claims that a catalogue numbers."""
    text = (DOCS / "experiments" / f"{catalogue}.md").read_text(encoding="utf-8")
    text = re.split(r"^## 5\. ", text, flags=re.MULTILINE)[0]
    found = {one for row in LISTED.findall(text) for one in row.split(", ")}
    for figure, first, last in RANGE.findall(text):
        found |= {f"{figure}.{number}" for number in range(int(first), int(last) + 1)}
    return (found | set(re.findall(r"\b(A14) \(", text))) - TESTS_NOT_STUDIES


def test_every_claim_of_the_tcp_gap_paper_is_judged_and_no_other() -> None:
    judged = {claim.id for claim in CLAIMS if re.fullmatch(r"T?\d+\.\d+|A\d+", claim.id)}
    assert len(stated("gap")) == 68 + 13, "as the catalogue counts them"
    assert judged == stated("gap"), sorted(judged ^ stated("gap"))


def test_the_checklist_counts_the_claims_of_each_figure() -> None:
    for cells in rows("gap"):
        figures_ = re.findall(r"Table 2|\d+", cells[0]) if not cells[0].startswith(("A", "O")) else []
        if figures_:
            prefixes = tuple("T2." if figure == "Table 2" else f"{figure}." for figure in figures_)
            assert sum(one.startswith(prefixes) for one in stated("gap")) == int(cells[2]), cells


def test_every_catalogue_is_in_the_list_and_the_other_way_round() -> None:
    assert sorted(set(OPEN) - {"decisions", "unturned"}) == CATALOGUES


@pytest.mark.parametrize("catalogue", [name for name in CATALOGUES if name != "thesis"])
def test_every_figure_and_table_with_a_section_of_its_own_is_in_the_checklist(catalogue: str) -> None:
    text = (DOCS / "experiments" / f"{catalogue}.md").read_text(encoding="utf-8")
    headings = [re.split(r" - |: ", heading)[0] for heading in re.findall(r"^### (.*)$", text, re.MULTILINE)]
    described = set().union(*(figures(re.sub(r"\((?![ab]\)).*?\)", "", heading)) for heading in headings))
    checked = set().union(
        *(figures(cells[0]) for cells in rows(catalogue) if not cells[0].startswith(("text", "open", "section")))
    )
    assert described, headings
    assert described <= checked, sorted(described - checked)


def test_the_thesis_36_figures_and_2_tables_are_in_its_checklist() -> None:
    checked = set().union(*(figures(cells[0]) for cells in rows("thesis")))
    assert {f"Fig. 5.{number}" for number in range(1, 37)} | {"Table 5.1", "Table 5.2"} <= checked


def sources() -> Iterator[tuple[str, str]]:
    """Every file under version control that a program is made of, and its text."""
    words = [
        "git",
        "ls-files",
        "crates",
        "bpf",
        "python",
        "scenarios",
        "bench",
        "validation",
        "tests",
        "fuzz",
        "packaging",
    ]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.splitlines():
        if name.endswith((".rs", ".py", ".c", ".h", ".toml", ".sh")) and (ROOT / name).is_file():
            yield name, (ROOT / name).read_text(encoding="utf-8")


def sections(document: str) -> set[str]:
    """Numbers of headings, of numbered paragraphs and of equations."""
    text = (DOCS / document).read_text(encoding="utf-8")
    numbered = re.findall(r"^(?:#+ )?(\d+(?:\.\d+)?)\.? ", text, re.MULTILINE)
    return {*numbered, *re.findall(r"\((\d+\.\d+)\)", text)}


# `schemes.md 3.2`, `schemes.md, section 2`, `ns2-behaviour 5.7`.
CITATION = re.compile(r"(schemes|ns2-behaviour|contract)(?:\.md)?,? (?:sections? )?(\d+(?:\.\d+)?)\b")


def cited() -> dict[tuple[str, str], str]:
    """Document and section, and one file that cites it."""
    return {
        (f"{document}.md", section): name for name, text in sources() for document, section in CITATION.findall(text)
    }


def test_sections_that_code_cites_exist() -> None:
    known = {document: sections(document) for document in ("schemes.md", "ns2-behaviour.md", "contract.md")}
    wrong = [
        f"{name}: {document} {section}"
        for (document, section), name in cited().items()
        if section not in known[document]
    ]
    assert not wrong, wrong


def test_documents_that_code_cites_exist() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    names = {Path(name).name for name in listed}
    names |= {path.name for path in DOCS.glob("**/*.md")}
    wrong = []
    for name, text in sources():
        if name.startswith(("tests/", "crates/endpoint/tests", "packaging/site/")):
            continue  # files that tests write, and pages that the site makes
        wrong += [f"{name}: {each}" for each in re.findall(r"\b([A-Za-z0-9_-]+\.md)\b", text) if each not in names]
    assert not wrong, wrong


def section(document: str, number: int) -> str:
    """The text of a numbered section."""
    text = (DOCS / document).read_text(encoding="utf-8")
    return re.split(rf"^## {number}\. .*$", text, flags=re.MULTILINE)[1].split("\n## ")[0]


def register() -> list[str]:
    """The numbers of the decisions of docs/schemes.md."""
    return re.findall(r"^\| (\d+) \|", section("schemes.md", 19), re.MULTILINE)


def decisions(catalogue: str) -> list[str]:
    """Those of a catalogue: rows of the tables of its section 5 (one may have two), or its list."""
    text = section(f"experiments/{catalogue}.md", 5)
    rows_ = re.findall(r"^\| \**((?:[A-Z]\d+[a-z]?(?:, )?)+)\**(?: !)? \|", text, re.MULTILINE)
    return [one for row in rows_ for one in row.split(", ")] + re.findall(r"^- (O\d+) \*\*", text, re.MULTILINE)


def turned(catalogue: str) -> set[str]:
    """What the studies of a catalogue turn; of all, if it is the register."""
    named = {one for study in registry.STUDIES if catalogue in {study.paper, "register"} for one in study.turned()}
    return {one for one in named if one.isdigit() is (catalogue == "register")}


@pytest.mark.parametrize("catalogue", [*CATALOGUES, "register"])
def test_every_open_decision_is_turned_by_a_study_or_says_why_not(catalogue: str) -> None:
    known = register() if catalogue == "register" else decisions(catalogue)
    counts = {"gap": 31, "ingress-throttling": 22, "llap": 16, "thesis": 35, "we-tcp-ap": 29, "register": 35}
    assert len(known) == len(set(known)) == counts[catalogue]
    unturned = OPEN["unturned"].get(catalogue, {})
    assert not turned(catalogue) - set(known), "decisions that are not there"
    assert sorted(set(known) - turned(catalogue)) == sorted(unturned)
    assert all(unturned.values())


def test_every_decision_of_the_register_is_followed_and_cited_or_listed_as_open() -> None:
    numbers = register()
    assert list(OPEN["decisions"]) == numbers
    known = {section for document, section in cited() if document == "schemes.md"}
    for number, what in OPEN["decisions"].items():
        assert what.startswith("open: ") or what in known, f"decision {number}: no code cites schemes.md {what}"


@pytest.mark.parametrize(("name", "count"), [("llap", 6), ("throttle", 6), ("we", 5), ("gap", 0), ("byu", 0)])
def test_claims_without_a_study_are_told_with_what_holds_them(name: str, count: int) -> None:
    """Each is a number of the catalogue, and stands on both pages."""
    (paper,) = (one for one in the_papers() if one.name == name)
    assert len(paper.unjudged) == count
    catalogue = (DOCS / "experiments" / f"{paper.catalogue}.md").read_text(encoding="utf-8")
    page = (DOCS / "reproduction" / f"{paper.catalogue}.md").read_text(encoding="utf-8")
    prose = catalogue.partition(MARK)[0]
    for id_, told in paper.unjudged.items():
        assert re.search(rf"\b{re.escape(id_)}\b", prose), id_
        assert f"| {id_} | {told} |" in catalogue
        assert f"| {id_} | {told} |" in page.partition(PAGE_MARK)[2]
