"""Rates of links, as iw and people write them: ``65Mbps``, ``MCS 7``, ``780.0 MBit/s VHT-MCS 8 80MHz VHT-NSS 2``.

A scenario has one radio for all: the standard that the fastest kind of rate needs, of the widest channel seen, with
short guard intervals if all rates of that kind have them. A number alone that is above 802.11g's is taken for the
first of 802.11n and 802.11ac, from narrow to wide, that has it. Each link's rate is then the radio's highest that is
not above its own. 802.11ax's rates go at 802.11ac's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

DSSS = (1.0, 2.0, 5.5, 11.0)
OFDM = (6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0)
_CARRIERS = {20: 52, 40: 108, 80: 234, 160: 468}
"""Of data, by MHz (IEEE 802.11-2020, tables 19-6 and 21-5)."""
_HT_WIDTHS = (20, 40)
_BITS = ((1, 1, 2), (2, 1, 2), (2, 3, 4), (4, 1, 2), (4, 3, 4), (6, 2, 3), (6, 3, 4), (6, 5, 6), (8, 3, 4), (8, 5, 6))
"""A carrier's bits and the code's rate, by MCS (19.5, 21.5); high throughput has the first eight."""
_HT, _VHT = 8, 10
_STREAMS = 4
_LEFT_OUT = {(9, 20, 1), (9, 20, 2), (9, 20, 4), (6, 80, 3), (9, 160, 3)}
"""MCS, MHz and streams that 802.11ac does not have: their symbols have no whole number of bits (21.5)."""
_LONG_NS, _SHORT_NS = 4000, 3600
_ROUNDED = 0.1
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*M[Bb](?:ps|it/s|/s)")


class Rate(NamedTuple):
    """One link's rate, with what it needs."""

    mbps: float
    steps: int = 0
    """MCS numbers of its kind: 0, 8 (high throughput), 10 (very high)."""
    mhz: int = 20
    short: bool = False


class Radio(NamedTuple):
    """What all links together need."""

    standard: str
    rates: tuple[float, ...]
    lines: tuple[str, ...] = ()
    """Of ``[radio]``, besides the standard."""

    def has(self, mbps: float) -> bool:
        """True if it is one of the rates, to the digit that iw writes."""
        return any(abs(rate - mbps) < _ROUNDED for rate in self.rates)

    def of(self, mbps: float) -> str:
        """The highest that is not above this; the lowest if all are."""
        return shown(max((rate for rate in self.rates if rate < mbps + _ROUNDED), default=self.rates[0]))


def shown(mbps: float) -> str:
    """As scenarios have it: whole bits a second."""
    return f"{int(mbps * 1_000_000 + 1e-3) / 1e6:.6f}".rstrip("0").rstrip(".") + "Mbps"


def read(text: str) -> Rate | None:
    """A rate; None if it is none."""
    number = _NUMBER.match(text)
    mcs = re.search(r"\b(VHT-|HE-)?MCS[ -]?([0-9]+)", text)
    if mcs is None:
        return Rate(float(number[1])) if number and number.end() == len(text.strip()) else None
    mhz = re.search(r"\b(20|40|80|160) ?MHz", text)
    width, short = int(mhz[1]) if mhz else 20, "short GI" in text
    index, streams = int(mcs[2]), re.search(r"NSS[ -]?([1-4])\b", text)
    if mcs[1] is None:
        count, index, steps = index // _HT + 1, index % _HT, _HT
    else:
        count, steps = int(streams[1]) if streams else 1, _VHT
    if number:
        return Rate(float(number[1]), steps, width, short)
    if count > _STREAMS or index >= steps or (steps == _HT and width not in _HT_WIDTHS):
        return None
    return Rate(_mbps(index, width, count, short=short), steps, width, short)


def radio_of(rates: Sequence[Rate]) -> Radio:
    """The radio that has all of these rates, or rates close below them."""
    steps = max((rate.steps for rate in rates), default=0)
    if steps == 0:
        return _by_number([rate.mbps for rate in rates])
    same = [rate for rate in rates if rate.steps == steps]
    return _high(steps, max(rate.mhz for rate in same), short=all(rate.short for rate in same))


def _by_number(mbps: Sequence[float]) -> Radio:
    """802.11b while it is fast enough; what is faster goes at the rates of 802.11g, or at those that all are."""
    high = [rate for rate in mbps if rate > OFDM[-1]]
    if high:
        candidates = [_high(_HT, width, short=short) for width in _HT_WIDTHS for short in (False, True)]
        candidates += [_high(_VHT, width, short=short) for width in _CARRIERS for short in (False, True)]
        fitting = (radio for radio in candidates if all(radio.has(rate) for rate in high))
        found = next(fitting, None)
        if found is not None:
            return found
    # What no table has is rounded down.
    return Radio("802.11g", OFDM) if any(rate > DSSS[-1] for rate in mbps) else Radio("802.11b", DSSS)


def _high(steps: int, mhz: int, *, short: bool) -> Radio:
    standard = "802.11n" if steps == _HT else "802.11ac"
    rates = {
        _mbps(index, mhz, streams, short=short)
        for index in range(steps)
        for streams in range(1, _STREAMS + 1)
        if steps == _HT or (index, mhz, streams) not in _LEFT_OUT
    }
    interval = "400ns" if short else "800ns"
    return Radio(standard, tuple(sorted(rates)), (f'width = "{mhz}MHz"', f'guard_interval = "{interval}"'))


def _mbps(mcs: int, mhz: int, streams: int, *, short: bool) -> float:
    bits, above, below = _BITS[mcs]
    return _CARRIERS[mhz] * bits * above * streams / below * 1000 / (_SHORT_NS if short else _LONG_NS)
