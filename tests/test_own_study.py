"""A study as a TOML file: it is run, judged and reported as the papers' are; what is wrong is said with its line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from commanding import CHAIN, Cli
from documents import ROOT
from meshpace.keyed import KeyedFileError, read, written
from meshpace.study import registry
from meshpace.study.written.own import read_study
from test_bad_input import expect_refusal

EXAMPLE = ROOT / "docs" / "examples" / "pacing-over-hops.toml"
STUDY = """\
[study]
name = "mine"
scenario = "chain.toml"
schemes = ["newreno", "slow"]
set = { "scheme.slow.base" = "newreno", "scheme.slow.pacing" = "fixed" }

[axis]
title = "rate"
vary = "radio.rate=2Mbps,11Mbps"

[[condition]]
name = "with RTS"
set = { radio.rts = "always" }

[[condition]]
name = "without"
set = { radio.rts = "never" }

[quick]
seeds = 3

[full]
seeds = 4
points = ["11Mbps"]

[[claim]]
id = "1"
statement = "Without RTS/CTS NewReno delivers 0.1 to 9 Mbit/s."
value = 2e6

[[claim.ask]]
measure = "of"
quantity = "goodput"
scheme = "newreno"
rule = "VALUE"
low = 1e5
high = 9e6

[[claim.ask]]
measure = "difference"
quantity = "goodput"
scheme = "slow"
over = "newreno"
rule = "MORE"
role = "beside"
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    (tmp_path / "chain.toml").write_text(CHAIN)
    (tmp_path / "mine.toml").write_text(STUDY)
    return tmp_path / "mine.toml"


def test_the_example_is_run_judged_and_reported(cli: Cli, tmp_path: Path) -> None:
    done = cli("study", "run", EXAMPLE, "--json", "-o", "verdicts.md")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["runs"] == {"made": 3 * 2 * 2 * 4, "stored": 0, "others": 0}
    verdicts = {(claim["id"], claim["condition"]): claim for claim in found["claims"]}
    aodv, static = "AODV as in ns-2, ns-2 capture", "static routes, ns-2 capture"
    assert len(verdicts) == 3 * 2
    assert verdicts["1", aodv]["verdict"] == verdicts["1", static]["verdict"] == "holds"
    assert verdicts["2", static]["verdict"] == "does not hold", "the gain is AODV's"
    assert verdicts["2", static]["asked"].endswith("at least +10.0 %, plausible to +200.0 %")
    assert "NewReno's goodput falls" in (tmp_path / "verdicts.md").read_text()
    again = cli("study", "run", EXAMPLE, "--json")
    assert json.loads(again.stdout)["runs"]["made"] == 0
    page = cli("report", "--study", EXAMPLE, "-o", "mine.html")
    assert page.returncode == 0, page.stderr
    text = (tmp_path / "mine.html").read_text()
    assert "Pacing over the length of a chain" in text
    assert "NewReno&#39;s goodput falls with the length." in text
    assert "TCP-GAP, figure by figure" not in text
    assert "| 6 | TCP-AP |" in cli("study", "table", EXAMPLE).stdout
    decided = cli("study", "decide", EXAMPLE, "--budget", "0s", "--json")
    assert json.loads(decided.stdout)["efforts"] == {"pacing-over-hops": "quick"}


