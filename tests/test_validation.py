"""The harness itself: tolerances, the table, the exit status. What the engine gives is `make validate`'s business."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Cli
from meshpace import engine
from meshpace.stats import Estimate
from meshpace.validation import command, explained
from meshpace.validation.document import document
from meshpace.validation.families import FAMILIES
from meshpace.validation.model import Absolute, Count, Relative, SameSide, Verdict


@pytest.mark.parametrize(
    ("tolerance", "ours", "reference", "within"),
    [
        (Relative(0.1), 109.9, 100, True), (Relative(0.1), 110.1, 100, False), (Relative(0.1), 89.9, 100, False),
        (Count(), 30, 20, True), (Count(), 31, 20, False), (Count(), 13.4, 20, True), (Count(), 13.2, 20, False),
        (Count(), 15, 0, True), (Count(), 15.1, 0, False), (Count(), 34, 19.9, True), (Count(), 35, 19.9, False),
        (Absolute(0.05), 0.96, 1, True), (Absolute(0.05), 0.94, 1, False),
        (SameSide(), 1.1, 3, True), (SameSide(), 0.9, 3, False), (SameSide(), 0.9, 0.5, True),
    ],
)  # fmt: skip
def test_tolerances(tolerance: Relative | Count, ours: float, reference: float, within: bool) -> None:
    assert tolerance.within(ours, reference) is within


@pytest.mark.parametrize("name", FAMILIES)
def test_every_setup_is_a_scenario_that_resolves(name: str) -> None:
    setups = list(FAMILIES[name]())
    assert setups
    for setup in setups:
        assert setup.checks
        resolved = engine.resolve(setup.job(1))
        assert resolved["flows"]


def test_explanations_belong_to_rows_that_exist() -> None:
    keys = {
        f"{setup.family}: {check.name}: {check.quantity}"
        for make in FAMILIES.values() for setup in make() for check in setup.checks
    }  # fmt: skip
    assert set(explained.EXPLAINED) <= keys


def test_a_miss_fails_unless_it_is_explained(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import typer

    setup = next(FAMILIES["chain_adhoc"]())
    check = setup.checks[0]
    miss = Verdict("chain_adhoc", check, Estimate(check.reference * 2, 0.1, 3), setup.job(1))
    monkeypatch.setattr(command, "judge", lambda *_: [miss])
    with pytest.raises(typer.Exit) as end:
        command.validate(["chain_adhoc"], 1, False, None, None)
    assert end.value.exit_code == 1
    assert "repeat with: meshpace run scenarios/chain-adhoc.toml" in capsys.readouterr().out
    monkeypatch.setitem(explained.EXPLAINED, miss.key, "because")
    command.validate(["chain_adhoc"], 1, False, None, None)
    assert "because" in capsys.readouterr().out
    assert "because" in document([miss], 1.0)


def test_one_family_end_to_end(cli: Cli, tmp_path: Path) -> None:
    done = cli("validate", "--family", "osipov_crit", "--quick", "-o", "validation.md")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "14 of 14 rows pass" in done.stdout
    page = (tmp_path / "validation.md").read_text()
    assert "| osipov_crit | 14 | 14 | 0 | 0 |" in page


def test_an_unknown_family_is_refused(cli: Cli) -> None:
    done = cli("validate", "--family", "nonsense")
    assert (done.returncode, done.stdout) == (2, "")
    assert "allowed: chain_adhoc" in done.stderr
