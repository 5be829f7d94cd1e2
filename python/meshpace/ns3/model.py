"""What ns-3.37 can express: the part of a scenario that has a counterpart there, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

from meshpace.judges.network import MeshNode, WiredLink


@dataclass(frozen=True, slots=True)
class Standard:
    """A standard's own numbers: what ns-3 calls it, its channel, and the access of best effort."""

    word: str
    modes: str
    channels: dict[tuple[str, int], tuple[int, int]]
    """Channel and width in ns-3 by band and our width in MHz."""
    window: tuple[int, int]
    aifsn: int
    slot_us: int
    mac_overhead: int


@dataclass(frozen=True, slots=True)
class Radio:
    """PHY and MAC; dBm, bytes, modes by ns-3's names. ``loss`` are words: a model and its numbers."""

    standard: Standard
    band: str
    width_mhz: int
    data: str
    control: str
    broadcast: str
    basic: tuple[str, ...]
    streams: int
    guard_ns: int
    power_dbm: float
    loss: tuple[str | float, ...]
    decoded_dbm: float
    sensed_dbm: float
    aggregate: int
    amsdu: int
    rts_above: int
    retry_short: int
    retry_long: int
    queue: int


@dataclass(frozen=True, slots=True)
class Tcp:
    """A sender and its receiver; segments, seconds, types by ns-3's names."""

    window: int
    congestion: str
    recovery: str
    sack: bool
    hystart: bool
    initial_window: int
    ack_segments: int
    ack_delay_s: float
    rto_min_s: float
    rto_initial_s: float


@dataclass(frozen=True, slots=True)
class Flow:
    """One flow. ``packet`` is the payload a packet; a flow of datagrams has a rate instead of ``tcp``.

    ``start_s`` (jitter drawn) and ``stop_s`` count from time 0.
    """

    id: str
    source: str
    target: str
    packet: int
    start_s: float
    stop_s: float | None
    tcp: Tcp | None
    rate_bps: float = 0.0


@dataclass(frozen=True, slots=True)
class Ns3Scenario:
    """A scenario that ns-3.37 can run.

    ``routes`` say for a node and a destination the next node, by name, over radio and wires alike.
    """

    name: str
    nodes: tuple[MeshNode, ...]
    wired: tuple[str, ...]
    links: tuple[WiredLink, ...]
    flows: tuple[Flow, ...]
    radio: Radio
    routes: tuple[tuple[str, str, str], ...]
    duration_s: float
    warmup_s: float