def test_what_a_file_says_is_what_is_run(cli: Cli, mine: Path) -> None:
    study = read_study(mine)
    assert [condition.name for condition in study.conditions] == ["with RTS", "without"]
    assert [point.label for point in study.axis.points] == ["2Mbps", "11Mbps"]
    assert (study.quick.seeds, study.full.seeds, study.full.points) == (3, 4, ("11Mbps",))
    done = cli("study", "run", "mine.toml", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["runs"]["made"] == 2 * 2 * 2 * 3
    by_condition = {claim["condition"]: claim for claim in found["claims"]}
    assert {claim["verdict"] for claim in by_condition.values()} == {"holds"}
    assert by_condition["without"]["value"] > by_condition["with RTS"]["value"], "conditions set what they say"
    assert registry.find(["mine.toml"] if Path.cwd() == mine.parent else [str(mine)])[0].name == "mine"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('name = "mine"', 'name = "My study"', ":2: study.name: found 'My study'; allowed: small letters"),
        ('name = "mine"', 'name = "gap-random"', "which another study has"),
        ('name = "mine"', "", ":1: study.name: found nothing"),
        ('"chain.toml"', '"chian.toml"', ":3: study.scenario: found 'chian.toml'"),
        ('"chain.toml"', r'"\u0000"', ":3: study.scenario: found"),
        ("low = 1e5", "low = nan", ".low: found NaN; allowed: a number"),
        ("low = 1e5", f"low = 1{'0' * 400}", "; allowed: a number"),
        ('"slow"]', '"slwo"]', ':4: study.schemes: found "slwo"'),
        ("schemes =", "shcemes =", ":1: study.schemes: found shcemes instead"),
        ("[quick]\nseeds = 3", "[quick]\nseeds = 0", ":20: quick.seeds: found 0; allowed: a whole number, 1 to"),
        ("[quick]\nseeds = 3", "[quick]\nsaeds = 3", ":20: quick.saeds: found an unknown key"),
        ('points = ["11Mbps"]', 'points = ["11mbps"]', ":24: full.points: found"),
        ('vary = "radio.rate=2Mbps,11Mbps"', 'vary = "radio.rate"', ":9: axis.vary: found 'radio.rate'; allowed: KEY"),
        ('name = "without"', 'name = "static"', ":16: condition[1].name: found 'static'; allowed: a name other than"),
        ('rule = "VALUE"', 'rule = "VALUES"', ':35: claim[0].ask[0].rule: found "VALUES"; allowed: MORE'),
        ("low = 1e5\nhigh = 9e6", "low = 1e5\nhigh = 9e4", ":36: claim[0].ask[0].low: found 100000"),
        ('over = "newreno"', 'over = "slow"', ":43: claim[0].ask[1].over: found 'slow'; allowed: another scheme"),
        ('rule = "MORE"\nrole = "beside"', 'rule = "UP-TO"\nrole = "besides"', ":45: claim[0].ask[1].role"),
        (
            'id = "1"\n',
            'id = "1"\nnote = 1\n',
            ":28: claim[0].note: found an unknown key; allowed: each, printed, figure, source, value, id, every, ask",
        ),
        ("[quick]\n", "[quick\n", ":19: found what is no TOML"),
        (
            'radio.rts = "never"',
            'radio.rts = "sometimes"',
            'chain.toml: condition[1].set, radio.rts: found "sometimes"',
        ),
        ('vary = "radio.rate=', 'vary = "radio.rat=', 'chain.toml: axis, radio.rat: found the unknown key "rat"'),
        ('"scheme.slow.pacing" = "fixed"', '"scheme.slow.pace" = 1', "study.set, scheme.slow.pace: found no such"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(old: str, new: str, expected: str, cli: Cli, mine: Path) -> None:
    assert old in STUDY
    mine.write_text(STUDY.replace(old, new, 1))
    message = expect_refusal(cli, "study", "run", "mine.toml")
    assert message.startswith("mine.toml:")
    assert expected in message
    assert "--set" not in message, "nobody wrote it"
    assert not (mine.parent / "store").exists()


def test_a_claim_of_points_where_there_is_no_axis(cli: Cli, mine: Path) -> None:
    without = STUDY.replace('[axis]\ntitle = "rate"\nvary = "radio.rate=2Mbps,11Mbps"\n', "").replace(
        'points = ["11Mbps"]\n', ""
    )
    mine.write_text(without.replace('rule = "MORE"\n', 'rule = "MORE"\npoints = ["4"]\n'))
    message = expect_refusal(cli, "study", "run", "mine.toml")
    assert message.endswith("claim[0].ask[1].points: found points; allowed: none, since there is no [axis]")


def test_a_file_that_is_not_there(cli: Cli) -> None:
    assert "none.toml" in expect_refusal(cli, "study", "run", "none.toml")


def test_lines_of_keys(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text('a = 1\n[[b]]\n"c.d" = 2\n[[b.e]]\nf = [\n 1,\n]\n[[b]]\n[[b.e]]\n[[b.e]]\nf = true # [x]\n')
    with pytest.raises(KeyedFileError, match=r"a\.toml:11: b\[1\]\.e\[1\]\.f: found true; allowed: a number"):
        read(path).tables("b")[1].tables("e")[1].number("f")
    with pytest.raises(KeyedFileError, match=r"a\.toml:5: b\[0\]\.e\[0\]\.f"):
        read(path).tables("b")[0].tables("e")[0].text("f")


def test_values_as_settings_read_them_back() -> None:
    assert [written(value) for value in (True, 2, 0.5, "2Mbps", "1", [1, "n2"])] == [
        "true", "2", "0.5", "2Mbps", '"1"', '[1, "n2"]',
    ]  # fmt: skip
    assert written([{"from": "a", "on": True}]) == '[{from = "a", on = true}]'


def test_a_study_on_several_machines_finds_its_scenario_beside_it(tmp_path: Path, mine: Path) -> None:
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for name in ("mine.toml", "chain.toml"):
        shutil.copy(mine.parent / name, moved)
    assert read_study(moved / "mine.toml").scenario == str(moved / "chain.toml")
