"""How colours look to people who do not tell red from green, and how far apart they are then.

Simulation: Machado, Oliveira and Fernandes 2009, severity 1.0, in linear RGB. Distance: CIE 1976 in L*a*b* under D65.
"""

from __future__ import annotations

import math

DEUTERANOPIA = ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881))
PROTANOPIA = ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998))
_XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041))
_WHITE = (0.95047, 1.0, 1.08883)
Triple = tuple[float, float, float]


def apart(one: str, other: str, sight: tuple[Triple, ...]) -> float:
    return math.dist(_lab(one, sight), _lab(other, sight))


def _lab(colour: str, sight: tuple[Triple, ...]) -> Triple:
    linear = [_linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5)]
    seen = [min(1.0, max(0.0, value)) for value in _times(sight, linear)]
    x, y, z = (_root(value / white) for value, white in zip(_times(_XYZ, seen), _WHITE, strict=True))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def _times(matrix: tuple[Triple, ...], vector: list[float]) -> list[float]:
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def _root(value: float) -> float:
    return value ** (1 / 3) if value > (6 / 29) ** 3 else value / (3 * (6 / 29) ** 2) + 4 / 29
