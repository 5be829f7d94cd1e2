"""Refusals: keys that a judge cannot express, all of them in one error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

from meshpace.errors import MendableError

_P = ParamSpec("_P")
_T = TypeVar("_T")


def as_written(value: object) -> str:
    """A value as a scenario file has it."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return f'"{value}"'
    return str(value)


class Refusal(Exception):  # noqa: N818 (caught where the file's name is known)
    """A key or value that has no counterpart in a judge."""

    def __init__(self, key: str, found: object, allowed: str, reason: str) -> None:
        super().__init__(key)
        self.key, self.found, self.allowed, self.reason = key, found, allowed, reason


class NotExpressibleError(MendableError):
    """A scenario has no counterpart in a judge: a line a key, with what was found, what is allowed, and the reason."""

    def __init__(self, judge: str, file: str, refusals: Sequence[Refusal]) -> None:
        # A value that stands for several keys of the file may be refused by each of them.
        by_key = {refusal.key: refusal for refusal in reversed(refusals)}
        told = [refusal for refusal in refusals if by_key[refusal.key] is refusal]
        super().__init__(
            "\n".join(
                f"{file}: {refusal.key} = {as_written(refusal.found)}: {judge} cannot express it, {refusal.reason}; "
                f"allowed: {refusal.allowed}"
                for refusal in told
            )
        )
        self.refusals = tuple(told)
        first = told[0]
        self.key, self.found, self.allowed = first.key, first.found, first.allowed


class Refusals:
    """The refusals so far: all keys are checked before any refusal is reported."""

    def __init__(self) -> None:
        self.refused: list[Refusal] = []

    def of(self, part: Callable[_P, _T], *given: _P.args, **named: _P.kwargs) -> _T | None:
        """What a part comes to; None if it is refused."""
        try:
            return part(*given, **named)
        except Refusal as refusal:
            self.refused.append(refusal)
            return None
