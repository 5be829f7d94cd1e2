"""Profiles: a paper's studies again at its letter, judged beside our decisions."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from commanding import Cli
from meshpace import engine
from meshpace.keyed import KeyedFileError
from meshpace.report.model import Claim, Finding, Verdict
from meshpace.study import registry
from meshpace.study.model import Cell, Effort, Study
from meshpace.study.outcome import Outcome
from meshpace.study.page import Campaign, page, told_in
from meshpace.study.record import running
from meshpace.study.telling import beside_ours
from meshpace.study.verdicts import CLAIMS
from meshpace.study.written.papers import read_paper
from test_bad_input import expect_refusal

PAPER = """\
[paper]
cite = "Letters (A. Author, 2026)"
prefix = "letters"

[points]
open = [
  { label = "half a window", set = { "defaults.window" = 2 }, decisions = ["O1"] },
  { label = "n-hop", set = { "scheme.tcp-ap,few.rto_min" = "1s" }, decisions = ["O2"] },
]
printed = ["open", { label = "long", set = { "scheme.tcp-gap.n" = 3 }, decisions = ["O3"] }]

[study.letters-chain]
scenario = "chain-adhoc.toml"
schemes = ["newreno", "few"]
conditions = ["static", "aodv"]
quick = { seeds = 2, set = { "measure.duration" = "6s", "measure.warmup" = "1s" } }

[study.letters-plain]
scenario = "chain-adhoc.toml"
schemes = ["newreno"]
conditions = ["static"]
quick = { seeds = 2, set = { "measure.duration" = "6s", "measure.warmup" = "1s" } }

[claim.1]
statement = "Few carries as much."
printed = { at = "Fig. 1", text = "as much" }
every = { study = "letters-chain", scheme = "few", over = "newreno" }
ask = { measure = "gain", quantity = "goodput", rule = "BOUND", low = -0.9, high = 10.0 }

[claim.2]
statement = "Something arrives, also elsewhere."
ask = [
  { study = "letters-chain", measure = "of", quantity = "goodput", scheme = "newreno", rule = "BOUND", low = 1.0 },
  { study = "letters-plain", measure = "of", quantity = "goodput", scheme = "newreno", rule = "BOUND", low = 1.0 },
]

