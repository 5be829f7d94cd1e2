"""Where the checkout's scenarios and reference measurements lie."""

from __future__ import annotations

from pathlib import Path

from meshpace.errors import MendableError

_ROOT = Path(__file__).resolve().parents[2]


class MissingFilesError(MendableError):
    """The package runs outside a checkout of the project."""


def scenario_directory() -> Path:
    """The folder with one TOML file an experiment.

    Raises:
        MissingFilesError: if it is not there.
    """
    return _folder("scenarios")


def validation_directory() -> Path:
    """The folder with the scenarios that only a validation runs.

    Raises:
        MissingFilesError: if it is not there.
    """
    return _folder("validation")


def reference_directory() -> Path:
    """The folder with the measurements of ns-2.

    Raises:
        MissingFilesError: if it is not there.
    """
    return _folder("validation/reference")


def points_directory() -> Path:
    """The folder with the set-ups that were measured with ``crosscheck``.

    Raises:
        MissingFilesError: if it is not there.
    """
    return _folder("validation/points")


def _folder(name: str) -> Path:
    path = _ROOT / name
    if not path.is_dir():
        raise MissingFilesError(f"{path} is missing: run this from a checkout of the project")
    return path


def shown(path: Path) -> str:
    """``path`` as a command typed in the checkout names it."""
    return str(path.relative_to(_ROOT)) if path.is_relative_to(_ROOT) else str(path)
