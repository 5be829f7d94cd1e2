"""Words of the command line: which schemes are files, and the commands that repeat what was run."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from meshpace.formula import Formula


def is_formula_file(word: str) -> bool:
    """Whether ``--scheme`` means a formula in a file with it; names of schemes have neither sign."""
    return ":" in word or word.endswith(".py")


def schemes_in_words(
    schemes: Sequence[str | None], formulas: Sequence[type[Formula]]
) -> tuple[list[str], list[str]]:  # fmt: skip
    """``--scheme`` of each, formulas as ``FILE.py:CLASS``; then what has to be saved first, since no file has it."""
    by_name = {formula.scheme_name(): formula for formula in formulas}
    words, unsaved = [], []
    for scheme in schemes:
        if scheme is None:
            continue
        formula = by_name.get(scheme)
        word = scheme if formula is None else formula.word()
        if formula is not None and word is None:
            unsaved.append(f"the class {formula.__qualname__}")
            word = f"{scheme}.py:{formula.__qualname__.rpartition('.')[2]}"
        words += ["--scheme", str(word)]
    return words, unsaved


def spoken(words: Sequence[str], unsaved: Sequence[str]) -> str:
    """A command in a line; where something stands in no file, a comment that says so before repeating it."""
    import shlex

    command = shlex.join(words)
    if not unsaved:
        return command
    return f"# in no file, save first: {', '.join(unsaved)}; then: {command}"
