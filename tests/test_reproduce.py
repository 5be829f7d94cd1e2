"""The papers' pages from one engine: a small paper end to end, over several sittings, and what the manifest holds."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from commanding import Cli
from documents import ROOT
from meshpace.study import manifest, reproduce
from meshpace.study.executors import workers
from meshpace.study.manifest import MANIFEST, BrokenManifestError, check, digest, note, note_if_kept, parts
from meshpace.study.model import Effort
from meshpace.study.outcome import load
from meshpace.study.page import BEGIN, END, MARK
from meshpace.study.record import Maker, running
from meshpace.study.reproduce import Campaign
from meshpace.study.runner import make, tasks
from meshpace.study.store import Store
from meshpace.study.written.papers import Paper, read_paper

PAPER = """\
[paper]
cite = "Tiny (A. Author, 2026)"
catalogue = "tiny-page"
prefix = "tiny"

[study.tiny-chain]
scenario = "chain-adhoc.toml"
schemes = ["newreno", "few"]
conditions = ["static"]
quick = { seeds = 2, set = { "measure.duration" = "6s", "measure.warmup" = "1s" } }
full = { seeds = 3, set = { "measure.duration" = "8s", "measure.warmup" = "1s" } }
axis = { point = [
  { label = "as it is" },
  { label = "window 2", set = { "defaults.window" = 2 } },
  { label = "a = 1", set = { "scheme.few.few_alpha" = 1 } },
] }

[claim.1]
statement = "Something arrives."
printed = { at = "Fig. 1", text = "something" }
ask = { study = "tiny-chain", measure = "of", quantity = "goodput", scheme = "few", rule = "BOUND", low = 1.0 }

[[screen]]
study = "tiny-chain"
name = "tiny-screen"
factors = ["window 2", "a = 1"]

[claim."1 screened"]
statement = "Something arrives, whatever is turned."
ask = { study = "tiny-screen", measure = "of", quantity = "goodput", scheme = "few", rule = "BOUND", low = 1.0 }

