"""The families of 802.11ac and 802.11ax that are held against a closed form: one link's saturation.

Computed here from IEEE 802.11-2020, clause 21, and IEEE 802.11ax-2021, clause 27, with nothing of the engine in it.
Times in microseconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from meshpace.validation.high_throughput import Ht, saturated
from meshpace.validation.model import Setup

_MEGABYTE = 1_048_575
"""What a station may take at the most (9.4.2.157.2, exponent 7)."""
_DELIMITER = 4
"""Every frame is an A-MPDU, of one MPDU, too (10.12.7)."""


def _training(streams: int) -> int:
    """Long training fields: as many as streams, four for three."""
    return 4 if streams == 3 else streams


@dataclass(frozen=True, slots=True)
class Vht(Ht):
    """A mode of the very-high-throughput PHY: what of 21.5's tables a time on the air needs."""

    standard: ClassVar[str] = "802.11ac"
    around_one: ClassVar[int] = _DELIMITER
    aggregates: ClassVar[tuple[int, ...]] = (0, 65_535, _MEGABYTE)

    def airtime(self, size: int) -> float:
        """Of so many bytes; what short symbols last is rounded up to 4 us (21.4.3)."""
        preamble = 20.0 + 8.0 + 4.0 + 4.0 * _training(self.streams) + 4.0
        symbols = math.ceil((16 + 6 * self.encoders + 8 * size) / self.bits) * self.symbol
        return preamble + 4.0 * math.ceil(symbols / 4.0 - 1e-9)


@dataclass(frozen=True, slots=True)
class He(Ht):
    """A mode of the high-efficiency PHY to one user: no tails, since codes of parity checks have none."""

    standard: ClassVar[str] = "802.11ax"
    most_mpdus: ClassVar[int] = 256
    block_ack_bytes: ClassVar[int] = 56
    around_one: ClassVar[int] = _DELIMITER
    aggregates: ClassVar[tuple[int, ...]] = (0, 65_535, _MEGABYTE)

    def airtime(self, size: int) -> float:
        """Of so many bytes (27.4.3), its training fields of 6.4 us, of 12.8 with the longest guard interval."""
        guard = self.symbol - 12.8
        field = guard + (12.8 if guard > 2.0 else 6.4)
        preamble = 20.0 + 4.0 + 8.0 + 4.0 + field * _training(self.streams)
        return preamble + math.ceil((16 + 8 * size) / self.bits) * self.symbol


def _settings(mcs: int, streams: int, width: int, guard: int = 800) -> tuple[str, ...]:
    keys = {"mcs": mcs, "streams": streams, "width": f"{width}MHz", "guard_interval": f"{guard}ns"}
    return tuple(f"radio.{key}={value}" for key, value in keys.items())


VHT_MODES = (
    Vht("MCS 0", _settings(0, 1, 20), 26, 1, 1, 6),
    Vht("MCS 4, 40 MHz", _settings(4, 1, 40), 324, 1, 1, 24),
    Vht("MCS 9, 80 MHz", _settings(9, 1, 80), 1560, 1, 1, 24),
    Vht("MCS 9, 80 MHz, 3 streams, short guard interval", _settings(9, 3, 80, 400), 4680, 3, 3, 24, 3.6),
    Vht("MCS 7, 160 MHz, 4 streams", _settings(7, 4, 160), 9360, 6, 4, 24),
    Vht("MCS 9, 160 MHz, 4 streams, short guard interval", _settings(9, 4, 160, 400), 12480, 6, 4, 24, 3.6),
)
"""Bits a symbol and encoders as the tables of 21.5 print them."""

HE_MODES = (
    He("MCS 0", _settings(0, 1, 20), 117, 0, 1, 6, 13.6),
    He("MCS 4, 40 MHz, 1,600 ns", _settings(4, 1, 40, 1_600), 1404, 0, 1, 24, 14.4),
    He("MCS 11, 20 MHz", _settings(11, 1, 20), 1950, 0, 1, 24, 13.6),
    He("MCS 9, 80 MHz, 2 streams, 3,200 ns", _settings(9, 2, 80, 3_200), 13066, 0, 2, 24, 16.0),
    He("MCS 11, 80 MHz, 3 streams", _settings(11, 3, 80), 24500, 0, 3, 24, 13.6),
    He("MCS 11, 160 MHz, 4 streams", _settings(11, 4, 160), 65333, 0, 4, 24, 13.6),
)
"""Bits a symbol as the tables of 27.5 print them."""


def vht_saturation() -> Iterator[Setup]:
    """One link of 802.11ac that always has something to send, as ht_saturation has it of 802.11n."""
    yield from saturated("vht_saturation", VHT_MODES)


def he_saturation() -> Iterator[Setup]:
    """One link of 802.11ax that always has something to send, as ht_saturation has it of 802.11n."""
    yield from saturated("he_saturation", HE_MODES)
