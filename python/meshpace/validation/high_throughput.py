"""The families of 802.11n that are held against closed forms: one link's saturation, Bianchi with aggregates.

Computed here from IEEE 802.11-2020, with nothing of the engine in it. Times in microseconds.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from meshpace.project import validation_directory
from meshpace.validation.model import Check, Relative, Setup, aggregate_kbps, goodput_kbps
from meshpace.validation.theory import (
    ACK_BYTES,
    CTS_BYTES,
    CW_MAX,
    RTS_BYTES,
    TIMEOUT_SLACK_US,
    fixed_point,
)

SIFS, _SLOT = 16.0, 9.0
"""5 GHz (IEEE 802.11-2020, table 17-21)."""
_AIFS = SIFS + 3 * _SLOT
"""Of best effort: AIFSN 3 (table 9-155)."""
_CW_MIN = 15
_MAC_OVERHEAD = 38
"""Bytes around a packet: header with QoS control, LLC/SNAP, FCS."""
BLOCK_ACK_BYTES = 32
"""With a compressed bitmap (9.3.1.8.2)."""
EIFS = SIFS + 44.0 + _AIFS
"""After a frame that could not be read: SIFS + ACK at 6 Mbit/s + AIFS (10.3.2.3.7)."""
_LONGEST_US = 5484.0
_AIR = 200.0 / 299.792458
"""Propagation over the 200 m of chain-adhoc.toml; on one spot there is none."""


_MOST_PACKETS = 256
"""Of a frame, as docs/model.md has it."""


def _amsdu(packet: int, count: int) -> int:
    """Bytes of an A-MSDU of so many packets."""
    subframe = 22 + packet
    return (count - 1) * 4 * math.ceil(subframe / 4) + subframe


@dataclass(frozen=True, slots=True)
class Ht:
    """A mode of the HT-mixed format: what of 19.5's tables a time on the air needs."""

    name: str
    settings: tuple[str, ...]
    bits: float
    """Data bits a symbol."""
    encoders: int
    """Each adds six tail bits (19.3.11.4)."""
    streams: int
    control_mbps: float
    """Of ACKs and block ACKs: the non-HT reference rate's mandatory one (10.6.11)."""
    symbol: float = 4.0

    standard: ClassVar[str] = "802.11n"
    most_mpdus: ClassVar[int] = 64
    """Of a frame."""
    block_ack_bytes: ClassVar[int] = BLOCK_ACK_BYTES
    around_one: ClassVar[int] = 0
    """Bytes around an MPDU that is alone in its frame."""
    aggregates: ClassVar[tuple[int, ...]] = (0, 7_935, 65_535)
    """Bytes of a frame at the most; the last is what a station may take."""

    def airtime(self, size: int) -> float:
        """Of so many bytes; what short symbols last is rounded up to 4 us (equation 19-92)."""
        preamble = 32.0 + 4.0 * (4 if self.streams == 3 else self.streams)  # as many HT-LTFs (19.3.9)
        symbols = math.ceil((16 + 6 * self.encoders + 8 * size) / self.bits) * self.symbol
        return preamble + 4.0 * math.ceil(symbols / 4.0 - 1e-9)

    def control(self, size: int) -> float:
        """A control frame, OFDM at its rate (17.3.2.4)."""
        return 20.0 + 4.0 * math.ceil((16 + 6 + 8 * size) / (4 * self.control_mbps))

    def frame(self, packet: int, count: int) -> float:
        """A frame of ``count`` packets: each behind a delimiter and but for the last padded to 4 bytes (9.7.1)."""
        mpdu = packet + _MAC_OVERHEAD
        return self.airtime(mpdu + self.around_one if count == 1 else self.aggregated(packet, count))

    def aggregated(self, packet: int, count: int) -> int:
        """Bytes of an A-MPDU."""
        mpdu = packet + _MAC_OVERHEAD
        return (count - 1) * (4 * math.ceil(mpdu / 4) + 4) + mpdu + 4

    def fill(self, packet: int, aggregate: int) -> int:
        """Packets a full frame has."""
        count = 1
        while count < self.most_mpdus:
            size = self.aggregated(packet, count + 1)
            if size > aggregate or self.airtime(size) > _LONGEST_US:
                break
            count += 1
        return count

    def together(self, packet: int, amsdu: int, aggregate: int) -> tuple[int, int]:
        """Packets that a full frame has, and its bytes, where MPDUs are filled with packets of up to ``amsdu`` bytes.

        An MPDU of several has, after its header, each behind a header of 14 bytes and LLC/SNAP of 8, all but the last
        padded to 4 bytes (9.3.2.2.2). Each is filled before another is begun; a frame has 256 packets at the most.
        """
        mpdus, size = [0], 0
        while sum(mpdus) < _MOST_PACKETS:
            for more in ([*mpdus[:-1], mpdus[-1] + 1], [*mpdus, 1]):
                inside = [_amsdu(packet, count) for count in more]
                sizes = [packet + _MAC_OVERHEAD if n == 1 else 30 + i for n, i in zip(more, inside, strict=True)]
                bigger = sum(4 * math.ceil((4 + mpdu) / 4) for mpdu in sizes[:-1]) + 4 + sizes[-1]
                fits = bigger <= aggregate and self.airtime(bigger) <= _LONGEST_US
                if fits and len(more) <= self.most_mpdus and (more[-1] == 1 or inside[-1] <= amsdu):
                    mpdus, size = more, bigger
                    break
            else:
                break
        return sum(mpdus), size

    def exchange(self, packet: int, count: int) -> float:
        """A frame and its answer, without propagation."""
        return self.frame(packet, count) + SIFS + self.control(ACK_BYTES if count == 1 else self.block_ack_bytes)


