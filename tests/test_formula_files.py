"""Formulas in files: ``--scheme FILE.py:CLASS`` in every command that takes one; commands that repeat points."""

from __future__ import annotations

import json
import pickle
import re
import shlex
import sys
from pathlib import Path

import pytest

import meshpace
from commanding import CHAIN, Cli
from formulas import Slow
from meshpace.formula import FormulaError
from meshpace.formula_files import formula
from meshpace.study.record import key_of
from meshpace.study.store import Store

OWN = """\
import meshpace


class Halved(meshpace.Formula):
    def on_ack(self, ack):
        return meshpace.Reply(interval=ack.rtt / (2 * ack.hops)) if ack.rtt and ack.hops else None


class Broken(meshpace.Formula):
    def on_ack(self, ack):
        return 1 / 0


class Wrong(meshpace.Formula):
    def on_ack(self, ack):
        return meshpace.Reply(interval=-1.0)


class Baseless(Halved):
    base = "newrino"


class Odd(Halved):
    parameters = {"rto_mim": 1}


class Deaf(meshpace.Formula):
    pass
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mesh.toml").write_text(CHAIN)
    (tmp_path / "own.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_run_and_sweep_take_it_and_every_point_names_the_command_that_repeats_it(cli: Cli, folder: Path) -> None:
    done = cli(
        "sweep", "mesh.toml", "--vary", "radio.rate=2Mbps,11Mbps", "--scheme", "newreno,own.py:Halved", "--seeds", "2",
        "--executor", "processes", "--threads", "2", "--report", "sweep.html", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    points = json.loads(done.stdout)["points"]
    assert [point["scheme"] for point in points] == ["newreno", "halved"] * 2
    page = (folder / "sweep.html").read_text()
    for point in points:
        words = shlex.split(point["command"])
        assert words[0] == "meshpace"
        again = cli(*words[1:], "--json")
        assert again.returncode == 0, again.stderr
        found = [run["flows"][0]["goodput_bps"] for run in json.loads(again.stdout)["runs"]]
        assert sum(found) / len(found) == pytest.approx(point["quantities"]["goodput"]["mean"], rel=1e-12)
        assert point["command"] in page
    made_by = "meshpace sweep mesh.toml --vary radio.rate=2Mbps,11Mbps --scheme newreno --scheme own.py:Halved"
    assert made_by in re.sub("<[^>]*>", "", page)
    stored = [record.job.command() for record in Store(folder / "store").get(Store(folder / "store").keys()).values()]
    assert len(stored) == 8


@pytest.mark.usefixtures("folder")
def test_it_is_the_class(cli: Cli) -> None:
    one = cli("run", "mesh.toml", "--scheme", "own.py:Halved", "--json", "--why")
    mesh = meshpace.Scenario.load("mesh.toml")
    by_word, by_class = (meshpace.run(mesh, scheme=which) for which in ("own.py:Halved", formula("own.py:Halved")))
    assert json.loads(one.stdout)["flows"] == by_word["flows"] == by_class["flows"]
    assert by_word["flows"][0]["pacing_interval_s"] > 0
    compared = cli("compare", "mesh.toml", "--scheme", "newreno,own.py:Halved", "--seeds", "2")
    assert "halved" in compared.stdout


def test_reports_of_runs_name_the_file(cli: Cli, folder: Path) -> None:
    done = cli("run", "mesh.toml", "--scheme", "own.py:Halved", "--film", "film.html")
    assert done.returncode == 0, done.stderr
    page = re.sub("<[^>]*>", "", (folder / "film.html").read_text())
    assert "meshpace run mesh.toml --scheme own.py:Halved --seed 1" in page


def test_what_is_in_no_file_is_said(folder: Path) -> None:
    class Local(Slow):
        """In a function."""

    mesh = meshpace.Scenario(CHAIN, "typed.toml")
    assert mesh.job(Slow).command().startswith("# in no file, save first: typed.toml; then: meshpace run typed.toml")
    loaded = meshpace.Scenario.load("mesh.toml")
    word = Slow.word()
    assert loaded.copy().job(Slow).command() == f"meshpace run mesh.toml --scheme {word} --seed 1"
    assert word is not None
    assert formula(word).source() == Slow.source(), "the same runs, however it is given"
    found = meshpace.sweep(loaded, scheme=["newreno", Local], seeds=2, store=folder / "store")
    found.save("sweep.html")
    page = (folder / "sweep.html").read_text()
    assert "# in no file, save first: the class" in page
    assert "Local; then: meshpace run mesh.toml --scheme local.py:Local --seeds 2" in page


def test_stores_know_the_code(cli: Cli, folder: Path) -> None:
    def made(store: str = "store") -> int:
        words = ("sweep", "mesh.toml", "--scheme", "own.py:Halved", "--seeds", "2", "--store", store, "--json")
        done = cli(*words)
        assert done.returncode == 0, done.stderr
        return int(json.loads(done.stdout)["runs"]["made"])

    assert (made(), made(), made("elsewhere")) == (2, 0, 2)
    (folder / "own.py").write_text(OWN.replace("2 * ack.hops", "3 * ack.hops"))
    assert made() == 2, "another formula"
    mixed = cli("compare", "store", "elsewhere")
    assert mixed.returncode == 2
    assert "store: found runs of several versions of the formula halved; allowed: one" in mixed.stderr
    (folder / "own.py").write_text(OWN)
    assert made() == 0
    (folder / "helper.py").write_text("SHARE = 2\n")
    (folder / "own.py").write_text(OWN.replace("import meshpace", "import meshpace\nfrom helper import SHARE", 1))
    assert made("other") == 2
    (folder / "helper.py").write_text("SHARE = 3\n")
    assert made("other") == 2, "what it imports is part of it"
    assert made("other") == 0


def test_a_job_travels_with_its_formulas_text(folder: Path) -> None:
    job = meshpace.Scenario.load("mesh.toml").job("own.py:Halved")
    key, sent = key_of(job), pickle.dumps(job)
    (folder / "own.py").unlink()
    del sys.modules[job.formulas[0].__module__]
    there = pickle.loads(sent)
    assert there.formulas[0] is not job.formulas[0]
    assert key_of(there) == key
    assert meshpace.engine.run_many([there])[0]["flows"] == meshpace.engine.run_many([job])[0]["flows"]


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("own.py:Halve", "--scheme own.py:Halve: found 'Halve', did you mean Halved?; allowed: FILE.py:CLASS with"),
        ("own.py", "--scheme own.py: found no class; allowed: FILE.py:CLASS with Halved, Broken"),
        ("nowhere.py:Halved", "--scheme nowhere.py:Halved: nowhere.py: No such file or directory"),
        ("own:Halved", "--scheme own:Halved: found 'own:Halved'; allowed: the name of a scheme, or FILE.py:CLASS"),
        ("own.py:meshpace", "--scheme own.py:meshpace: found meshpace, which is no formula"),
        ("own.py:Broken", "own.py:11: ZeroDivisionError: division by zero"),
        ("own.py:Wrong", "own.py:15: Wrong.interval: found -1; allowed: seconds"),
        ("own.py:Baseless", 'mesh.toml: Baseless.base: found "newrino"; allowed: a scheme'),
        ("own.py:Odd", 'mesh.toml: Odd.parameters, rto_mim: found no such parameter (did you mean "rto_min"?)'),
        ("own.py:Deaf", "Deaf.on_ack: found none; allowed: it, on_segment"),
        ("bad.py:A", "bad.py:2: ModuleNotFoundError: No module named 'nowhere'"),
        ("worse.py:A", "worse.py:1: SyntaxError"),
        ("empty.py:A", "empty.py: found no formula; allowed: a class of meshpace.Formula"),
        ("leaves.py:A", "leaves.py:1: SystemExit: 3"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_it_is_told(cli: Cli, folder: Path, word: str, said: str) -> None:
    for name, text in (
        ("bad.py", "\nimport nowhere\n"), ("worse.py", "class (:\n"), ("empty.py", ""),
        ("leaves.py", "raise SystemExit(3)"),
    ):  # fmt: skip
        (folder / name).write_text(text)
    for words in (("run",), ("sweep", "--seeds", "1", "--csv", "out.csv", "--executor", "processes", "--threads", "1")):
        done = cli(words[0], "mesh.toml", "--scheme", word, *words[1:])
        assert done.returncode == 2, done.stdout
        assert done.stderr.startswith(said), done.stderr
        assert done.stderr.count("\n") == 1
        assert not (folder / "out.csv").exists()


def test_who_takes_none_says_so(cli: Cli, folder: Path) -> None:
    done = cli("crosscheck", "mesh.toml", "--scheme", "own.py:Halved")
    assert done.returncode == 2
    assert "--scheme: found own.py:Halved; allowed: the name of a scheme" in done.stderr
    again = cli("sweep", "mesh.toml", "--scheme", "own.py:Halved,own.py:Halved")
    assert (again.returncode, "allowed: each scheme once" in again.stderr) == (2, True)
    (folder / "other.py").write_text(OWN)
    twins = cli("sweep", "mesh.toml", "--scheme", "own.py:Halved,other.py:Halved")
    assert twins.stderr.startswith("--scheme: found two formulas called halved; allowed: a name of its own for each")
    with pytest.raises(FormulaError, match="found 'Nope'"):
        meshpace.run("mesh.toml", scheme="own.py:Nope")
