"""Scenario files: where they lie, and what is in them."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


def contents(path: Path | str) -> bytes:
    """The text of a scenario file; of an endless one (``/dev/zero``) enough for the engine to refuse it.

    Raises:
        OSError: it cannot be read.
    """
    with open(found(path), "rb") as file:  # noqa: PTH123 - pathlib takes as long to load as a small scenario to read and run
        return file.read(2**26)


def found(path: Path | str) -> Path | str:
    """Where a scenario lies: there, or, of ``scenarios/NAME.toml``, among those that come with the package."""
    folder, name = os.path.split(os.path.normpath(path))
    if folder != "scenarios" or os.path.exists(path):  # noqa: PTH110
        return path
    from meshpace.project import scenario_directory

    carried = scenario_directory() / name
    return carried if carried.is_file() else path