MODES = (
    Ht("MCS 0", ("radio.mcs=0",), 26, 1, 1, 6),
    Ht("MCS 4", ("radio.mcs=4",), 156, 1, 1, 24),
    Ht("MCS 7, short guard interval", ("radio.mcs=7", "radio.guard_interval=400ns"), 260, 1, 1, 24, 3.6),
    Ht("MCS 9", ("radio.mcs=9",), 104, 1, 2, 12),
    Ht("MCS 15, 40 MHz", ("radio.mcs=15", "radio.width=40MHz"), 1080, 1, 2, 24),
    Ht("MCS 31, 40 MHz", ("radio.mcs=31", "radio.width=40MHz"), 2160, 2, 4, 24),
)
_RADIO = ("radio.rts=never", "radio.reception=sinr", "radio.arp=false")
_UDP, _TCP = 28, 52
"""Bytes of headers: IP and UDP; IP and TCP with timestamps, which is a whole TCP ACK as well."""
_AMSDU = 3_839
"""The shorter of the two longest that a station may take (9.4.2.55.2)."""
_WAIT = _AIFS + _CW_MIN / 2 * _SLOT
"""Before a frame of one sender alone, us: AIFS and the mean backoff."""


_UP_AND_DOWN = 50.0
"""From the end of a frame until what answers its packet waits at the MAC, us: 25 from room to room each way."""


def _backoff_by_turns() -> tuple[float, float]:
    """Mean backoff of two stations that send by turns, slots, and how often it is drawn when the packet comes.

    The station that has sent draws a backoff ``b`` (10.3.4.2), which runs on until the other sends, after ``c`` slots.
    The slot in which it does is not counted (the anomalous slot of Tinnirello, Bianchi and Xiao 2010): ``b - c + 1``
    are left when there is a packet again, and if it had run out, a new one is drawn. That is a Markov chain of ``c``.
    """
    draws = range(_CW_MIN + 1)
    chances, fresh = [1 / len(draws) for _ in draws], 0.0
    for _ in range(100):
        following, fresh = [0.0 for _ in draws], 0.0
        for (c, chance), b in itertools.product(enumerate(chances), draws):
            if b >= c:
                following[b - c + 1 if c else b] += chance / len(draws)
            else:
                fresh += chance / len(draws)
                following = [one + chance / len(draws) ** 2 for one in following]
        chances = following
    return math.fsum(c * chance for c, chance in enumerate(chances)), fresh


def ht_saturation() -> Iterator[Setup]:
    """One link of 802.11n that always has something to send: AIFS + mean backoff + exchange a frame.

    Datagrams in full frames, one in each MPDU or as many as an A-MSDU has room for; TCP with a window of one frame and
    one ACK for it, so that frame and ACK take turns (segments of 1,460 bytes, 12 of them the time stamps).
    """
    yield from saturated("ht_saturation", MODES)


def saturated(family: str, modes: Sequence[Ht]) -> Iterator[Setup]:
    """The rows of a family like :func:`ht_saturation` for these modes."""
    backoff, fresh = _backoff_by_turns()
    for mode in modes:
        *_, most = mode.aggregates
        for aggregate in mode.aggregates:
            for payload in (200, 1_472):
                packet = payload + _UDP
                count = mode.fill(packet, aggregate)
                expected = 8e3 * count * payload / (_WAIT + mode.exchange(packet, count) + 2 * _AIR)
                settings = (
                    "flow.0.app=cbr", f"flow.0.packet={payload}", f"flow.0.rate={expected * 1.2:.0f}kbps",
                    f"radio.aggregate={aggregate}", "measure.duration=1.6s", "measure.warmup=200ms",
                )  # fmt: skip
                name = f"{mode.name}, aggregates of {aggregate:,} B, datagrams of {payload:,} B"
                yield _link(family, name, mode, settings, expected)
        for payload in (200, 1_472):
            count, size = mode.together(payload + _UDP, _AMSDU, most)
            cycle = _WAIT + mode.airtime(size) + SIFS + mode.control(mode.block_ack_bytes) + 2 * _AIR
            expected = 8e3 * count * payload / cycle
            settings = (
                "flow.0.app=cbr", f"flow.0.packet={payload}", f"flow.0.rate={expected * 1.2:.0f}kbps",
                f"radio.amsdu={_AMSDU}", "measure.duration=1.6s", "measure.warmup=200ms",
            )  # fmt: skip
            name = f"{mode.name}, A-MSDUs of {_AMSDU:,} B, datagrams of {payload:,} B"
            yield _link(family, name, mode, settings, expected)
        for window in (1, 4, 16):
            if window > max(1, mode.fill(1_500, most)):
                continue
            # A packet that comes after the answer to what it answers begins its new backoff later by that. The
            # station that answers sends next, so only the frame's way counts of each exchange.
            answers = (ACK_BYTES if window == 1 else mode.block_ack_bytes, ACK_BYTES)
            late = sum(max(0.0, _UP_AND_DOWN - SIFS - mode.control(answer)) for answer in answers)
            turns = 2 * (_AIFS + backoff * _SLOT) + fresh * late
            cycle = turns + mode.exchange(1_500, window) + mode.exchange(_TCP, 1) + 2 * _AIR
            settings = (
                "defaults.segment=1460", f"defaults.window={window}", "defaults.scheme=sack-rfc",
                f"scheme.sack-rfc.ack_segments={window}", "measure.duration=6s", "measure.warmup=2s",
            )  # fmt: skip
            name = f"{mode.name}, TCP with a window of {window}"
            yield _link(family, name, mode, settings, 8e3 * window * 1_448 / cycle)


