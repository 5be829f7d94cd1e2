"""`make test` itself: one failure hides nothing, and the closing line counts right."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import soak
from everything import PARTS, ROOT, Lane, Outcome, Part, main, read, run_all, summary, tabled
from processor_time import processor_s

CARGO = """
running 3 tests
..F
failures:

---- tests::of_a stdout ----
thread 'tests::of_a' panicked

failures:
    tests::of_a

test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s

error: test failed, to rerun pass `-p meshpace-units --lib`

running 4 tests
....
test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s

error: 1 target failed:
    `-p meshpace-units --lib`
"""
PYTEST = """
.F.s
=========================== short test summary info ============================
FAILED tests/test_a.py::test_b - assert 1 == 2
ERROR tests/test_a.py::test_c - OSError
1 failed, 2 passed, 1 skipped, 1 error in 3.21s
"""


def part(name: str, code: str, needs: str | None = None, lane: Lane = Lane.CARGO) -> Part:
    return Part(name, (sys.executable, "-c", code), lane, needs)


def test_what_cargo_and_pytest_say_is_counted_and_named() -> None:
    cargo = read("cargo test", CARGO, 101)
    assert (cargo.passed, cargo.failed, cargo.skipped) == (5, 1, 1)
    assert cargo.failures == ["tests::of_a", "-p meshpace-units --lib"]
    pytest_ = read("pytest", PYTEST, 1)
    assert (pytest_.passed, pytest_.failed, pytest_.skipped) == (2, 2, 1)
    assert pytest_.failures == ["tests/test_a.py::test_b - assert 1 == 2", "tests/test_a.py::test_c - OSError"]


def test_a_status_without_counts_is_one_check() -> None:
    assert read("ruff", "All checks passed!\n", 0).passed == 1
    assert read("ruff", "error\n", 1).failed == 1
    # Tests that all passed, and a binary that did not build.
    assert read("cargo test", "test result: ok. 3 passed; 0 failed; 0 ignored;\n", 101).failed == 1


def test_everything_runs_whatever_failed_before(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mark = tmp_path / "ran"
    outcomes = run_all(
        [
            part("first", "import sys; print('broken'); sys.exit(3)"),
            Part("absent", ("/nonexistent/tool",), Lane.CARGO),
            part("built on it", "raise AssertionError('must not run')", needs="first"),
            part("last", f"open({str(mark)!r}, 'w')"),
        ]
    )
    assert mark.exists()
    assert "broken" in capsys.readouterr().out
    assert [outcome.failed for outcome in outcomes] == [1, 1, 1, 0]
    said = summary(outcomes).splitlines()
    assert said[-1] == "meshpace: 1 passed, 3 failed, 0 skipped"
    assert any("not run: first failed" in line for line in said)


def test_lanes_run_side_by_side_after_what_they_need(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Each lane's part ends only when the other's has begun; both find what setup has left.
    meet = "import pathlib, sys, time; here = pathlib.Path(sys.argv[1]); assert (here / 'setup').exists(); "
    meet += "(here / sys.argv[2]).touch()\nwhile not (here / sys.argv[3]).exists(): time.sleep(0.01)\nprint('met')"

    def meeting(lane: Lane, mine: str, other: str) -> Part:
        return Part(mine, (sys.executable, "-c", meet, tmp_path, mine, other), lane, needs="setup")

    first = part("setup", f"import time; time.sleep(0.3); open({str(tmp_path / 'setup')!r}, 'w')", lane=Lane.PYTHON)
    outcomes = run_all([first, meeting(Lane.CARGO, "a", "b"), meeting(Lane.PYTHON, "b", "a")])
    assert [(outcome.name, outcome.failed) for outcome in outcomes] == [("setup", 0), ("a", 0), ("b", 0)]
    assert all(outcome.processor_s > 0 for outcome in outcomes)
    lines = capsys.readouterr().out.splitlines()
    assert "a             | met" in lines
    assert "b             | met" in lines


def test_a_part_waits_for_the_one_that_it_stands_behind(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    before = part("before", f"import time; time.sleep(0.3); open({str(mark)!r}, 'w'); raise SystemExit(1)")
    behind = Part("behind", (sys.executable, "-c", f"open({str(mark)!r})"), Lane.PYTHON, behind="before")
    assert [outcome.failed for outcome in run_all([before, behind])] == [1, 0]
    assert run_all([behind])[0].failed == 0, "alone it waits for nothing"


def test_nothing_failed_is_said_too() -> None:
    assert summary([Outcome("a", passed=7, skipped=2)]).endswith("meshpace: 7 passed, 0 failed, 2 skipped")


def test_a_page_is_told_what_each_part_took() -> None:
    page = "| part | before | now | processor time |\n|---|---|---|---|\n| a, b | 9 | ? | ? |\n"
    page += "| c | 9 | 8 | 7 |\n| all | 30 | | |\n\nMore.\n"
    outcomes = [Outcome("a", seconds=1.2, processor_s=2.0), Outcome("b", seconds=700.0, processor_s=1400.4)]
    assert tabled(page, outcomes, 701.4).splitlines()[2:] == [
        "| a, b | 9 | 701 | 1,402 |",
        "| c | 9 | 8 | 7 |",
        "| all | 30 | 701 | 1,402 |",
        "",
        "More.",
    ]
    told = tabled((ROOT / "docs" / "testing.md").read_text(encoding="utf-8"), [Outcome(each.name) for each in PARTS], 0)
    rows = [line for line in told.splitlines() if line.endswith("| 0 | 0 |")]
    named = [name for row in rows for name in row.split("|")[1].strip().split(", ")]
    assert sorted(named) == sorted(["all", *(each.name for each in PARTS)])


def test_soak_runs_the_suites_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soak, "run", lambda suite: Outcome(suite.name))
    named = [outcome.name for outcome in soak.rounds(2)]
    assert named == ["cargo test 1", "pytest 1", "cargo test 2, busy", "pytest 2, busy"]


def test_parts_can_be_chosen_and_a_wrong_name_says_what_is_allowed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["clipy"])
    assert ended.value.code == 2
    assert "'clipy' is no part; allowed: packages, setup, format, dependencies" in capsys.readouterr().err


def test_what_a_part_needs_is_a_part_before_it() -> None:
    seen: set[str] = set()
    lanes = {each.name: each.lane for each in PARTS}
    for each in PARTS:
        assert each.needs is None or each.needs in seen
        assert each.behind is None or each.behind in seen
        assert each.behind is None or lanes[each.behind] is not each.lane
        seen.add(each.name)


def test_contributors_are_told_every_part() -> None:
    told = (ROOT / "CONTRIBUTING.md").read_text().partition("| `make test PARTS=` one or several of ")[2]
    named = [name.strip("`'") for name in told.partition(" |")[0].split(", ")]
    assert named == [part.name for part in PARTS]


def test_a_crates_tests_alone_are_not_optimised() -> None:
    wrapper, compiler = str(ROOT / "tests" / "rustc_of_tests.sh"), "/usr/bin/echo"
    library = ["--crate-name", "meshpace_tcp", "-C", "opt-level=1", "a path with/spaces.rs"]

    def called(words: list[str]) -> str:
        return subprocess.run([wrapper, compiler, *words], check=True, capture_output=True, text=True).stdout.strip()

    assert called(library) == " ".join(library)
    assert called([*library, "--test"]) == " ".join([*library, "--test", "-C", "opt-level=0"])


def test_what_a_test_starts_is_counted_before_and_after_it_ends() -> None:
    def busy_s() -> float:
        return processor_s(os.getpid())

    burn = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\ninput()"
    before = busy_s()
    with subprocess.Popen([sys.executable, "-c", burn], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        running = busy_s() - before
        child.communicate(b"\n")
        child.wait()
    assert 0.25 < running < 3
    # The kernel rounds user and system time to ticks, of the child and of what its parent waited for.
    ticks_s = 2 / os.sysconf("SC_CLK_TCK")
    assert busy_s() - before > running - 1.5 * ticks_s, "nothing is lost when it has been waited for"


def _functions(folder: Path) -> Iterator[tuple[Path, ast.FunctionDef]]:
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                yield path, node


def _asserts(function: ast.FunctionDef, helpers: set[str]) -> bool:
    """Whether it holds something against something, itself or by a helper that does."""

    def one(node: ast.AST) -> bool:
        if isinstance(node, ast.Assert):
            return True
        if not isinstance(node, ast.Call):
            return False
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return called in helpers

    return any(map(one, ast.walk(function)))


def test_every_test_asserts(tmp_path: Path) -> None:
    """A test that only runs something would pass whatever came of it."""
    (tmp_path / "test_x.py").write_text(
        "def test_a(): assert one()\ndef test_b(): helper()\ndef test_c(): run()\n"
        "def helper(): assert True\ndef run(): print()\n"
    )

    def asserting_nothing(folder: Path) -> list[str]:
        found = list(_functions(folder))
        helpers = {"raises", "fail"}
        while more := {function.name for _, function in found if _asserts(function, helpers)} - helpers:
            # A method's name says little: of those that are called alike one that asserts is enough.
            helpers |= more
        return [
            f"{path.relative_to(folder)}: {function.name}"
            for path, function in found
            if function.name.startswith("test_") and not _asserts(function, helpers)
        ]

    assert asserting_nothing(tmp_path) == ["test_x.py: test_c"]
    assert asserting_nothing(ROOT / "tests") == []
