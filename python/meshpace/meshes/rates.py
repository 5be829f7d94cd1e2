"""Rates of links, as iw and people write them: ``65Mbps``, ``MCS 7``, ``780.0 MBit/s VHT-MCS 8 80MHz VHT-NSS 2``.

A scenario has one standard for all: the one that the fastest kind of rate needs, each channel as wide as the widest
rate seen there, with short guard intervals if all rates of that kind have them. A number alone that is above
802.11g's is taken for the first of 802.11n and 802.11ac, from narrow to wide, that has it. Each link's rate is then
the radio's highest that is not above its own. 802.11ax's rates go at 802.11ac's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from meshpace.meshes import channels

DSSS = (1.0, 2.0, 5.5, 11.0)
OFDM = (6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0)
_CARRIERS = {20: 52, 40: 108, 80: 234, 160: 468}
"""Of data, by MHz (IEEE 802.11-2020, tables 19-6 and 21-5)."""
_HT_WIDTHS = (20, 40)
_BITS = ((1, 1, 2), (2, 1, 2), (2, 3, 4), (4, 1, 2), (4, 3, 4), (6, 2, 3), (6, 3, 4), (6, 5, 6), (8, 3, 4), (8, 5, 6))
"""A carrier's bits and the code's rate, by MCS (19.5, 21.5); high throughput has the first eight."""
_HT, _VHT = 8, 10
_STEPS = {"802.11n": _HT, "802.11ac": _VHT}
_ORDER = ("802.11b", "802.11g", *_STEPS)
"""Of what a number or an MCS needs, from slow to fast."""
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
    width: int | None = None
    """MHz; None where the standard has one width."""
    short: bool = False
    """The guard interval."""

    @property
    def lines(self) -> tuple[str, ...]:
        """Of ``[radio]``, besides the standard."""
        if self.width is None:
            return ()
        return (*self.widths, f'guard_interval = "{"400ns" if self.short else "800ns"}"')

    @property
    def widths(self) -> tuple[str, ...]:
        """What of that ``[[node.radio]]`` may say."""
        return () if self.width is None else (f'width = "{self.width}MHz"',)

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


class Radios(NamedTuple):
    """What the links of each channel need, with one standard for all."""

    on: Mapping[int | None, Radio]
    """By the channel's centre, MHz; None: of links that tell none."""
    alone: Mapping[int | None, Radio]
    """The same, were there no other channel, whatever bands its standard has."""

    @property
    def standard(self) -> str:
        """Of all."""
        return next(iter(self.on.values())).standard

    @property
    def needed(self) -> str:
        """What the rates ask for."""
        return max((radio.standard for radio in self.alone.values()), key=_ORDER.index)

    @property
    def rounded(self) -> str:
        """What a scenario says of rates that its standard does not have; nothing if it has all."""
        has_all = all(set(self.alone[mhz].rates) <= set(radio.rates) for mhz, radio in self.on.items())
        if has_all or self.needed == self.standard:
            return ""
        return f"; rates rounded down to {self.standard}'s, since not all channels have {self.needed}"

    @property
    def lines(self) -> tuple[str, ...]:
        """Of ``[radio]``, besides the standard: what all have in common."""
        first, *others = (radio.lines for radio in self.on.values())
        return tuple(line for line in first if not others or line not in self.widths.values())

    @property
    def widths(self) -> Mapping[int, str]:
        """Of several channels, by centre: the line of ``[[node.radio]]``."""
        several = self.on if len(self.on) > 1 else {}
        return {mhz: line for mhz, radio in several.items() if mhz is not None for line in radio.widths}


def radios_of(rates: Sequence[tuple[int | None, Rate | None]]) -> Radios:
    """Of links, as their channel's centre in MHz and their rate, as far as they tell them."""
    by_channel: dict[int | None, list[Rate]] = {} if rates else {None: []}
    for mhz, rate in rates:
        by_channel.setdefault(mhz, []).extend([] if rate is None else [rate])
    alone = {mhz: radio_of(some) for mhz, some in by_channel.items()}
    wanted = Radios(alone, alone)
    standard = channels.standard_on(wanted.needed, [mhz for mhz in alone if mhz is not None])
    short = [radio.short for radio in alone.values() if radio.standard == standard]
    interval = all(short) and short != []
    return wanted._replace(on={mhz: _on(standard, radio, short=interval) for mhz, radio in alone.items()})


def _on(standard: str, alone: Radio, *, short: bool) -> Radio:
    if standard not in _STEPS:
        return Radio(standard, DSSS if standard == _ORDER[0] else OFDM)
    widths = _HT_WIDTHS if standard == _ORDER[2] else _CARRIERS
    return _high(_STEPS[standard], min(alone.width or min(widths), max(widths)), short=short)


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
    standard = next(standard for standard, own in _STEPS.items() if own == steps)
    rates = {
        _mbps(index, mhz, streams, short=short)
        for index in range(steps)
        for streams in range(1, _STREAMS + 1)
        if steps == _HT or (index, mhz, streams) not in _LEFT_OUT
    }
    return Radio(standard, tuple(sorted(rates)), mhz, short)


def _mbps(mcs: int, mhz: int, streams: int, *, short: bool) -> float:
    bits, above, below = _BITS[mcs]
    return _CARRIERS[mhz] * bits * above * streams / below * 1000 / (_SHORT_NS if short else _LONG_NS)
