"""Two categories of access of 802.11n that always have something to send, against the chain that their slots make.

Computed here from IEEE 802.11-2020, 10.23.2, with nothing of the engine in it: a Markov chain, without the assumption
that the two are independent of each other, which Bianchi's model and those of EDCA after it (Robinson and Randhawa
2004) make. Voice draws from 0 to 3: there the slots decide one by one.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from meshpace.project import validation_directory
from meshpace.validation.high_throughput import EIFS, MODES, SIFS, Ht
from meshpace.validation.model import Check, Relative, Setup, goodput_kbps
from meshpace.validation.theory import CTS_BYTES, RTS_BYTES

_SLOT = 9.0
_ATTEMPTS = 7
"""Of an RTS, before its packets are given up."""


@dataclass(frozen=True, slots=True)
class Category:
    """A row of table 9-155."""

    name: str
    dscp: str
    aifsn: int
    least: int
    most: int

    def windows(self) -> list[int]:
        """Largest backoff by how often in a row the attempt has failed, until it grows no more."""
        windows = [self.least]
        while windows[-1] < self.most:
            windows.append(2 * windows[-1] + 1)
        return windows


_VOICE = Category("voice", "cs6", 2, 3, 7)
_VIDEO = Category("video", "af41", 2, 7, 15)
_BEST_EFFORT = Category("best effort", "df", 3, 15, 1_023)
_BACKGROUND = Category("background", "cs1", 7, 15, 1_023)


_Side = tuple[int, int]
"""One of the two after an exchange: its slots that are left (-1: it draws afresh), and its failures in a row."""
_State = tuple[_Side, _Side]
_FRESH: _Side = (-1, 0)
_COLLISION = 2
"""Instead of whose exchange it was, 0 or 1."""


@dataclass(frozen=True, slots=True)
class Contention:
    """Two categories, the higher one first, in one station or in two.

    A backoff counts whole slots after its AIFS; the slot in which the medium turns busy is not counted. In one station
    the higher of two that are over at once sends, and the lower draws from a larger window, however often that has
    happened; of two stations both fail, and give up after seven attempts.
    """

    high: Category
    low: Category
    one_station: bool

    def shares(self, exchange: float, collision: float) -> tuple[float, float]:
        """Exchanges of each in a microsecond.

        One lasts ``exchange``, a collision ``collision``, AIFS not counted.
        """
        states: dict[_State, int] = {(_FRESH, _FRESH): 0}
        rows = []
        todo = [(_FRESH, _FRESH)]
        while todo:
            state = todo.pop()
            for chance, following, idle, whose in self._from(state):
                if following not in states:
                    states[following] = len(states)
                    todo.append(following)
                rows.append((states[state], states[following], chance, idle, whose))
        before, after, chances, slots, who = (np.array(column) for column in zip(*rows, strict=True))
        # How often each state comes: what goes out of it comes in, and all together are one. Not by iteration: a
        # backoff of 1,023 slots lasts thousands of exchanges.
        balance = -np.eye(len(states))
        np.add.at(balance, (after, before), chances)
        balance[0] = 1.0
        total = np.zeros(len(states))
        total[0] = 1.0
        now = np.linalg.solve(balance, total)
        weights = now[before] * chances
        high, low, both = (float(weights[who == one].sum()) for one in (0, 1, _COLLISION))
        time = float((weights * (SIFS + (self.high.aifsn + slots) * _SLOT)).sum())
        time += (high + low) * exchange + both * collision
        return high / time, low / time

    def _from(self, state: _State) -> Iterator[tuple[float, _State, int, int]]:
        """The outcomes of an exchange: probability, state after it, slots before it, and the station.

        Slots are counted from where the first of the two begins to count.
        """
        high, low = state
        later = self.low.aifsn - self.high.aifsn
        mine, theirs = _draws(high, self.high), _draws(low, self.low)
        chance = 1 / (len(mine) * len(theirs))
        for a in mine:
            for b in theirs:
                slots = min(a, b + later)
                if a < b + later:
                    yield chance, (_FRESH, (b - max(0, slots - later), low[1])), slots, 0
                elif a > b + later:
                    yield chance, ((a - slots, high[1]), _FRESH), slots, 1
                elif self.one_station:
                    yield chance, (_FRESH, (-1, min(low[1] + 1, len(self.low.windows()) - 1))), slots, 0
                else:
                    yield chance, (_failed(high), _failed(low)), slots, _COLLISION


def _draws(side: _Side, category: Category) -> range:
    left, failed = side
    if left >= 0:
        return range(left, left + 1)
    windows = category.windows()
    return range(windows[min(failed, len(windows) - 1)] + 1)


def _failed(side: _Side) -> _Side:
    return -1, (side[1] + 1) % _ATTEMPTS


_PAIRS = ((_VOICE, _BEST_EFFORT), (_VIDEO, _BEST_EFFORT), (_VOICE, _VIDEO), (_BEST_EFFORT, _BACKGROUND))
_PAYLOAD, _UDP = 1_472, 28
_AGGREGATE = 8_000
_FEW = 0.1
"""Best effort beside voice has a few exchanges a second: so much is chance."""


def ht_categories() -> Iterator[Setup]:
    """Goodput of two categories that always have something to send, of one station and, after RTS/CTS, of two."""
    for high, low in _PAIRS:
        yield _setup(MODES[4], Contention(high, low, one_station=True))
    # With two large windows the collisions of two stations have too many outcomes to be worked out here.
    for high, low in _PAIRS[:3]:
        yield _setup(MODES[4], Contention(high, low, one_station=False))


@functools.cache
def _setup(mode: Ht, both: Contention) -> Setup:
    count = mode.fill(_PAYLOAD + _UDP, _AGGREGATE)
    rts, cts = mode.control(RTS_BYTES), mode.control(CTS_BYTES)
    exchange = mode.exchange(_PAYLOAD + _UDP, count) + (0.0 if both.one_station else rts + cts + 2 * SIFS)
    # Each hears the end of the other's RTS, and waits an EIFS, which has no AIFS of its own here (docs/model.md).
    rates = both.shares(exchange, rts + EIFS)
    where = "one station" if both.one_station else "two stations, RTS/CTS"
    checks = tuple(
        Check(
            f"{both.high.name} and {both.low.name} of {where}: {category.name}", "goodput", "kbit/s",
            8e3 * _PAYLOAD * count * rate, Relative(0.03 if rate > sum(rates) / 20 else _FEW), goodput_kbps(flow),
            "the chain of both backoffs", digits=5,
        )
        for flow, (category, rate) in enumerate(zip((both.high, both.low), rates, strict=True))
    )  # fmt: skip
    settings = (
        *mode.settings, *(f"flow.{flow}.rate=300Mbps" for flow in (0, 1)), f"radio.aggregate={_AGGREGATE}",
        f"radio.rts={'never' if both.one_station else 'always'}",
        f"flow.0.dscp={both.high.dscp}", f"flow.1.dscp={both.low.dscp}",
        f"flow.1.from={'a' if both.one_station else 'b'}",
    )  # fmt: skip
    return Setup("ht_categories", "categories.toml", settings, None, 2, checks, validation_directory)
