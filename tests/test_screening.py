"""Screens: designs in which main effects are clear of two decisions together, and the words that stand on them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from commanding import Cli
from documents import ROOT
from meshpace import engine
from meshpace.keyed import KeyedFileError
from meshpace.report.model import Verdict
from meshpace.stats import Estimate
from meshpace.study import registry
from meshpace.study.claims import Ask, Claim, judge
from meshpace.study.measures import Measure
from meshpace.study.model import AS_IS, STATIC, Cell, Effort, Point, Study
from meshpace.study.outcome import Outcome
from meshpace.study.page import MARK
from meshpace.study.rules import Rule
from meshpace.study.screened import BEGIN, END, combinations, effects, lines, within
from meshpace.study.screening import MOST, Row, axis, clash, design, label, letters
from meshpace.study.verdicts import CLAIMS
from meshpace.study.written.papers import read_paper
from test_bad_input import expect_refusal


def _signs(rows: tuple[Row, ...], at: int) -> list[int]:
    return [1 if row[at] else -1 for row in rows]


@pytest.mark.parametrize("count", range(1, MOST + 1))
def test_main_effects_are_clear_of_each_other_and_of_any_two_decisions_together(count: int) -> None:
    rows = design(count).rows
    columns = [_signs(rows, at) for at in range(count)]
    for column in columns:
        assert sum(column) == 0, "each decision is turned in half of the combinations"
    for one, other in itertools.combinations(columns, 2):
        assert sum(a * b for a, b in zip(one, other, strict=True)) == 0, "main effects are clear of each other"
        together = [a * b for a, b in zip(one, other, strict=True)]
        for column in columns:
            assert sum(a * b for a, b in zip(together, column, strict=True)) == 0, "and of two together"


@pytest.mark.parametrize("count", range(1, MOST + 1))
def test_a_design_is_small_and_has_what_is_as_it_is_and_what_is_all_turned(count: int) -> None:
    rows = design(count).rows
    assert len(rows) == len(set(rows)) <= 32
    assert len(rows) < 4 * count or count == 1, "no more than it takes"
    assert rows[0] == (False,) * count
    assert rows[-1] == (True,) * count
    assert len({label(row) for row in rows}) == len(rows)


def test_sizes_and_generators_of_designs() -> None:
    assert [len(design(count).rows) for count in range(1, 17)] == [2, 4, 8, 8, *[16] * 4, *[32] * 8]
    assert design(4).generators == ("d = abc",)
    assert design(8).generators == ("e = abc", "f = abd", "g = acd", "h = bcd")
    assert design(3).generators == ()
    for wrong in (0, MOST + 1):
        with pytest.raises(ValueError, match=f"{wrong} decisions, 1 to 16 are possible"):
            design(wrong)
    assert letters(3) == "abc"
    assert (label((False, False)), label((True, False, True))) == (AS_IS, "ac")


def test_what_excludes_each_other_is_no_design() -> None:
    one, two = Point("one", (("a", "1"),)), Point("two", (("a", "2"), ("b", "1")))
    assert clash([one, two]) == ("one", "two", "a")
    assert clash([one, Point("three", (("c", "1"),))]) is None
    assert clash([Point("r", routing="aodv"), Point("s", routing="static")]) == ("r", "s", "routing")
    combined = axis("t", [one, Point("r", routing="dsdv", decisions=("O1",)), Point("s", reception="sinr")])
    everything = combined.points[-1]
    assert (everything.label, everything.settings) == ("abc", (("a", "1"),))
    assert (everything.routing, everything.reception) == ("dsdv", "sinr")
    assert combined.points[0] == Point(AS_IS), "decisions stand with the study, once"


def _study(count: int) -> Study:
    """A study of so many decisions, each of which sets a key of its own."""
    (study,) = (one for one in registry.STUDIES if one.name == "gap-oracle-4")
    factors = [
        Point(f"turn {letter}", ((letter, "1"),), decisions=(f"O{at}",)) for at, letter in enumerate(letters(count))
    ]
    return replace(study, axis=axis("turned", factors), conditions=(STATIC,), quick=replace(study.quick, points=None))


Number = Callable[[str, int], float]
"""Of a combination and a seed."""


def _claim(number: Number, rule: Rule, seeds: int = 4) -> Claim:
    def take(outcome: Outcome, condition: object, at: str) -> list[float | None]:  # noqa: ARG001 - as a measure has them
        return [number("" if at == AS_IS else at, seed) for seed in range(1, seeds + 1)]

    def show(value: Estimate) -> str:
        return f"{value.mean:.3g}"

    ask = Ask(Measure(("newreno",), take), rule, show, "A number", ("gap-oracle-4",))
    return Claim("9.1", "It holds.", "Fig. 9", "", "", (ask,))


def _outcome(study: Study) -> Outcome:
    cells: dict[Cell, list[None]] = {cell: [None] * 4 for cell in study.cells(Effort.QUICK)}
    return Outcome(study, Effort.QUICK, {**cells}, {})


POSITIVE = Rule("MORE", low=0.0, neutral=0.0)


def _noise(seed: int) -> float:
    return (-0.01, 0.01, 0.02, -0.02)[seed - 1]


def test_main_effects_are_found_beside_what_two_do_together() -> None:
    def number(turned: str, seed: int) -> float:
        main = 3.0 * ("a" in turned) - 2.0 * ("g" in turned)
        both = 5.0 * (1 if "b" in turned else -1) * (1 if "c" in turned else -1)
        own = {"a": 1.0, "g": 0.5}
        return main + both + _noise(seed) * (1 + sum(own.get(letter, 0.0) for letter in turned))

    outcome = _outcome(_study(8))
    found = {effect.letter: effect for effect in effects(_claim(number, POSITIVE), outcome, STATIC)}
    assert {letter: round(effect.change.mean, 6) for letter, effect in found.items()} == {
        "a": 3.0, "b": 0, "c": 0, "d": 0, "e": 0, "f": 0, "g": -2.0, "h": 0,
    }  # fmt: skip
    assert [letter for letter, effect in found.items() if effect.certain] == ["a", "g"]


def _verdicts(number: Number, count: int = 4) -> tuple[str, list[Verdict]]:
    study = _study(count)
    claim = _claim(number, POSITIVE)
    outcome = _outcome(replace(study, claims=(claim,)))
    judgement = judge(claim, {"gap-oracle-4": outcome}, STATIC)
    assert judgement is not None
    (row,) = (line for line in lines(outcome) if line.startswith("| 9.1"))
    return row, [one.verdict for one in combinations(judgement, outcome)]


def test_every_and_no_are_said_of_all_combinations_alone() -> None:
    row, verdicts = _verdicts(lambda turned, seed: 1 + len(turned) + _noise(seed))
    assert set(verdicts) == {Verdict.HOLDS}
    assert "| holds in every one of 8 |" in row
    row, verdicts = _verdicts(lambda turned, seed: -1 - len(turned) + _noise(seed))
    assert set(verdicts) == {Verdict.FAILS}
    assert "| holds in no one of 8 |" in row
    row, verdicts = _verdicts(lambda turned, seed: (1 if "a" in turned else -1) + _noise(seed))
    assert (verdicts.count(Verdict.HOLDS), verdicts.count(Verdict.FAILS)) == (4, 4)
    assert "| 4 holds, 4 does not hold |" in row
    row, _ = _verdicts(lambda turned, seed: _noise(seed) if turned == "ab" else -1 + _noise(seed))
    assert "| 7 does not hold, 1 undecided |" in row, "one that is open is not no one"


def test_least_and_greatest_stand_with_their_combinations() -> None:
    row, _ = _verdicts(lambda turned, seed: 1 + 2 * ("a" in turned) - 3 * ("c" in turned) + _noise(seed))
    assert "| 1 | -2 (cd) | 3 (ad) | 0 |" in row or "| 1 | -2 (bc) | 3 (ab) | 0 |" in row, row
    assert row.rstrip(" |").endswith("c -3; a 2"), row


def test_few_combinations_that_hold_are_judged_with_intervals_for_their_number() -> None:
    def number(turned: str, seed: int) -> float:
        return -1.0 + _noise(seed) if turned != "ab" else 0.4 + 12 * _noise(seed)

    study = _study(4)
    outcome, claim = _outcome(study), _claim(number, POSITIVE)
    judgement = judge(claim, {"gap-oracle-4": outcome}, STATIC)
    assert judgement is not None
    (one,) = (found for found in combinations(judgement, outcome) if found.label == "ab")
    assert claim.asks[0].rule.answer(one.value).name == "HOLDS", "by itself its interval is above zero"
    assert one.verdict is Verdict.OPEN


def test_tables_stand_between_their_marks_and_above_the_verdicts() -> None:
    outcome = _outcome(replace(_study(4), claims=(_claim(lambda _, seed: 1 + _noise(seed), POSITIVE),)))
    page = f"# A page\n\nProse.\n\n{MARK}\n\n## Verdicts\n\ntable\n"
    once = within(page, [outcome])
    assert once.index("Prose.") < once.index(BEGIN) < once.index("| 9.1 |") < once.index(END) < once.index(MARK)
    assert once.endswith(f"{MARK}\n\n## Verdicts\n\ntable\n")
    assert within(once, [outcome]) == once
    moved = once.replace("Prose.", "Other prose.").replace("| 9.1 |", "| 9.9 |")
    assert within(moved, [outcome]) == once.replace("Prose.", "Other prose.")
    assert within("# Alone\n", [outcome]).endswith(f"{END}\n")


PAPER = """\
[paper]
cite = "Letters (A. Author, 2026)"
catalogue = "letters"
prefix = "letters"

