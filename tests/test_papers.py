"""Papers as folders: a small one is found, read and judged; what is wrong with its files is said with its line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from commanding import Cli
from documents import ROOT
from meshpace import engine
from meshpace.keyed import KeyedFileError
from meshpace.project import paper_directory
from meshpace.study import kept, registry
from meshpace.study.claims import Role
from meshpace.study.command import described
from meshpace.study.model import STATIC, Cell, Effort
from meshpace.study.stated import MARK, below
from meshpace.study.written.papers import folders, read_paper, read_papers, the_papers
from meshpace.study.written.parsed import parsed
from meshpace.study.written.vocabulary import words_of
from test_bad_input import expect_refusal

HEAD = """\
# A paper of one study.

[paper]
cite = "Small (A. Author, 2026)"
prefix = "small"
functions = "measures.py"

[rows]
lengths = [{ length = "1 hop", hops = 1 }, { length = "2 hops", hops = 2 }]
ends = [{ from = "n0", to = "n1" }, { from = "n1", to = "n0" }]

[values]
short = "12s"
longer = { "measure.warmup" = "4s" }
lossy = [{ each = "ends", from = "{from}", to = "{to}", loss = 0.5 }, { from = "n1", to = "n2", loss = 0.1 }]

[receptions]
near = { close = { "radio.tx_range" = "50m" } }
far = { wide = ["@longer", { "radio.tx_range" = "500m" }] }

[points]
rts = [
  { label = "as it is" },
  { label = "RTS/CTS", set = { "radio.rts" = "always", "scheme.tcp-ap.n" = 3 }, decisions = ["O2"] },
]
"""
STUDIES = """\
[defaults.study]
scenario = "chain-adhoc.toml"
schemes = ["newreno", "few"]
conditions = ["static"]
set = { "scheme.few,tcp-ap.initial_ssthresh" = 20 }
quick = { seeds = 2, set = { "measure.duration" = "@short", "measure.warmup" = "2s" } }
full = { seeds = 5 }

[study.small-lengths]
figures = ["Fig. 1", "Fig. 2"]
axis = { title = "hops, rate", point = [
  { each = [["lengths"], [2, 11]], label = "{length}, {value} Mbit/s", set = { "topology.hops" = "{hops}", "flow.0.to" = "n{hops}", "radio.rate" = "{value}Mbps" } },
] }

[study.small-switches]
axis = { point = ["rts", { label = "window 8", set = { "defaults.window" = 8 }, decisions = ["O1", "O2"] }] }

[claim."1.{n}"]
each = [{ n = 1, scheme = "newreno" }, { n = 2, scheme = "few" }]
statement = "{scheme} delivers something over every length."
printed = { at = "Fig. 1", text = "something", value = 1e6 }
every = { study = "small-lengths", scheme = "{scheme}" }
ask = [
  { measure = "of", quantity = "goodput", rule = "VALUE", low = 1e4 },
  { measure = "segments", rule = "BOUND", low = 1.0, points = ["* hops, *"], role = "guard" },
  { measure = "of", quantity = "goodput", along = "part", holds = "> 1e4", points = ["1 hop, *"], rule = "BOUND", low = 0.5, role = "beside", show = "share" },
]

[each.rate]
rows = [{ rate = 2 }, { rate = 11 }]

[each.rate.study."small-{rate}"]
set = ["@longer", { "radio.rate" = "{rate}Mbps", radio_link = "@lossy" }, { "measure.warmup" = "3s" }]
conditions = ["static close", "static wide"]
receptions = ["near", "far"]
decisions = ["O3"]
axis = { point = ["rts: RTS*"] }

