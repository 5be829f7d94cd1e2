"""Where scenarios and reference measurements lie: in the checkout; a wheel carries the scenarios."""

from __future__ import annotations

from pathlib import Path

from meshpace.errors import MendableError

_PACKAGE = Path(__file__).resolve().parent
_ROOT = _PACKAGE.parents[1]


class MissingFilesError(MendableError):
    """The package runs outside a checkout of the project."""


def scenario_directory() -> Path:
    """The folder with one TOML file an experiment: the checkout's, else the wheel's.

    Raises:
        MissingFilesError: if it is not there.
    """
    carried = _PACKAGE / "scenarios"
    return carried if carried.is_dir() and not (_ROOT / "scenarios").is_dir() else _folder("scenarios")


def paper_directory() -> Path:
    """The folder with one folder a paper, its studies and claims: the checkout's, else the wheel's.

    Raises:
        MissingFilesError: if it is not there.
    """
    carried = _PACKAGE / "papers"
    return carried if carried.is_dir() and not (_ROOT / "papers").is_dir() else _folder("papers")


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
    """``path`` as a command typed in the checkout names it; whole where there is no checkout."""
    here = path.is_relative_to(_ROOT) and not path.is_relative_to(_PACKAGE)
    return str(path.relative_to(_ROOT)) if here else str(path)
