"""Received powers."""

from __future__ import annotations

import math

CARD_W = 0.28183815
"""What ns-2's default radio transmits: 24.5 dBm (schemes.md 17.1)."""
CARD_HEIGHT_M, CARD_HZ = 1.5, 914e6
"""Its antennas' height, and its frequency; their gains are 1."""


def two_ray_power_w(distance_m: float) -> float:
    """The power of ns-2's default radio over so many metres, W."""
    wavelength = 3e8 / CARD_HZ
    if distance_m < 4 * math.pi * CARD_HEIGHT_M * CARD_HEIGHT_M / wavelength:
        return CARD_W * (wavelength / (4 * math.pi * distance_m)) ** 2
    return float(CARD_W * CARD_HEIGHT_M**4 / distance_m**4)


def dbm(watts: float) -> float:
    """A power in dBm."""
    return 10 * math.log10(watts * 1e3)
