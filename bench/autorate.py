"""The published rule of cake-autorate, which sets the rate of a cake by the delay of echoes: no clock, no socket.

Only facts are from there: https://github.com/lynxthecat/cake-autorate at 94238bef6184, `defaults.sh` (each constant
below has its name there) and, for what the constants mean, `cake-autorate.sh`. This is its default way to ask,
`pinger_method=fping`: a delay is half of a round trip. It adjusts one direction alone, towards the mesh. What is left
out never acts in bench/hosts_beside.py: the sleep of an idle link, stalls, and the exchange of reflectors that answer
badly. bench/autorate_live.py asks and obeys.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

PINGERS = 6
"""`no_pingers`."""
PING_PERIOD_S = 0.3
"""`reflector_ping_interval_s`: each reflector is asked so often, all in turn."""
LOOK_S = 0.2
"""`monitor_achieved_rates_interval_ms`: how often the achieved rate is read, or ten packets' round trip if longer."""
HIGH_LOAD = 0.75
"""`high_load_thr`: above this share of the rate the load is high."""
WINDOW, DELAYED = 6, 3
"""`bufferbloat_detection_window`, `_thr`: so many delayed answers of the latest so many are bufferbloat."""
RAISE_BELOW_S, DELAYED_ABOVE_S, CUT_ABOVE_S = 0.010, 0.030, 0.060
"""`ul_avg_owd_delta_max_adjust_up_thr_ms`, `ul_owd_delta_delay_thr_ms`, `ul_avg_owd_delta_max_adjust_down_thr_ms`.
What a packet takes at the rate comes on top."""
LEAST_RAISE, MOST_RAISE = 1.0, 1.04
"""`shaper_rate_min_adjust_up_load_high`, `shaper_rate_max_adjust_up_load_high`."""
LEAST_CUT, MOST_CUT = 0.99, 0.75
"""`shaper_rate_min_adjust_down_bufferbloat`, `shaper_rate_max_adjust_down_bufferbloat`."""
DECAY_DOWN, DECAY_UP = 0.99, 1.01
"""`shaper_rate_adjust_down_load_low`, `shaper_rate_adjust_up_load_low`: back to the base rate while the load is low."""
AFTER_CUT_S, DECAY_PERIOD_S = 0.3, 1.0
"""`bufferbloat_refractory_period_ms`, `decay_refractory_period_ms`."""
BASELINE_UP, BASELINE_DOWN = 0.001, 0.9
"""`alpha_baseline_increase`, `alpha_baseline_decrease`."""
FIRST_BASELINE_S = 0.1
"""Where the baseline of each reflector begins (`dl_owd_baselines_us`, cake-autorate.sh)."""
PACKET_BITS = 12_000
"""What `get_max_wire_packet_size_bits` finds for an MTU of 1,500 and no overhead."""


class Bounds(NamedTuple):
    """`min_ul_shaper_rate_kbps`, `base_ul_shaper_rate_kbps`, `max_ul_shaper_rate_kbps`, in bit/s: the operator's."""

    least: float
    base: float
    most: float


def _part(value: float, begin: float, end: float) -> float:
    """How far a value is from the beginning to the end, 0 to 1."""
    return min(1.0, max(0.0, (value - begin) / (end - begin)))


@dataclass
class Autorate:
    """The rule and what it remembers."""

    bounds: Bounds
    rate: float = field(init=False)
    _baselines: dict[int, float] = field(default_factory=dict)
    _deltas: deque[float] = field(default_factory=lambda: deque([0.0] * WINDOW, WINDOW))
    _delayed: deque[bool] = field(default_factory=lambda: deque([False] * WINDOW, WINDOW))
    _achieved: float = 0.0
    _is_new: bool = False
    _cut_s: float = 0.0
    _decayed_s: float = 0.0

    def __post_init__(self) -> None:
        self.rate = self.bounds.base

    @property
    def look_s(self) -> float:
        """After which time the achieved rate is to be read again."""
        return max(LOOK_S, 10 * 2 * PACKET_BITS / self.rate)

    def achieved(self, rate: float) -> None:
        """What went through the shaper lately, bit/s."""
        self._achieved, self._is_new = rate, True

    def answered(self, now: float, reflector: int, round_trip: float) -> None:
        """A reflector's answer came."""
        delay, packet = round_trip / 2, PACKET_BITS / self.rate
        baseline = self._baselines.get(reflector, FIRST_BASELINE_S)
        baseline += (BASELINE_UP if delay >= baseline else BASELINE_DOWN) * (delay - baseline)
        self._baselines[reflector] = baseline
        up, late, down = (of + packet for of in (RAISE_BELOW_S, DELAYED_ABOVE_S, CUT_ABOVE_S))
        self._deltas.append(delay - baseline)
        self._delayed.append(delay - baseline > late)
        mean = sum(self._deltas) / WINDOW
        is_settled = now > self._cut_s + AFTER_CUT_S
        if sum(self._delayed) >= DELAYED:
            if is_settled:
                self.rate *= LEAST_CUT + (MOST_CUT - LEAST_CUT) * _part(mean, late, down)
                self._cut_s = self._decayed_s = now
        elif self._achieved > HIGH_LOAD * self.rate:
            if is_settled and self._is_new:
                self.rate *= LEAST_RAISE + (MOST_RAISE - LEAST_RAISE) * _part(mean, late, up)
                self._is_new = False
                self._decayed_s = now
        elif now > self._decayed_s + DECAY_PERIOD_S:
            base = self.bounds.base
            self.rate = max(base, self.rate * DECAY_DOWN) if self.rate > base else min(base, self.rate * DECAY_UP)
            self._decayed_s = now
        self.rate = min(self.bounds.most, max(self.bounds.least, self.rate))
