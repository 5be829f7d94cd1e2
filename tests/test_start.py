"""Commands start at once: what they load beside Python itself is counted in modules, not in milliseconds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from commanding import Cli

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
    "argcomplete", "asyncio", "click", "dataclasses", "email", "hashlib", "importlib.metadata", "inspect", "jinja2",
    "matplotlib", "multiprocessing", "numpy", "pandas", "plotly", "polars", "pyarrow", "pydantic", "rich", "sqlite3",
    "ssl", "subprocess", "tomllib", "typer", "unittest",
}  # fmt: skip
"""Of these none takes less than a fifth of an empty Python's start."""

NEEDED_FOR_MEANS = {"dataclasses", "inspect"}
NOT_FOR_A_RUN = {"argparse", "contextlib", "enum", "json", "pathlib", "re", "typing", "urllib.parse"}
"""Each takes a tenth of an empty Python's start or more, and a run that prints JSON needs none."""


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
        ["scenarios"],
        ["schema"],
        ["study", "list"],
    ],
    ids=" ".join,
)
def test_nothing_heavy_is_loaded(words: list[str], chain: Path, cli: Cli) -> None:
    if words == ["study", "list"]:
        cli(*words)  # works it out, and keeps it
    asked = [str(chain) if word == "CHAIN" else word for word in words]
    done = subprocess.run([sys.executable, "-c", PROGRAM, *asked], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stderr.split())
    assert "meshpace.cli.declared" in loaded, "the list is not there"
    assert not loaded & (HEAVY if words != ["run", "CHAIN"] else HEAVY - NEEDED_FOR_MEANS)
    assert words != ["run", "CHAIN", "--json"] or not loaded & NOT_FOR_A_RUN
    assert ("shutil" in loaded) == ("--help" in words), "help is as wide as the terminal, and nothing else"
    assert ("meshpace._engine" in loaded) == (words[-1] not in {"--help", "list"})


def test_nothing_is_loaded_before_ctrl_c_is_heard() -> None:
    program = (
        "import sys; before = set(sys.modules); import meshpace.starting; print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["__future__", "meshpace", "meshpace.starting"]
    command = Path(sys.executable).with_name("meshpace").read_text()
    assert [line for line in command.splitlines() if "import" in line] == ["from meshpace.__main__ import main"]


INTERRUPTED_AT = """
import os, runpy, signal, sys

class Interrupts:
    # Asked for every module that is loaded: at the one asked for, Ctrl-C.
    left = int(sys.argv.pop(1))
    def find_spec(self, name, path=None, target=None):
        if "meshpace.cli" in sys.modules or name == "meshpace.cli":
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupts())
runpy.run_module("meshpace", run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize("module", [1, 2, 5, 10, 15, 20, 25, 30, 40])
@pytest.mark.parametrize("words", [["schemes"], ["run", "CHAIN"], ["study", "list"]], ids=" ".join)
def test_ctrl_c_while_a_command_starts_ends_without_a_traceback(module: int, words: list[str], chain: Path) -> None:
    asked = [str(chain) if word == "CHAIN" else word for word in words]
    program = [sys.executable, "-c", INTERRUPTED_AT, str(module), *asked]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    if done.returncode == 0 and module > 25:
        return  # so many modules the command does not load
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