[each.rate.claim."2.{rate}"]
statement = "At {rate} Mbit/s something arrives."
ask = { each = [{ scheme = "few", role = "beside" }, { scheme = "newreno" }], what = "{scheme.name}, goodput", scheme = "{scheme}", study = "small-{rate}", measure = "of", quantity = "goodput", rule = "BOUND", low = 1.0 }
"""
FUNCTIONS = '''\
"""What is read off the runs."""

from meshpace.study.measures import Measure, of
from meshpace.study.quantities import Quantity

SENT = Quantity("sent", "segments", "", lambda run: float(run["flows"][0]["segments_sent"]))


def segments(scheme: str) -> Measure:
    """Segments that the first flow sent."""
    return of(SENT, scheme)
'''


@pytest.fixture
def small(tmp_path: Path) -> Path:
    folder = tmp_path / "papers" / "small"
    folder.mkdir(parents=True)
    (folder / "paper.toml").write_text(HEAD)
    (folder / "1-lengths.toml").write_text(STUDIES)
    (folder / "measures.py").write_text(FUNCTIONS)
    return folder


def test_a_sixth_paper_is_one_folder(small: Path) -> None:
    for paper in folders(paper_directory()):
        shutil.copytree(paper, small.parent / paper.name, ignore=shutil.ignore_patterns("__pycache__"))
    found = read_papers(small.parent)
    assert [paper.name for paper in found[:-1]] == [paper.name for paper in the_papers()]
    assert found[-1].name == "small"
    assert [study.name for study in found[-1].studies] == ["small-lengths", "small-switches", "small-2", "small-11"]


def test_what_a_small_paper_says_is_what_is_run_and_asked(small: Path) -> None:
    paper = read_paper(small)
    lengths, switches, *_ = paper.studies
    assert [point.label for point in lengths.axis.points] == [
        "1 hop, 2 Mbit/s", "1 hop, 11 Mbit/s", "2 hops, 2 Mbit/s", "2 hops, 11 Mbit/s",
    ]  # fmt: skip
    job = lengths.job(Cell(STATIC, "few", "2 hops, 11 Mbit/s"), 1, Effort.QUICK)
    assert {"topology.hops=2", "flow.0.to=n2", "radio.rate=11Mbps", "measure.duration=12s"} <= set(job.overrides)
    assert "scheme.few.initial_ssthresh=20" in job.overrides
    assert not any("tcp-ap" in override for override in job.overrides), "what is said of schemes that are not run"
    engine.resolve(job)
    assert [point.settings for point in switches.axis.points][1] == (("radio.rts", "always"),)
    assert (lengths.full.seeds, lengths.full.measure) == (5, lengths.quick.measure)
    assert lengths.source == "Small (A. Author, 2026), Figs. 1 and 2"
    first, second, *_ = paper.claims
    assert (first.id, second.id) == ("small 1.1", "small 1.2")
    assert second.statement == "few delivers something over every length."
    assert (first.figure, first.source, first.value) == ("Fig. 1", "Small (A. Author, 2026), Fig. 1", 1e6)
    assert [ask.measure.schemes for ask in second.asks] == [("few",)] * 3
    assert second.asks[1].points == ("2 hops, 2 Mbit/s", "2 hops, 11 Mbit/s")
    assert second.asks[2].measure.along == ("1 hop, 2 Mbit/s", "1 hop, 11 Mbit/s")


def test_what_stands_once_for_several_is_said_of_each(small: Path) -> None:
    paper = read_paper(small)
    slow, fast = paper.studies[2:]
    assert dict(fast.settings) == {
        "scheme.few.initial_ssthresh": "20", "measure.warmup": "3s", "radio.rate": "11Mbps",
        "radio_link": '[{from = "n0", to = "n1", loss = 0.5}, {from = "n1", to = "n0", loss = 0.5}, '
        '{from = "n1", to = "n2", loss = 0.1}]',
    }  # fmt: skip
    assert dict(slow.settings)["radio.rate"] == "2Mbps"
    assert [point.label for point in slow.axis.points] == ["RTS/CTS"], "those of a set with that label"
    assert [condition.short for condition in slow.conditions] == ["static close", "static wide"]
    assert dict(slow.receptions) == {
        "close": (("radio.tx_range", "50m"),),
        "wide": (("measure.warmup", "4s"), ("radio.tx_range", "500m")),
    }
    claim = paper.claims[3]
    assert (claim.id, claim.statement) == ("small 2.11", "At 11 Mbit/s something arrives.")
    assert [(ask.what, ask.role, ask.studies) for ask in claim.asks] == [
        ("FeW, goodput", Role.BESIDE, ("small-11",)), ("NewReno, goodput", Role.CLAIM, ("small-11",)),
    ]  # fmt: skip


def test_decisions_that_studies_turn(small: Path) -> None:
    lengths, switches, slow, _ = read_paper(small).studies
    assert lengths.turned() == {}
    assert switches.turned() == {"O2": ("RTS/CTS", "window 8"), "O1": ("window 8",)}
    assert slow.turned() == {"O3": (), "O2": ("RTS/CTS",)}
    assert described(switches)["decisions"] == [
        {"decision": "O2", "points": ("RTS/CTS", "window 8")}, {"decision": "O1", "points": ("window 8",)},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('[study.small-lengths]', '[study."small lengths"]', "9: study.small lengths.name: found 'small lengths'"),
        ('[study.small-switches]', '[study."small-{rate}"]\neach = [{ rate = 2 }]\n', "small-2: found two studies of that name"),
        ('scenario = "chain-adhoc.toml"', 'scenario = "chian.toml"', "study.small-lengths.scenario: found 'chian.toml'; allowed: a"),
        ('schemes = ["newreno", "few"]', 'schemes = ["newreno", "fwe"]', 'study.small-lengths.schemes: found "fwe"; allowed: '),
        ('["static"]', '["statik"]', 'study.small-lengths.conditions: found "statik"; allowed: as written, aodv'),
        ("{ seeds = 5 }", "{ seeds = 0 }", "study.small-lengths.full.seeds: found 0; allowed: a whole number, 1 to"),
        ("{ seeds = 5 }", "{ sedes = 5 }", "study.small-lengths.full.sedes: found an unknown key; allowed: "),
        ('"@short"', '"@shrot"', "found '@shrot'; allowed: @ and one of short"),
        ('[["lengths"], [2, 11]]', '"length"', "each: found 'length'; allowed: rows, or the name of some: lengths"),
        ('label = "{length}, {value} Mbit/s"', 'label = "{length}"', "axis.point: found two points '1 hop'"),
        ('point = ["rts", ', 'point = ["cts", ', "study.small-switches.axis.point: found 'cts'; allowed: points, or the name of a set"),
        ('figures = ["Fig. 1", "Fig. 2"]', 'figure = "Fig. 1"', "study.small-lengths.figure: found an unknown key"),
        ('[claim."1.{n}"]', '[[claim]]\nnumber = "1.{n}"', "claim[0].id: found nothing; allowed: a text"),
        ('{ at = "Fig. 1",', '{ in = "Fig. 1",', "claim.1.{n}.printed.in: found an unknown key; allowed: at, text, value"),
        ('study = "small-lengths", scheme', 'study = "small-length", scheme', 'study: found "small-length"; allowed: '),
        ('measure = "of", quantity = "goodput", rule', 'measure = "off", quantity = "goodput", rule', 'measure: found "off"'),
        ('quantity = "goodput", rule', 'quantity = "godput", rule', 'ask[0].quantity: found "godput"; allowed: goodput'),
        ('measure = "segments", rule', 'measure = "segments", quantity = "rtt", rule', "ask[1].quantity: found an unknown"),
        ('points = ["* hops, *"]', 'points = ["* hosp, *"]', 'ask[1].points: found "* hosp, *"; allowed: 1 hop, 2 Mbit/s'),
        ('holds = "> 1e4"', 'holds = "1e4"', "ask[2].holds: found '1e4'; allowed: >, >=, < or <= and a number"),
        ('along = "part"', 'along = "parts"', 'ask[2].along: found "parts"; allowed: part, mean, rank'),
        ('role = "guard"', 'role = "guards"', 'ask[1].role: found "guards"; allowed: claim, guard, beside'),
        ('rule = "VALUE", low = 1e4', 'rule = "VALUE"', "ask[0].rule: found VALUE without an end; allowed: low, high"),
        ('scheme = "{scheme}" }\n', 'scheme = "{schemes}" }\n', 'scheme: found "{schemes}"; allowed: newreno, few'),
        ('study = "small-lengths", ', 'study = "small-lengths", over = "few", ', "claim.1.{n}.every.over: found an unknown key"),
        ('every = {', 'over = "few"\nevery = {', "claim.1.{n}.over: found an unknown key; allowed: printed, source, id"),
        ('rows = [{ rate = 2 }', 'row = [{ rate = 2 }', "each.rate.rows: found nothing; allowed: a list of rows"),
        ('{ rate = 11 }]', '{ rate = 11, ratio = 1 }]', "each.rate.ratio: found an unknown key; allowed: study, claim"),
        ('["near", "far"]', '["near", "fra"]', 'each.rate.study.small-2.receptions: found "fra"; allowed: near, far'),
        ('set = ["@longer", {', 'set = [5, {', "each.rate.study.small-2.set: found [{"),
        ('"rts: RTS*"', '"rts: CTS*"', 'each.rate.study.small-2.axis.point: found "CTS*"; allowed: as it is, RTS/CTS'),
        ('decisions = ["O3"]', 'decisions = "O3"', "each.rate.study.small-2.decisions: found \"O3\"; allowed: a list of texts"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_paper_is_said_with_its_line(old: str, new: str, expected: str, small: Path) -> None:
    assert old in STUDIES
    (small / "1-lengths.toml").write_text(STUDIES.replace(old, new, 1))
    with pytest.raises(KeyedFileError) as refused:
        read_paper(small)
    message = str(refused.value)
    assert expected in message
    assert "; allowed: " in message
    if "two studies" not in expected:
        assert message.startswith(f"{small}/1-lengths.toml:")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('cite = "Small (A. Author, 2026)"\n', "", "paper.toml:3: paper.cite: found nothing; allowed: a text"),
        ('prefix = "small"', "prefix = 1", "paper.toml:5: paper.prefix: found 1; allowed: a text"),
        ('"measures.py"', '"measure.py"', "measure.py: found no such file; allowed: a Python file"),
        ("[paper]", "[papre]", "paper.toml:1: paper.cite: found nothing"),
        ("[rows]", "[row]", "paper.toml:8: row: found an unknown key"),
        ("[paper]", "[paper", "found what is no TOML"),
        (
            "[rows]",
            '[unjudged]\n"1.2" = "a test"\n\n[rows]',
            "paper.toml:9: unjudged.1.2: found a claim that is judged",
        ),
        ("[rows]", "[unjudged]\nx = 1\n\n[rows]", "paper.toml:9: unjudged.x: found 1; allowed: a text"),
    ],
)
def test_what_is_wrong_with_its_head_is_said_too(old: str, new: str, expected: str, small: Path) -> None:
    (small / "paper.toml").write_text(HEAD.replace(old, new, 1))
    with pytest.raises(KeyedFileError) as refused:
        read_paper(small)
    if "row" not in new or "[row]" not in new:
        assert expected in str(refused.value)


def test_python_that_does_not_run_is_refused(small: Path) -> None:
    (small / "measures.py").write_text("import nothing_of_that_name\n")
    with pytest.raises(KeyedFileError, match=r"measures\.py: found ModuleNotFoundError: .*; allowed: Python that runs"):
        read_paper(small)


def test_every_paper_has_at_most_one_python_file() -> None:
    for folder in folders(paper_directory()):
        assert len(list(folder.glob("*.py"))) <= 1, folder


@pytest.mark.parametrize("paper", [paper.name for paper in the_papers()])
def test_what_a_paper_adds_is_used(paper: str) -> None:
    folder = paper_directory() / paper
    if not (folder / "measures.py").is_file():
        return
    words, text = words_of(folder / "measures.py"), "".join(path.read_text() for path in folder.glob("*.toml"))
    from meshpace.study.written.vocabulary import shared

    for name in [*words.measures, *words.makers]:
        assert name in shared().measures or f'"{name}"' in text, name


def test_a_file_that_changed_is_read_anew(small: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert read_paper(small).cite == read_paper(small).cite == "Small (A. Author, 2026)"
    assert len(list((tmp_path / "cache/meshpace/toml").iterdir())) >= 2
    (small / "paper.toml").write_text(HEAD.replace("2026", "2027"))
    assert read_paper(small).cite == "Small (A. Author, 2027)"
    for file in (tmp_path / "cache/meshpace/toml").iterdir():
        file.write_text('{"paper": ')
    assert read_paper(small).cite == "Small (A. Author, 2027)", "what is broken is made again"
    assert parsed(small / "paper.toml").raw("paper")["prefix"] == "small"


def test_what_is_kept_is_of_that_stamp_and_needs_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    file = tmp_path / "a"
    file.write_text("1")
    first = kept.stamp_of([file])
    assert kept.stamp_of([file]) == first
    assert kept.kept("of-tests", first, lambda: [1]) == kept.kept("of-tests", first, lambda: [2]) == [1]
    file.write_text("22")
    assert kept.kept("of-tests", kept.stamp_of([file]), lambda: [2]) == [2]
    monkeypatch.setenv("XDG_CACHE_HOME", str(file))  # no folder can be made there
    assert kept.kept("of-tests", first, lambda: [3]) == [3]


def test_the_list_is_that_of_the_papers(capsys: pytest.CaptureFixture[str]) -> None:
    from meshpace.study.listing import print_studies

    print_studies(as_json=True)
    listed = json.loads(capsys.readouterr().out)["studies"]
    assert [study["name"] for study in listed] == [study.name for study in registry.STUDIES]


@pytest.mark.parametrize("paper", [paper for paper in the_papers() if paper.catalogue], ids=lambda paper: paper.name)
def test_tables_of_catalogues_are_up_to_date(paper) -> None:  # type: ignore[no-untyped-def]
    path = ROOT / "docs" / "experiments" / f"{paper.catalogue}.md"
    text = path.read_text(encoding="utf-8")
    assert text.count(MARK) == 1
    assert below(text, paper) == text, "meshpace study claims all --write docs/experiments"


MINE = """\
[paper]
cite = "A note"
prefix = "note"
functions = "measures.py"

