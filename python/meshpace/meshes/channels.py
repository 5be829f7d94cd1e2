"""The channels of a mesh that tells them: numbers and centres, the standard that is on all, the radios of each node."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from meshpace.meshes.model import Link, Mesh, MeshFileError

ALLOWED = "a channel by number (1 to 14, 32 to 177) or the centre in MHz (2412 to 2484, 5160 to 5885)"
_LOW, _HIGH = range(2412, 2485), range(5160, 5886)
"""Centres of the channels 1 to 14, and 32 to 177, MHz."""
_LAST_LOW, _JAPAN, _JAPAN_MHZ = 13, 14, 2484
_LOW_START, _HIGH_START, _STEP = 2407, 5000, 5
"""Centres in MHz are so much above (IEEE 802.11-2020, 15.4.4.3 and 17.3.8.4.2)."""
_LOW_ALONE, _HIGH_ALONE = ("802.11b", "802.11g", "802.11g-ns2"), ("802.11a", "802.11ac")
_OF_BOTH = "802.11n"


def centre(text: str) -> int | None:
    """The centre in MHz of ``36``, ``5180`` or ``5180 MHz``; None if it is no channel."""
    found = re.fullmatch(r"([0-9]{1,4})( ?MHz)?", text.strip())
    if found is None:
        return None
    number = int(found[1])
    if number in _LOW or number in _HIGH:
        return number
    if found[2] is not None:
        return None
    if number == _JAPAN:
        return _JAPAN_MHZ
    mhz = (_LOW_START if number <= _LAST_LOW else _HIGH_START) + _STEP * number
    return mhz if mhz in _LOW or mhz in _HIGH else None


def said(mhz: int) -> str:
    """A line of a scenario: by number if there is one."""
    start = _LOW_START if mhz in _LOW else _HIGH_START
    if mhz == _JAPAN_MHZ:
        return f"channel = {_JAPAN}"
    return f"channel = {(mhz - start) // _STEP}" if (mhz - start) % _STEP == 0 else f'frequency = "{mhz}MHz"'


def of_links(mesh: Mesh, links: Sequence[Link]) -> tuple[int, ...]:
    """The channels of these links; none if none tells its own.

    Raises:
        MeshFileError: some tell it, and others do not.
    """
    found = sorted({link.mhz for link in links if link.mhz is not None})
    missing = next((link for link in links if link.mhz is None), None)
    if found and missing is not None:
        raise MeshFileError(
            f"{mesh.origin}: found no channel of the link {missing.source} - {missing.target}; allowed: the channel of "
            "every link, or of none"
        )
    return tuple(found)


def of_nodes(links: Sequence[Link]) -> Mapping[str, list[int]]:
    """By node: the channels of its links."""
    found: dict[str, set[int]] = {}
    for link in links:
        for end in (link.source, link.target):
            if link.mhz is not None:
                found.setdefault(end, set()).add(link.mhz)
    return {node: sorted(channels) for node, channels in found.items()}


def standard_on(standard: str, channels: Sequence[int]) -> str:
    """The standard of all radios on these channels, where this one follows from rates, or from nothing."""
    low, high = any(mhz in _LOW for mhz in channels), any(mhz in _HIGH for mhz in channels)
    if low and standard in _HIGH_ALONE:
        return _OF_BOTH
    if high and standard in _LOW_ALONE:
        return _OF_BOTH if low else _HIGH_ALONE[0]
    return standard


def check(standard: str, channels: Sequence[int]) -> None:
    """Refuses a standard that was asked for and that is on other channels.

    Raises:
        MeshFileError: it is.
    """
    for alone, band, words in ((_LOW_ALONE, _HIGH, "5 GHz"), (_HIGH_ALONE, _LOW, "2.4 GHz")):
        if standard in alone and (other := next((mhz for mhz in channels if mhz in band), None)):
            raise MeshFileError(
                f"--standard {standard}: found links at {other} MHz; allowed: a standard that has channels at {words}"
            )
