"""What is wrong with how a sweep was asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from meshpace.engine import ScenarioError
from meshpace.errors import MendableError


class SweepError(MendableError):
    """A sweep cannot be made as asked; one message that names the option, what was found and what is allowed."""


@contextmanager
def naming(places: Mapping[str, str]) -> Iterator[None]:
    """The engine's errors about ``--set KEY`` name the place where the user wrote the key: ``places``, by key.

    Raises:
        ScenarioError: the same, so told.
    """
    try:
        yield
    except ScenarioError as error:
        message = str(error)
        for key, place in places.items():
            for end in ":=":
                message = message.replace(f"--set {key}{end}", f"{place}{end}")
        raise ScenarioError(message) from None


def by_vary(keys: Iterable[str]) -> dict[str, str]:
    """Keys that ``--vary`` gave, for :func:`naming`."""
    return {key: f"--vary {key}" for key in keys}
