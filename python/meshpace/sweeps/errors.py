"""What is wrong with how a sweep was asked for."""

from __future__ import annotations

from meshpace.errors import MendableError


class SweepError(MendableError):
    """A sweep cannot be made as asked; one message that names the option, what was found and what is allowed."""
