"""Commands start at once: what they load beside Python itself is counted in modules, not in milliseconds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
from meshpace.cli import main
sys.argv = ["meshpace", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    assert end.code in (None, 0), end.code
finally:
    print(*sorted(sys.modules), sep="\\n", file=sys.stderr)
"""
HEAVY = {
    "argcomplete", "asyncio", "click", "dataclasses", "email", "importlib.metadata", "inspect", "jinja2", "matplotlib",
    "multiprocessing", "numpy", "pandas", "plotly", "polars", "pyarrow", "pydantic", "rich", "sqlite3", "ssl",
    "subprocess", "tomllib", "typer", "unittest",
}  # fmt: skip
"""Of these none takes less than a quarter of an empty Python's start."""

NEEDED_FOR_MEANS = {"dataclasses", "inspect"}


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["--version"],
        ["sweep", "--help"],
        ["check", "CHAIN"],
        ["run", "CHAIN", "--json"],
        ["run", "CHAIN", "--json", "--seeds", "2", "--threads", "1"],
        ["run", "CHAIN"],
        ["schemes"],
    ],
    ids=" ".join,
)
def test_nothing_heavy_is_loaded(words: list[str], chain: Path) -> None:
    asked = [str(chain) if word == "CHAIN" else word for word in words]
    done = subprocess.run([sys.executable, "-c", PROGRAM, *asked], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stderr.split())
    assert "meshpace.cli.declared" in loaded, "the list is not there"
    assert not loaded & (HEAVY if words != ["run", "CHAIN"] else HEAVY - NEEDED_FOR_MEANS)
    assert ("meshpace._engine" in loaded) == ("--help" not in words)
