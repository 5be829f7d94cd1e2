"""A scheme that replaces one which the scenario names for a flow: said; in a study refused unless asked for."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from commanding import CHAIN, Cli
from meshpace.engine import Job, resolve
from meshpace.precedence import replaced
from meshpace.study import registry
from meshpace.study.model import Effort, ReplacedSchemeError
from meshpace.study.written.own import read_study
from test_bad_input import expect_refusal

SHARED = f'{CHAIN}scheme = "newreno"\n\n[[flow]]\nfrom = "n0"\nto = "n2"\n'
STUDY = '[study]\nname = "mine"\nscenario = "shared.toml"\nschemes = ["newreno", "tcp-ap"]\n'


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """Two flows: NewReno's, whatever the others' scheme, and one of the default scheme."""
    (tmp_path / "shared.toml").write_text(SHARED)
    return tmp_path / "shared.toml"


@pytest.mark.parametrize("setting", ["flow.0.scheme=newreno", "flow[0].scheme = newreno", 'flow=[{from="n0",to="n1"}]'])
def test_what_is_set_stays(setting: str) -> None:
    job = Job("shared.toml", SHARED.encode(), (setting,), "tcp-ap")
    assert replaced(job) == {}
    assert replaced(job._replace(overrides=())) == {"flow.0.scheme": "newreno"}
    assert replaced(job._replace(overrides=("flow.0.schemes=x", "flow.01=x"))) == {"flow.0.scheme": "newreno"}
    assert replaced(job._replace(overrides=(), scheme="newreno")) == {}
    assert replaced(job._replace(overrides=(), scheme=None)) == {}
    first = resolve(job)["flows"][0]["scheme"]
    assert first == ("tcp-ap" if setting.startswith("flow=") else "newreno")


@pytest.mark.parametrize("command", ["run", "sweep", "compare"])
def test_commands_say_what_they_replace(command: str, cli: Cli, shared: Path) -> None:
    words = [command, shared.name, "--scheme", "tcp-ap" if command != "compare" else "newreno,tcp-ap", "--json"]
    done = cli(*words)
    assert done.returncode == 0, done.stderr
    said = 'shared.toml: --scheme tcp-ap replaces flow.0.scheme = "newreno"; what keeps it: --set flow.0.scheme=newreno'
    assert [line for line in done.stderr.splitlines() if "replaces" in line] == [said]
    json.loads(done.stdout)
    kept = cli(*words, "--set", "flow.0.scheme=newreno")
    assert "replaces" not in kept.stderr
    assert "--set radio.rate" in expect_refusal(cli, *words, "--set", "radio.rate=3Mbps"), "alone on its line"


def test_a_study_says_what_becomes_of_a_flows_own_scheme(cli: Cli, shared: Path) -> None:
    mine = shared.with_name("mine.toml")
    mine.write_text(STUDY)
    line = expect_refusal(cli, "study", "run", mine.name)
    assert line.startswith("mine.toml:4: study.schemes: found 'tcp-ap', which would replace flow.0.scheme = 'newreno'")
    assert not (shared.parent / "store" / "runs").exists(), "nothing was run"
    mine.write_text(f'{STUDY}set = {{ "flow.0.scheme" = "newreno" }}\n')
    jobs = [job for _, job in read_study(mine).jobs(Effort.QUICK)]
    assert {(job.scheme, resolve(job)["flows"][0]["scheme"]) for job in jobs} == {
        ("newreno", "newreno"),
        ("tcp-ap", "newreno"),
    }
    mine.write_text(f"{STUDY}replaces_schemes = true\n")
    jobs = [job for _, job in read_study(mine).jobs(Effort.QUICK)]
    assert {(job.scheme, resolve(job)["flows"][0]["scheme"]) for job in jobs} == {
        ("newreno", "newreno"),
        ("tcp-ap", "tcp-ap"),
    }


def test_the_utility_test_would_not_compare_a_scheme_with_itself() -> None:
    (study,) = registry.find(["we-utility-8"])
    cell = next(study.cells(Effort.QUICK))
    flows = resolve(study.job(cell, 1, Effort.QUICK))["flows"]
    assert [flow["scheme"] for flow in flows] == ["newreno"] * 8 + ["we-tcp-ap"] * 8
    forgetful = dataclasses.replace(study, settings=tuple(pair for pair in study.settings if "scheme" not in pair[0]))
    with pytest.raises(ReplacedSchemeError, match=r"we-utility-8: schemes: found 'we-tcp-ap'.*flow\.0\.scheme"):
        forgetful.job(cell, 1, Effort.QUICK)