[[again]]
profile = "as-printed"
studies = ["letters-chain"]
conditions = ["static"]
name = ["letters-", "letters-as-printed-"]
title = "{title}: as printed"
readings = ["open"]
claims = { id = "{id} as printed" }
"""


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    folder = tmp_path / "letters"
    folder.mkdir()
    (folder / "paper.toml").write_text(PAPER)
    return folder


def test_a_profile_sets_every_reading_of_the_schemes_that_are_run(letters: Path) -> None:
    paper = read_paper(letters)
    assert [study.name for study in paper.studies] == ["letters-chain", "letters-plain"]
    (again,) = paper.profiled
    assert (again.profile, again.again_of, again.title) == ("as-printed", "letters-chain", "letters-chain: as printed")
    assert again.settings == (("defaults.window", "2"), ("scheme.few.rto_min", "1s")), "TCP-AP is not run"
    assert again.decisions == ("O1", "O2")
    assert [condition.short for condition in again.conditions] == ["static"]


def test_its_claims_are_those_whose_studies_are_all_run_again(letters: Path) -> None:
    paper = read_paper(letters)
    (again,) = paper.profiled
    (claim,) = again.claims
    assert (claim.id, claim.again_of, claim.study) == (
        "letters 1 as printed", ("letters-chain", "letters 1"), "letters-as-printed-chain",
    )  # fmt: skip
    assert [claim.id for claim in paper.claims] == ["letters 1", "letters 2"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('readings = ["open"]', 'readings = ["opne"]', "again[0].readings: found 'opne'; allowed: points, or the name"),
        (
            'readings = ["open"]',
            'readings = ["open", { label = "w", set = { "defaults.window" = 3 } }]',
            "again[0].readings: found 'half a window' and 'w', which both set defaults.window; allowed: readings that",
        ),
        (
            'readings = ["open"]',
            'readings = [{ label = "r", routing = "aodv" }]',
            "again[0].readings: found 'r', which is another condition; allowed: readings that set keys",
        ),
        (
            'readings = ["open"]',
            'readings = ["printed"]',
            "again[0].readings: found 'long', which sets nothing of what is run; allowed: readings that do",
        ),
        ('["static"]\nname', '["dsdv"]\nname', 'again[0].conditions: found "dsdv"; allowed: static, aodv'),
        (
            'studies = ["letters-chain"]\nconditions = ["static"]',
            'studies = ["letters-chain", "letters-plain"]\nconditions = ["aodv"]',
            "again[0].conditions: found none that letters-plain has; allowed: one of its conditions at least",
        ),
    ],
)
def test_what_is_wrong_with_a_profile_is_said_with_its_line(old: str, new: str, expected: str, letters: Path) -> None:
    assert old in PAPER
    (letters / "paper.toml").write_text(PAPER.replace(old, new, 1))
    with pytest.raises(KeyedFileError) as refused:
        read_paper(letters)
    assert str(refused.value).startswith(f"{letters}/paper.toml:")
    assert expected in str(refused.value)


def test_profiles_are_found_where_they_are_asked_for(letters: Path) -> None:
    names = [study.name for study in registry.find([str(letters)])]
    assert names == ["letters-chain", "letters-plain"]
    again = [study.name for study in registry.find([str(letters)], "as-printed")]
    assert again == [*names, "letters-as-printed-chain"]
    with pytest.raises(registry.UnknownStudyError, match=r"found 'letter'; allowed: as-printed$"):
        registry.find([str(letters)], "letter")
    with pytest.raises(registry.UnknownStudyError, match=r"none of them is run again in a profile$"):
        registry.find(["gap-oracle-4"], "as-printed")
    assert not {study.profile for study in registry.find(["all"])} - {""}


def test_the_command_judges_a_profile_beside_our_decisions(letters: Path, cli: Cli, tmp_path: Path) -> None:
    run = ("study", "run", str(letters), "--store", "s", "--profile", "as-printed")
    done = cli(*run, "--json")
    assert done.returncode == 0, done.stderr
    found = {(one["id"], one["condition"].split(",")[0]): one for one in json.loads(done.stdout)["claims"]}
    assert len(found) == 2 + 1 + 1, "claim 1 twice, claim 2 under the condition that its studies share, 1 as printed"
    again = found["letters 1 as printed", "static routes"]
    assert again["again_of"] == {"study": "letters-chain", "id": "letters 1"}
    assert found["letters 1", "static routes"]["again_of"] is None
    assert again["value"] != found["letters 1", "static routes"]["value"]
    told = cli(*run, "--output", "v.md").stdout
    assert "by our decisions:" in told
    assert "Again, at other readings: 1 claims, 1 verdicts: " in told
    text = (tmp_path / "v.md").read_text()
    assert "\nAs printed: 1 claims, 1 verdicts: " in text
    assert "| | claim | paper | asked | static, our decisions | static, as printed |" in text
    assert "--profile as-printed`, engine" in text
    assert cli("study", "table", str(letters), "--store", "s", "--profile", "as-printed").stdout.count("\n## ") == 2
    assert "letters 1 as printed" in cli("study", "claims", str(letters), "--profile", "as-printed").stdout
    assert "letters 1 as printed" in (
        cli("study", "decide", str(letters), "--store", "s", "--budget", "1s", "--profile", "as-printed").stdout
    )
    done = cli("report", "--store", "s", "--study", str(letters), "--profile", "as-printed")
    assert done.returncode == 0, done.stderr
    assert "letters-as-printed-chain" in (tmp_path / "report.html").read_text()
    refused = expect_refusal(cli, "report", "--store", "s", "--profile", "printed")
    assert "--profile: found 'printed'; allowed: as-printed" in refused


def _outcome(name: str, profile: str = "", again_of: str = "") -> Outcome:
    (study,) = (study for study in registry.STUDIES if study.name == "gap-chain-up")
    cells = {cell: [] for cell in study.cells(Effort.QUICK)}
    return Outcome(replace(study, name=name, profile=profile, again_of=again_of), Effort.QUICK, cells, {})


def test_sums_of_a_page_keep_the_profile_apart() -> None:
    def claim(id_: str, verdict: Verdict, again_of: tuple[str, str] | None = None) -> Claim:
        condition = "AODV as in ns-2, ns-2 capture"
        return Claim(id_, "", (Finding(condition, verdict, "", id_),), id=id_, again_of=again_of)

    by_study = {
        "one": (claim("1", Verdict.HOLDS), claim("2", Verdict.FAILS)),
        "two": (claim("1", Verdict.FAILS),),
        "one-again": (
            claim("1 p", Verdict.FAILS, ("one", "1")), claim("2 p", Verdict.FAILS, ("one", "2")),
            claim("1 q", Verdict.FAILS, ("two", "1")),
        ),
    }  # fmt: skip
    outcomes = [_outcome("one"), _outcome("two"), _outcome("one-again", "as-printed", "one")]
    text = page(Campaign("c", running(), outcomes), by_study)
    assert "\n3 claims, 3 verdicts: 1 holds, 2 does not hold.\n" in text
    assert "\nAs printed: 3 claims, 3 verdicts: 3 does not hold. 1 of 3 verdicts differ from those by our" in text
    assert "| all, by quick | 3: 1 holds, 2 does not hold |" in text
    assert "| 1 p | 1 p | - | - | **holds** 1 | does not 1 p |" in text
    assert "| 1 q | 1 q | - | - | does not 1 | does not 1 q |" in text, "two claims of one number stand in two studies"
    assert told_in(text) == (), "there is no mark"
    assert beside_ours(by_study, by_study["two"]) == "0 of 0 verdicts differ from those by our decisions."


def _changed(study: Study) -> set[str]:
    """The schemes some of whose runs the readings change."""
    (base,) = (one for one in registry.STUDIES if one.name == study.again_of)
    changed = set()
    for cell in study.cells(Effort.QUICK):
        job, before = (one.job(Cell(cell.condition, cell.scheme, cell.point), 1, Effort.QUICK) for one in (study, base))
        if job != before:
            changed.add(cell.scheme)
    return changed


@pytest.mark.parametrize("study", registry.PROFILED, ids=lambda study: study.name)
def test_every_study_of_a_papers_profile_can_be_run_and_is_another(study: Study) -> None:
    assert study.claims or "wired-down" in study.name or "cbr-chain-1" in study.name, "a told study"
    assert _changed(study), "a reading changes something"
    for cell in {cell.scheme: cell for cell in study.cells(Effort.QUICK)}.values():
        engine.resolve(study.job(cell, 1, Effort.QUICK))


def test_each_of_the_five_papers_has_a_profile_as_printed() -> None:
    found = {study.paper for study in registry.PROFILED if study.profile == "as-printed"}
    assert found == {"gap", "thesis", "ingress-throttling", "llap", "we-tcp-ap"}
    assert registry.profiles() == ("as-printed",)
    ids = {claim.id for claim in CLAIMS}
    assert not any("as printed" in id_ for id_ in ids), "no verdict of ours stands on them"
    for study in registry.PROFILED:
        assert {claim.again_of[1] for claim in study.claims if claim.again_of} <= ids


def test_what_is_printed_is_set() -> None:
    """rt-Winf's table and equations 5 and 6 of WE TCP-AP; LLAP's algorithms 1 and 2."""
    by_name = {study.name: study for study in registry.PROFILED}
    mesh = dict(by_name["we-as-printed-mesh"].settings)
    assert (mesh["scheme.we-tcp-ap.rtwinf_busy"], mesh["scheme.we-tcp-ap.rtwinf_window"]) == ("role", '"inf"')
    assert mesh["scheme.we-tcp-ap.we_factor"] == "B"
    law = dict(by_name["llap-as-printed-table2"].settings)
    assert (law["scheme.llap.llap_core"], law["scheme.llap.llap_idle"]) == ("spacing", "free-core")
    assert law["scheme.llap.llap_clock"] == "algorithm-2"
