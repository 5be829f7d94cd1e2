"""`make test`: every part, whatever became of the others, and what failed at the end.

Parts stand in lanes that run side by side: what cargo builds and runs in one, Python and the live tests, which mostly
wait, in the other. Each line of output begins with the part that printed it.

The last line is for a build server: `meshpace: N passed, N failed, N skipped`. The exit status is 0 if nothing failed.
A part that counts tests counts with them, another one (a linter, a build) as one.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv" / "bin"
PYTHON_CODE = ("python", "tests", "bench", "validation")
ADDING = "tests/test_adding_a_part.py"
KEEPS_BYTECODE = {"PYTHONDONTWRITEBYTECODE": ""}
"""Tests start Python hundreds of times; without it each would compile the package anew."""


class Lane(StrEnum):
    """Parts of one lane run one after another, lanes side by side."""

    CARGO = "cargo"
    PYTHON = "python"


@dataclass(frozen=True)
class Part:
    """A command, and what has to be there for it to mean anything."""

    name: str
    command: Sequence[str | Path]
    lane: Lane = Lane.PYTHON
    needs: str | None = None
    """A part of either lane without which it would say nothing: it waits for that one, and fails with it."""
    environment: Mapping[str, str] = field(default_factory=dict)
    behind: str | None = None
    """A part of the other lane that it waits for, whatever becomes of that one."""


# A build from nothing, and for one run. Incremental compilation would write down what each piece of a crate was made
# of; more than one unit of code generation a crate would make what they share again in each (the other crates and the
# other lane keep the processors busy). Cargo keeps artefacts of both kinds side by side: those of a developer stay.
WHOLE = {
    "CARGO_INCREMENTAL": "0",
    "CARGO_PROFILE_DEV_CODEGEN_UNITS": "1",
    "CARGO_PROFILE_DEV_BUILD_OVERRIDE_CODEGEN_UNITS": "1",
}

PARTS = (
    # cargo needs nothing else of setup, and compiles while the rest of it is fetched and built.
    Part("packages", ("make", "--no-print-directory", ".venv/.debian")),
    Part("setup", ("make", "--no-print-directory", "for-tests"), needs="packages"),
    # Every tracked file by name: `cargo fmt` does not find modules that a macro declares, which crates' `parts!` does.
    Part("format", ("sh", "-c", "git ls-files -z '*.rs' | xargs -0 rustfmt --check --edition 2024"), Lane.CARGO),
    Part("dependencies", (sys.executable, "tests/dependencies.py"), Lane.CARGO),
    # The same cases of property tests every time, so that green does not depend on luck; `cargo test` draws new ones.
    Part(
        "cargo test",
        ("cargo", "test", "--no-fail-fast", "--quiet"),
        Lane.CARGO,
        behind="packages",
        environment={
            **WHOLE,
            "PROPTEST_RNG_SEED": "1",
            "RUSTC_WORKSPACE_WRAPPER": str(ROOT / "tests" / "rustc_of_tests.sh"),
        },
    ),
    # The fuzz targets, too: they keep up with the crates. Checking links nothing, so libFuzzer need not be built.
    Part(
        "clippy",
        ("cargo", "clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"),
        Lane.CARGO,
        environment={**WHOLE, "CUSTOM_LIBFUZZER_PATH": "/nonexistent/libfuzzer.a"},
    ),
    Part(
        "rustdoc",
        ("cargo", "doc", "--workspace", "--no-deps", "--quiet"),
        Lane.CARGO,
        environment={**WHOLE, "RUSTDOCFLAGS": "-D warnings"},
    ),
    # It takes the crates of others that `cargo test` has built. The other lane would be the longer one with it.
    Part("adding a part", (BIN / "pytest", "-rfE", ADDING), Lane.CARGO, "setup"),
    # First of its lane after setup: it waits while cargo compiles. Each test has network namespaces of its own.
    Part("live", (BIN / "pytest", "-rfE", "--numprocesses=8", "--dist=loadgroup", "tests/live"), Lane.PYTHON, "setup"),
    # What one processor does before what two can do: neither lane ends with one of them idle.
    Part("ruff format", (BIN / "ruff", "format", "--check", *PYTHON_CODE), Lane.PYTHON, "setup"),
    Part("ruff check", (BIN / "ruff", "check", *PYTHON_CODE), Lane.PYTHON, "setup"),
    Part("mypy", (BIN / "mypy",), Lane.PYTHON, "setup"),
    # The numbers of docs/reproduction are the manifest's. Which pages an older engine made it says, and does not fail.
    Part("pages", (BIN / "meshpace", "study", "pages"), Lane.PYTHON, "setup"),
    # Of what setup has built, for tests/test_wheel.py.
    Part("wheel", ("make", "--no-print-directory", "wheel-for-tests"), Lane.PYTHON, "setup"),
    Part(
        "pytest",
        (BIN / "pytest", "-rfE", "--numprocesses=2", "--dist=loadgroup", "--ignore=tests/live", f"--ignore={ADDING}"),
        Lane.PYTHON,
        "setup",
    ),
)


@dataclass
class Outcome:
    """What became of a part."""

    name: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    processor_s: float = 0.0
    """Of its process and all that it waited for."""
    failures: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        return "FAILED" if self.failed else "ok"


_CARGO = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;", re.MULTILINE)
_PYTEST = re.compile(r"^=*\s*((?:\d+ [a-z]+(?:, )?)+) in [\d.]+s", re.MULTILINE)
# libtest lists the names of what failed last in each binary; cargo names binaries that failed to build or to run.
_CARGO_FAILURES = re.compile(r"\nfailures:\n((?:    \S.*\n)+)")
_CARGO_TARGETS = re.compile(r"^    `(-p .*)`$", re.MULTILINE)
_PYTEST_FAILURES = re.compile(r"^(?:FAILED|ERROR) (\S.*)$", re.MULTILINE)


def read(name: str, output: str, status: int) -> Outcome:
    """What a part's output and exit status say."""
    outcome = Outcome(name)
    for passed, failed, ignored in _CARGO.findall(output):
        outcome.passed += int(passed)
        outcome.failed += int(failed)
        outcome.skipped += int(ignored)
    for line in _PYTEST.findall(output):
        counted = {word: int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", line)}
        outcome.passed += counted.get("passed", 0)
        outcome.failed += counted.get("failed", 0) + counted.get("error", 0) + counted.get("errors", 0)
        outcome.skipped += counted.get("skipped", 0)
    for names in _CARGO_FAILURES.findall(output):
        outcome.failures += names.split()
    outcome.failures += _CARGO_TARGETS.findall(output) + _PYTEST_FAILURES.findall(output)
    if status and not outcome.failed:
        outcome.failed = 1  # it has no tests, or did not come as far as counting them
    if not status and not outcome.passed and not outcome.failed:
        outcome.passed = 1
    return outcome


_PRINTING = threading.Lock()


def say(name: str, line: str) -> None:
    """A line that a part printed, whole, whatever the other lane prints."""
    with _PRINTING:
        sys.stdout.write(f"{name:14}| {line.rstrip()}\n")
        sys.stdout.flush()


def run(part: Part) -> Outcome:
    """Runs a part, shows what it prints as it comes, and reads it."""
    say(part.name, f"== {' '.join(map(str, part.command))}")
    started = time.monotonic()
    printed: list[str] = []
    processor_s = 0.0
    environment = {**os.environ, **KEEPS_BYTECODE, **part.environment}
    words = [str(word) for word in part.command]
    try:
        with subprocess.Popen(
            words,
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                printed.append(line)
                say(part.name, line)
            _, ended, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(ended)
            processor_s = used.ru_utime + used.ru_stime
        status = process.returncode
    except OSError as error:
        printed.append(f"{error}\n")
        say(part.name, str(error))
        status = 127
    outcome = read(part.name, "".join(printed), status)
    outcome.seconds = time.monotonic() - started
    outcome.processor_s = processor_s
    return outcome


def run_all(parts: Iterable[Part]) -> list[Outcome]:
    """Runs every part, lanes side by side; one that needs a part that failed counts as failed, and says so."""
    chosen = list(parts)
    outcomes: dict[str, Outcome] = {}
    over = {part.name: threading.Event() for part in chosen}

    def run_lane(lane: Lane) -> None:
        for part in chosen:
            if part.lane is not lane:
                continue
            for before in (part.behind, part.needs):
                if before in over:
                    over[before].wait()
            needed = outcomes.get(part.needs) if part.needs else None
            if needed is not None and needed.failed:
                outcomes[part.name] = Outcome(part.name, failed=1, failures=[f"not run: {part.needs} failed"])
            else:
                outcomes[part.name] = run(part)
            over[part.name].set()

    with ThreadPoolExecutor() as lanes:
        list(lanes.map(run_lane, (Lane.CARGO, Lane.PYTHON)))
    return [outcomes[part.name] for part in chosen]


def summary(outcomes: Sequence[Outcome]) -> str:
    """A line a part, what failed by name, and the closing line."""
    lines = [""]
    for outcome in outcomes:
        counts = f"{outcome.passed} passed, {outcome.failed} failed, {outcome.skipped} skipped"
        times = f"{outcome.seconds:5.0f} s, {outcome.processor_s:5.0f} s of processor time"
        lines.append(f"{outcome.verdict:6}  {outcome.name:14}  {times}  {counts}")
        lines += [f"          {failure}" for failure in outcome.failures]
    total = [sum(getattr(outcome, what) for outcome in outcomes) for what in ("passed", "failed", "skipped")]
    lines.append("meshpace: {} passed, {} failed, {} skipped".format(*total))
    return "\n".join(lines)


def tabled(text: str, outcomes: Sequence[Outcome], seconds: float) -> str:
    """A page whose table has, in its last two columns, what the parts named in a row took; "all" is the whole."""
    taken = {outcome.name: (outcome.seconds, outcome.processor_s) for outcome in outcomes}
    taken["all"] = (seconds, sum(outcome.processor_s for outcome in outcomes))
    lines = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("| ") else [""]
        named = [taken.get(name) for name in cells[0].split(", ")]
        if len(cells) > 2 and all(named):
            cells[-2:] = (f"{sum(times):,.0f}" for times in zip(*filter(None, named), strict=True))
            line = f"| {' | '.join(cells)} |"  # noqa: PLW2901
        lines.append(line)
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    names = [part.name for part in PARTS]
    parser = argparse.ArgumentParser(prog="tests/everything.py", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"only these: {', '.join(names)} (default: all)")
    parser.add_argument(
        "--table", type=Path, metavar="FILE.md", help="write what each part took into this page's table"
    )
    asked = parser.parse_args(arguments)
    unknown = [name for name in asked.parts if name not in names]
    if unknown:
        parser.error(f"{unknown[0]!r} is no part; allowed: {', '.join(names)}")
    began = time.monotonic()
    outcomes = run_all(part for part in PARTS if not asked.parts or part.name in asked.parts)
    if asked.table:
        page = tabled(asked.table.read_text(encoding="utf-8"), outcomes, time.monotonic() - began)
        asked.table.write_text(page, encoding="utf-8")
    print(summary(outcomes), flush=True)
    return 1 if any(outcome.failed for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
