"""What the documents show as code: blocks between fences, and indented blocks, which hold commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from meshpace.project import scenario_directory

ROOT = scenario_directory().parent
SHELL = ("", "sh", "shell", "bash", "console")


@dataclass(frozen=True)
class Block:
    """A block of code; ``language`` is what stands after its fence, empty for an indented block."""

    document: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.document.relative_to(ROOT)}:{self.line}"


def documents() -> list[Path]:
    """Everything that is written for readers."""
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def blocks(document: Path) -> Iterator[Block]:
    """Every block of a document."""
    lines = document.read_text(encoding="utf-8").splitlines()
    number = 0
    while number < len(lines):
        began = number
        if fence := re.match(r"```(.*)", lines[number]):
            number = next(i for i in range(began + 1, len(lines)) if lines[i].startswith("```"))
            yield Block(document, began + 2, fence[1].strip(), "\n".join(lines[began + 1 : number]))
        elif lines[number].startswith("    ") and (number == 0 or not lines[number - 1].strip()):
            while number + 1 < len(lines) and lines[number + 1].startswith("    "):
                number += 1
            yield Block(document, began + 1, "", "\n".join(line[4:] for line in lines[began : number + 1]))
        number += 1


def commands(block: Block) -> Iterator[str]:
    """The commands of a block of shell: lines that go on are joined, explanations behind three spaces are cut."""
    if block.language in SHELL:
        for line in block.text.replace("\\\n", " ").splitlines():
            yield re.split(r"\s{3,}(?![\s-])|\s+#\s", line.strip())[0]
