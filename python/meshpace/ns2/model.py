"""What ns-2.35 can express: the part of a scenario that has a counterpart there, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from meshpace.judges.network import App, MeshNode, WiredLink


class Routing(StrEnum):
    """How routes come about."""

    AODV = "aodv"
    DSDV = "dsdv"
    STATIC = "static"


@dataclass(frozen=True, slots=True)
class Radio:
    """The DSSS radio and DCF; bit/s, metres, bytes. ``rts_bytes`` is the smallest MPDU sent after RTS/CTS."""

    rate_bps: float
    basic_rate_bps: float
    short_preamble: bool
    rts_bytes: int | None
    retry_short: int
    retry_long: int
    queue: int
    tx_range_m: float
    cs_range_m: float
    capture_db: float


@dataclass(frozen=True, slots=True)
class Flow:
    """One flow. ``packet`` is the payload a packet: the segment of TCP, the datagram of CBR.

    ``start_s`` (jitter drawn) and ``stop_s`` count from time 0.
    """

    id: str
    source: str
    target: str
    app: App
    packet: int
    start_s: float
    stop_s: float | None
    scheme: str
    agent: str = ""
    window: int = 0
    delayed_ack: bool = False
    rate_bps: float = 0.0
    udp_header: int = 0


@dataclass(frozen=True, slots=True)
class Ns2Scenario:
    """A scenario that ns-2.35 can run; ``gateway`` is the mesh node that the wired links hang on.

    ``routes`` are the static routes within the mesh that the flows use, by index of the nodes, from source to
    destination; without static routing none.
    """

    name: str
    nodes: tuple[MeshNode, ...]
    links: tuple[WiredLink, ...]
    gateway: str | None
    flows: tuple[Flow, ...]
    radio: Radio
    routing: Routing
    routes: tuple[tuple[int, ...], ...]
    duration_s: float
    warmup_s: float

    @property
    def ip_header_added(self) -> int:
        """Bytes that ns-2's DSDV agent adds to every packet its node originates (its AODV: to UDP only)."""
        return 0 if self.routing is Routing.AODV else 20
