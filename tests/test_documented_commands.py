"""Commands that documents name, beside meshpace's own (test_docs.py): meshpaced's, make's, scripts, cargo's, pytest's.

Nothing is run but `meshpaced help`: a command is there, its options are, its files are.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from documents import ROOT, blocks, commands, documents

sys.path.insert(0, str(ROOT / "tests" / "live"))
from net import MESHPACED

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
CRATES = {path.parent.name for path in ROOT.glob("crates/*/Cargo.toml")}
LANGUAGES = ("sh", "shell", "bash", "console")


def written(document: Path) -> Iterator[str]:
    """Every command of a document: of its blocks, and in its text between backticks."""
    for block in blocks(document):
        if block.language in LANGUAGES or (not block.language and not block.text.startswith(("[", '"'))):
            for command in commands(block):
                yield from re.split(r"&&|\|\||;|\|(?= )", command)
    text = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for code in re.findall(r"`([^`\n]+)`", text):
        yield from re.split(r"&&|\|\||;|\|(?= )", code)


HISTORY = ROOT / "CHANGELOG.md"
"""It tells of commands as they were."""
ALL = [(document, command.strip()) for document in documents() if document != HISTORY for command in written(document)]


@cache
def helped(*words: str) -> str:
    """What the help of a command of the daemon says; empty if there is no such command."""
    done = subprocess.run([MESHPACED, *words, "--help"], capture_output=True, text=True, timeout=60, check=False)
    return done.stdout if done.returncode == 0 else ""


def wrong_with(command: str) -> str:
    """The first word of a `meshpaced ...` that its help does not know; a form with alternatives is taken by words."""
    words = shlex.split(re.sub(r"[\[\]]|\.\.\.|…| \(.*", " ", command.replace("'", "").partition("#")[0]))[1:]
    depth: list[str] = []
    while "\nCommands:" in helped(*depth) and words[len(depth) :] and words[len(depth)].isalpha():
        if (word := words[len(depth)]) in ("help", "COMMAND"):
            return ""
        depth.append(word)
        if not helped(*depth):
            return word
    options = (word for word in words if re.fullmatch(r"--[a-z][a-z-]*", word) and word not in ("--help", "--version"))
    return next((word for word in options if not re.search(rf"(?<!\S){word}(?![\w-])", helped(*depth))), "")


def told(document: Path, command: str, word: str) -> str:
    return f"{document.relative_to(ROOT)}: `{command}`: {word}"


def test_commands_of_the_daemon_exist_with_their_options() -> None:
    found = [
        (document, match[1])
        for document, command in ALL
        if (match := re.fullmatch(r"(?:\S*/)?(meshpaced(?: +[a-z].*)?)", command))
    ]
    assert len(found) > 100
    assert [told(*one, word) for one in found if (word := wrong_with(one[1]))] == []


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("meshpaced gatewey", "gatewey"),
        ("meshpaced congestion lood", "lood"),
        ("meshpaced edge --interfaces mesh0", "--interfaces"),
        ("meshpaced endpoint --ecn", "--ecn"),
        ("meshpaced congestion load --subnet 10.0.0.0/8 # for these", ""),
        ("meshpaced help COMMAND", ""),
    ],
)
def test_what_the_daemon_does_not_know_is_found(command: str, word: str) -> None:
    assert wrong_with(command) == word


def test_targets_of_make_exist_with_their_variables() -> None:
    targets = set(re.findall(r"^([a-z][\w-]*)(?: [a-z -]*)?:(?!=)", MAKEFILE, re.MULTILINE))
    known = set(re.findall(r"\$\((\w+)\)", MAKEFILE)) | set(re.findall(r"\bVM_[A-Z]+", MAKEFILE))
    lost = []
    for document, command in ALL:
        plain = re.sub(r"\"[^\"]*\"|'[^']*'", "_", command)
        if not (found := re.fullmatch(r"((?:[A-Z_]+=\S+ )*)make((?: .*)?)", plain)):
            continue
        for word in [*found[1].split(), *found[2].split()]:
            name, given, _ = word.partition("=")
            if not re.fullmatch(r"[A-Za-z][\w-]*", name):
                break  # an explanation begins
            if name not in (known if given else targets):
                lost.append(told(document, command, word))
    assert lost == []


def test_scripts_tests_and_crates_exist() -> None:
    lost = []
    for document, command in ALL:
        names = re.findall(r"(?:^|\s)((?:bench|tests|packaging|fuzz|validation)/[\w/.-]+\.(?:py|sh))", command)
        lost += [told(document, command, name) for name in names if not (ROOT / name).exists()]
        if command.startswith("cargo "):
            crates = re.findall(r"-p meshpace-([a-z-]+)", command)
            lost += [told(document, command, crate) for crate in crates if crate not in CRATES]
    assert lost == []
