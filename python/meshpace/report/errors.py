"""What can be amiss with a report that a user can mend."""

from __future__ import annotations

from meshpace.errors import MendableError


class VerdictsLostError(MendableError):
    """A page has verdicts of studies that the store does not hold."""


class NothingToReportError(MendableError):
    """The store holds no run of any study."""


class MissingPackageError(MendableError):
    """An optional package is not installed."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(f"{what} needs {package}: pip install 'meshpace[{extra}]'")