[study.letters-switches]
scenario = "chain-adhoc.toml"
schemes = ["newreno", "few"]
conditions = ["static"]
quick = { seeds = 2, set = { "measure.duration" = "6s", "measure.warmup" = "1s" }, points = ["as it is"] }
axis = { point = [
  { label = "as it is", set = { "topology.hops" = 2, "flow.0.to" = "n2" } },
  { label = "window 2", set = { "topology.hops" = 2, "flow.0.to" = "n2", "defaults.window" = 2 }, decisions = ["O1"] },
  { label = "window 3", set = { "defaults.window" = 3 }, decisions = ["O1"] },
  { label = "no RTS/CTS", set = { "radio.rts" = "never" }, decisions = ["O2", "3"] },
  { label = "a = 1", set = { "scheme.few.few_alpha" = 1 } },
  { label = "AODV", routing = "aodv" },
] }

[[screen]]
study = "letters-switches"
name = "letters-screen"
factors = ["window 2", "no *", "a = 1", "AODV"]
quick = { seeds = 3 }

[claim."1 screened"]
statement = "Something arrives."
ask = { study = "letters-screen", measure = "of", quantity = "goodput", scheme = "few", rule = "BOUND", low = 1.0 }
"""


@pytest.fixture
def letters_paper(tmp_path: Path) -> Path:
    folder = tmp_path / "letters"
    folder.mkdir()
    (folder / "paper.toml").write_text(PAPER)
    return folder


def test_a_screen_is_its_studys_set_up_with_what_is_turned(letters_paper: Path) -> None:
    paper = read_paper(letters_paper)
    assert [study.name for study in paper.studies] == ["letters-switches"]
    assert paper.claims == ()
    (screen,) = paper.screens
    assert [claim.id for claim in screen.claims] == ["letters 1 screened"]
    assert [point.label for point in screen.axis.factors] == ["window 2", "no RTS/CTS", "a = 1", "AODV"]
    assert screen.settings == (("topology.hops", "2"), ("flow.0.to", "n2")), "what is set as it is is set of all"
    assert screen.decisions == ("O1", "O2", "3")
    assert screen.turned() == {"O1": (), "O2": (), "3": ()}
    assert (screen.quick.seeds, screen.quick.points, len(screen.points(Effort.QUICK))) == (3, None, 8)
    all_turned = engine.resolve(screen.job(Cell(STATIC, "few", "abcd"), 1, Effort.QUICK))
    assert str(all_turned["routing"]).count("aodv"), "the routing of what is turned"
    assert dict(screen.axis.points[-1].settings) == {
        "defaults.window": "2", "radio.rts": "never", "scheme.few.few_alpha": "1",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('["window 2",', '["windows 2",', 'screen[0].factors: found "windows 2"; allowed: window 2'),
        ('["window 2",', '["window 2", "window 3",', "found 'window 2' and 'window 3', which both set defaults.window"),
        ('["window 2", "no *", "a = 1", "AODV"]', "[]", "screen[0].factors: found 0 of them; allowed: 1 to 16"),
        ('["window 2", "no *"', '["as it is", "no *"', 'screen[0].factors: found "as it is"; allowed: window 2'),
        ('study = "letters-switches"\nname', 'study = "letters"\nname', 'screen[0].study: found "letters"; allowed: '),
        ('name = "letters-screen"', 'nome = "letters-screen"', "screen[0].name: found nome instead; allowed: a text"),
        ("quick = { seeds = 3 }", "quick = { sedes = 3 }", "screen[0].quick.sedes: found an unknown key"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_screen_is_said_with_its_line(
    old: str, new: str, expected: str, letters_paper: Path
) -> None:
    assert old in PAPER
    (letters_paper / "paper.toml").write_text(PAPER.replace(old, new, 1))
    with pytest.raises(KeyedFileError) as refused:
        read_paper(letters_paper)
    assert str(refused.value).startswith(f"{letters_paper}/paper.toml:")
    assert expected in str(refused.value)


def test_a_claim_is_asked_of_screens_or_of_studies(letters_paper: Path) -> None:
    both = PAPER.replace('ask = { study = "letters-screen",', 'ask = { study = ["letters-screen", "letters-switches"],')
    (letters_paper / "paper.toml").write_text(both)
    with pytest.raises(KeyedFileError, match="claim letters 1 screened: found screens and other studies"):
        read_paper(letters_paper)


def test_the_command_runs_a_screen_and_writes_its_table(letters_paper: Path, cli: Cli, tmp_path: Path) -> None:
    run = ("study", "screen", str(letters_paper), "--store", "s")
    done = cli(*run)
    assert done.returncode == 0, done.stderr
    assert "4 decisions, each as it is or at one other reading, in 8 of 16 combinations" in done.stdout
    assert "(d = abc). 3 seeds. Written by `meshpace study screen letters-screen --quick`, engine " in done.stdout
    assert "| b | no RTS/CTS | O2, 3 |" in done.stdout
    assert "| letters 1 screened | Something arrives. |" in done.stdout
    assert "| holds in every one of 8 |" in done.stdout
    pages = tmp_path / "pages"
    pages.mkdir()
    expect_refusal(cli, *run, "--write", "pages")
    (pages / "letters.md").write_text("# Letters\n")
    assert cli(*run, "--write", "pages").stdout == f"Screens: {Path('pages/letters.md')}\n"
    assert (pages / "letters.md").read_text().startswith(f"# Letters\n\n{BEGIN}\n\n## Decisions tried together\n")
    assert "no screen 'lettres'; allowed: all, the beginning of one of " in expect_refusal(
        cli, "study", "screen", "lettres"
    )
    assert "exclude each other" in expect_refusal(cli, *run, "--quick", "--full")


@pytest.mark.parametrize("screen", registry.SCREENS, ids=lambda study: study.name)
def test_every_combination_of_a_papers_screen_can_be_run(screen: Study) -> None:
    assert screen.claims
    assert len(screen.axis.points) <= 32
    jobs = {cell: screen.job(cell, 1, Effort.QUICK) for cell in screen.cells(Effort.QUICK)}
    for job in jobs.values():
        engine.resolve(job)
    for condition in screen.conditions:
        runs = {job for cell, job in jobs.items() if cell.condition == condition}
        assert len(runs) > len(screen.axis.points), "combinations differ"


def test_each_of_the_five_papers_has_a_screen_apart_from_its_claims() -> None:
    assert {study.paper for study in registry.SCREENS} == {"gap", "thesis", "ingress-throttling", "llap", "we-tcp-ap"}
    assert not {claim.id for claim in CLAIMS} & {claim.id for study in registry.SCREENS for claim in study.claims}
    names = {study.name for study in registry.SCREENS}
    assert not names & {study.name for study in registry.find(["all"])}
    assert [study.name for study in registry.find_screens(["we"])] == ["we-screen-mesh"]
    assert set(registry.find_screens(["all"])) == set(registry.SCREENS)


SAID = re.compile(r"(?<!\")\bin (?:no|every|any|none of the|all) readings?\b", re.IGNORECASE)
"""What is said of all readings, unless it is quoted."""


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "reproduction").glob("*.md")), ids=lambda page: page.stem)
def test_what_is_said_of_all_readings_stands_with_a_table_of_combinations(page: Path) -> None:
    text = page.read_text()
    assert BEGIN in text or not SAID.findall(text), "say which readings were run"
    assert SAID.search("a loss of a seventh, in every reading")
    assert not SAID.search('"in no reading" is said with that table')
