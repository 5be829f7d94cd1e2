"""A fingerprint of Python that results depend on, as the engine's is one of its Rust."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
from collections.abc import Iterator
from types import ModuleType

_SAYS_NOTHING = ("type_comment", "kind")
"""Fields of syntax trees that are there for tools."""


@functools.cache
def code_of(module: ModuleType) -> str:
    """16 hexadecimal digits over a module's code: comments, docstrings and layout do not change them."""
    return fingerprint(inspect.getsource(module))


def fingerprint(source: str) -> str:
    """As :func:`code_of`, of a source."""
    digest = hashlib.sha256()
    for word in _words(ast.parse(source)):
        digest.update(word.encode() + b"\0")
    return digest.hexdigest()[:16]


def _words(node: object) -> Iterator[str]:
    """A syntax tree as words. ``ast.dump`` writes one tree differently from one version of Python to the next."""
    if isinstance(node, ast.AST):
        yield f"({type(node).__name__}"
        for name, value in ast.iter_fields(node):
            if name not in _SAYS_NOTHING and value is not None and value != []:
                yield name
                yield from _words(value)
        yield ")"
    elif isinstance(node, list):
        yield "["
        for item in node:
            if not _is_docstring(item):
                yield from _words(item)
        yield "]"
    else:
        yield f"{type(node).__name__} {node!r}"


def _is_docstring(node: object) -> bool:
    """Whether a statement is a text that nothing reads."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
