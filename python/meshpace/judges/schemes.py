"""Schemes held against the senders and receivers that a judge has."""

from __future__ import annotations

import functools
from collections.abc import Container, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from meshpace import engine
from meshpace.judges.refusals import Refusal, as_written

Parameters = dict[str, Any]
"""Of a scheme, as they act."""

_CHOICES = ("congestion", "recovery", "tcp_profile", "pacing", "ack_policy", "relay", "gateway")
"""Parameters that choose a part: named before those of the part."""


def parameters_of(name: str) -> Parameters:
    """Those of a scheme of the table, as it ships."""
    return dict(_shipped()[name])


@functools.cache
def _shipped() -> dict[str, Parameters]:
    """Of every scheme of the table."""
    return {row["name"]: row["parameters"] for row in engine.schemes()}


def check_scheme(
    key: str,
    name: str,
    given: Parameters,
    wanted: Parameters,
    allowed: str,
    free: Container[str] = (),
    choices: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> None:
    """All of a scheme's parameters are those that a judge has, but for the ``free`` ones and those with ``choices``.

    ``key`` names the scheme in the file, ``allowed`` are schemes of the table that can be expressed.

    Raises:
        Refusal: of the parameter that differs, or of the scheme if it is one of the table as it ships.
    """

    def differs(parameter: str) -> bool:
        if parameter in choices:
            return given.get(parameter) not in choices[parameter]
        return parameter not in free and given.get(parameter) != wanted.get(parameter)

    differing = [parameter for parameter in {**wanted, **given} if differs(parameter)]
    if not differing:
        return
    if any(row["name"] == name and row["parameters"] == given for row in engine.schemes()):
        raise Refusal(key, name, allowed, "it has no such agent; try --scheme " + allowed.split('"')[1])
    first = next((choice for choice in _CHOICES if choice in differing), differing[0])
    possible = choices.get(first, [wanted[first]] if first in wanted else [])
    instead = ", ".join(map(as_written, possible)) or "not to give it"
    raise Refusal(f"scheme.{name}.{first}", given.get(first), instead, "its TCP agents do otherwise")
