"""`make test`: every part, whatever became of the others, and what failed at the end.

The last line is for a build server: `meshpace: N passed, N failed, N skipped`. The exit status is 0 if nothing failed.
A part that counts tests counts with them, another one (a linter, a build) as one.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv" / "bin"
PYTHON_CODE = ("python", "tests", "bench", "validation")


@dataclass(frozen=True)
class Part:
    """A command, and what has to be there for it to mean anything."""

    name: str
    command: Sequence[str | Path]
    needs: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


PARTS = (
    Part("setup", ("make", "--no-print-directory", "setup")),
    # Every tracked file by name: `cargo fmt` does not find modules that a macro declares, which crates' `parts!` does.
    Part("format", ("sh", "-c", "git ls-files -z '*.rs' | xargs -0 rustfmt --check --edition 2024")),
    Part("clippy", ("cargo", "clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings")),
    Part(
        "rustdoc", ("cargo", "doc", "--workspace", "--no-deps", "--quiet"), environment={"RUSTDOCFLAGS": "-D warnings"}
    ),
    # The same cases of property tests every time, so that green does not depend on luck; `cargo test` draws new ones.
    Part(
        "cargo test",
        ("cargo", "test", "--workspace", "--no-fail-fast", "--quiet"),
        environment={"PROPTEST_RNG_SEED": "1"},
    ),
    # The fuzz targets keep up with the crates. Checking links nothing, so libFuzzer itself is not built.
    Part(
        "fuzz targets",
        ("cargo", "check", "--manifest-path", "fuzz/Cargo.toml", "--bins", "--quiet"),
        environment={"CUSTOM_LIBFUZZER_PATH": "/nonexistent/libfuzzer.a"},
    ),
    Part("dependencies", (sys.executable, "tests/dependencies.py")),
    Part("ruff format", (BIN / "ruff", "format", "--check", *PYTHON_CODE), needs="setup"),
    Part("ruff check", (BIN / "ruff", "check", *PYTHON_CODE), needs="setup"),
    Part("mypy", (BIN / "mypy",), needs="setup"),
    # Of what setup has built, for tests/test_wheel.py.
    Part("wheel", ("make", "--no-print-directory", "wheel", "WHEEL_GLIBC="), needs="setup"),
    Part("pytest", (BIN / "pytest", "-rfE", "--ignore=tests/live"), needs="setup"),
    # Two files at a time: these tests mostly wait, each in network namespaces of its own.
    Part("live", (BIN / "pytest", "-rfE", "--numprocesses=2", "--dist=loadfile", "tests/live"), needs="setup"),
)


@dataclass
class Outcome:
    """What became of a part."""

    name: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
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


def run(part: Part) -> Outcome:
    """Runs a part, shows what it prints as it comes, and reads it."""
    print(f"\n== {part.name}: {' '.join(map(str, part.command))}", flush=True)
    started = time.monotonic()
    printed: list[str] = []
    environment = {**os.environ, **part.environment}
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
                sys.stdout.write(line)
                sys.stdout.flush()
        status = process.returncode
    except OSError as error:
        printed.append(f"{error}\n")
        print(error, flush=True)
        status = 127
    outcome = read(part.name, "".join(printed), status)
    outcome.seconds = time.monotonic() - started
    return outcome


def run_all(parts: Iterable[Part]) -> list[Outcome]:
    """Runs every part; one that needs a part that failed counts as failed, and says so."""
    outcomes: dict[str, Outcome] = {}
    for part in parts:
        needed = outcomes.get(part.needs) if part.needs else None
        if needed is not None and needed.failed:
            outcomes[part.name] = Outcome(part.name, failed=1, failures=[f"not run: {part.needs} failed"])
        else:
            outcomes[part.name] = run(part)
    return list(outcomes.values())


def summary(outcomes: Sequence[Outcome]) -> str:
    """A line a part, what failed by name, and the closing line."""
    lines = [""]
    for outcome in outcomes:
        counts = f"{outcome.passed} passed, {outcome.failed} failed, {outcome.skipped} skipped"
        lines.append(f"{outcome.verdict:6}  {outcome.name:14}  {outcome.seconds:6.0f} s  {counts}")
        lines += [f"          {failure}" for failure in outcome.failures]
    total = [sum(getattr(outcome, what) for outcome in outcomes) for what in ("passed", "failed", "skipped")]
    lines.append("meshpace: {} passed, {} failed, {} skipped".format(*total))
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    names = [part.name for part in PARTS]
    parser = argparse.ArgumentParser(prog="tests/everything.py", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"only these: {', '.join(names)} (default: all)")
    chosen = parser.parse_args(arguments).parts
    unknown = [name for name in chosen if name not in names]
    if unknown:
        parser.error(f"{unknown[0]!r} is no part; allowed: {', '.join(names)}")
    outcomes = run_all(part for part in PARTS if not chosen or part.name in chosen)
    print(summary(outcomes), flush=True)
    return 1 if any(outcome.failed for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
