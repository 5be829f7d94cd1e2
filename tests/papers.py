"""The Python file of each paper: what its numbers are read with."""

from __future__ import annotations

from typing import Any

from meshpace.project import paper_directory
from meshpace.study.written.vocabulary import functions_of


def words(paper: str) -> Any:
    """The functions and quantities of a paper."""
    return functions_of(paper_directory() / paper / "measures.py")