[study.note-chain]
scenario = "chain-adhoc.toml"
schemes = ["newreno"]
conditions = ["static"]
quick = { seeds = 2, set = { "measure.duration" = "6s", "measure.warmup" = "2s" } }

[claim.1]
statement = "Something is sent."
ask = { study = "note-chain", measure = "segments", scheme = "newreno", rule = "BOUND", low = 1.0 }
"""


def test_a_paper_in_a_folder_of_ones_own_is_run_and_judged(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "note"
    folder.mkdir()
    (folder / "paper.toml").write_text(MINE)
    (folder / "measures.py").write_text(FUNCTIONS)
    done = cli("study", "run", "note", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["runs"]["made"] == 2
    assert [(claim["id"], claim["verdict"]) for claim in found["claims"]] == [("note 1", "holds")]
    page = cli("report", "--study", "note", "-o", "note.html")
    assert page.returncode == 0, page.stderr
    assert "Something is sent." in (tmp_path / "note.html").read_text()
    (folder / "paper.toml").write_text(MINE.replace('"segments"', '"segmets"'))
    assert 'paper.toml:14: claim.1.ask.measure: found "segmets"' in expect_refusal(cli, "study", "run", "note")
    folder.rename(tmp_path / "gap-random")
    assert "21.1" in cli("study", "claims", "gap-random").stdout, "names of papers' studies go before folders"