def _link(family: str, name: str, mode: Ht, settings: tuple[str, ...], expected: float) -> Setup:
    check = Check(
        name, "goodput", "kbit/s", expected, Relative(0.01), goodput_kbps(), "AIFS + backoff + exchange", digits=5
    )
    both = (f"radio.standard={mode.standard}", *_RADIO, *mode.settings, "topology.hops=1", "flow.0.to=n1", *settings)
    return Setup(family, "link.toml", both, None, 1, (check,), validation_directory)


@dataclass(frozen=True, slots=True)
class Protected:
    """``stations`` saturated senders of full frames after RTS/CTS, all of which hear each other.

    Bianchi 2000 with the finite retries of Wu et al. 2002: only RTS collide, so that a frame of many packets is sent as
    one is. Ts = RTS, CTS, frame and answer with their SIFS, and AIFS; Tc = RTS + EIFS, for two stations, where nobody
    stands by, RTS + SIFS + CTS + 4 us + AIFS.
    """

    mode: Ht
    stations: int
    attempts: int = 7

    def throughput_kbps(self, packet: int, payload: int, aggregate: int) -> float:
        """Payload rate of all stations."""
        n, mode, count = self.stations, self.mode, self.mode.fill(packet, aggregate)
        p = fixed_point(lambda p: 1 - math.pow(1 - self._transmit_chance(p), n - 1))
        tau = self._transmit_chance(p)
        nobody, alone = math.pow(1 - tau, n), n * tau * math.pow(1 - tau, n - 1)
        rts, cts = mode.control(RTS_BYTES), mode.control(CTS_BYTES)
        success = rts + cts + 2 * SIFS + mode.exchange(packet, count) + _AIFS
        collision = rts + (EIFS if n > 2 else SIFS + cts + TIMEOUT_SLACK_US + _AIFS)
        slot = nobody * _SLOT + alone * success + (1 - nobody - alone) * collision
        return 8e3 * payload * count * alone / slot

    def _transmit_chance(self, p: float) -> float:
        windows = [min((_CW_MIN + 1) << stage, CW_MAX + 1) for stage in range(self.attempts)]
        slots = sum(math.pow(p, stage) * (window + 1) / 2 for stage, window in enumerate(windows))
        return sum(math.pow(p, stage) for stage in range(self.attempts)) / slots


_DATAGRAM = 1_472


def ht_bianchi() -> Iterator[Setup]:
    """Saturation throughput of n stations of 802.11n in range, frames of many packets after RTS/CTS, 7 attempts.

    Without RTS/CTS a frame that collides is asked after by requests, which Bianchi's chain does not have.
    """
    for mode in (MODES[1], MODES[4]):
        for aggregate in (8_000, 65_535):
            for n in (2, 3, 5, 10, 15, 20):
                expected = Protected(mode, n).throughput_kbps(_DATAGRAM + _UDP, _DATAGRAM, aggregate)
                name = f"{mode.name}, aggregates of {aggregate:,} B, RTS/CTS, {n} stations"
                settings = (
                    f"radio.standard={mode.standard}", *_RADIO, *mode.settings, "radio.rts=always",
                    f"radio.aggregate={aggregate}",
                    f"topology.nodes={2 * n}", f"flow.0.count={n}", f"flow.0.rate={2 * expected / n:.0f}kbps",
                    f"flow.0.packet={_DATAGRAM}", "measure.duration=7s",
                )  # fmt: skip
                check = Check(
                    name, "throughput", "kbit/s", expected, Relative(0.03), aggregate_kbps,
                    "Bianchi, finite retries", digits=5,
                )  # fmt: skip
                yield Setup("ht_bianchi", "saturated.toml", settings, None, 2, (check,), validation_directory)