[[again]]
profile = "as-printed"
studies = ["tiny-chain"]
name = ["tiny-", "tiny-as-printed-"]
readings = [{ label = "no RTS/CTS", set = { "radio.rts" = "never" } }]
claims = { id = "{id} as printed" }
"""
PROSE = "# Tiny, run again\n\nProse of somebody.\n"


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paper:
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "paper.toml").write_text(PAPER)
    paper = read_paper(folder)
    told = tuple(
        replace(study, claims=tuple(claim for claim in paper.claims if claim.study == study.name))
        for study in paper.studies
    )
    found = replace(paper, studies=told)
    monkeypatch.setattr(reproduce, "the_papers", lambda: (found,))
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "tiny-page.md").write_text(PROSE)
    return found


def _campaign(tmp_path: Path, hours: float | None = None) -> Campaign:
    return Campaign(Effort.QUICK, tmp_path / "store", tmp_path / "pages", hours, 2.0)


def test_a_page_is_made_whole_and_the_manifest_names_what_it_stands_on(
    tiny: Paper, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reproduce.reproduce(["tiny"], _campaign(tmp_path))
    text = (tmp_path / "pages" / "tiny-page.md").read_text()
    assert text.startswith(PROSE)
    assert text.index("Prose of") < text.index(BEGIN) < text.index("| tiny 1 screened |") < text.index(MARK)
    assert "\n1 claims, 1 verdicts: 1 holds.\n\nAs printed: 1 claims, 1 verdicts: 1 holds. 0 of 1 verdicts" in text
    kept = json.loads((tmp_path / "pages" / MANIFEST).read_text())["pages"]["tiny-page"]
    mine = running()
    assert [(kept[part]["engine"], kept[part]["fingerprint"]) for part in ("screens", "verdicts")] == [
        (mine.version, mine.fingerprint)
    ] * 2
    (*_, outcome) = load(Store(tmp_path / "store"), tiny.screens, Effort.QUICK)
    assert kept["verdicts"]["studies"]["tiny-chain"]["runs"] == 3 * 2 * 2 - 2, "a = 1 is no other run of NewReno"
    assert kept["screens"]["studies"]["tiny-screen"]["runs"] == len(outcome.all_records())
    assert kept["verdicts"]["text"] == digest(parts(text)["verdicts"])
    assert set(kept["verdicts"]["studies"]) == {"tiny-chain", "tiny-as-printed-chain"}
    told = capsys.readouterr().out
    assert "tiny-page: 0 of 2 verdicts undecided before 0 runs more (0 s), 0 after; " in told
    assert check(tmp_path / "pages", mine) == manifest.Checked((), ())


def test_it_goes_on_where_it_ended_and_writes_the_same_bytes(
    tiny: Paper, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not reproduce.reproduce(["all"], _campaign(tmp_path, hours=0.0)), "no time, no run"
    assert "tiny-page: 0 of 22 runs, 0 of them made now; the same command goes on" in capsys.readouterr().out
    assert (tmp_path / "pages" / "tiny-page.md").read_text() == PROSE, "no page is written of a part"
    assert not (tmp_path / "pages" / MANIFEST).exists()
    some = tasks(tiny.studies, Effort.QUICK)[:4]
    with workers("threads", 1) as hands:
        make(some, Store(tmp_path / "store"), hands)
    assert reproduce.reproduce(["tiny"], _campaign(tmp_path, hours=1.0))
    assert "tiny-page: 22 of 22 runs, 18 of them made now\n" in capsys.readouterr().out
    before = {path.name: path.read_bytes() for path in (tmp_path / "pages").iterdir()}
    assert reproduce.reproduce(["tiny"], _campaign(tmp_path), executor="processes", threads=2)
    assert "22 of 22 runs, 0 of them made now" in capsys.readouterr().out
    assert {path.name: path.read_bytes() for path in (tmp_path / "pages").iterdir()} == before
    other = replace(_campaign(tmp_path), store=tmp_path / "another")
    assert reproduce.reproduce(["tiny"], other)
    assert {path.name: path.read_bytes() for path in (tmp_path / "pages").iterdir()} == before, "whoever makes the runs"


def test_a_page_stands_on_the_longer_plan_of_each_study_that_is_there_whole(
    tiny: Paper, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reproduce.reproduce(["tiny"], _campaign(tmp_path))
    full = replace(_campaign(tmp_path, hours=0.0), effort=Effort.FULL)
    with workers("threads", 1) as hands:
        make(tasks(tiny.studies[:1], Effort.FULL), Store(tmp_path / "store"), hands)
    assert not reproduce.reproduce(["tiny"], full), "it goes on"
    assert "; the same command goes on\n" in capsys.readouterr().out
    text = (tmp_path / "pages" / "tiny-page.md").read_text()
    assert "\n## tiny-chain (full)\n" in text
    kept = json.loads((tmp_path / "pages" / MANIFEST).read_text())["pages"]["tiny-page"]
    told = {name: (study["effort"], study["runs"]) for name, study in kept["verdicts"]["studies"].items()}
    assert told["tiny-chain"] == ("full", 3 * 3 * 2 - 3)
    assert told["tiny-as-printed-chain"][0] == "quick"
    # The quick plans alone, again: what is longer stays.
    assert reproduce.reproduce(["tiny"], _campaign(tmp_path))
    assert (tmp_path / "pages" / "tiny-page.md").read_text() == text


def test_no_run_is_handed_over_once_it_is_enough(tiny: Paper, tmp_path: Path) -> None:
    wanted = tasks(tiny.studies, Effort.QUICK)
    asked = []

    def enough() -> bool:
        asked.append(True)
        return len(asked) > 1

    with workers("threads", 1) as hands:
        tally = make(wanted, Store(tmp_path / "store"), hands, enough=enough)
        assert (tally.made, tally.left) == (8, len(wanted) - 8), "eight for a worker are handed over at first"
        tally = make(wanted, Store(tmp_path / "store"), hands)
    assert (tally.stored, tally.made, tally.left) == (8, len(wanted) - 8, 0)


def test_what_was_changed_by_hand_is_told(tiny: Paper, tmp_path: Path) -> None:  # noqa: ARG001 - it is what is run
    assert reproduce.reproduce(["tiny"], _campaign(tmp_path))
    pages, mine = tmp_path / "pages", running()
    page = pages / "tiny-page.md"
    text = page.read_text()
    page.write_text(text.replace("Prose of", "Other prose of"))
    assert check(pages, mine).wrong == (), "what somebody writes above the marks is theirs"
    page.write_text(text.replace("**holds**", "does not", 1))
    assert check(pages, mine).wrong == (
        f"tiny-page.md: verdicts: other numbers or words than {MANIFEST} names: changed by hand",
    )
    page.write_text(text.replace("holds in every one", "holds in no one", 1))
    (line,) = check(pages, mine).wrong
    assert line.startswith("tiny-page.md: screens: other numbers")
    page.write_text(text.replace(BEGIN, "").replace(END, ""))
    assert f"tiny-page.md: screens: in {MANIFEST}, not there" in check(pages, mine).wrong
    page.write_text(text)
    (pages / "other.md").write_text(f"# Other\n\n{MARK}\n\nverdicts\n")
    assert check(pages, mine).wrong == (f"other.md: verdicts: not in {MANIFEST}: written without it",)


def test_an_older_engine_is_told_and_stops_a_release_alone(
    tiny: Paper, tmp_path: Path, cli: Cli  # noqa: ARG001 - it is what is run
) -> None:  # fmt: skip
    assert reproduce.reproduce(["tiny"], _campaign(tmp_path))
    done = cli("study", "pages", "--pages", "pages", "--release")
    assert (done.returncode, done.stdout) == (0, f"pages: as {MANIFEST} has it; all by engine {running()}\n")
    pages = tmp_path / "pages"
    page = pages / "tiny-page.md"
    old = Maker("0.0.9", "0123456789abcdef")
    page.write_text(page.read_text().replace(str(running()), str(old)))
    note(pages, "tiny-page", "verdicts", old, None)
    note(pages, "tiny-page", "screens", old, None)
    done = cli("study", "pages", "--pages", "pages")
    assert done.returncode == 0
    assert f"tiny-page.md: verdicts: made by engine {old}, not by this one, {running()}\n" in done.stdout
    assert f"pages: as {MANIFEST} has it; 1 pages are an older engine's\n" in done.stdout
    done = cli("study", "pages", "--pages", "pages", "--release")
    assert done.returncode == 1
    assert done.stdout.endswith("a release needs one engine\n")
    page.write_text(page.read_text().replace(str(old), str(running()), 1))
    note(pages, "tiny-page", "screens", old, None)
    assert f"tiny-page.md: screens: says engine {running()}, {MANIFEST} {old}" in check(pages, running()).wrong
    done = cli("study", "pages", "--pages", "pages")
    assert (done.returncode, "says engine" in done.stdout) == (1, True)


def test_pages_that_are_written_by_themselves_keep_the_manifest_true(tiny: Paper, tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    (pages / "tiny-page.md").write_text(f"{PROSE}\n{MARK}\n")
    note_if_kept(pages, "tiny-page", "verdicts", running(), [])
    assert not (pages / MANIFEST).exists(), "nobody asked for one"
    assert reproduce.reproduce(["tiny"], _campaign(tmp_path))
    page = pages / "tiny-page.md"
    page.write_text(page.read_text().replace("**holds**", "does not"))
    outcomes = load(Store(tmp_path / "store"), tiny.studies, Effort.QUICK)
    from meshpace.report.command import write_verdicts

    write_verdicts(pages, outcomes, running())
    assert check(pages, running()) == manifest.Checked((), ())


def test_hashes_are_of_what_came_out(tiny: Paper, tmp_path: Path) -> None:
    with workers("threads", 1) as hands:
        make(tasks(tiny.studies, Effort.QUICK), Store(tmp_path / "store"), hands)
    (outcome,) = load(Store(tmp_path / "store"), tiny.studies, Effort.QUICK)
    before = manifest.runs_of([outcome])["tiny-chain"]
    (cell,) = (cell for cell in outcome.records if (cell.scheme, cell.point) == ("few", "a = 1"))
    first = outcome.records[cell][0]
    assert first is not None
    outcome.records[cell][0] = replace(first, result=f"{first.result} ")
    after = manifest.runs_of([outcome])["tiny-chain"]
    assert before["runs"] == after["runs"]
    assert before["sha256"] != after["sha256"]


@pytest.mark.parametrize(
    "text", ["no JSON", "[]", '{"schema": 2, "pages": {}}', '{"schema": 1, "pages": {"a": {"b": {}}}}']
)
def test_what_is_no_manifest_is_refused(text: str, tmp_path: Path, cli: Cli) -> None:
    (tmp_path / MANIFEST).write_text(text)
    done = cli("study", "pages", "--pages", ".")
    assert (done.returncode, done.stdout) == (2, "")
    assert "manifest.json: found no manifest of schema 1; allowed: one that `make reproduction` wrote" in done.stderr
    (tmp_path / MANIFEST).unlink()
    with pytest.raises(BrokenManifestError, match=r"found no manifest\.json; allowed: a folder that"):
        check(tmp_path, running())


def test_what_cannot_be_reproduced_is_refused(cli: Cli) -> None:
    assert "no paper 'gpa' has a page; allowed: gap, llap" in cli("study", "reproduce", "gpa").stderr
    assert "--pages: found no folder nowhere" in cli("study", "reproduce", "gap", "--pages", "nowhere").stderr
    assert (
        "--hours: found -1.0; allowed: a number from 0 on" in cli("study", "reproduce", "gap", "--hours", "-1").stderr
    )
    assert "exclude each other" in cli("study", "reproduce", "gap", "--quick", "--full").stderr


def test_the_numbers_of_the_projects_pages_are_the_manifests() -> None:
    assert check(ROOT / "docs" / "reproduction", running()).wrong == ()
