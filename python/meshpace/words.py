"""Numbers with the noun that they count."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """``1 run``, ``2,000 runs``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def in_hops(count: int) -> str:
    """``1 hop``, ``2 hops``."""
    return counted(count, "hop")
