"""What holds outside a checkout: scenarios of the package, data frames, the list of schemes on a narrow terminal."""

from __future__ import annotations

import builtins
import json
import sys
from pathlib import Path
from typing import Any

import pytest

import meshpace
from commanding import Cli
from meshpace.frames import MissingPandasError
from test_bad_input import expect_refusal

SHORT = ("--set", "measure.duration=3s", "--set", "measure.warmup=1s")


def test_scenarios_of_the_package_are_found_from_any_folder(cli: Cli, tmp_path: Path) -> None:
    assert not (tmp_path / "scenarios").exists()
    done = cli("run", "scenarios/chain-adhoc.toml", *SHORT, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["scenario"] == "chain-adhoc"
    assert cli("check", "scenarios/rrul.toml").returncode == 0
    compared = cli("compare", "scenarios/chain-adhoc.toml", "--scheme", "newreno,tcp-ap", "--seeds", 2, *SHORT)
    assert compared.returncode == 0, compared.stderr
    # A file that lies there is the one that is meant.
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "chain-adhoc.toml").write_text("nothing = 1\n")
    assert "nothing" in expect_refusal(cli, "check", "scenarios/chain-adhoc.toml")
    assert "No such file" in expect_refusal(cli, "run", "scenarios/nowhere.toml")
    assert "No such file" in expect_refusal(cli, "run", "rrul.toml")


def test_from_python_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert meshpace.Scenario.load("scenarios/rrul.toml").validate().resolve()["name"] == "rrul"


def test_a_data_frame_without_pandas_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.partition(".")[0] == "pandas":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    run = meshpace.run(meshpace.Scenario.load("scenarios/chain-adhoc.toml").set("measure.duration", "3s").set(
        "measure.warmup", "1s"))  # fmt: skip
    with pytest.raises(MissingPandasError, match=r"pip install 'meshpace\[notebook\]'"):
        run.to_pandas()


def test_schemes_fit_a_hundred_columns(cli: Cli) -> None:
    table = cli("schemes").stdout
    assert max(map(len, table.splitlines())) <= 100
    assert "CUBIC over FQ-CoDel" in table
    line = next(line for line in table.splitlines() if line.startswith(" tcp-gap "))
    assert "newreno, pacing wireless-khd" in line
