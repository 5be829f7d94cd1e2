"""Formulas in files: ``--scheme FILE.py:CLASS`` on the command line and from Python.

A file is read once, and what was read is what runs: it travels to worker processes as text, so that a file that changes
meanwhile, or is not there on another machine, changes nothing.
"""

from __future__ import annotations

import difflib
import hashlib
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from meshpace import engine
from meshpace.commands import is_formula_file
from meshpace.formula import LOADED, Formula, FormulaError

_FORM = "FILE.py:CLASS"
_SUFFIX = ".py"


class FormulaFile(NamedTuple):
    """What a formula was read from."""

    path: str
    """As it was given."""
    text: bytes


def scheme_of(word: str) -> str | type[Formula]:
    """The formula that a word of ``--scheme`` means, or the word, which is the name of a scheme.

    Raises:
        FormulaError: there is no such file or class, or it is no formula.
    """
    return formula(word) if is_formula_file(word) else word


def formula(word: str) -> type[Formula]:
    """The class of ``FILE.py:CLASS``.

    Raises:
        FormulaError: there is no such file or class, or it is no formula.
    """
    path, _, name = word.rpartition(":") if ":" in word else (word, "", "")
    if not path.endswith(_SUFFIX):
        raise FormulaError(f"--scheme {word}: found {word!r}; allowed: the name of a scheme, or {_FORM}")
    try:
        text = Path(path).read_bytes()
    except OSError as error:
        raise FormulaError(f"--scheme {word}: {path}: {error.strerror}; allowed: {_FORM}") from None
    found = load(FormulaFile(path, text), name)
    found.settings()
    return found


def load(file: FormulaFile, name: str) -> type[Formula]:
    """The class ``name`` of a file; the same object each time.

    Raises:
        FormulaError: the file cannot be run, or has no such formula.
    """
    module = _module(file)
    found = vars(module).get(name)
    if isinstance(found, type) and issubclass(found, Formula) and found is not Formula:
        return found
    made = [
        key
        for key, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Formula) and value.__module__ == module.__name__
    ]
    if not made:
        raise FormulaError(f"{file.path}: found no formula; allowed: a class of meshpace.Formula")
    what = "no class" if not name else f"{name}, which is no formula" if name in vars(module) else repr(name)
    near = difflib.get_close_matches(name, made, n=1)
    hint = f", did you mean {near[0]}?" if near else ""
    raise FormulaError(
        f"--scheme {file.path}{':' * bool(name)}{name}: found {what}{hint}; allowed: {_FORM} with {', '.join(made)}"
    )


def _module(file: FormulaFile) -> ModuleType:
    digest = hashlib.sha256(file.path.encode("utf-8", "surrogateescape") + b"\0" + file.text).hexdigest()
    name = f"meshpace_formula_{digest[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = file.path
    setattr(module, LOADED, file)
    # Before it runs: its classes look for their text (Formula.source) while they are made.
    sys.modules[name] = module
    try:
        exec(compile(file.text, file.path, "exec", dont_inherit=True), vars(module))  # noqa: S102 - the user's own
    except KeyboardInterrupt:
        del sys.modules[name]
        raise
    except BaseException as error:
        del sys.modules[name]
        raise FormulaError(_told(error, file.path)) from error
    return module


def _told(error: BaseException, path: str) -> str:
    """Where in the file, and what: ``own.py:12: ZeroDivisionError: division by zero``."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return f"{path}:{error.lineno}: {type(error).__name__}: {error.msg}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return f"{path}:{lines[-1]}: {said}" if lines else f"{path}: {said}"


def file_of(kind: type[Formula]) -> FormulaFile | None:
    """The file that a class was loaded from by :func:`load`."""
    found: FormulaFile | None = getattr(sys.modules.get(kind.__module__), LOADED, None)
    return found


def packed(kind: type[Formula]) -> type[Formula] | tuple[FormulaFile, str]:
    """What another process can make the class of."""
    file = file_of(kind)
    return kind if file is None else (file, kind.__qualname__)


def unpacked(what: type[Formula] | tuple[FormulaFile, str]) -> type[Formula]:
    """The class again."""
    return load(*what) if isinstance(what, tuple) else what


@contextmanager
def blaming(kinds: Sequence[type[Formula]]) -> Iterator[None]:
    """Tells of what goes wrong in a formula of a file in one line, with file and line.

    Of classes that a caller has in hand the exception is the caller's, as it is.

    Raises:
        FormulaError: it is a formula of a file.
    """
    try:
        yield
    except (Exception, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        files = list(filter(None, map(file_of, kinds)))
        for file in files:
            if any(frame.filename == file.path for frame in frames):
                raise FormulaError(_told(error, file.path)) from error
            # The engine's word on an answer that is none begins with the place of the method.
            if isinstance(error, (TypeError, ValueError)) and str(error).startswith(f"{file.path}:"):
                raise FormulaError(str(error)) from error
        if files and isinstance(error, TypeError) and frames[-1].filename == engine.__file__:
            # It comes of the compiled engine, which reads numbers out of nothing but what formulas have and answer.
            paths = ", ".join(dict.fromkeys(file.path for file in files))
            raise FormulaError(
                f"{paths}: found an answer or a value that is no number ({error}); allowed: numbers, None"
            ) from error
        raise
