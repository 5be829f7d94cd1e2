"""What ns-2.35 can express: the part of a scenario that has a counterpart there, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from meshpace.errors import MendableError


class Routing(StrEnum):
    """How routes come about."""

    AODV = "aodv"
    DSDV = "dsdv"
    STATIC = "static"


class App(StrEnum):
    """What drives a flow."""

    FTP = "ftp"
    CBR = "cbr"


@dataclass(frozen=True, slots=True)
class MeshNode:
    """A station with an 802.11 interface; metres."""

    name: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class WiredLink:
    """A full-duplex link; bit/s, seconds, packets a direction (the one being sent included)."""

    a: str
    b: str
    rate_bps: float
    delay_s: float
    queue: int


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


def as_written(value: object) -> str:
    """A value as a scenario file has it."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return f'"{value}"'
    return str(value)


class Refusal(Exception):  # noqa: N818 (caught where the file's name is known)
    """A key or value that has no counterpart in ns-2.35."""

    def __init__(self, key: str, found: object, allowed: str, reason: str) -> None:
        super().__init__(key)
        self.key, self.found, self.allowed, self.reason = key, found, allowed, reason


class NotExpressibleError(MendableError):
    """A scenario has no counterpart in ns-2.35: a line a key, with what was found, what is allowed, and the reason."""

    def __init__(self, file: str, refusals: Sequence[Refusal]) -> None:
        # What stands for several keys of the file may be refused by each of them.
        by_key = {refusal.key: refusal for refusal in reversed(refusals)}
        told = [refusal for refusal in refusals if by_key[refusal.key] is refusal]
        super().__init__(
            "\n".join(
                f"{file}: {refusal.key} = {as_written(refusal.found)}: ns-2.35 cannot express it, {refusal.reason}; "
                f"allowed: {refusal.allowed}"
                for refusal in told
            )
        )
        self.refusals = tuple(told)
        first = told[0]
        self.key, self.found, self.allowed = first.key, first.found, first.allowed
