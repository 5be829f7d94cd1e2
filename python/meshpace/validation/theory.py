"""Closed forms of the DCF: frame times, one saturated sender, Bianchi's saturation throughput.

Computed here from the standard and the papers, with nothing of the engine in it. Times in microseconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

RTS_BYTES, CTS_BYTES, ACK_BYTES = 20, 14, 14
"""IEEE 802.11-2020, 9.3.1."""
CW_MAX = 1023
TIMEOUT_SLACK_US = 4.0
"""Twice the largest propagation delay that ns-2.35, hence the engine, allows for in the time-out of an answer."""
_OFDM_MANDATORY_MBPS = (24, 12, 6)


@dataclass(frozen=True, slots=True)
class Phy:
    """A standard at one data rate: IEEE 802.11-2020, clauses 16 (802.11b, long preamble), 17 (a), 18 (g)."""

    standard: str
    rate_mbps: float

    @property
    def _ofdm(self) -> bool:
        return self.standard != "802.11b"

    @property
    def slot(self) -> float:
        """Slot time; 802.11g without stations of 802.11b."""
        return 9.0 if self._ofdm else 20.0

    @property
    def sifs(self) -> float:
        """Short interframe space."""
        return 16.0 if self.standard == "802.11a" else 10.0

    @property
    def difs(self) -> float:
        """SIFS + 2 slots (10.3.7)."""
        return self.sifs + 2 * self.slot

    @property
    def eifs(self) -> float:
        """What a station waits after a frame that it could not read, until its DIFS: SIFS + ACK + DIFS (10.3.7).

        The MAC of ns-2.35 sets its NAV to this and waits a DIFS after it.
        """
        return self.sifs + self.airtime(ACK_BYTES, 6.0 if self._ofdm else 1.0) + self.difs

    @property
    def cw_min(self) -> int:
        """Smallest contention window."""
        return 15 if self._ofdm else 31

    @property
    def mac_overhead(self) -> int:
        """Bytes a data frame: 28, and 34 in ns-2.35's Mac/802_11."""
        return 28 if self._ofdm else 34

    @property
    def control_mbps(self) -> float:
        """Rate of RTS, CTS and ACK: the basic rate, with OFDM the highest mandatory one not above the data's."""
        return next(rate for rate in _OFDM_MANDATORY_MBPS if rate <= self.rate_mbps) if self._ofdm else 1.0

    def airtime(self, size: int, mbps: float) -> float:
        """Preamble, header and ``size`` bytes (16.2.3.5 without rounding; equation 17-29; 18.3.2.4)."""
        if not self._ofdm:
            return 192 + size * 8 / mbps
        symbols = math.ceil((16 + 8 * size + 6) / (4 * mbps))
        return 20 + 4 * symbols + (6 if self.standard == "802.11g" else 0)

    def control(self, size: int) -> float:
        """A control frame."""
        return self.airtime(size, self.control_mbps)

    def data(self, packet: int) -> float:
        """The data frame of a network packet."""
        return self.airtime(packet + self.mac_overhead, self.rate_mbps)

    def exchange(self, packet: int, rts: bool) -> float:
        """Data and ACK, before them RTS and CTS if ``rts``, with a SIFS between frames; no propagation."""
        after = self.data(packet) + self.sifs + self.control(ACK_BYTES)
        return after + (self.control(RTS_BYTES) + self.control(CTS_BYTES) + 2 * self.sifs if rts else 0)


def one_sender_bps(phy: Phy, packet: int, payload: int, rts: bool, mean_slots: float) -> float:
    """Payload rate of one saturated sender: every packet costs DIFS + a mean backoff + its exchange."""
    return 8e6 * payload / (phy.difs + mean_slots * phy.slot + phy.exchange(packet, rts))


@dataclass(frozen=True, slots=True)
class Bianchi:
    """``stations`` saturated senders that all hear each other, with ``attempts`` a packet.

    G. Bianchi, "Performance Analysis of the IEEE 802.11 Distributed Coordination Function", IEEE JSAC 18(3), 2000,
    equations 9 to 13, with the finite retries of H. Wu et al., "Performance of Reliable Transport Protocol over IEEE
    802.11 Wireless LAN: Analysis and Enhancement", INFOCOM 2002.
    """

    phy: Phy
    stations: int
    rts: bool
    attempts: int = 7

    def transmit_chance(self, p: float) -> float:
        """Chance that a station sends in a slot, if a frame collides with chance ``p``.

        The stationary distribution of the chain of backoff stage and counter: tau = sum_i b_i with b_i = p^i b_0, and
        sum_i b_i (W_i + 1)/2 = 1. W_i = min(2^i W, CWmax + 1), W = CWmin + 1 as in the standard.
        """
        windows = [min((self.phy.cw_min + 1) << i, CW_MAX + 1) for i in range(self.attempts)]
        weights = [math.pow(p, i) for i in range(self.attempts)]
        return sum(weights) / sum(weight * (window + 1) / 2 for weight, window in zip(weights, windows, strict=True))

    def throughput_bps(self, packet: int, payload: int) -> float:
        """S of equation 13, with the times of this MAC.

        Ts = exchange + DIFS. Tc = the first frame, then for a bystander EIFS + DIFS. Two senders have no bystander:
        each waits for its answer, SIFS + ACK (or CTS) + 4 us, then DIFS.
        """
        n, phy = self.stations, self.phy
        p = fixed_point(lambda p: 1 - math.pow(1 - self.transmit_chance(p), n - 1))
        tau = self.transmit_chance(p)
        busy = 1 - math.pow(1 - tau, n)
        success = n * tau * math.pow(1 - tau, n - 1)
        first = phy.control(RTS_BYTES) if self.rts else phy.data(packet)
        answer = phy.control(CTS_BYTES if self.rts else ACK_BYTES)
        waits = phy.eifs if n > 2 else phy.sifs + answer + TIMEOUT_SLACK_US
        t_s = phy.exchange(packet, self.rts) + phy.difs
        t_c = first + waits + phy.difs
        slot = (1 - busy) * phy.slot + success * t_s + (busy - success) * t_c
        return 8e6 * payload * success / slot


def fixed_point(falling: Callable[[float], float]) -> float:
    """The p in (0, 1) with ``falling(p) == p``."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > middle else (low, middle)
    return low
