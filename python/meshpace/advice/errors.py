"""Mistakes in a question for advice."""

from __future__ import annotations

from meshpace.errors import MendableError


class AdviceError(MendableError):
    """No advice can be given as asked; one message that names what was found and what is allowed."""
