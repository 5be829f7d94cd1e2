"""A store made before an edit is never taken for its result, and what changes no result costs no run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from meshpace import engine
from meshpace.project import scenario_directory
from meshpace.study import bins
from meshpace.study.code import code_of, fingerprint
from meshpace.study.executors import workers
from meshpace.study.model import Effort
from meshpace.study.runner import Tally, make, tasks
from meshpace.study.store import Store
from study_child import small

ROOT = scenario_directory().parent
STUDY = small(seeds=1, duration=2)
RUNS = 12


@pytest.fixture(scope="module")
def fingerprint_of() -> Callable[[Path], str]:
    """Takes a tree's fingerprint with the program that gave the extension its own: the crate's build script."""
    built = (ROOT / "target").glob("*/build/meshpace-python-*/build-script-build")
    script = max(built, key=lambda path: path.stat().st_mtime, default=None)
    assert script, "the extension was not built here: make setup"

    def take(tree: Path) -> str:
        environment = {**os.environ, "CARGO_MANIFEST_DIR": str(tree / "crates" / "python")}
        done = subprocess.run([script], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        (found,) = re.findall("^cargo::rustc-env=MESHPACE_FINGERPRINT=(.*)$", done.stdout, re.MULTILINE)
        return found

    return take


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of what an engine is built of."""
    copy = tmp_path / "tree"
    shutil.copytree(ROOT / "crates", copy / "crates")
    for name in ("Cargo.toml", "Cargo.lock"):
        shutil.copy(ROOT / name, copy / name)
    return copy


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store of this engine's runs."""
    path = tmp_path / "store"
    assert study(path) == Tally(stored=0, made=RUNS, others=0)
    return path


def study(path: Path) -> Tally:
    with workers("threads", 2) as hands:
        return make(tasks([STUDY], Effort.QUICK), Store(path), hands)


def edit(path: Path, pattern: str, replacement: str) -> None:
    """Replaces the first place where ``pattern`` stands."""
    text, count = re.subn(pattern, replacement, path.read_text(), count=1)
    assert count == 1, (path, pattern)
    path.write_text(text)


def test_the_engine_is_built_of_these_sources(fingerprint_of: Callable[[Path], str]) -> None:
    assert engine.fingerprint() == fingerprint_of(ROOT), "the extension was built of other sources: make setup"


def test_after_a_changed_default_nothing_is_reused(
    tree: Path, store: Path, fingerprint_of: Callable[[Path], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(tree / "crates/pacing/src/adaptive.rs", r"\balpha: 0\.7,", "alpha: 0.8,")
    edited = fingerprint_of(tree)
    assert edited != engine.fingerprint()
    monkeypatch.setattr(engine, "fingerprint", lambda: edited)
    assert not any(task.key in Store(store) for task in tasks([STUDY], Effort.QUICK))


def test_after_a_changed_comment_or_test_everything_is_reused(
    tree: Path, store: Path, fingerprint_of: Callable[[Path], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Comments of both kinds, a module of tests, a file of tests, a benchmark; and a crate that is only the daemon's.
    lib = tree / "crates/mesh/src/lib.rs"
    lib.write_text(f"//! Another first line.\n{lib.read_text()}\n// And a last one.\n")
    edit(
        tree / "crates/pacing/src/pacer.rs",
        r"#\[test\]\n",
        "#[test]\n    fn another() { assert!(true) }\n\n    #[test]\n",
    )
    for name in ("crates/mesh/tests/engine/golden.rs", "crates/pacing/src/law/tests.rs", "crates/daemon/src/lib.rs"):
        path = tree / name
        path.write_text(f"{path.read_text()}\n#[allow(dead_code)]\nfn another() {{}}\n")
    edited = fingerprint_of(tree)
    assert edited == engine.fingerprint()
    monkeypatch.setattr(engine, "fingerprint", lambda: edited)
    assert study(store) == Tally(stored=RUNS, made=0, others=0)


SOURCE = '''
"""What it does."""
import json  # for text

WIDTH = 1.0
"""Of a bin."""

def take(rows):
    """Takes."""
    return [f"{row!r:>4}" for row in rows if row]
'''


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("What it does.", "What it did.", True),
        ("  # for text", "", True),
        ('"""Of a bin."""', "", True),
        ("[f", "[\n        f", True),
        ("1.0", "1", False),
        ("1.0", "2.0", False),
        ("if row", "if not row", False),
        ("!r:>4", "!r:>5", False),
        ("rows):", "rows, more=()):", False),
    ],
)
def test_pythons_fingerprint_is_one_of_its_code(old: str, new: str, *, same: bool) -> None:
    assert SOURCE.count(old) == 1
    assert (fingerprint(SOURCE.replace(old, new)) == fingerprint(SOURCE)) is same


def test_it_is_the_same_whatever_python_runs() -> None:
    assert fingerprint("a = [f'{x}' for x in (1, 2.5, None)]") == "646078afaf4ab124"
    assert re.fullmatch("[0-9a-f]{16}", code_of(bins))
