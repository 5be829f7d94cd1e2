"""Schemes of which their sources do not print all are named so wherever results are."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest

from commanding import CHAIN, Cli
from meshpace import engine

OURS = {
    "xcp-b": "the whole law, from memory (schemes.md 11.2)",
    "xcp-winf": "the law (schemes.md 11.3)",
    "rcp-winf": "the law (schemes.md 12)",
    "wcp": "the constants, from memory (schemes.md 13)",
    "wcpcap": "the model: wcpcap-airtime, max-min shares of the air (schemes.md 13)",
}


def test_the_list_of_schemes_has_them() -> None:
    rows = engine.schemes()
    assert {row["name"]: row["reconstructed"] for row in rows if row["reconstructed"]} == {
        name: [what] for name, what in OURS.items()
    }
    words = re.compile("reconstruct|from memory|surrogate")
    assert {row["name"] for row in rows if words.search(row["summary"])} == set(OURS)


@pytest.mark.parametrize("scheme", [*OURS, "xcp", "we-tcp-ap"])
def test_a_run_has_them(cli: Cli, chain: Path, scheme: str) -> None:
    found = json.loads(cli("run", chain, "--scheme", scheme, "--json").stdout)
    expected = {scheme: [OURS[scheme]]} if scheme in OURS else {}
    assert found.get("reconstructed", {}) == expected
    line = f"Reconstructed, as its source does not print it: of {scheme} "
    printed = cli("run", chain, "--scheme", scheme).stdout
    assert (line in printed) == (scheme in OURS)
    assert all(what in printed for whats in expected.values() for what in whats)


def test_a_scheme_of_ones_own_with_such_a_part_is_one(cli: Cli, tmp_path: Path) -> None:
    words = CHAIN.replace('scheme = "newreno"', 'scheme = "mine"')
    own = '\n[scheme.mine]\nbase = "xcp"\nrelay = "xcp-winf"\n'
    path = tmp_path / "own.toml"
    path.write_text(words + own)
    done = cli("run", path, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["reconstructed"] == {"mine": [OURS["xcp-winf"]]}


def test_sweeps_comparisons_and_pages_have_them(cli: Cli, chain: Path, tmp_path: Path) -> None:
    line = f"Reconstructed, as its source does not print it: of xcp-b {OURS['xcp-b']}."
    page, swept = tmp_path / "run.html", tmp_path / "sweep.html"
    schemes = ("--scheme", "newreno,xcp-b", "--seeds", 2, "--store", tmp_path / "store")
    # The second time from the store.
    for _ in range(2):
        assert cli("compare", chain, *schemes).stdout.count(line) == 1
    assert cli("sweep", chain, *schemes, "--report", swept).stdout.count(line) == 1
    cli("run", chain, "--scheme", "xcp-b", "--report", page)
    for written in (page, swept):
        assert line in html.unescape(written.read_text())
    assert "Reconstructed" not in cli("compare", chain, "--scheme", "newreno,tahoe", "--seeds", 2).stdout
