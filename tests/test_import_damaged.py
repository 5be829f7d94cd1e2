"""Files of meshes with damage of every kind: each is read, or refused with a message that names the file."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import test_import
from documents import ROOT
from meshpace.meshes.model import MeshFileError
from meshpace.meshes.read import read

WORDS = (
    "null", "-1", "1e400", "NaN", '"x"', "[]", "{}", "0", "true", '""', "99999999999999999999", r'"\ud800"', "\x1b[2J",
    "\n", "inf", "1.5e-320", "-0.0", '"10.0.0.1"', ",", ";", "|", "\t",
)  # fmt: skip
CASES = 600


def whole() -> list[list[str]]:
    """The text of each file of a mesh, forms with two files as two; and what daemons and `iw` print."""
    files = []
    for name, value in vars(test_import).items():
        if name.isupper() and isinstance(value, dict | tuple):
            files.append([json.dumps(one) for one in (value if isinstance(value, tuple) else (value,))])
    printed = [*(ROOT / "fuzz/seeds/hops").iterdir(), *(ROOT / "tests/fixtures/olsr").iterdir()]
    return files + [[path.read_text()] for path in sorted(printed)]


def damaged(text: str, draw: random.Random) -> str:
    """With up to four changes: a word in place of another or between two, a piece left out, a piece twice."""
    for _ in range(draw.randint(1, 4)):
        words = list(re.finditer(r'"[^"]*"|[\[{]|[\w.+-]+', text))
        at = draw.randrange(len(text) + 1)
        end = at + draw.randint(0, 40)
        match draw.randrange(4):
            case 0 if words:
                word = draw.choice(words)
                text = text[: word.start()] + draw.choice(WORDS) + text[word.end() :]
            case 1:
                text = text[:at] + draw.choice(WORDS) + text[at:]
            case 2:
                text = text[:at] + text[end:]
            case _:
                text = text[:end] + text[at:]
    return text


def test_what_is_damaged_is_read_or_refused(tmp_path: Path) -> None:
    draw, meshes = random.Random(1), whole()
    assert len(meshes) > 10
    read_whole = refused = 0
    for _ in range(CASES):
        paths = []
        for number, text in enumerate(draw.choice(meshes)):
            paths.append(tmp_path / f"{number}.{'json' if text[0] in '[{' else 'txt'}")
            paths[-1].write_text(damaged(text, draw))
        try:
            mesh = read(paths)
        except MeshFileError as error:
            message = str(error)
            assert any(str(path) in message for path in paths), message
            assert "\x1b" not in message, message
            assert len(message) < 4_000, message
            refused += 1
        else:
            assert mesh.nodes, paths
            read_whole += 1
    assert read_whole > CASES // 20, read_whole
    assert refused > CASES // 4, refused
