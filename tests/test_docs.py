"""What the documents show works: Python is run, scenarios are resolved, commands exist, cheap ones are run.

A block of ``python`` is run, those of a document one after the other in one process and folder; what is only a piece
of a program is marked ``python fragment`` and must be Python. A block of ``toml`` is TOML, and runs if it is a
scenario. In blocks of shell every ``meshpace ...`` is held against the command line.
"""

from __future__ import annotations

import ast
import itertools
import os
import pydoc
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from commanding import taken
from documents import ROOT, Block, blocks, commands, documents
from meshpace import engine
from meshpace.cli import find
from meshpace.cli.declared import values as plain_values
from meshpace.cli.parsing import parsed

HOWTOS = ROOT / "docs" / "howto"
"""Run whole by tests/test_howto.py: their commands and pieces of Python follow one another."""
ALL = [block for document in documents() for block in blocks(document)]
PYTHON = {
    document: [block.text for block in ALL if block.document == document and block.language == "python"]
    for document in documents()
    if document.parent != HOWTOS
}
CHEAP = re.compile(r"meshpace (schemes|scenarios|schema|store|study list|run)\b")
"""Commands that take seconds."""

SHORT = """
import dataclasses
from meshpace.study import registry
from meshpace.study.model import timed
from meshpace.study.model import STATIC, Plan

def short(study):
    points = tuple(point.label for point in study.axis.points[:2])
    return dataclasses.replace(study, quick=Plan(2, timed(4, 2), points=points), conditions=(STATIC,))

registry.STUDIES = tuple(map(short, registry.STUDIES))
"""
"""Makes the studies so short that a test can run them."""
BEFORE = {
    "docs/studies.md": f"""{SHORT}
from pathlib import Path
from meshpace.study.command import run_studies
from meshpace.study.model import Effort
run_studies(["gap-chain-up"], Effort.QUICK, Path("store"), None, "threads", None)
"""
}
"""What a reader of the document has done before its Python."""


def meshpace_commands() -> Iterator[tuple[Block, str]]:
    """Every ``meshpace ...`` of the documents, whatever path stands before it."""
    for block in ALL:
        for command in commands(block):
            for part in re.split(r"&&|;", command):
                if found := re.fullmatch(r"(?:\S*/)?(meshpace .*)", part.strip()):
                    yield block, found[1]


COMMANDS = list(meshpace_commands())


@pytest.mark.parametrize(
    "document", [d for d, found in PYTHON.items() if found], ids=lambda d: str(d.relative_to(ROOT))
)
def test_python_runs(document: Path, tmp_path: Path) -> None:
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    program = "\n".join([BEFORE.get(str(document.relative_to(ROOT)), ""), *PYTHON[document]])
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("block", [b for b in ALL if b.language.startswith("python ")] or [None], ids=str)
def test_pieces_of_python_are_python(block: Block | None) -> None:
    if block is not None:
        # A how-to's file, which its test writes and runs (test_howto.py), or a piece of something.
        assert block.document.parent == HOWTOS or block.language == "python fragment"
        ast.parse(block.text)


@pytest.mark.parametrize(
    ("document", "name"),
    sorted({(d, name) for d in documents() for name in re.findall(r"`(meshpace(?:\.[A-Za-z_]\w*)+)", d.read_text())}),
    ids=lambda value: value if isinstance(value, str) else str(value.relative_to(ROOT)),
)
def test_what_is_named_in_python_exists(document: Path, name: str) -> None:
    assert pydoc.locate(name) is not None, document


def test_python_in_the_documents_is_found() -> None:
    assert sum(map(len, PYTHON.values())) >= 2


@pytest.mark.parametrize("block", [block for block in ALL if block.language == "toml"], ids=str)
def test_toml_is_toml_and_scenarios_run(block: Block) -> None:
    table = tomllib.loads(block.text)
    assert table, "it says something"
    if "flow" in table:
        job = engine.Job(str(block), block.text.encode(), ("measure.duration=4s", "measure.warmup=1s"))
        assert len(taken(job)["flows"]) >= len(table["flow"])


@pytest.mark.parametrize(("block", "command"), COMMANDS, ids=[f"{block} {command}" for block, command in COMMANDS])
def test_a_command_exists_with_its_options(block: Block, command: str) -> None:  # noqa: ARG001 - names the test
    words = shlex.split(command.partition(">")[0])[1:]
    if any(mark in word for word in words for mark in ("|", "...", "[")):
        words = [*itertools.takewhile(str.isalpha, words), "--help"]  # a form with alternatives: the command is there
    command_found, parser, left = find(words)
    assert callable(command_found)
    if left[-1:] != ["--help"]:
        values = parsed(parser, left)
        assert plain_values(command_found, left) in (None, values), "both ways to read a command line find the same"
        assert set(values) == {action.dest for action in parser._actions if action.dest != "help"}


def test_commands_in_the_documents_are_found() -> None:
    assert len(COMMANDS) > 10


@pytest.mark.parametrize(
    ("block", "command"),
    [
        (block, command)
        for block, command in COMMANDS
        if CHEAP.match(command) and "[" not in command and block.document.parent != HOWTOS
    ],
    ids=str,
)
def test_a_cheap_command_runs(block: Block, command: str, tmp_path: Path) -> None:
    # The checkout as a reader sees it; files that a document names beside a scenario are that scenario.
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    scenario = next(
        (b for b in ALL if b.document == block.document and b.language == "toml" and "[[flow]]" in b.text), None
    )
    if scenario is not None:
        for name in re.findall(r"(?<![\w/])[\w-]+\.toml", command):
            (tmp_path / name).write_text(scenario.text)
    words = [sys.executable, "-m", "meshpace"]
    short = " --set measure.duration=12s --set measure.warmup=2s" if command.startswith("meshpace run") else ""
    begin, redirect, target = command.removeprefix("meshpace").partition(">")
    line = f"{shlex.join(words)} {begin}{short}{redirect}{target}"
    environment = {**os.environ, "COLUMNS": "200"}
    done = subprocess.run(
        ["bash", "-c", line], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, f"{block}: {command}: {done.stderr}"
