"""Misses whose cause is known, by the row's key (``family: name: quantity``), with the cause in one sentence."""

from __future__ import annotations

EXPLAINED: dict[str, str] = {}
