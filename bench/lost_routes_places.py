"""A download over a chain whose routes may go: the mesh, its times, and how it is held to have lost its way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

BEGINS_S, SETTLES_S, AFTER_S = 30, 5, 2
"""Daemons first: their routes stand before the transfer begins. What programs say at the end has to be written."""
BEGIN_S = BEGINS_S + SETTLES_S
"""From then on it is measured."""
SERVER = "B"
"""The sender, on a wire behind the gateway, the last node of the chain; the receiver is the first one, n0."""
RECEIVER = "n0"
RATE = "11Mbps"
MESH = """\
[topology]
kind = "chain"
hops = {hops}

[radio]
rate = "{rate}"
rts = "always"

[[node]]
id = "{server}"
role = "wired"

[[link]]
a = "n{hops}"
b = "{server}"
rate = "50Mbps"
delay = "10ms"
"""
FLOOD_BPS = 3_000_000
"""More than a chain of two hops carries."""
SENDERS = {
    "cubic": "cubic",
    "gap": "cubic, paced at the gateway",
    "calm": "calm",
    "flood": "UDP, 3 Mbit/s",
    "flood-fq": "the same, queues of FQ-CoDel",
}
"""Of the wired host: its kernel's congestion control, and what the gateway does; or none."""
QUEUES = """\
[defaults]
scheme = "linux-cubic"

[scheme.linux-cubic]
relay = "fq-codel"
"""


def mesh(hops: int) -> str:
    return MESH.format(hops=hops, rate=RATE, server=SERVER)


def is_flood(sender: str) -> bool:
    return sender.startswith("flood")


class Outcome(NamedTuple):
    """What came of a download while it was measured."""

    goodput_bps: float
    broken: int
    """How often the way was lost: by a daemon, for any of its nodes; by a simulated protocol, its route failures."""
    silence_s: float
    """The longest time without a packet at the receiver."""


def longest(quiet: Iterable[bool]) -> int:
    """How many in a row are true at most."""
    most = now = 0
    for one in quiet:
        now = now + 1 if one else 0
        most = max(most, now)
    return most
