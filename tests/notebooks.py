"""Runs notebooks as Jupyter would, without it: `python tests/notebooks.py` writes their outputs anew.

A cell's outputs are what it prints and what it ends with, as text and as HTML if it has some (nbformat 4.5, section
"Code cells"). A notebook is run by itself with :data:`RUNNER`, by any Python that has meshpace.
"""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from documents import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
Cell = dict[str, Any]

RUNNER = """
import ast, contextlib, io, json, sys

def lines(text):
    return text.splitlines(keepends=True)

notebook, count, space = json.load(sys.stdin), 0, {"__name__": "__main__"}
for cell in notebook["cells"]:
    if cell["cell_type"] != "code":
        continue
    count += 1
    tree = ast.parse("".join(cell["source"]))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"cell {count}", "exec"), space)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f"cell {count}", "eval"), space)
    outputs = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())})
    if value is not None:
        data = {"text/plain": lines(repr(value))}
        if hasattr(value, "_repr_html_"):
            data = {"text/html": lines(value._repr_html_()), **data}
        outputs.append({"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    cell["execution_count"], cell["outputs"] = count, outputs
json.dump(notebook, sys.stdout)
"""


def run(notebook: Path, folder: Path) -> list[Cell]:
    """The cells of a notebook, run in a folder.

    Raises:
        AssertionError: a cell fails.
    """
    done = subprocess.run(
        [sys.executable, "-c", RUNNER],
        input=notebook.read_text(),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    cells: list[Cell] = json.loads(done.stdout)["cells"]
    return cells


def said(cells: Sequence[Cell]) -> list[list[str]]:
    """The outputs of each cell as text, pictures aside."""
    return [
        [
            re.sub(r'<img [^>]*alt="([^"]*)">', r"<img \1>", "".join(text))
            for output in cell.get("outputs", ())
            for _, text in sorted({"": output.get("text", ()), **output.get("data", {})}.items())
        ]
        for cell in cells
    ]


def pictures(cells: Sequence[Cell]) -> list[str]:
    """The SVG of every image."""
    html = (
        "".join(output.get("data", {}).get("text/html", ())) for cell in cells for output in cell.get("outputs", ())
    )
    found = (data for text in html for data in re.findall(r"data:image/svg\+xml;base64,([^\"]+)", text))
    return [base64.b64decode(data).decode() for data in found]


def write(notebook: Path) -> None:
    """Runs it in an empty folder and writes its outputs."""
    whole = json.loads(notebook.read_text())
    with tempfile.TemporaryDirectory() as folder:
        whole["cells"] = run(notebook, Path(folder))
    notebook.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    for path in NOTEBOOKS:
        write(path)
