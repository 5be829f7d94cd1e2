"""Numbers with the noun that they count."""

from __future__ import annotations


def in_hops(count: int) -> str:
    """``1 hop``, ``2 hops``."""
    return f"{count} hop" if count == 1 else f"{count} hops"
